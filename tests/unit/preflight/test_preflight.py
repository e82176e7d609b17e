"""`physai check`: what Azure would refuse, reported before the deployment; and what is known without a query."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError, ServiceRequestTimeoutError, ServiceResponseError
from azure.core.pipeline.transport import HttpTransport
from azure.core.rest import HttpRequest

from physical_ai.cli.commands import check as check_command
from physical_ai.findings import Finding, Severity
from physical_ai.preflight import AzureRest, Unanswered, Usage, check, login
from physical_ai.preflight.needs import ACTIONS, denied, namespaces
from physical_ai.preflight.rest import subscriptions
from physical_ai.settings import Overlay, load
from tests.support.azure_subscription import SUBSCRIPTION, Answers
from tests.unit.cli.test_cli_commands import call
from tests.unit.conftest import STACKS, Simulate

TODAY = datetime.date(2026, 11, 21)


def on_path(name: str) -> str | None:
    return f"/usr/bin/{name}"


def found(
    stack: str = "dev-westus2", answers: Answers | None = None, *assignments: str
) -> dict[tuple[str, str], list[Finding]]:
    """Findings by topic and subject."""
    settings = load(stack, [Overlay.assign(list(assignments))] if assignments else []).settings
    azure = AzureRest(answers or Answers(), SUBSCRIPTION)
    by_place: dict[tuple[str, str], list[Finding]] = {}
    for each in check(settings, azure, on_path, TODAY):
        by_place.setdefault((each.rule, each.where), []).append(each)
    return by_place


def one(stack: str, answers: Answers | None, topic: str, subject: str, *assignments: str) -> Finding:
    (finding,) = found(stack, answers, *assignments)[topic, subject]
    return finding


def limit(name: str, value: int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        (row,) = [each for each in document["value"] if each["name"]["value"] == name]
        row["limit"] = value

    return change


def test_quota_for_the_most_with_surge_is_enough() -> None:
    finding = one("dev-westus2", None, "quota", "lowPriorityCores")
    assert finding.severity is Severity.OK
    assert "400 of 400 vCPU free" in finding.problem
    assert "368 at maximum" in finding.problem


def test_quota_that_lasts_for_the_beginning_only_is_a_warning() -> None:
    answers = Answers().change("usages", limit("lowPriorityCores", 200))
    finding = one("dev-westus2", answers, "quota", "lowPriorityCores")
    assert (finding.severity, "fewer than the maximum" in finding.problem) == (Severity.WARNING, True)


def test_quota_that_does_not_last_for_the_beginning_is_an_error() -> None:
    finding = one("prod-westus2", None, "quota", "StandardNCdsRTXPRO6000BSEv6XLFamily")
    assert finding.severity is Severity.ERROR
    assert "0 of 0 vCPU free" in finding.problem


def test_what_is_used_already_is_not_free() -> None:
    finding = one("dev-westus2", None, "quota", "cores")
    assert "250 of 350 vCPU free" in finding.problem


def test_the_surge_of_upgrades_counts() -> None:
    # h100gpu: 2 nodes of 40 at most; the family has 80.
    assert one("staging-westus2", None, "quota", "StandardNCadsH100v5Family").severity is Severity.OK
    surge = "pools.h100gpu.upgrade={maxSurge: '1', maxUnavailable: '0'}"
    assert one("staging-westus2", None, "quota", "StandardNCadsH100v5Family", surge).severity is Severity.WARNING


def test_a_quota_that_azure_does_not_list_is_reported_and_not_assumed_to_suffice() -> None:
    answers = Answers().change("usages", lambda document: document["value"].clear())
    assert one("dev-westus2", answers, "quota", "cores").severity is Severity.WARNING


def test_a_size_that_the_subscription_may_not_use_is_an_error_with_azures_reason() -> None:
    messages = [each.problem for each in found()["size", "rtxprogpu"]]
    assert any("NotAvailableForSubscription" in message for message in messages)
    assert any("can't be Spot" in message for message in messages)


def test_a_size_on_a_later_page_is_found() -> None:
    assert one("dev-westus2", None, "size", "h100gpu").severity is Severity.OK


def test_a_zone_that_is_restricted_is_not_offered() -> None:
    finding = one("prod-westus2", None, "size", "cpu")
    assert finding.severity is Severity.ERROR
    assert "zone 3; it is in 1, 2" in finding.problem


def test_a_size_that_is_not_listed_names_regions_that_have_it() -> None:
    finding = one("dev-westus2", None, "size", "h100gpu", "pools.h100gpu.sku=Standard_NC80adis_H100_v5")
    assert finding.severity is Severity.ERROR
    assert "eastus2" in (finding.fix or "")


def test_where_azure_and_the_catalogue_differ_the_catalogue_is_to_be_corrected() -> None:
    def change(document: Any) -> None:
        for row in document["value"]:
            if row["name"] == "Standard_NC40ads_H100_v5":
                row["family"] = "standardNCH100Family"

    finding = one("dev-westus2", Answers().change("skus", change), "size", "h100gpu")
    assert finding.severity is Severity.WARNING
    assert "standardNCH100Family" in finding.problem


def test_a_region_without_sizes_is_reported_as_such() -> None:
    answers = Answers().change("skus", lambda document: (document["value"].clear(), document.pop("nextLink", None)))  # pyright: ignore[reportArgumentType]
    assert one("dev-westus2", answers, "region", "westus2").severity is Severity.ERROR


@pytest.mark.parametrize(
    ("version", "severity"),
    [("1.36", Severity.OK), ("1.36.3", Severity.OK), ("1.36.1", Severity.ERROR), ("1.37", Severity.WARNING)],
)
def test_the_kubernetes_version_has_to_be_offered_in_the_region(version: str, severity: Severity) -> None:
    assignments = (f'cluster.kubernetesVersion="{version}"', "cluster.upgrades.channel=none")
    assert one("dev-westus2", None, "kubernetes", version, *assignments).severity is severity


def test_a_provider_that_is_not_registered_is_reported_with_the_command_that_registers_it() -> None:
    finding = one("dev-westus2", None, "provider", "Microsoft.OperationalInsights")
    assert finding.severity is Severity.ERROR
    assert finding.fix == "az provider register --namespace Microsoft.OperationalInsights"
    assert one("dev-westus2", None, "provider", "Microsoft.Insights").severity is Severity.OK


@pytest.mark.parametrize(
    ("role", "lacks"),
    [
        ("owner", []),
        ("contributor-and-user-access-administrator", []),
        ("contributor", ["may not: Microsoft.Authorization/roleAssignments/write."]),
    ],
)
def test_the_callers_rights_are_those_of_their_roles(role: str, lacks: list[str]) -> None:
    findings = found("dev-westus2", Answers(permissions=f"permissions-{role}.json"))["role", "you"]
    assert [each.problem for each in findings if each.severity is Severity.ERROR] == lacks
    assert all(each.severity is Severity.OK for each in findings) is not bool(lacks)


def test_a_reader_may_do_nothing_of_it() -> None:
    findings = found("dev-westus2", Answers(permissions="permissions-reader.json"))["role", "you"]
    assert len(findings) == sum(len(each) for each in ACTIONS.values())


def test_every_action_is_denied_without_permissions() -> None:
    assert denied(["a/b/write"], []) == ["a/b/write"]


@pytest.mark.parametrize("stack", STACKS)
def test_every_resource_that_the_program_declares_has_its_rights_listed(simulate: Simulate, stack: str) -> None:
    declared = {each.type for each in simulate(stack).resources if each.type.startswith("azure-native:")}
    assert declared <= set(ACTIONS)


def test_a_subscription_that_is_disabled_is_an_error() -> None:
    def change(document: Any) -> None:
        document["state"] = "Disabled"

    findings = found("dev-westus2", Answers().change(SUBSCRIPTION, change))
    assert findings["subscription", f"Robotics ({SUBSCRIPTION})"][0].severity is Severity.ERROR


@pytest.mark.parametrize(
    ("refused", "place"),
    [
        ("usages", ("quota", "all usages")),
        ("skus", ("size", "all pools")),
        ("providers", ("provider", "all")),
        ("permissions", ("role", "you")),
        ("kubernetesVersions", ("kubernetes", "1.36")),
    ],
)
def test_what_azure_does_not_answer_is_unknown_and_hides_nothing_else(refused: str, place: tuple[str, str]) -> None:
    findings = found("dev-westus2", Answers().refuse(refused))
    (unknown,) = findings[place]
    assert unknown.severity is Severity.UNKNOWN
    assert "403" in unknown.problem
    assert len({topic for topic, _ in findings}) >= 6


def test_answers_that_have_another_form_raise_nothing() -> None:
    for document in ({}, [], "text", {"value": None}, {"value": [None, 1, {}]}, {"value": {"a": 1}}, {"values": [[]]}):
        azure = AzureRest(lambda address, parameters, document=document: document, SUBSCRIPTION)
        assert check(load("dev-westus2").settings, azure, on_path, TODAY)


def test_a_list_that_refers_to_another_host_is_not_followed() -> None:
    def get(address: str, parameters: Mapping[str, str]) -> Any:
        assert "example.com" not in address
        return {"value": [], "nextLink": "https://example.com/steal"}

    with pytest.raises(Unanswered, match="another host"):
        AzureRest(get, SUBSCRIPTION).usages("westus2")


def test_a_list_that_never_ends_is_given_up() -> None:
    endless = {"value": [], "nextLink": "https://management.azure.com/again"}
    with pytest.raises(Unanswered, match="does not end"):
        AzureRest(lambda address, parameters: endless, SUBSCRIPTION).providers()


def test_a_negative_limit_is_none() -> None:
    answers = Answers().change("usages", limit("cores", -1))
    assert AzureRest(answers, SUBSCRIPTION).usages("westus2")["cores"] == Usage(100, -1)
    assert one("dev-westus2", answers, "quota", "cores").severity is Severity.OK


def test_without_azure_the_catalogue_reports_what_it_can_and_the_rest_is_unknown() -> None:
    findings = check(load("dev-westus2").settings, None, on_path, TODAY)
    by_topic = {each.rule: each.severity for each in findings}
    assert by_topic["kubernetes"] is Severity.OK
    assert by_topic["quota"] is Severity.UNKNOWN
    assert by_topic["role"] is Severity.UNKNOWN
    assert all("not queried" in each.problem for each in findings if each.severity is Severity.UNKNOWN)
    late = check(load("dev-westus2").settings, None, on_path, datetime.date(2027, 8, 1))
    assert next(each for each in late if each.rule == "kubernetes").severity is Severity.ERROR


def test_without_kubelogin_nothing_inside_the_cluster_can_be_made() -> None:
    findings = check(load("dev-westus2").settings, None, lambda name: None, TODAY)
    assert next(each for each in findings if each.rule == "tool").severity is Severity.ERROR


class Wire(HttpTransport[HttpRequest, Any]):
    """Azure behind azure-core's pipeline: gives the answers one after the other, and keeps requests and waits."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = iter(answers)
        self.urls: list[str] = []
        self.waits: list[float] = []

    def send(self, request: HttpRequest, **kwargs: Any) -> Any:
        assert request.headers["Authorization"] == "Bearer secret-token"
        self.urls.append(request.url)
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def sleep(self, duration: float) -> None:
        self.waits.append(duration)

    def open(self) -> None: ...
    def close(self) -> None: ...
    def __exit__(self, *args: object) -> None: ...


