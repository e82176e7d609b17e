"""What is read of nodes before any cause is looked for: repairs of their machines, and Pods of the GPU stack."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from physical_ai.readiness.nodes.operands import failing
from physical_ai.readiness.nodes.repairs import restarted
from workbench.health.replacement.record import Record, RepairStep, config_map

NODE = "aks-h100gpu-0"
NOW = datetime(2026, 11, 1, tzinfo=UTC)
REBOOT = Record(NODE, "uid-1", "boot", "h100gpu", "azure:///vm/0", "reboot", NOW, NOW).at(RepairStep.DONE)
THERE = [{"metadata": {"name": NODE, "uid": "uid-1"}}]
ANOTHER = [{"metadata": {"name": NODE, "uid": "uid-2"}}]


@pytest.mark.parametrize(
    ("record", "nodes", "found"),
    [
        (REBOOT, THERE, {NODE}),
        (REBOOT, [], {NODE}),
        (REBOOT, ANOTHER, set[str]()),
        (REBOOT.at(RepairStep.REMOVE), THERE, set[str]()),
        (replace(REBOOT, action="replace"), THERE, set[str]()),
    ],
    ids=["done", "left", "another-machine-of-the-name", "begun", "replaced"],
)
def test_a_restart_counts_for_the_machine_that_a_repair_has_restarted(
    record: Record, nodes: list[dict[str, Any]], found: set[str]
) -> None:
    assert restarted([{"metadata": {}, "data": {}}, config_map(record)], nodes, NOW + timedelta(days=1)) == found


@pytest.mark.parametrize(("days", "counts"), [(0, True), (29, True), (31, False), (200, False)])
def test_a_restart_of_months_ago_does_not_turn_a_new_fault_into_a_replacement(days: int, *, counts: bool) -> None:
    now = (NOW + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert restarted([config_map(REBOOT)], THERE, now) == ({NODE} if counts else frozenset())


def test_the_restart_counts_from_when_it_was_asked_for_and_one_without_a_time_does_not() -> None:
    late = replace(REBOOT, removed=NOW + timedelta(days=20))
    assert restarted([config_map(late)], THERE, NOW + timedelta(days=40)) == {NODE}
    timeless = config_map(REBOOT)
    timeless["data"]["repair.json"] = timeless["data"]["repair.json"].replace("2026-11-01", "soon")
    assert restarted([timeless], THERE, NOW) == frozenset()


def crashing(namespace: str, *, owned: bool = True) -> dict[str, Any]:
    status = {
        "name": "main",
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"exitCode": 1, "message": "first\nno device"}},
    }
    owners = {"ownerReferences": [{"kind": "DaemonSet", "name": "nvidia-dcgm-exporter"}]} if owned else {}
    return {
        "metadata": {"name": "pod-x", "namespace": namespace, **owners},
        "spec": {"nodeName": NODE, "containers": [{"name": "main"}]},
        "status": {"phase": "Running", "containerStatuses": [status]},
    }


def test_only_daemonsets_of_the_gpu_stack_are_signs_of_a_node() -> None:
    pods = [crashing("gpu-operator"), crashing("lab"), crashing("gpu-operator", owned=False)]
    assert failing(pods) == [("nvidia-dcgm-exporter", "pod-x", "container main: no device")]
