"""The client's questions to ARM about a template over real HTTP, and every way in which ARM does not answer them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from physical_ai.findings import Finding, Severity
from simulator.azure import web
from simulator.azure.restrictions import Denial
from simulator.azure.web import Fault
from tests.support.arm_web import SUBSCRIPTION, World, world
from tests.unit.verdict.test_template import GROUP, IDENTITY, group, identity, network, role, subnet
from workbench.verdict import asking
from workbench.verdict import template as template_module
from workbench.verdict.findings import VerdictFinding, findings
from workbench.verdict.model import Judged, Plan, Recorded
from workbench.verdict.template import plan

WORKS = (group(), network(), subnet(), identity())


def planned(*recorded: Recorded) -> Plan:
    return plan(recorded, SUBSCRIPTION, "westus2", "dev-westus2")


@pytest.fixture
def azure(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as found:
        yield found


def judged(azure: World, *recorded: Recorded, who: str = "owner") -> Judged:
    (answer,) = azure.arm(who).judge(planned(*(recorded or WORKS)))
    return answer


def found(azure: World, *recorded: Recorded, who: str = "owner") -> list[Finding]:
    made = planned(*(recorded or WORKS))
    return list(findings(made, azure.arm(who).judge(made), ("h100gpu",), lambda path: "stacks/x.yaml"))


def nat(sku: str, version: str = "2024-05-01") -> Recorded:
    inputs = {"resourceGroupName": GROUP, "natGatewayName": "ng-dev", "location": "westus2", "sku": {"name": sku}}
    return Recorded("azure-native:network:NatGateway", "nat", {**inputs, "azureApiVersion": version})


def test_a_template_that_is_accepted_is_foreseen_and_nothing_is_created(azure: World) -> None:
    answer = judged(azure)
    assert (answer.said, answer.unanswered, answer.what_if) == ((), "", True)
    assert {each.kind for each in answer.changes} == {"Create"}
    assert len(answer.changes) == 4
    assert azure.web.questions.cloud.resources() == {}
    methods = [(method, path.rpartition("/")[2]) for method, path, _ in azure.web.asked]
    assert methods[:2] == [("POST", "validate"), ("POST", "whatIf")]
    assert methods[2][0] == "GET"


def test_no_secret_is_sent(azure: World) -> None:
    judged(azure)
    assert "Hidden" not in json.dumps([body for _, _, body in azure.web.asked])


def test_a_refusal_has_azures_code_and_sentence_the_resource_the_setting_and_its_file(azure: World) -> None:
    pool = Recorded(
        "azure-native:containerservice:AgentPool",
        "h100",
        {"resourceGroupName": GROUP, "resourceName": "aks", "agentPoolName": "h100gpu", "osDiskSizeGB": "large"},
    )
    (refused,) = found(azure, group(), pool)
    assert isinstance(refused, VerdictFinding)
    assert refused.severity is Severity.ERROR
    assert refused.problem.startswith(refused.code)
    assert refused.resource.endswith("/agentPools/h100gpu")
    assert (refused.setting, refused.file) == ("pools.h100gpu.osDisk", "stacks/x.yaml")
    assert "pools.h100gpu.osDisk in stacks/x.yaml" in str(refused.fix)


def test_a_code_that_is_not_known_is_shown_with_its_words_and_where_to_look_it_up(azure: World) -> None:
    body = {"error": {"code": "QuantumFlux", "message": "The flux\n is wrong.", "target": IDENTITY}}
    azure.fault(Fault(400, json.dumps(body).encode()))
    (refused,) = found(azure)
    assert refused.problem == "QuantumFlux: The flux is wrong."
    assert "not in physical_ai/readiness/data/azure_errors.yaml" in str(refused.fix)
    assert "learn.microsoft.com" in str(refused.fix)


def test_an_api_version_without_a_value_is_found(azure: World) -> None:
    (refused,) = found(azure, group(), nat("Standard", "2019-13-01"))
    assert refused.problem.startswith("NoRegisteredProviderFound")
    assert "network.outbound" in str(refused.fix)


def test_missing_rights_are_found_one_by_one(azure: World) -> None:
    reader = found(azure, who="reader")
    assert [each.severity for each in reader] == [Severity.UNKNOWN]
    assert "403" in reader[0].problem
    assert "deployments/validate/action" in reader[0].problem


def test_a_role_in_a_subscription_of_others_is_found(tmp_path: Path) -> None:
    other = "/subscriptions/22222222-1111-4111-8111-111111111111"
    zone = f"{other}/resourceGroups/rg-dns/providers/Microsoft.Network/dnsZones/contoso.com"
    with world(tmp_path, foreign=(other,)) as azure:
        (refused,) = found(azure, group(), identity(), role(zone))
    assert refused.problem.startswith("AuthorizationFailed: Authorization failed for template resource")
    assert zone in refused.problem


def test_a_policy_that_denies_is_named(tmp_path: Path) -> None:
    denial = Denial("Allowed locations", "*", "location", ("westeurope", None), allows=True)
    with world(tmp_path, denials=(denial,)) as azure:
        refused = found(azure)
    assert {each.problem.partition(":")[0] for each in refused} == {"RequestDisallowedByPolicy"}
    assert all("Denied by Allowed locations" in each.problem for each in refused)
    assert all("exemption" in str(each.fix) for each in refused)


def test_a_provider_that_is_not_registered_is_named(tmp_path: Path) -> None:
    with world(tmp_path, registered=("Microsoft.Network",)) as azure:
        (refused,) = found(azure)
    assert "'Microsoft.ManagedIdentity'" in refused.problem
    assert "does not have the resource provider" in str(refused.fix)


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("expired", "ExpiredAuthenticationToken"),
        ("other", "InvalidAuthenticationTokenTenant"),
        ("nobody", "AuthenticationFailed"),
    ],
)
def test_a_login_that_azure_does_not_accept_is_no_verdict(azure: World, who: str, words: str) -> None:
    (unknown,) = found(azure, who=who)
    assert unknown.severity is Severity.UNKNOWN
    assert words in unknown.problem


@pytest.mark.parametrize("headers", [{"Retry-After": "1"}, {}, {"Retry-After": "soon"}, {"Retry-After": "86400"}])
@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_busy_azure_is_asked_again(azure: World, status: int, headers: dict[str, str]) -> None:
    azure.fault(*[Fault(status, b"{}", headers)] * 2)
    assert judged(azure).what_if


def test_an_azure_that_stays_busy_is_given_up(azure: World) -> None:
    azure.fault(*[Fault(429, b'{"error": {"code": "TooManyRequests", "message": "Slow down."}}')] * 50)
    answer = judged(azure)
    assert answer.unanswered.startswith("ARM answered 429 5 times: TooManyRequests: Slow down.")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(200, b"<html>proxy</html>"), "a page"),
        (Fault(200, b'{"properties": {"prov', cut=True), "not reached"),
        (Fault(200, b""), "without a document"),
        (Fault(200, b"[]"), "without a document"),
        (Fault(200, b"{}"), "without a document"),
        (Fault(200, b'{"properties": 7}'), "without a document"),
        (Fault(200, b'{"error": {}}'), "Failed"),
        (Fault(418, b"{}"), "418"),
        (Fault(202, b"", {}), "without an address"),
        (Fault(202, b"", {"Location": "https://example.com/steal"}), "another host"),
        (Fault(404, b'{"error": {"code": "SubscriptionNotFound", "message": "No."}}'), "SubscriptionNotFound"),
        (Fault(413, b'{"error": {"code": "RequestEntityTooLarge", "message": "Too large."}}'), "RequestEntityTooLarge"),
    ],
)
def test_what_is_no_answer_is_no_verdict_and_no_error_of_the_program(azure: World, fault: Fault, words: str) -> None:
    azure.fault(fault)
    answer = judged(azure)
    assert words in answer.unanswered or words in [each.code for each in answer.said]
    assert not answer.what_if


def test_a_result_that_never_comes_is_given_up(azure: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MOST_REQUESTS", 12)
    later = {"Location": f"{asking.ARM}/subscriptions/{SUBSCRIPTION}/operationresults/9?api-version=x"}
    azure.fault(*[Fault(202, b"", later)] * 20)
    assert "no result after 12 requests" in judged(azure).unanswered


def test_waiting_has_an_end(azure: World) -> None:
    arm = azure.arm()
    now = iter([0.0, *(600.0 * each for each in range(1, 100))])
    arm = asking.Arm(arm.exchange, SUBSCRIPTION, lambda seconds: None, lambda: next(now))
    azure.fault(*[Fault(429, b"{}")] * 5)
    (answer,) = arm.judge(planned(*WORKS))
    assert answer.unanswered == "no result within 900 s"


def test_an_answer_of_a_newer_api_is_read_as_far_as_it_is_known(azure: World) -> None:
    changes: list[Any] = [
        {"resourceId": IDENTITY, "changeType": "Teleport", "future": {}},
        {"resourceId": IDENTITY, "changeType": "Unsupported", "unsupportedReason": "It has a secret."},
        "what",
    ]
    newer = {"status": "Succeeded", "properties": {"changes": changes, "new": [1]}, "diagnostics": []}
    azure.fault(Fault(200, json.dumps(newer).encode(), only="whatIf"))
    answer = judged(azure)
    assert [each.kind for each in answer.changes] == ["Teleport", "Unsupported", "unnamed"]
    texts = [each.problem for each in findings(planned(*WORKS), [answer], (), lambda path: "")]
    assert "What-if cannot say: It has a secret." in texts


def test_what_if_that_fails_says_why(azure: World) -> None:
    inner = {"code": "Conflict", "message": "The zone is locked.", "target": IDENTITY}
    error = {"code": "DeploymentWhatIfResourceError", "message": "See details.", "details": [inner]}
    azure.fault(Fault(200, json.dumps({"status": "Failed", "error": error}).encode(), only="whatIf"))
    (refused,) = found(azure)
    assert refused.problem == "Conflict: The zone is locked."
    assert isinstance(refused, VerdictFinding)
    assert refused.resource == IDENTITY


def test_an_error_within_the_text_of_an_error_is_read(azure: World) -> None:
    inner = json.dumps({"error": {"code": "SkuNotAvailable", "message": "Not here."}})
    body = {"error": {"code": "DeploymentFailed", "message": inner}}
    azure.fault(Fault(400, json.dumps(body).encode()))
    (refused,) = found(azure)
    assert refused.problem == "SkuNotAvailable: Not here."


def test_errors_without_end_are_cut_off(azure: World) -> None:
    error: Any = {"code": "Last", "message": "x"}
    for _ in range(40):
        error = {"code": "Around", "message": "y", "details": [error]}
    azure.fault(Fault(400, json.dumps({"error": error}).encode()))
    answer = judged(azure)
    assert answer.said or answer.unanswered


def test_a_template_that_is_too_large_is_said_to_be(azure: World) -> None:
    azure.fault(Fault(400, b'{"error": {"code": "JobSizeExceeded", "message": "The job size exceeded the limit."}}'))
    (refused,) = found(azure)
    assert refused.problem.startswith("JobSizeExceeded")


def networks(number: int) -> list[Recorded]:
    """Networks of some 125 KiB each, most of it short values."""
    servers = [f"10.{each % 9}.{each // 9 % 250}.{each // 2250 % 250 + 1}" for each in range(9_600)]
    return [
        Recorded(
            "azure-native:network:VirtualNetwork",
            f"vnet-{each}",
            {
                "resourceGroupName": GROUP,
                "virtualNetworkName": f"vnet-{each}",
                "location": "westus2",
                "addressSpace": {"addressPrefixes": [f"10.{each}.0.0/16"]},
                "dhcpOptions": {"dnsServers": servers},
            },
        )
        for each in range(number)
    ]


@pytest.fixture
def eighth(monkeypatch: pytest.MonkeyPatch) -> None:
    """An eighth of the 4 MB that Azure takes, for the program and for Azure."""
    assert template_module.LARGEST_TEMPLATE == web.LARGEST_REQUEST == 4 << 20
    monkeypatch.setattr(template_module, "LARGEST_TEMPLATE", 1 << 19)
    monkeypatch.setattr(web, "LARGEST_REQUEST", 1 << 19)


@pytest.mark.usefixtures("eighth")
def test_a_request_over_4_mb_is_refused(azure: World) -> None:
    """One template for what the splitter puts into two."""
    large = planned(group(), *networks(6))
    assert len(large.deployments) == 2
    resources = [each for part in large.deployments for each in part.template["resources"][1:]]
    template = {
        **large.deployments[0].template,
        "resources": [large.deployments[0].template["resources"][0], *resources],
    }
    one = Plan((dataclasses.replace(large.deployments[0], template=template),), large.subjects)
    (judged,) = azure.arm().judge(one)
    assert [each.code for each in judged.said] == ["RequestContentTooLarge"]


@pytest.mark.usefixtures("eighth")
def test_a_plan_over_4_mb_is_judged_in_requests_that_azure_takes(azure: World) -> None:
    plan = planned(group(), *networks(6))
    judged = azure.arm().judge(plan)
    assert [(each.said, each.unanswered, each.what_if) for each in judged] == [((), "", True)] * 2
    (accepted,) = findings(plan, judged, (), lambda path: "")
    assert accepted.severity is Severity.OK