class Credential:
    def __init__(self, problem: Exception | None = None) -> None:
        self._problem = problem

    def get_token(self, *scopes: str, **kwargs: Any) -> AccessToken:
        assert scopes == ("https://management.azure.com/.default",)
        if self._problem:
            raise self._problem
        return AccessToken("secret-token", int(time.time()) + 3600)


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({"Retry-After": "7"}, [7]),
        ({"Retry-After": "Sun, 22 Nov 2099 12:00:00 GMT"}, [login.LONGEST_WAIT]),
        ({"Retry-After": "soon"}, [2]),
        ({}, [2]),
    ],
)
def test_a_busy_azure_is_queried_again_after_the_time_it_names(headers: dict[str, str], waits: list[float]) -> None:
    wire = Wire(httpx.Response(429, headers=headers), httpx.Response(200, json={"value": []}))
    assert login.connect(Credential(), wire)("/x", {"$filter": "a eq 'b&c'"}) == {"value": []}
    assert wire.waits == waits
    assert wire.urls == ["https://management.azure.com/x?$filter=a%20eq%20%27b%26c%27"] * 2


@pytest.mark.parametrize(("headers", "waits"), [({"Retry-After": "86400"}, [login.LONGEST_WAIT] * 2), ({}, [2, 4])])
def test_an_azure_that_remains_busy_or_requests_hours_is_given_up(headers: dict[str, str], waits: list[float]) -> None:
    wire = Wire(*(httpx.Response(503, headers=headers) for _ in range(login.ATTEMPTS)))
    with pytest.raises(Unanswered, match="503"):
        login.connect(Credential(), wire)("/x", {})
    assert wire.waits == waits


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (httpx.Response(403), "may not read it"),
        (httpx.Response(404), "answered 404"),
        (httpx.Response(302, headers={"Location": "https://example.com/steal"}), "answered 302"),
        (httpx.Response(200, text="<html>"), "not JSON"),
        (ServiceRequestTimeoutError("slow"), "was not reached"),
        (ServiceResponseError("cut off"), "was not reached"),
    ],
)
def test_an_error_is_reported_without_the_token(answer: httpx.Response | Exception, expected: str) -> None:
    wire = Wire(answer)
    with pytest.raises(Unanswered, match=expected) as caught:
        login.connect(Credential(), wire)("/x", {})
    assert "secret-token" not in str(caught.value)
    assert wire.urls == ["https://management.azure.com/x"]


