"""Offers, counted limits and policies, asked of the simulated Azure over HTTP, and the command that shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from physical_ai.findings import Finding, Severity
from physical_ai.subscription.answers import TypeOffer
from simulator.azure.restrictions import Denial
from simulator.azure.web import Fault
from tests.support.arm_web import SUBSCRIPTION, World, world
from tests.unit.cli.test_cli_commands import call
from tests.unit.verdict.test_template import GROUP, group, identity, network
from workbench.cli import azure_login
from workbench.preflight import AzureRest, Unanswered
from workbench.verdict.model import Recorded, Subject
from workbench.verdict.offers import count_findings, offer_findings
from workbench.verdict.policies import policy_findings
from workbench.verdict.template import plan

ADDRESS = Recorded(
    "azure-native:network:PublicIPAddress",
    "address",
    {"resourceGroupName": GROUP, "publicIpAddressName": "pip", "location": "westus2", "zones": ["1", "3"]},
)


def subjects(*recorded: Recorded) -> tuple[Subject, ...]:
    return plan(recorded, SUBSCRIPTION, "westus2", "dev-westus2").subjects


def rest(azure: World) -> AzureRest:
    return AzureRest(azure.get(), SUBSCRIPTION, azure.exchange())


def errors(found: list[Finding]) -> list[str]:
    return [f"{each.where}: {each.problem}" for each in found if each.severity is Severity.ERROR]


def test_a_type_that_the_region_lacks_is_found(tmp_path: Path) -> None:
    closed = {"Microsoft.Network/virtualNetworks": ("West US 2",)}
    with world(tmp_path, closed=closed) as azure:
        found = list(offer_findings(subjects(group(), network(), identity()), rest(azure).type_offers()))
    assert errors(found) == ["Microsoft.Network/virtualNetworks: Azure does not have it in westus2."]
    assert found[-1].severity is Severity.OK


def test_a_version_that_azure_does_not_serve_and_zones_that_it_lacks_are_found() -> None:
    offer = TypeOffer(("2030-01-01",), ("West US 2",), {"West US 2": ("1", "2")})
    found = list(offer_findings(subjects(ADDRESS), {"microsoft.network/publicipaddresses": offer}))
    assert len(errors(found)) == 2
    assert "in zones 1, 2, not 1, 3" in errors(found)[0]
    assert "does not serve 2024-05-01" in errors(found)[1]


def test_what_azures_list_does_not_have_is_no_finding() -> None:
    assert list(offer_findings(subjects(ADDRESS), {})) == []


@pytest.mark.parametrize(("used", "most", "wrong"), [(20, 20, 1), (19, 20, 0), (30, 20, 1), (5, -1, 0)])
def test_a_limit_of_numbers_counts_what_is_to_be_created(tmp_path: Path, used: int, most: int, wrong: int) -> None:
    with world(tmp_path, counts={"PublicIPAddresses": (used, most)}) as azure:
        usages = rest(azure).counts("Microsoft.Network", "westus2")
    made = subjects(group(), ADDRESS)
    assert len(errors(list(count_findings(made, usages, "westus2")))) == wrong
    assert list(count_findings(made, usages, "westus2", [each.resource_id for each in made])) == []


def test_no_more_clusters_than_the_quota(tmp_path: Path) -> None:
    cluster = Recorded(
        "azure-native:containerservice:ManagedCluster", "aks", {"resourceGroupName": GROUP, "resourceName": "aks"}
    )
    found = list(count_findings(subjects(cluster), {"ManagedClusters": (10, 10)}, "westus2"))
    assert errors(found) == [
        "ManagedClusters: 0 of 10 free in westus2; the stack creates 1 of Microsoft.ContainerService/managedClusters."
    ]


def test_a_provider_without_usages_is_not_asked(tmp_path: Path) -> None:
    lacks = ("Microsoft.ContainerService/locations/usages",)
    with world(tmp_path, lacks=lacks) as azure, pytest.raises(Unanswered, match="no usages"):
        rest(azure).counts("Microsoft.ContainerService", "westus2")


def test_a_policy_that_denies_is_named(tmp_path: Path) -> None:
    denial = Denial("no-networks", "Microsoft.Network/virtualNetworks", "location", ("westus2",))
    with world(tmp_path, denials=(denial,)) as azure:
        found = list(policy_findings(subjects(group(), network()), rest(azure).restrictions))
    assert errors(found) == [
        "Microsoft.Network/virtualNetworks: The policy no-networks denies it: location is not allowed."
    ]


def test_who_may_not_ask_for_policies_is_told_so(tmp_path: Path) -> None:
    refusal = Fault(403, b'{"error": {"code": "AuthorizationFailed", "message": "No."}}')
    with world(tmp_path, faults=(refusal,)) as azure, pytest.raises(Unanswered, match="403"):
        list(policy_findings(subjects(network()), rest(azure).restrictions))


@pytest.mark.parametrize("answer", [None, [], {}, {"value": []}])
def test_an_answer_about_policies_of_another_form_is_unknown(answer: Any) -> None:
    (found,) = policy_findings(subjects(network()), lambda body: answer)
    assert found.severity is Severity.UNKNOWN
    assert "Microsoft.Network/virtualNetworks" in found.problem


def test_rows_about_policies_of_another_form_deny_nothing() -> None:
    answer = {"contentEvaluationResult": {"policyEvaluations": [None, {"a": 1}]}}
    (found,) = policy_findings(subjects(network()), lambda body: answer)
    assert found.severity is Severity.OK


def checked(azure: World, monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> tuple[int, Any]:
    monkeypatch.setattr(azure_login, "_login", azure.get)
    monkeypatch.setattr(azure_login, "_exchange", azure.exchange)
    monkeypatch.setattr(azure_login, "answers_folder", lambda: folder / "answers")
    code, out, _ = call("check", "dev-westus2", "--subscription", SUBSCRIPTION, "--json", *arguments)
    return code, json.loads(out)


def test_the_command_shows_the_verdict_with_code_resource_setting_and_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(tmp_path, quota={"*": 0}) as azure:
        code, document = checked(azure, monkeypatch, tmp_path)
    assert code == 3
    assert document["schemaVersion"] == 1
    rows = [each for each in document["findings"] if each["topic"] == "verdict"]
    assert rows
    assert all(each["code"] and each["resource"] for each in rows)
    assert {each["setting"].split(".")[0] for each in rows} <= {"pools", "cpuPool", "systemPool", "network"}
    assert any(str(each["file"]).startswith("stacks/") for each in rows)
    assert azure.web.questions.cloud.resources() == {}


def test_without_the_verdict_no_template_is_sent_and_kept_answers_are_dated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(tmp_path) as azure:
        _, first = checked(azure, monkeypatch, tmp_path, "--no-verdict")
        _, second = checked(azure, monkeypatch, tmp_path, "--no-verdict")
        asked = [path for _, path, _ in azure.web.asked]
    assert not any("/deployments/" in path for path in asked)
    assert first["oldestAnswer"] is None
    assert second["oldestAnswer"] is not None
    assert sum(path.endswith("/providers") for path in asked) == 1
    assert [each for each in first["findings"] if each["topic"] == "verdict"] == []


def test_the_command_lists_its_questions() -> None:
    code, out, _ = call("check", "--questions", "--json")
    assert code == 0
    rows = json.loads(out)["questions"]
    assert {"topic", "asks", "request", "right", "without", "keptHours"} == set(rows[0])
    code, out, _ = call("check", "--questions")
    assert "verdict" in out
