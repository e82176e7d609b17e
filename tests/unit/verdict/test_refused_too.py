"""The simulated Azure refuses in a deployment what it answers "no" to before one: a row for each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog.azure_native import by_arm_type
from physical_ai.findings import Severity
from simulator.azure import ArmError, Cloud, ids, rights
from simulator.azure.data import tables
from simulator.azure.deployments.expanding import Asked, Expander, Place
from simulator.azure.deployments.inputs import inputs_of
from simulator.azure.deployments.judging import path_of
from simulator.azure.restrictions import Denial, Restrictions
from simulator.azure.roles import role_guid
from tests.support.arm_web import OWNER, READER, SUBSCRIPTION, TENANT, reached, world
from tests.support.azure_fakes import Azure, HandClock
from tests.support.stacks import sweep
from tests.unit.verdict.test_blockers import OTHER, PLACE, with_inputs
from tests.unit.verdict.test_blockers import declared as shipped
from tests.unit.verdict.test_whole_check import LARGE, OF_THIS_MACHINE, TODAY
from workbench.cli.azure_questions import everything
from workbench.cli.policy_pack import declared_resources
from workbench.cli.requested_stack import read_stack
from workbench.cli.verdict_input import plan_of
from workbench.policies import Stack
from workbench.preflight.questions import QUESTIONS
from workbench.verdict.model import Plan

CACHE = "Microsoft.Cache/redisEnterprise"
NO_VAULTS = Denial("no-vaults", "Microsoft.KeyVault/vaults", "location", (None,), True)
GPU, NODE = "Standard_NC40ads_H100_v5", "Standard_D8ds_v5"


@dataclass(frozen=True)
class No:
    """A "no" of Azure: how the simulated subscription is made to give it, and the code with which it refuses the
    deployment.
    """

    topic: str
    asks: str
    """Last part of the path of the question's request."""
    code: str
    says: str = ""
    """Words of the question's error."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    change: tuple[str, Mapping[str, Any]] = ("", {})
    """Kind of the declared resources whose inputs are changed, and the changes."""
    settings: tuple[str, ...] = ()
    who: str = "owner"
    stack: str = PLACE


COUNTS: tuple[tuple[str, str, str], ...] = (
    ("PublicIPAddresses", "PublicIPCountLimitReached", PLACE),
    ("StandardSkuPublicIpAddresses", "StandardSkuPublicIPCountLimitReached", PLACE),
    ("VirtualNetworks", "VnetCountLimitReached", PLACE),
    ("NetworkSecurityGroups", "NetworkSecurityGroupCountLimitReached", PLACE),
    ("NatGateways", "NatGatewayCountLimitReached", PLACE),
    ("ManagedClusters", "QuotaExceeded", PLACE),
    ("StorageAccounts", "MaxStorageAccountsCountPerSubscriptionExceeded", PLACE),
    ("PrivateEndpoints", "PrivateEndpointCountLimitReached", LARGE),
)
VCPU = "ErrCode_InsufficientVCPUQuota"
UNREGISTERED, CLOSED = "az provider register --namespace", "does not have it in southeastasia"
ZONES = "Standard_D8ds_v5 is not offered in zone 1; it is in 2, 3."
NO_ACCOUNTS, NO_CACHE = "no StorageV2 accounts with Standard_LRS", "Azure lists no Balanced_B1 in southeastasia"
REFUSED: tuple[No, ...] = (
    No("subscription", "{id}", "ReadOnlyDisabledSubscription", "Disabled", {"state": "Disabled"}),
    No("size", "skus", "VMSizeNotSupported", "NotAvailableForSubscription", {"restricted": {GPU: ()}}),
    No("size", "skus", "AvailabilityZoneNotSupported", ZONES, {"restricted": {NODE: ("1",)}}, stack=LARGE),
    No("quota", "usages", VCPU, "has no quota standardDDSv5Family", {"unentitled": ("standardDDSv5Family",)}),
    No("quota", "usages", VCPU, "4 of 4 vCPU free", {"quota": {"cores": 4}}),
    *(
        No("count", "usages", code, f"{name}: 0 of 20 free", {"counts": {name: (20, 20)}}, stack=stack)
        for name, code, stack in COUNTS
    ),
    No(
        *("kubernetes", "kubernetesVersions", "K8sVersionNotSupported", "1.36.0"),
        settings=("cluster.kubernetesVersion=1.36.0", "cluster.upgrades.channel=none"),
    ),
    No(
        "provider", "providers", "MissingSubscriptionRegistration", UNREGISTERED, {"registered": ("Microsoft.Network",)}
    ),
    No("offer", "providers", "LocationNotAvailableForResourceType", CLOSED, {"closed": {CACHE: ("Southeast Asia",)}}),
    No("sku", "skus", "SkuNotAvailable", NO_ACCOUNTS, {"absent": ("Standard_LRS",)}),
    No("sku", "skus", "AllocationFailed", NO_CACHE, {"absent": ("Balanced_B1",)}),
    No("lock", "locks", "ScopeLocked", "az lock delete", {"locks": {f"/subscriptions/{SUBSCRIPTION}": "ReadOnly"}}),
    No("role", "permissions", "AuthorizationFailed", "may not", who="reader"),
    No("role", "permissions", "AuthorizationFailed", "dnsZones/contoso.com", {"foreign": (OTHER,)}),
    No("database", "capabilities", "LocationIsOfferRestricted", "", {"databases": {"restricted": "Enabled"}}),
    No("name", "checkNameAvailability", "StorageAccountAlreadyTaken", "already taken", {"taken": ("StorageAccount",)}),
    No("policy", "checkPolicyRestrictions", "RequestDisallowedByPolicy", "no-vaults", {"denials": (NO_VAULTS,)}),
    No(
        *("verdict", "validate", "BadRequest", "TLS 1.0 is not supported"),
        change=("RedisEnterprise", {"minimumTlsVersion": "1.0"}),
    ),
)
NOT_REFUSED: Mapping[tuple[str, str], str] = {
    ("api version", "providers"): "has its own test below: a version that Azure withdraws is no row of a subscription",
    ("feature", "{name}"): "AKS takes the pool without the preview feature; its nodes may be on several fabrics",
    ("verdict", "whatIf"): "what-if shows changes; what it refuses, validation refuses before",
    ("subject", "userAssignedIdentities"): "the credential of a pipeline is judged at its login, not at a PUT",
}
"""Reason why a question's "no" refuses no resource, by topic and last part of the request."""


