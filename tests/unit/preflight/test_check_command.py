"""The login, the HTTP requests and the command of `physai check`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError, ServiceRequestTimeoutError, ServiceResponseError
from azure.core.pipeline.transport import HttpTransport
from azure.core.rest import HttpRequest

from physical_ai.subscription.rest import subscriptions
from tests.support.azure_subscription import SUBSCRIPTION, Answers
from tests.unit.cli.test_cli_commands import call
from workbench.cli import azure_login
from workbench.cli.commands import check as check_command
from workbench.preflight import AzureRest, Unanswered, login

NOWHERE = Path("/dev/null/answers")
"""A folder in which nothing can be kept."""


def on_path(name: str) -> str | None:
    return f"/usr/bin/{name}"


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

    monkeypatch.setattr(azure_login, "_login", log_in)
    monkeypatch.setattr(azure_login, "_exchange", lambda: None)
    monkeypatch.setattr(azure_login, "answers_folder", lambda: NOWHERE)
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
    monkeypatch.delenv(azure_login.SUBSCRIPTION_VARIABLE, raising=False)
    rows = [{"subscriptionId": name, "displayName": name.upper(), "state": "Enabled"} for name in ("a", "b")]

    def get(address: str, parameters: Mapping[str, str]) -> Any:
        return {"value": rows}

    monkeypatch.setattr(azure_login, "_login", lambda: get)
    monkeypatch.setattr(azure_login, "_exchange", lambda: None)
    code, _, err = call("check", "dev-westus2")
    assert code == 2
    assert "a (A); b (B)" in " ".join(err.replace("│", " ").split())
    assert [each.id for each in subscriptions(get)] == ["a", "b"]


def test_the_environment_selects_the_subscription(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(azure_login.SUBSCRIPTION_VARIABLE, SUBSCRIPTION)
    answers = Answers()
    command(monkeypatch, answers, "dev-westus2")
    assert {address.split("/")[2] for address, _ in answers.asked if address.startswith("/")} == {SUBSCRIPTION}


def test_a_zone_in_another_subscription_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which no row lists: it follows from the resources that the stack declares."""
    monkeypatch.setenv(azure_login.SUBSCRIPTION_VARIABLE, SUBSCRIPTION)
    answers = Answers()
    command(monkeypatch, answers, "dev-southeastasia")
    elsewhere = {address for address, _ in answers.asked if f"/subscriptions/{SUBSCRIPTION}" not in address}
    group = "/subscriptions/00000000-0000-0000-0000-000000000005/resourceGroups/rg-dns"
    assert {address.partition("/providers/Microsoft.Authorization")[0] for address in elsewhere} == {
        f"{group}/providers/Microsoft.Network/dnsZones/contoso.com"
    }


def test_a_request_that_changes_something_gives_every_status_as_an_answer() -> None:
    refusal = httpx.Response(409, json={"code": "OperationNotAllowed"}, headers={"X-Ms-Request-Id": "1"})
    wire = Wire(refusal, httpx.Response(202), httpx.Response(200, text="<html>"), ServiceResponseError("cut off"))
    exchange = login.connect_to_change(Credential(), wire)
    status, body, headers = exchange("POST", "/x/deleteMachines", {"api-version": "1"}, {"machineNames": ["a"]})
    assert (status, body, headers["x-ms-request-id"]) == (409, {"code": "OperationNotAllowed"}, "1")
    assert exchange("POST", "/x", {}, None)[:2] == (202, None)
    for problem in ("not JSON", "was not reached"):
        with pytest.raises(Unanswered, match=problem):
            exchange("PUT", "https://management.azure.com/x", {}, {})
    assert all(url.startswith("https://management.azure.com/x") for url in wire.urls)