def test_a_login_that_ends_is_reported_in_one_line() -> None:
    wire = Wire()
    with pytest.raises(Unanswered, match=r"^the login has ended: run az login$"):
        login.connect(Credential(ClientAuthenticationError("run az login\nTrace: x")), wire)("/x", {})
    assert wire.urls == wire.waits == []


@pytest.mark.parametrize(
    "link",
    [
        "https://example.com/steal",
        "https://management.azure.com.example.com/steal",
        "https://management.azure.com@example.com/steal",
        "http://management.azure.com/steal",
        "//example.com/steal",
    ],
)
def test_only_azure_receives_the_token(link: str) -> None:
    wire = Wire(httpx.Response(200, json={"value": [], "nextLink": link}), httpx.Response(200, json={}))
    get = login.connect(Credential(), wire)
    with pytest.raises(Unanswered, match="another host"):
        AzureRest(get, SUBSCRIPTION).usages("westus2")
    get(link, {})
    assert [httpx.URL(url).copy_with(raw_path=b"/") for url in wire.urls] == ["https://management.azure.com/"] * 2


def command(monkeypatch: pytest.MonkeyPatch, answers: Answers | Exception, *arguments: str) -> tuple[int, str, str]:
    def log_in() -> Any:
        if isinstance(answers, Exception):
            raise answers
        return answers

    monkeypatch.setattr(check_command, "_login", log_in)
    monkeypatch.setattr(check_command.shutil, "which", on_path)
    return call("check", *arguments)


