"""NVSentinel's modules together, each while its Pod runs: what a fault does to a node, and what a restart forgets."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from parts.nvsentinel.names import (
    BREAKER_CONFIG_MAP,
    FAULT_QUARANTINE,
    GPU_MONITOR,
    NODE_DRAINER,
    RELEASE,
    SYSLOG_MONITOR,
)
from physical_ai.kubernetes.objects import Json, annotations_of, at, labels, name
from physical_ai.settings.models.health import HealthMode
from simulator.faults.record import ANNOTATION, Injected, annotation
from simulator.gpu.driver import COMPONENT, DRIVER_COMPONENT
from simulator.nvsentinel import labeler
from simulator.nvsentinel.events import NO_FAILURES
from simulator.nvsentinel.live import LABELER, WATCHED_SECONDS, Nvsentinel
from simulator.nvsentinel.modules import CLOSED, TRIPPED
from simulator.nvsentinel.quarantine import CORDONED_ANNOTATION, STATE_LABEL, tracked
from tests.support.health_cluster import GANG, Cluster, Sentinel
from tests.support.health_table import parts, policy_of
from workbench.health.replacement.cluster import is_cordoned

XID, ALL_WATCH = "SysLogsXIDError", "GpuAllWatch"


@dataclass
class Live(Sentinel):
    """The cluster in memory, with Pods of NVSentinel's own."""

    pods_of: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    said: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Events of nodes: who, and why."""
    writes: int = 0

    def running(self) -> dict[str, dict[str, str]]:
        return self.pods_of

    def operands(self) -> list[Json]:
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        marks = [{COMPONENT: DRIVER_COMPONENT}, dict([labeler.DCGM_APP])]
        node = min(self.cluster.nodes)
        return [{"metadata": {"labels": mark}, "spec": {"nodeName": node}, "status": ready} for mark in marks]

    def config(self, module: str) -> dict[str, Any]:
        return {"assume-driver-installed": False} if module == LABELER else super().config(module)

    def write(self, node: Json, account: str, body: Json, sub: str = "") -> bool:
        self.writes += 1
        if sub:  # conditions are merged by their type
            changed = {each["type"]: each for each in body["status"]["conditions"]}
            held: list[Json] = at(self.cluster.all()[name(node)], "status.conditions", [])
            kept = [each for each in held if each["type"] not in changed]
            body = {"status": {"conditions": [*kept, *changed.values()]}}
        return super().write(node, account, body, sub)

    def say(self, node: str, account: str, reason: str, message: str, kind: str) -> None:
        self.said.append((account, reason))


class Scene:
    """A pool of four nodes with whole GPUs, where NVSentinel runs as a mode has it."""

    def __init__(self, mode: HealthMode, *, limits: bool = True, breaker: int = 1) -> None:
        values, policies = parts(mode)
        if FAULT_QUARANTINE in values:
            values[FAULT_QUARANTINE]["circuitBreaker"] |= {"maxNodes": breaker, "percentage": 100}
        self.cluster = Cluster(size=4, least=4)
        for node in self.cluster.nodes.values():
            node["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "Standard_NC40ads_H100_v5"
        self.live = Live(self.cluster, policy_of(values, policies if limits else []), lambda verb, pod: None)
        everywhere = dict.fromkeys(self.cluster.nodes, "pod")
        self.live.pods_of = {each: dict(everywhere) for each in (RELEASE, GPU_MONITOR, SYSLOG_MONITOR)}
        self.live.pods_of |= {each: {"": f"{each}-1"} for each in (LABELER, *self.live.policy.files)}
        self.nvsentinel = Nvsentinel(self.live)
        self.one, self.two, *_ = self.cluster.nodes

    def node(self, node: str) -> Json:
        return self.cluster.nodes[node]

    def break_(self, node: str, *faults: str) -> None:
        self.node(node)["metadata"]["annotations"][ANNOTATION] = annotation([Injected(each, 0, 0) for each in faults])

    def condition(self, node: str, kind: str) -> tuple[str, str]:
        """Status and message of a node's condition."""
        found = {each["type"]: each for each in at(self.node(node), "status.conditions", [])}
        return (found[kind]["status"], found[kind]["message"]) if kind in found else ("", "")

    def restart(self, module: str, number: int) -> None:
        self.live.pods_of[module] = {"": f"{module}-{number}"}

    @property
    def breaker(self) -> str:
        return at(self.cluster.breaker.get(BREAKER_CONFIG_MAP, {}), "data.status", "")


