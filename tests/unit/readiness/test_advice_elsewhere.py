"""Advice on a cluster that exists already: no command, setting or service that only AKS has, in any row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from physical_ai.readiness import ClosedGate
from physical_ai.readiness.causes import Cause, amd_causes, azure_errors, causes, workload_causes
from physical_ai.readiness.expected import deployed_pools, expected_pools
from physical_ai.readiness.workloads import explain, pool_plans
from physical_ai.settings import load
from tests.support.readiness_objects import Situation
from tests.support.workload_objects import Scene
from tests.support.workload_scenes import on_premises, waits

AZURES = re.compile(
    r"\baz |AKS|Azure|nodepool|\bSpot\b|scale\.max|\.sku\b|gpuProfile|autoscal|driver\.source:? (aks|grid)|node image"
    r"|image-only"
)
FROM_AZURE = {
    *azure_errors(),
    "autoscaler-ignores-pool",
    "autoscaler-pending",
    "autoscaler-refused",
    "azure-pool-changing",
    "azure-pool-stopped",
    "driver-gone-aks",
    "identity-refused",
    "pool-at-maximum",
    "scale-up-failed",
}
"""Causes that only Azure, AKS's autoscaler, AKS's driver or Microsoft Entra lead to."""
TABLES: Mapping[str, Mapping[str, Cause]] = {
    "gates": causes(),
    "gates of AMD": amd_causes(),
    "workloads": workload_causes(),
}
ROWS = [pytest.param(row, id=f"{name}: {row.id}") for name, table in TABLES.items() for row in table.values()]
STACK = "onprem-lab"
NOWHERE = "kubelet stopped posting node status."
MACHINE = (
    "azure:///subscriptions/s/providers/Microsoft.Compute/virtualMachineScaleSets/aks-h100gpu-1-vmss/virtualMachines/0"
)


@pytest.mark.parametrize("row", ROWS)
def test_no_row_sends_an_existing_cluster_to_aks(row: Cause) -> None:
    fix = row.describe({}, azure=False)[1]
    if row.id not in FROM_AZURE:
        assert not AZURES.search(fix), fix


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_advice_for_both_or_for_neither(row: Cause) -> None:
    ours, theirs = (row.describe({}, azure=azure)[1] for azure in (True, False))
    assert bool(ours) is bool(theirs)


def test_a_pool_knows_whether_its_cluster_exists_already() -> None:
    settings = load(STACK).settings
    assert all(each.existing for each in expected_pools(settings))
    assert all(each.existing for each in pool_plans(settings))
    ours = load("dev-westus2").settings
    assert not any(each.existing for each in (*expected_pools(ours), *pool_plans(ours)))
    summary = {"resources": {}, "driverSource": "operator", "sharing": "none", "gpusPerNode": 8}
    pools = {"theirs": {**summary, "size": "hgx-b200"}, "ours": {**summary, "size": "Standard_NC40ads_H100_v5"}}
    assert [each.existing for each in deployed_pools(pools, STACK)] == [True, False]


def first(situation: Situation) -> ClosedGate:
    (found,) = situation.report().closed
    return found


def silent(*, existing: bool, machine: str = "") -> str:
    situation = Situation().not_ready(NOWHERE, "NodeStatusUnknown")
    situation.expected = replace(situation.expected, existing=existing)
    situation.node["spec"]["providerID"] = machine
    found = first(situation)
    assert (found.gate, found.cause) == ("node", "node-silent")
    return found.fix


def test_a_gate_advises_what_its_cluster_has() -> None:
    """A cluster that exists already may be one of AKS, which its nodes show, as `physai why` has it."""
    assert silent(existing=False).startswith("AKS restarts a node")
    assert silent(existing=True, machine=MACHINE).startswith("AKS restarts a node")
    elsewhere = silent(existing=True)
    assert elsewhere.startswith("physai why ")
    assert "waits until you have restarted its machine" in elsewhere


@pytest.mark.parametrize("existing", [False, True])
def test_an_unknown_failure_has_the_restart_of_its_cluster(*, existing: bool) -> None:
    situation = Situation().fails("toolkit", "the flux is too low")
    situation.expected = replace(situation.expected, existing=existing)
    assert ("waits until you have restarted" in first(situation).fix) is existing


def test_a_pod_that_waits_for_a_server_that_is_missing_does_not_wait_for_an_autoscaler() -> None:
    (usual,) = explain("train-0", Scene((waits(),)).workloads())[1]
    assert usual.cause == "autoscaler-pending"
    (found,) = explain("train-0", on_premises(waits()).workloads())[1]
    assert (found.cause, found.waits) == ("servers-missing", False)
    assert "0 of the" in found.reason
    assert "pools.h100gpu.nodeSelector" in found.fix