def rows() -> Iterator[Any]:
    """Rows of the test below. In `make test`: the first one of each topic."""
    topics: set[str] = set()
    for each in REFUSED:
        yield pytest.param(each, marks=pytest.mark.deep if each.topic in topics else (), id=names(each))
        topics.add(each.topic)


def names(each: No) -> str:
    return f"{each.topic}-{each.code}-{'-'.join(each.options) or each.who}"


def test_every_question_has_a_row() -> None:
    asked = {(topic, each.request.rpartition("/")[2]) for each in QUESTIONS for topic in each.topic.split(", ")}
    assert {(each.topic, each.asks) for each in REFUSED} | NOT_REFUSED.keys() == asked
    assert not {(each.topic, each.asks) for each in REFUSED} & NOT_REFUSED.keys()


def resources(plan: Plan, cloud: Cloud) -> Iterator[Asked]:
    """The resources of a plan, in the order of their creation."""

    def reference(resource_id: str) -> Any:
        found = cloud.get(resource_id)
        assert found is not None, resource_id
        return found.outputs

    functions = {
        "subscription": {"tenantId": TENANT, "subscriptionId": SUBSCRIPTION},
        "deployment": {"location": "westus2"},
        "deployer": {"objectId": OWNER, "tenantId": TENANT},
    }
    for each in plan.deployments:
        yield from Expander(reference, functions).resources(each.body()["properties"], Place(SUBSCRIPTION))


def deploy(plan: Plan, cloud: Cloud, caller: str) -> int:
    """Creates the resources of a plan, and returns their number. Raises ArmError."""
    number = 0
    for number, each in enumerate(resources(plan, cloud), 1):  # noqa: B007 - the number of the last one is returned
        mapping = by_arm_type()[each.type.lower()]
        path = path_of(mapping.id_format, each.id)
        inputs = inputs_of(mapping, {**each.body, "name": ids.name(each.id)}, path, each.api_version)
        assigned = role_guid(inputs.get("roleDefinitionId"))
        cloud.authorize(caller, rights.action(each.id, "write"), each.id, assigned)
        cloud.put(mapping.kind, inputs, subscription=each.id.split("/")[2])
    return number