def test_the_command_exits_with_3_for_what_azure_would_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = command(monkeypatch, Answers(), "dev-westus2", "--subscription", SUBSCRIPTION)
    assert code == 3
    assert "az provider register --namespace Microsoft.OperationalInsights" in out
    assert "error" in err


def test_as_data_every_finding_has_status_topic_subject_and_source(monkeypatch: pytest.MonkeyPatch) -> None:
    _, out, _ = command(monkeypatch, Answers(), "dev-westus2", "--subscription", SUBSCRIPTION, "--json")
    document: dict[str, Any] = json.loads(out)
    assert (document["azureAsked"], document["whyNot"]) == (True, None)
    assert {"status", "topic", "subject", "message", "fix", "source"} == set(document["findings"][0])
    assert document["summary"]["error"] >= 1


def test_without_a_login_the_command_reports_it_and_checks_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = command(monkeypatch, login.NoLogin("no user is logged in"), "dev-westus2")
    assert code == 0
    assert "Azure was not queried (no login: no user is logged in)" in err
    assert "documented for westus2" in out


def test_unknown_counts_where_it_is_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    assert command(monkeypatch, Answers(), "dev-westus2", "--offline")[0] == 0
    assert command(monkeypatch, Answers(), "dev-westus2", "--offline", "--severity", "unknown")[0] == 3


def test_several_subscriptions_have_to_be_chosen_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(check_command.SUBSCRIPTION_VARIABLE, raising=False)
    rows = [{"subscriptionId": name, "displayName": name.upper(), "state": "Enabled"} for name in ("a", "b")]

    def get(address: str, parameters: Mapping[str, str]) -> Any:
        return {"value": rows}

    monkeypatch.setattr(check_command, "_login", lambda: get)
    code, _, err = call("check", "dev-westus2")
    assert code == 2
    assert "a (A); b (B)" in " ".join(err.replace("│", " ").split())
    assert [each.id for each in subscriptions(get)] == ["a", "b"]


def test_the_environment_selects_the_subscription(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(check_command.SUBSCRIPTION_VARIABLE, SUBSCRIPTION)
    answers = Answers()
    command(monkeypatch, answers, "dev-westus2")
    assert {address.split("/")[2] for address, _ in answers.asked if address.startswith("/")} == {SUBSCRIPTION}


def test_the_namespaces_are_those_of_the_resources_and_of_the_nodes() -> None:
    assert "Microsoft.ContainerService" in namespaces()
    assert "Microsoft.Compute" in namespaces()
    assert "Microsoft.Authorization" not in namespaces()
