"""`physai check` as a whole, over HTTP: what the simulated Azure does not answer is no question of the command.

A subscription that lacks something: test_refused_too.py, a row for each question.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from physical_ai.findings import Finding, Severity
from physical_ai.subscription.versions import kubernetes_findings
from simulator.azure import StandingRole
from simulator.azure.data import tables
from simulator.azure.offer_answers import REDIS_VERSION
from simulator.azure.roles import guid_of
from tests.support.arm_web import PIPELINE, SUBSCRIPTION, reached, world
from tests.support.stacks import sweep
from tests.unit.verdict.test_blockers import PLACE, changed, declared, with_inputs
from workbench.cli import azure_questions
from workbench.cli.azure_questions import everything
from workbench.cli.bootstrap_names import GROUP
from workbench.cli.requested_stack import read_stack
from workbench.policies import Stack

TODAY = datetime.date(2026, 11, 28)
REDIS: list[str] = tables.table("RedisEnterprise", REDIS_VERSION)["sku.name"]["enum"]
LARGE = "prod-westeurope"
TOPICS = {
    *("subscription", "size", "quota", "count", "kubernetes", "provider", "api version", "offer", "role", "name"),
    *("database", "policy", "verdict", "sku", "lock"),
}
OF_THIS_MACHINE = "this machine"


def whole(folder: Path, stack: str, given: Stack | None = None, who: str = "owner", **options: Any) -> list[Finding]:
    """All findings of the command about a stack, of which the declared resources may be others."""
    with world(folder, **options) as azure:
        found = everything(
            read_stack(stack),
            given or declared(stack),
            reached(azure, folder / "answers", who),
            TODAY,
            verdict=True,
        )
    return [each for each in found if each.source != OF_THIS_MACHINE]


def errors(found: list[Finding]) -> str:
    """Topics, subjects and texts of the errors, a line for each."""
    rows = [each for each in found if each.severity is Severity.ERROR]
    return "\n".join(f"{each.rule} {each.where}: {each.problem} {each.fix}" for each in rows)


@pytest.mark.parametrize("stack", sweep([PLACE, LARGE], [PLACE]))
def test_every_question_has_an_answer_and_none_is_an_error(tmp_path: Path, stack: str) -> None:
    found = whole(tmp_path, stack)
    imports = [each for each in found if each.rule == "image"]
    assert [str(each) for each in found if each.severity is Severity.UNKNOWN and each not in imports] == []
    assert errors(found) == ""
    assert {each.rule for each in found} >= TOPICS


VALUES: tuple[tuple[tuple[str, dict[str, Any], str], ...], ...] = (
    (
        ("StorageAccount", {"sku": {"name": "Premium_ZRS"}}, "dataServices.storage"),
        ("Server", {"administratorLogin": "azure_pg_admin"}, "is reserved"),
        ("SecurityRule", {"sourceAddressPrefix": "Everybody", "sourceAddressPrefixes": None}, "Everybody"),
        ("Registry", {"sku": {"name": "Classic"}}, "is retired"),
        ("Vault", {"location": "moon"}, "moon"),
    ),
    (
        ("StorageAccount", {"accessTier": "Premium"}, "no tier Premium"),
        ("Server", {"administratorLogin": "osmo-admin"}, "letters, digits and underscores"),
        ("SecurityRule", {"sourceAddressPrefix": None, "sourceAddressPrefixes": ["Internet"]}, "system tags"),
        ("Workspace", {"retentionInDays": 10_000}, "retentionInDays"),
    ),
    (
        ("SecurityRule", {"priority": 5000}, "outside 100..4096"),
        ("NatGateway", {"zones": ["9"]}, "natGateways"),
    ),
)
"""Values that Azure does not take, each with a word of its error, by check: one check finds all of a row."""


@pytest.mark.parametrize("values", [VALUES[0], *(pytest.param(each, marks=pytest.mark.deep) for each in VALUES[1:])])
def test_values_that_azure_does_not_take_are_found(
    tmp_path: Path, values: tuple[tuple[str, dict[str, Any], str], ...]
) -> None:
    given = declared(PLACE)
    for kind, change, _ in values:
        given = with_inputs(given, kind, lambda inputs, change=change: inputs.update(change))
    text = errors(whole(tmp_path, PLACE, given))
    assert [words for _, _, words in values if words not in text] == []


def test_a_reader_is_told_which_rights_are_missing(tmp_path: Path) -> None:
    found = whole(tmp_path, PLACE, who="reader")
    text = errors(found)
    assert "may not: Microsoft.Resources/subscriptions/resourceGroups/write, which ResourceGroup" in text
    assert "may not: Microsoft.Authorization/roleAssignments/write, which RoleAssignment" in text
    assert " others need." in text
    unknown = {each.rule for each in found if each.severity is Severity.UNKNOWN}
    assert unknown == {"name", "verdict", "database"}


@pytest.mark.deep  # in `make test`: the assigner with a condition, below
def test_a_contributor_lacks_the_assignment_of_roles_alone(tmp_path: Path) -> None:
    roles = (StandingRole(PIPELINE, guid_of("Contributor")),)
    rows = [each for each in whole(tmp_path, PLACE, who="pipeline", roles=roles) if each.rule == "role"]
    (lacking,) = [each.problem for each in rows if each.severity is Severity.ERROR and each.where == "you"]
    assert lacking.startswith("may not: Microsoft.Authorization/roleAssignments/write, which RoleAssignment")


def test_an_assigner_with_a_condition_is_told_which_roles_are_not_in_it(tmp_path: Path) -> None:
    assigner, known = guid_of("Role Based Access Control Administrator"), (guid_of("Network Contributor"),)
    roles = (StandingRole(PIPELINE, guid_of("Contributor")), StandingRole(PIPELINE, assigner, known))
    text = errors(whole(tmp_path, PLACE, who="pipeline", roles=roles))
    assert "only under a condition, which does not name the role of" in text
    assert guid_of("Managed Identity Operator") in text
    assert f"({guid_of('Network Contributor')})" not in text


@pytest.mark.parametrize(
    ("options", "severity", "words"),
    [
        ({"absent": tuple(each for each in REDIS if each.startswith("Balanced"))}, Severity.WARNING, "Balanced_B1"),
        pytest.param(  # in `make test`: a lock that refuses, in test_refused_too.py
            {"locks": {f"/subscriptions/{SUBSCRIPTION}": "CanNotDelete"}},
            *(Severity.INFO, "removed or replaced"),
            marks=pytest.mark.deep,
        ),
    ],
)
def test_what_is_no_error_is_shown(tmp_path: Path, options: dict[str, Any], severity: Severity, words: str) -> None:
    found = [each for each in whole(tmp_path, PLACE, **options) if each.severity is severity]
    assert any(words in f"{each.where}: {each.problem} {each.fix}" for each in found), [str(each) for each in found]


@pytest.mark.deep  # in `make test`: a lock on all, in test_refused_too.py
def test_a_lock_on_what_is_not_the_stacks_is_none_of_its(tmp_path: Path) -> None:
    locks = {f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-other": "ReadOnly"}
    assert errors(whole(tmp_path, PLACE, locks=locks)) == ""


@pytest.mark.deep  # in `make test`: the verdict on it in test_blockers.py
def test_one_size_that_does_not_fit_is_found_by_question_and_verdict(tmp_path: Path) -> None:
    def large(inputs: dict[str, Any]) -> None:
        if inputs["agentPoolName"] == "h100gpu":
            inputs.update(osDiskType="Ephemeral", osDiskSizeGB=512)

    assert "VMCannotFitEphemeralOSDisk" in errors(whole(tmp_path, PLACE, changed(PLACE, "AgentPool", large)))


def test_each_question_is_asked_once(tmp_path: Path) -> None:
    with world(tmp_path) as azure:
        everything(read_stack(PLACE), declared(PLACE), reached(azure, tmp_path / "answers"), TODAY, verdict=False)
        asked = [(path, str(body)) for method, path, body in azure.web.asked]
    assert SUBSCRIPTION in str(asked)
    again = {each for each in asked if asked.count(each) > 1 and "checkNameAvailability" not in each[0]}
    assert again == set()


def test_a_credential_of_a_pipeline_with_the_subject_of_before_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A2 of a first deployment: the credential in Azure, and what GitHub sends, are both asked."""
    sent = "repo:acme@11/robots@22"
    monkeypatch.setattr(azure_questions, "repository_of_checkout", lambda: "acme/robots")
    monkeypatch.setattr(azure_questions, "subject_prefix", lambda repository: sent)
    identity = {"resourceGroupName": GROUP, "resourceName": "id-deploy"}
    credential = {
        "federatedIdentityCredentialResourceName": "github",
        "issuer": "https://token.actions.githubusercontent.com",
        "audiences": ["api://AzureADTokenExchange"],
    }
    with world(tmp_path) as azure:
        cloud = azure.web.questions.cloud
        cloud.put("ResourceGroup", {"resourceGroupName": GROUP, "location": "westus2"})
        cloud.put("UserAssignedIdentity", {**identity, "location": "westus2"})
        texts: list[str] = []
        for subject in ("repo:acme/robots:environment:dev", f"{sent}:environment:dev"):
            cloud.put("FederatedIdentityCredential", {**identity, **credential, "subject": subject})
            at = reached(azure, tmp_path / "answers")
            found = everything(read_stack(PLACE), declared(PLACE), at, TODAY, verdict=False)
            texts.append(errors([each for each in found if each.rule == "subject"]))
    assert f"GitHub sends {sent}:environment:dev" in texts[0]
    assert texts[1] == ""


@pytest.mark.parametrize(
    ("version", "plan", "words"),
    [
        ("1.33", "KubernetesOfficial", "with the support plan AKSLongTermSupport only"),
        ("1.33", "AKSLongTermSupport", ""),
        ("1.30", "AKSLongTermSupport", "creates no clusters with Kubernetes 1.30"),
        ("1.36.9", "KubernetesOfficial", "Offered: 1.36.2, 1.36.3"),
        ("1.37", "KubernetesOfficial", ""),
    ],
)
def test_a_version_goes_with_its_support_plan(tmp_path: Path, version: str, plan: str, words: str) -> None:
    with world(tmp_path) as azure:
        offered = reached(azure, tmp_path / "answers").azure.kubernetes("westus2")
    text = errors(list(kubernetes_findings(offered, version, "westus2", plan)))
    assert words in text if words else text == ""