def asked_and_deployed(folder: Path, row: No, given: Stack) -> tuple[dict[str, str], str, int]:
    """Texts of the errors before the deployment by topic, code of the deployment's refusal, and number of created
    resources. The verdict is asked for only where the row is about it.
    """
    verdict = row.topic in ("verdict", "")
    requested = read_stack(row.stack, None, list(row.settings))
    with world(folder, clock=HandClock().model(0), **row.options) as azure:
        found = everything(requested, given, reached(azure, folder / "answers", row.who), TODAY, verdict=verdict)
        said: dict[str, str] = {}
        for each in found:
            if each.severity is Severity.ERROR and each.source != OF_THIS_MACHINE:
                said[each.rule] = f"{said.get(each.rule, '')}{each.where}: {each.problem} {each.fix}\n"
        cloud = azure.web.questions.cloud
        try:
            number = deploy(plan_of(requested, given, SUBSCRIPTION), cloud, READER if row.who == "reader" else OWNER)
        except ArmError as error:
            return said, error.refusal.code, len(cloud.resources())
        return said, "", number


@cache
def declared_with(stack: str, settings: tuple[str, ...]) -> Stack:
    requested = read_stack(stack, None, list(settings))
    return declared_resources(requested, preview=False, subscription=SUBSCRIPTION)


def declared(row: No) -> Stack:
    found = declared_with(row.stack, row.settings) if row.settings else shipped(row.stack)
    kind, change = row.change
    return with_inputs(found, kind, lambda inputs: inputs.update(change)) if kind else found


@pytest.mark.parametrize("stack", sweep([PLACE, LARGE], [PLACE]))
def test_without_a_no_the_whole_plan_is_created(tmp_path: Path, stack: str) -> None:
    row = No("", "", "", stack=stack)
    given = declared(row)
    said, code, number = asked_and_deployed(tmp_path, row, given)
    assert (said, code) == ({}, "")
    assert number > 25


@pytest.mark.parametrize("row", list(rows()))
def test_what_is_answered_no_is_refused_too(tmp_path: Path, row: No) -> None:
    given = declared(row)
    if "taken" in row.options:
        (account,) = (each for each in given.resources if each.type.endswith(":StorageAccount"))
        row = replace(row, options={"taken": {"StorageAccount": (str(account.inputs["accountName"]),)}})
    said, code, _ = asked_and_deployed(tmp_path, row, given)
    assert row.topic in said
    assert row.says in said[row.topic]
    assert code == row.code


def test_a_version_that_azure_no_longer_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = {**tables.published_versions(), CACHE: ("2024-10-01",)}
    monkeypatch.setattr(tables, "published_versions", lambda: left)
    row = No("offer", "", "")
    said, code, _ = asked_and_deployed(tmp_path, row, declared(row))
    assert "offer" in said
    assert code == "NoRegisteredProviderFound"


def test_a_limit_counts_the_resources_of_others_and_ones_own(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json", options={"restrictions": Restrictions(counts={"RouteTables": (18, 20)})})
    azure.group()
    for name in ("rt-1", "rt-2"):
        azure.put("RouteTable", routeTableName=name, location=azure.place)
    azure.put("RouteTable", routeTableName="rt-2", location=azure.place)
    with pytest.raises(ArmError, match="Cannot create more than 20 RouteTables"):
        azure.put("RouteTable", routeTableName="rt-3", location=azure.place)


def test_a_lock_keeps_what_contains_the_resource(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-dev"
    azure.cloud.restrictions.locks = {azure.id("Microsoft.Network/natGateways/nat"): "CanNotDelete"}
    for locked in (group, azure.id("Microsoft.Network/natGateways/nat")):
        with pytest.raises(ArmError, match="cannot perform delete operation"):
            azure.cloud.delete(locked)
    azure.subnet("more", "10.100.9.0/24")
    azure.cloud.restrictions.locks = {group: "ReadOnly"}
    with pytest.raises(ArmError, match="cannot perform write operation"):
        azure.subnet("again", "10.100.10.0/24")


def test_what_exists_stays_as_it_is(tmp_path: Path) -> None:
    """A size that a subscription may no longer use is refused to new pools alone."""
    azure = Azure(tmp_path / "azure.json")
    azure.platform()
    azure.pool()
    azure.cloud.restrictions.restricted = {GPU: ()}
    azure.pool(count=2)
    with pytest.raises(ArmError, match="is not allowed in your subscription in location 'westus2'"):
        azure.pool(agentPoolName="second")