def test_a_fatal_error_is_a_condition_until_it_ends() -> None:
    scene = Scene("detect")
    scene.break_(scene.one, "xid-79")
    scene.nvsentinel.round()
    assert scene.condition(scene.one, XID)[0] == "True"
    status, message = scene.condition(scene.one, ALL_WATCH)
    assert status == "True"
    assert "ErrorCode:DCGM_FR_FALLEN_OFF_BUS GPU:0 Recommended Action=RESTART_BM;" in message
    assert scene.condition(scene.two, XID) == ("", "")
    scene.break_(scene.one)
    scene.nvsentinel.round()
    assert scene.condition(scene.one, XID) == ("False", NO_FAILURES)
    assert not is_cordoned(scene.node(scene.one))


def test_an_error_of_a_job_is_an_event_once() -> None:
    scene = Scene("taint")
    scene.break_(scene.one, "xid-13")
    for _ in range(2):
        scene.nvsentinel.round()
    assert scene.live.said == [(RELEASE, f"{XID}IsNotHealthy")]
    assert scene.condition(scene.one, XID) == ("", "")
    assert not is_cordoned(scene.node(scene.one))


@pytest.mark.parametrize("missing", [RELEASE, GPU_MONITOR])
def test_what_does_not_run_on_a_node_reports_nothing_of_it(missing: str) -> None:
    scene = Scene("detect")
    del scene.live.pods_of[missing][scene.one]
    scene.break_(scene.one, "xid-79")
    scene.nvsentinel.round()
    assert scene.condition(scene.one, ALL_WATCH) == ("", "")
    assert scene.condition(scene.one, XID)[0] == ("True" if missing == GPU_MONITOR else "")


def test_a_round_without_a_change_writes_nothing() -> None:
    scene = Scene("taint", breaker=3)
    scene.break_(scene.one, "xid-79")
    for _ in range(2):
        scene.nvsentinel.round()
    before = scene.live.writes
    scene.nvsentinel.round()
    assert scene.live.writes == before > 0


def test_a_node_is_cordoned_drains_and_is_drained() -> None:
    scene = Scene("drain", breaker=3)
    scene.cluster.add_pod(scene.one, "train", labels={GANG: "gang"})
    scene.break_(scene.one, "xid-79")
    assert scene.nvsentinel.round() == WATCHED_SECONDS
    assert is_cordoned(scene.node(scene.one))
    assert annotations_of(scene.node(scene.one))[CORDONED_ANNOTATION] == "True"
    assert labels(scene.node(scene.one))["k8saas.nvidia.com/cordon-by"] == "NVSentinel"
    assert len(tracked(scene.node(scene.one)) or ()) == 2
    assert labels(scene.node(scene.one))[STATE_LABEL] == "draining"
    assert (NODE_DRAINER, "AwaitingPodCompletion") in scene.live.said
    assert scene.cluster.pods
    scene.cluster.pods.clear()
    assert scene.nvsentinel.round() is None
    assert labels(scene.node(scene.one))[STATE_LABEL] == "drain-succeeded"


def test_the_end_of_a_fault_leaves_the_node_cordoned_where_limits_hold() -> None:
    for limits in (True, False):
        scene = Scene("taint", limits=limits, breaker=3)
        scene.break_(scene.one, "xid-79")
        scene.nvsentinel.round()
        scene.break_(scene.one)
        scene.nvsentinel.round()
        assert is_cordoned(scene.node(scene.one)) == limits


def test_a_node_stays_in_quarantine_until_its_last_error_ends() -> None:
    scene = Scene("taint", limits=False, breaker=3)
    scene.break_(scene.one, "xid-79")
    scene.nvsentinel.round()
    scene.break_(scene.one, "xid-74")
    scene.nvsentinel.round()
    assert tracked(scene.node(scene.one)) == (f"{SYSLOG_MONITOR}/{XID}/0",)
    assert is_cordoned(scene.node(scene.one))


