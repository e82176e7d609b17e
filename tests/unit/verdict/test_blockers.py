"""Blockers of a first deployment, put into what a stack declares: a check finds each before anything is created."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from physical_ai.findings import Finding, Severity
from simulator.azure.restrictions import Denial
from tests.support.arm_web import SUBSCRIPTION, world
from tests.support.stacks import sweep
from workbench.cli.azure_questions import flow_findings
from workbench.cli.policy_pack import declared_resources
from workbench.cli.requested_stack import read_stack
from workbench.cli.verdict_input import plan_of
from workbench.policies import Stack
from workbench.preflight.federation import subject_findings
from workbench.verdict.findings import findings

PLACE = "dev-southeastasia"
OTHER = "/subscriptions/00000000-0000-0000-0000-000000000005"


@cache
def declared(stack: str) -> Stack:
    return declared_resources(read_stack(stack), preview=False, subscription=SUBSCRIPTION)


def changed(stack: str, kind: str, change: Callable[[dict[str, Any]], object]) -> Stack:
    """The declared resources with a change to the inputs of all of a kind."""
    return with_inputs(declared(stack), kind, change)


def with_inputs(found: Stack, kind: str, change: Callable[[dict[str, Any]], object]) -> Stack:
    resources = []
    for each in found.resources:
        if each.type.endswith(f":{kind}"):
            inputs = copy.deepcopy(dict(each.inputs))
            change(inputs)
            each = dataclasses.replace(each, inputs=inputs)  # noqa: PLW2901 - the changed one
        resources.append(each)
    return dataclasses.replace(found, resources=tuple(resources))


def found(folder: Path, given: Stack, stack: str = PLACE, **options: Any) -> list[Finding]:
    """Findings of the verdict about declared resources."""
    made = plan_of(read_stack(stack), given, SUBSCRIPTION)
    with world(folder, **options) as azure:
        judged = azure.arm().judge(made)
    return list(findings(made, judged, ("h100gpu", "rtxprogpu", "a10gpu"), lambda path: "stacks/x.yaml"))


def only_error(given: list[Finding]) -> str:
    errors = {f"{each.where}: {each.problem} {each.fix}" for each in given if each.severity is Severity.ERROR}
    assert errors, [str(each) for each in given]
    return "\n".join(sorted(errors))


@pytest.mark.parametrize("stack", sweep([PLACE, "prod-westeurope"], [PLACE]))
def test_what_is_shipped_is_refused_for_nothing(tmp_path: Path, stack: str) -> None:
    (accepted,) = found(tmp_path, declared(stack), stack)
    assert accepted.severity is Severity.OK
    assert "Azure refuses none of" in accepted.problem
    assert [each for each in flow_findings(declared(stack)) if each.severity is Severity.ERROR] == []


def test_the_tenant_is_the_callers() -> None:
    (deployment,) = plan_of(read_stack(PLACE), declared(PLACE), SUBSCRIPTION).deployments
    text = str(deployment.template)
    assert "[subscription().tenantId]" in text
    assert "11111111-2222-3333" not in text


def test_a1_a_public_gateway_behind_a_group_without_rules() -> None:
    given = declared(PLACE)
    without = tuple(each for each in given.resources if not each.type.endswith(":SecurityRule"))
    text = only_error(list(flow_findings(dataclasses.replace(given, resources=without))))
    assert "gateway" in text


def test_a2_a_credential_with_the_subject_of_before() -> None:
    sent = "repo:acme@11/robots@22"
    (wrong,) = subject_findings("acme/robots", sent, "dev", {"id-deploy": ["repo:acme/robots:environment:dev"]})
    assert wrong.severity is Severity.ERROR
    (right,) = subject_findings("acme/robots", sent, "dev", {"id-deploy": [f"{sent}:environment:dev"]})
    assert right.severity is Severity.OK
    (unknown,) = subject_findings("acme/robots", None, "dev", {"id-deploy": [f"{sent}:environment:dev"]})
    assert unknown.severity is Severity.UNKNOWN
    assert list(subject_findings("acme/robots", sent, "dev", {"id": ["repo:acme/other:environment:dev"]})) == []


@pytest.mark.deep  # in `make test`: a region that offers no database, in test_refused_too.py
def test_a3_a_database_whose_standby_the_region_does_not_make(tmp_path: Path) -> None:
    def standby(inputs: dict[str, Any]) -> None:
        inputs["highAvailability"] = {"mode": "ZoneRedundant"}

    text = only_error(found(tmp_path, changed("prod-westeurope", "Server", standby), "prod-westeurope"))
    assert "flexibleServers" in text
    assert "dataServices.postgres" in text


def test_a4_a_role_on_a_zone_of_others(tmp_path: Path) -> None:
    text = only_error(found(tmp_path, declared(PLACE), foreign=(OTHER,)))
    assert "AuthorizationFailed" in text
    assert "dnsZones/contoso.com" in text


def test_a7_a_registry_that_azure_does_not_cache(tmp_path: Path) -> None:
    def upstream(inputs: dict[str, Any]) -> None:
        inputs["sourceRepository"] = "docker.elastic.co/*"

    text = only_error(found(tmp_path, changed(PLACE, "CacheRule", upstream)))
    assert "dataServices.registry.upstreams" in text


def test_a8_a_provider_that_is_not_registered(tmp_path: Path) -> None:
    known = ("Microsoft.Network", "Microsoft.ContainerService", "Microsoft.ManagedIdentity", "Microsoft.Storage")
    text = only_error(found(tmp_path, declared(PLACE), registered=known))
    assert "Microsoft.DBforPostgreSQL" in text
    assert "MissingSubscriptionRegistration" in text


def test_a9_a_gateway_in_a_version_that_does_not_know_its_kind(tmp_path: Path) -> None:
    def second(inputs: dict[str, Any]) -> None:
        inputs.update(sku={"name": "StandardV2"}, azureApiVersion="2024-05-01")

    text = only_error(found(tmp_path, changed(PLACE, "NatGateway", second)))
    assert "natGateways" in text
    assert "network.outbound in stacks/x.yaml" in text


def test_a10_an_os_disk_that_does_not_fit(tmp_path: Path) -> None:
    def large(inputs: dict[str, Any]) -> None:
        if inputs["agentPoolName"] == "h100gpu":
            inputs.update(osDiskType="Ephemeral", osDiskSizeGB=512)

    text = only_error(found(tmp_path, changed(PLACE, "AgentPool", large)))
    assert "pools.h100gpu.osDisk" in text


def test_a15_a_family_without_quota(tmp_path: Path) -> None:
    text = only_error(found(tmp_path, declared(PLACE), quota={"*": 0}))
    assert "agentPools" in text


@pytest.mark.parametrize(
    "values",
    [
        (
            ("AgentPool", {"vmSize": "Standard_ND96isr_H9000"}, "sku"),
            ("ManagedCluster", {"kubernetesVersion": "1.12"}, "cluster.kubernetesVersion"),
            ("RedisEnterprise", {"sku": {"name": "Balanced_B9000"}}, "dataServices.redis"),
            ("StorageAccount", {"accountName": "Not_A_Name"}, "dataServices.storage"),
            ("Vault", {"location": "moon"}, "moon"),
        ),
        (
            ("AgentPool", {"osSKU": "Windows95"}, "osSku"),
            ("ManagedCluster", {"dnsPrefix": 7}, "cluster"),
            ("Subnet", {"addressPrefix": "192.168.0.0/33"}, "snet-"),
            ("VirtualNetwork", {"azureApiVersion": "2031-01-01"}, "API version"),
        ),
    ],
)
def test_neighbours_of_these_are_found_too(tmp_path: Path, values: tuple[tuple[str, dict[str, Any], str], ...]) -> None:
    given = declared(PLACE)
    for kind, change, _ in values:
        given = with_inputs(given, kind, lambda inputs, change=change: inputs.update(change))
    text = only_error(found(tmp_path, given))
    assert [words for _, _, words in values if words not in text] == []


def test_a_landing_zone_that_allows_other_regions_only(tmp_path: Path) -> None:
    denial = Denial("Allowed locations", "Microsoft.Network/virtualNetworks", "location", ("westeurope",), allows=True)
    text = only_error(found(tmp_path, declared(PLACE), denials=(denial,)))
    assert "Denied by Allowed locations" in text
    assert "network.addressSpace" in text
