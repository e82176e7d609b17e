"""The rules hold on a cluster that exists already, whose nodes are called as their owner likes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.parameters import Parameters
from physical_ai.telemetry.rules import alerts, records
from tests.support.alert_series import KAI, LISTENER, WORKER, always, joined, of, phase, then
from tests.support.rule_tests import Fired, Scene, check

GPUS = {"b200-1": ("b200", 8), "rtxpro-1": ("rtxpro", 8), "rtxpro-2": ("rtxpro", 8)}
"""Nodes of onprem-lab: their pool, and their GPUs."""


def parameters() -> Parameters:
    return rule_parameters(load("onprem-lab").settings)


def lab() -> dict[str, str]:
    return {series: always(value) for series, value in _lab()}


def _lab() -> Iterator[tuple[str, float]]:
    yield "gpu_operator_reconciliation_status", 1
    for pod in (LISTENER, WORKER, KAI):
        yield phase(pod, "Running"), 1
    for node, (pool, gpus) in GPUS.items():
        yield from joined(node, pool)
        for status, value in (("true", 1), ("false", 0), ("unknown", 0)):
            yield of("kube_node_status_condition", node, condition="Ready", status=status), value
        for name in ("kube_node_status_capacity", "kube_node_status_allocatable"):
            yield of(name, node, resource="nvidia_com_gpu", unit="integer"), gpus
        for gpu in range(gpus):
            yield of("DCGM_FI_DEV_FB_USED", node, gpu=str(gpu), UUID=f"GPU-{node}-{gpu}"), 1


def _count(name: str, node: str) -> str:
    return of(name, node, resource="nvidia_com_gpu", unit="integer")


def _ready(node: str, status: str) -> str:
    return of("kube_node_status_condition", node, condition="Ready", status=status)


def test_faults_of_nodes_without_azures_names_alert(tmp_path: Path) -> None:
    given, node = lab(), "b200-1"
    silent = {name: values for name, values in given.items() if not ("FB_USED" in name and 'node="rtxpro-2"' in name)}
    lost = {_ready(node, "true"): then(1, 10, 0), _ready(node, "unknown"): then(0, 10, 1)}
    gone = dict.fromkeys((_count("kube_node_status_capacity", node), _count("kube_node_status_allocatable", node)))
    missing = {name: then(8, 10, 0) for name in gone}
    held = 'kube_pod_container_resource_requests{namespace="ml",pod="a",node="b200-1",resource="nvidia_com_gpu"}'
    running = 'kube_pod_status_phase{namespace="ml",pod="a",phase="Running"}'
    scenes = [
        Scene("healthy", given, {5: (), 60: ()}, {'sum(physical_ai:gpus_capacity{pool="rtxpro"})': (60, 16)}),
        Scene("not ready", given | lost, {60: [Fired("GPUNodeNotReady", node)]}),
        Scene("GPUs missing", given | missing, {60: [Fired("GPUNodeMissingGPUs", node)]}),
        Scene("silent", silent, {60: [Fired("GPUTelemetryAbsent", "rtxpro-2")]}),
        Scene(
            "in use",
            given | {held: always(3), running: always(1)},
            {60: ()},
            {'sum(physical_ai:gpus_held{pool="b200"})': (60, 3)},
        ),
    ]
    check(parameters(), scenes, tmp_path)


def test_no_rule_of_any_stack_knows_how_nodes_are_called() -> None:
    """The pool of a node is a label, also in the cluster of another owner."""
    for stack in ("dev-westus2", "onprem-lab"):
        given = rule_parameters(load(stack).settings)
        for each in (*alerts(given), *records(given)):
            assert not re.search(r'(node|instance)=~"', each.expression), each


def test_no_text_of_an_alert_sends_anybody_to_azure() -> None:
    for each in alerts(parameters()):
        said = f"{each.owner} {each.summary} {each.meaning} {each.action}"
        assert not re.search(r"azure|\bAKS\b|\bSpot\b|vmss|scale set", said, re.IGNORECASE), said
        assert "--delete-emptydir-data" not in said
    assert {each.owner for each in alerts(parameters())} == {"platform", "job", "hardware"}
