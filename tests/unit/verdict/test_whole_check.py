"""`physai check` as a whole, over HTTP: what the simulated Azure does not answer is no question of the command."""

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
from simulator.azure.restrictions import Denial
from simulator.azure.roles import guid_of
from tests.support.arm_web import PIPELINE, SUBSCRIPTION, reached, world
from tests.unit.verdict.test_blockers import OTHER, PLACE, changed, declared
from workbench.cli import azure_questions
from workbench.cli.azure_questions import everything
from workbench.cli.bootstrap_names import GROUP
from workbench.cli.requested_stack import read_stack
from workbench.policies import Stack

TODAY = datetime.date(2026, 11, 28)
REDIS: list[str] = tables.table("RedisEnterprise", REDIS_VERSION)["sku.name"]["enum"]
LARGE = "prod-westeurope"
CACHE = "Microsoft.Cache/redisEnterprise"
NO_VAULTS = Denial("no-vaults", "Microsoft.KeyVault/vaults", "location", (None,), True)
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


@pytest.mark.parametrize("stack", [PLACE, LARGE])
def test_every_question_has_an_answer_and_none_is_an_error(tmp_path: Path, stack: str) -> None:
    found = whole(tmp_path, stack)
    imports = [each for each in found if each.rule == "image"]
    assert [str(each) for each in found if each.severity is Severity.UNKNOWN and each not in imports] == []
    assert errors(found) == ""
    assert {each.rule for each in found} >= TOPICS


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"restricted": {"Standard_NC40ads_H100_v5": ()}}, "NotAvailableForSubscription", id="size"),
        pytest.param({"unentitled": ("standardDDSv5Family",)}, "has no quota standardDDSv5Family", id="family"),
        pytest.param({"quota": {"cores": 4}}, "4 of 4 vCPU free", id="cores"),
        pytest.param({"counts": {"ManagedClusters": (10, 10)}}, "ManagedClusters", id="clusters"),
        pytest.param({"counts": {"StandardSkuPublicIpAddresses": (20, 20)}}, "0 of 20 free", id="addresses"),
        pytest.param({"registered": ("Microsoft.Network",)}, "az provider register --namespace", id="providers"),
        pytest.param({"closed": {CACHE: ("Southeast Asia",)}}, "does not have it in southeastasia", id="type"),
        pytest.param({"denials": (NO_VAULTS,)}, "no-vaults", id="policy"),
        pytest.param({"foreign": (OTHER,)}, "dnsZones/contoso.com", id="foreign-role"),
    ],
)
def test_what_a_subscription_lacks_is_found(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    assert words in errors(whole(tmp_path, PLACE, **options))


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("StorageAccount", {"sku": {"name": "Premium_ZRS"}}, "dataServices.storage"),
        ("StorageAccount", {"accessTier": "Premium"}, "no tier Premium"),
        ("RedisEnterprise", {"minimumTlsVersion": "1.0"}, "TLS 1.0 is not supported"),
        ("Server", {"administratorLogin": "azure_pg_admin"}, "is reserved"),
        ("Server", {"administratorLogin": "osmo-admin"}, "letters, digits and underscores"),
        ("SecurityRule", {"sourceAddressPrefix": "Everybody", "sourceAddressPrefixes": None}, "Everybody"),
        ("SecurityRule", {"sourceAddressPrefix": None, "sourceAddressPrefixes": ["Internet"]}, "system tags"),
        ("SecurityRule", {"priority": 5000}, "outside 100..4096"),
        ("Registry", {"sku": {"name": "Classic"}}, "is retired"),
        ("Vault", {"location": "moon"}, "moon"),
        ("Workspace", {"retentionInDays": 10_000}, "retentionInDays"),
        ("NatGateway", {"zones": ["9"]}, "natGateways"),
    ],
)
def test_a_value_that_azure_does_not_take_is_found(
    tmp_path: Path, kind: str, change: dict[str, Any], words: str
) -> None:
    given = changed(PLACE, kind, lambda inputs: inputs.update(change))
    assert words in errors(whole(tmp_path, PLACE, given))


def test_a_name_that_somebody_else_has_is_found(tmp_path: Path) -> None:
    (account,) = (each for each in declared(PLACE).resources if each.type.endswith(":StorageAccount"))
    taken = {"StorageAccount": (str(account.inputs["accountName"]),)}
    assert "is already taken" in errors(whole(tmp_path, PLACE, taken=taken))


def test_a_reader_is_told_which_rights_are_missing(tmp_path: Path) -> None:
    found = whole(tmp_path, PLACE, who="reader")
    text = errors(found)
    assert "may not: Microsoft.Resources/subscriptions/resourceGroups/write, which ResourceGroup" in text
    assert "may not: Microsoft.Authorization/roleAssignments/write, which RoleAssignment" in text
    assert " others need." in text
    unknown = {each.rule for each in found if each.severity is Severity.UNKNOWN}
    assert unknown == {"name", "verdict", "database"}


def test_a_size_that_is_missing_in_one_zone_is_found(tmp_path: Path) -> None:
    found = errors(whole(tmp_path, LARGE, restricted={"Standard_D8ds_v5": ("1",)}))
    assert "Standard_D8ds_v5 is not offered in zone 1; it is in 2, 3." in found


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
        ({"absent": ("Balanced_B1",)}, Severity.ERROR, "Azure lists no Balanced_B1 in southeastasia"),
        ({"absent": tuple(each for each in REDIS if each.startswith("Balanced"))}, Severity.WARNING, "Balanced_B1"),
        ({"absent": ("Standard_LRS",)}, Severity.ERROR, "no StorageV2 accounts with Standard_LRS"),
        ({"counts": {"StorageAccounts": (250, 250)}}, Severity.ERROR, "StorageAccounts"),
        ({"locks": {f"/subscriptions/{SUBSCRIPTION}": "ReadOnly"}}, Severity.ERROR, "az lock delete"),
        ({"locks": {f"/subscriptions/{SUBSCRIPTION}": "CanNotDelete"}}, Severity.INFO, "removed or replaced"),
    ],
)
def test_sizes_of_a_service_and_locks(tmp_path: Path, options: dict[str, Any], severity: Severity, words: str) -> None:
    found = [each for each in whole(tmp_path, PLACE, **options) if each.severity is severity]
    assert any(words in f"{each.where}: {each.problem} {each.fix}" for each in found), [str(each) for each in found]


def test_a_lock_on_what_is_not_the_stacks_is_none_of_its(tmp_path: Path) -> None:
    locks = {f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-other": "ReadOnly"}
    assert errors(whole(tmp_path, PLACE, locks=locks)) == ""


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
