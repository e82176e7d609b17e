"""Advice on a cluster that exists already: no command, setting or service that only AKS has, in any row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from physical_ai.readiness import ClosedGate
from physical_ai.readiness.causes import Cause, amd_causes, azure_errors, causes, workload_causes
from physical_ai.readiness.expected import deployed_pools, expected_pools, is_existing
from physical_ai.readiness.nodes.signs import Alert
from physical_ai.readiness.reader import Get
from physical_ai.readiness.workloads import declared_pools, explain, read_workloads
from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.settings.target import existing_cluster
from physical_ai.telemetry.rules import alerts
from tests.support import workload_objects as make
from tests.support.readiness_objects import Situation
from tests.support.workload_objects import Scene
from tests.support.workload_scenes import on_premises, waits
from workbench.cli.repair_world import RepairSources, repair_world
from workbench.health.evidence.node_evidence import NodeEvidence
from workbench.health.replacement.machine_steps import is_by_hand
from workbench.health.replacement.run import new_record

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
ROWS = {f"{name}: {row.id}": row for name, table in TABLES.items() for row in table.values()}
STACK = "onprem-lab"
ALERT = "GPURowRemapFailed"
NOW = "2026-11-22T12:00:00Z"
NOWHERE = "kubelet stopped posting node status."
MACHINE = (
    "azure:///subscriptions/s/providers/Microsoft.Compute/virtualMachineScaleSets/aks-h100gpu-1-vmss/virtualMachines/0"
)


def test_no_row_sends_an_existing_cluster_to_aks() -> None:
    elsewhere = {place: row.describe({}, azure=False)[1] for place, row in ROWS.items() if row.id not in FROM_AZURE}
    assert {place: fix for place, fix in elsewhere.items() if AZURES.search(fix)} == {}


def test_a_row_has_advice_for_both_or_for_neither() -> None:
    def advice(row: Cause) -> set[bool]:
        return {bool(row.describe({}, azure=azure)[1]) for azure in (True, False)}

    assert [place for place, row in ROWS.items() if len(advice(row)) > 1] == []


def test_a_pool_knows_whether_its_cluster_exists_already() -> None:
    settings = load(STACK).settings
    assert is_existing(expected_pools(settings))
    assert all(each.existing for each in expected_pools(settings))
    assert all(each.existing for each in declared_pools(settings))
    ours = load("dev-westus2").settings
    assert not any(each.existing for each in (*expected_pools(ours), *declared_pools(ours)))
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


@pytest.mark.parametrize("machine", ["", MACHINE])
def test_a_gate_advises_what_the_settings_say_of_its_cluster(machine: str) -> None:
    assert silent(existing=False, machine=machine).startswith("AKS restarts a node")
    elsewhere = silent(existing=True, machine=machine)
    assert elsewhere.startswith("physai why ")
    assert "waits until you have restarted its machine" in elsewhere


def holding(node: Mapping[str, Any]) -> Get:
    """A cluster with this node alone."""
    return lambda path, _: {"items": [node] if path == "/api/v1/nodes" else []}


@pytest.mark.parametrize("stack", [STACK, "dev-westus2"])
@pytest.mark.parametrize("machine", ["", MACHINE])
def test_an_alert_and_why_give_one_advice_also_where_aks_runs_an_existing_cluster(stack: str, machine: str) -> None:
    """Its cluster and its resource group are in no setting, so that nothing can be asked of Azure there."""
    settings = load(stack).settings
    existing = existing_cluster(settings) is not None
    (rule,) = (each for each in alerts(rule_parameters(settings)) if each.name == ALERT)
    node = make.node("h100gpu")
    node["spec"]["providerID"] = machine
    name = node["metadata"]["name"]
    fired = [Alert(ALERT, {"node": name, "gpu": "0"}, "No spare row.")]
    given = read_workloads(holding(node), (), declared_pools(settings), stack)
    whole = explain(name, replace(given, alerts=fired))[1]
    (why,) = (each.fix for each in whole if ALERT in each.alerts)
    (evidence,) = NodeEvidence(name, None, node, None, fired, (), (), (), (), (), NOW, existing=existing).findings
    for advice in (rule.action, why, evidence.fix):
        assert ("waits until you have" in advice) is existing, advice
        assert not (existing and AZURES.search(advice)), advice


def test_a_repair_leaves_the_machines_of_an_existing_cluster_to_their_owner() -> None:
    """No login to Azure is asked for, whoever runs the cluster: what would be deleted there has another name."""
    node = {"metadata": {"name": "n", "uid": "u", "labels": {"agentpool": "b200"}}, "spec": {"providerID": MACHINE}}
    asked: list[str] = []

    def access(method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        del method, parameters, body
        asked.append(path)
        return {"items": []}

    world = repair_world(RepairSources(STACK, load(STACK).settings, Path("kubeconfig"), None, access), report=True)
    assert (world.machines, world.report, asked) == (None, None, [])
    record = new_record(node, "replace", "Xid 79", world, timedelta(hours=1))
    assert is_by_hand(record)


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