def test_uncordoning_a_node_ends_its_quarantine() -> None:
    scene = Scene("taint", breaker=3)
    scene.break_(scene.one, "xid-79")
    scene.nvsentinel.round()
    del scene.node(scene.one)["spec"]["unschedulable"]
    scene.nvsentinel.round()
    assert tracked(scene.node(scene.one)) is None
    assert STATE_LABEL not in labels(scene.node(scene.one))
    assert not is_cordoned(scene.node(scene.one))


def test_events_wait_for_the_module_that_handles_them() -> None:
    scene = Scene("taint")
    del scene.live.pods_of[FAULT_QUARANTINE]
    scene.break_(scene.one, "xid-74")
    scene.nvsentinel.round()
    assert not is_cordoned(scene.node(scene.one))
    scene.restart(FAULT_QUARANTINE, 2)
    scene.nvsentinel.round()
    assert is_cordoned(scene.node(scene.one))


def test_a_tripped_breaker_outlives_a_restart_and_not_its_reset() -> None:
    scene = Scene("taint", limits=False)
    scene.break_(scene.one, "xid-74")
    scene.nvsentinel.round()
    assert (scene.breaker, is_cordoned(scene.node(scene.one))) == (CLOSED, True)
    scene.break_(scene.two, "xid-74")
    scene.nvsentinel.round()
    assert (scene.breaker, is_cordoned(scene.node(scene.two))) == (TRIPPED, False)
    scene.cluster.clock += timedelta(days=1)
    scene.restart(FAULT_QUARANTINE, 2)
    scene.nvsentinel.round()
    assert (scene.breaker, is_cordoned(scene.node(scene.two))) == (TRIPPED, False)
    scene.cluster.breaker[BREAKER_CONFIG_MAP]["data"]["status"] = CLOSED
    scene.nvsentinel.round()
    assert not is_cordoned(scene.node(scene.two))
    scene.restart(FAULT_QUARANTINE, 3)
    scene.nvsentinel.round()
    assert is_cordoned(scene.node(scene.two))


@pytest.mark.parametrize("passed", [timedelta(0), timedelta(hours=2)])
def test_a_restart_or_an_hour_makes_the_breaker_forget_what_it_counted(passed: timedelta) -> None:
    scene = Scene("taint", limits=False)
    scene.break_(scene.one, "xid-74")
    scene.nvsentinel.round()
    scene.cluster.clock += passed
    if not passed:
        scene.restart(FAULT_QUARANTINE, 2)
    scene.break_(scene.two, "xid-74")
    scene.nvsentinel.round()
    assert (scene.breaker, is_cordoned(scene.node(scene.two))) == (CLOSED, True)


def test_the_limits_hold_what_the_breaker_has_forgotten() -> None:
    scene = Scene("taint")
    scene.break_(scene.one, "xid-74")
    scene.nvsentinel.round()
    scene.restart(FAULT_QUARANTINE, 2)
    scene.break_(scene.two, "xid-74")
    scene.nvsentinel.round()
    assert (scene.breaker, is_cordoned(scene.node(scene.two))) == (CLOSED, False)


def test_a_quarantine_survives_a_restart_of_everything() -> None:
    scene = Scene("drain", breaker=3)
    scene.break_(scene.one, "xid-79")
    scene.nvsentinel.round()
    before = copy.deepcopy(scene.node(scene.one))
    again = Nvsentinel(scene.live)
    again.round()
    assert json.dumps(scene.node(scene.one), sort_keys=True) == json.dumps(before, sort_keys=True)


def test_the_labeler_marks_gpu_nodes_by_the_pods_that_run_there() -> None:
    scene = Scene("detect")
    scene.nvsentinel.round()
    own, other = (labels(scene.node(each)) for each in (scene.one, scene.two))
    assert (own[labeler.DRIVER], own[labeler.DCGM]) == ("true", labeler.DCGM_MAJOR)
    assert (labeler.DRIVER in other, other[labeler.KATA]) == (False, "false")
    assert not any(labeler.KATA in labels(each) for key, each in scene.cluster.others.items() if "-cpu-" in key)
