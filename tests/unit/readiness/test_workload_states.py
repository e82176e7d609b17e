"""States of a Pod that no message names: each has its cause, and only a Pod that is in order has none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from physical_ai.readiness.workloads import explain
from physical_ai.readiness.workloads.health import pod_shortfall
from tests.support import workload_objects as make
from tests.support.cases import in_one_test
from tests.support.workload_objects import Scene, crashing, kai, node, on, pod
from tests.support.workload_scenes import H100, HOST, NODES, READY, log, started

NOW, RECENTLY, LONG_AGO = make.NOW, "2026-11-22T11:59:30Z", "2026-11-22T09:00:00Z"
RUNS: dict[str, Any] = {"ready": True, "state": {"running": {}}}


def since(item: dict[str, Any], created: str) -> dict[str, Any]:
    return {**item, "metadata": {**item["metadata"], "creationTimestamp": created}}


def unready(changed: str, **more: Any) -> dict[str, Any]:
    condition = {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "lastTransitionTime": changed}
    return on(
        HOST, pod(**H100), phase="Running", conditions=[condition], **{"status": {"state": {"running": {}}}, **more}
    )


def ending(until: str) -> dict[str, Any]:
    item = on(HOST, pod(), phase="Running", conditions=READY, status=RUNS)
    return {**item, "metadata": {**item["metadata"], "deletionTimestamp": until}}


def creating(placed: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": placed}
    return on(HOST, pod(**H100), status=make.waiting("ContainerCreating"), conditions=[condition])


def restarted(count: int, ended: str) -> dict[str, Any]:
    last = {"terminated": {"exitCode": 137, "reason": "Error", "finishedAt": ended}}
    status = {**RUNS, "restartCount": count, "lastState": last}
    return on(HOST, pod(), phase="Running", conditions=READY, status=status)


GATED = on(
    HOST, pod(readinessGates=[{"conditionType": "x.io/ready"}], **H100), phase="Running", status=RUNS,
    conditions=[{"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady"}],
)  # fmt: skip
PROBED = on(HOST, pod(**H100), status=crashing(137), phase="Running")
GRID = on("aks-rtxprogpu-0", pod(), status=crashing(1))
GRID_LOG = {(make.WHERE, "train-0", "train"): "CUDA error: CUDA-capable device(s) is/are busy or unavailable"}
GRID_REPORT = replace(make.closed("aks-rtxprogpu-0"), driver_source="grid", closed=())
BELOW = [make.queue("osmo-default", "osmo"), make.queue("osmo"), make.queue("a", "osmo-default")]
OF_STATES: dict[str, Scene] = {
    "scheduler-silent-now": Scene((since(pod(**H100), RECENTLY),), NODES),
    "scheduler-silent": Scene((since(pod(**H100), LONG_AGO),), NODES),
    "unready": Scene((unready(LONG_AGO),), NODES),
    "not-ready": Scene((unready(RECENTLY),), NODES),
    "readiness-gate": Scene((GATED,), NODES),
    "terminating": Scene((ending("2026-11-22T12:00:20Z"),), NODES),
    "terminating-late": Scene((ending(LONG_AGO),), NODES),
    "start-slow": Scene((creating(LONG_AGO),), NODES),
    "starting": Scene((creating(RECENTLY),), NODES),
    "restarting": Scene((restarted(3, RECENTLY),), NODES),
    "pod-unknown": Scene((on(HOST, pod(), phase="Unknown"),), NODES),
    "container-lost": started(crashing(137, "ContainerStatusUnknown", "The container could not be located")),
    "probe-killed": Scene((PROBED,), NODES, {"events": [
        make.event(PROBED, "Killing", "Container train failed liveness probe, will be restarted")]}),
    "licence-lost": Scene((GRID,), (node("rtxprogpu"),), {"logs": GRID_LOG, "reports": [GRID_REPORT]}),
    "queue-not-leaf": Scene((kai(pod(**H100)),), NODES, {"queues": BELOW}),
    "podgroup-failed": Scene((kai(pod(**H100)),), NODES, {"events": [
        make.event(pod(), "PodGrouperWarning", "no owner of kind Flux")]}),
    "gang-stale": Scene((kai(pod(**H100), "g"),), NODES, {"groups": [make.group("g", 1)], "events": [
        make.event(make.group("g", 1), "StaleJob", "Job is stale. 1 pods are active, minMember is 2", "PodGroup")]}),
}  # fmt: skip
"""Cause → a cluster in which Pod train-0 has it."""


@in_one_test("cause", sorted(OF_STATES))
def test_a_state_has_its_cause(cause: str) -> None:
    found = explain("train-0", OF_STATES[cause].workloads())[1]
    # A Pod of KAI's whose queue or group is wrong has no word of the scheduler either.
    assert [each.cause for each in found if not each.cause.startswith("scheduler-silent")] == [cause] or (
        [each.cause for each in found] == [cause]
    )
    assert "?" not in found[0].reason + found[0].fix


def test_a_pod_that_restarts_now_and_then_is_in_order() -> None:
    for item in (restarted(2, RECENTLY), restarted(30, LONG_AGO)):
        assert explain("train-0", Scene((item,), NODES).workloads())[1] == []


def test_of_an_unknown_failure_the_last_lines_of_the_log_are_shown_and_the_signal_is_named() -> None:
    scene = log("step 1\nstep 2\nFluxError: too low")
    [found] = explain("train-0", scene.workloads())[1]
    assert found.evidence == "step 1\nstep 2\nFluxError: too low"
    assert found.where == "log of container train"
    assert "--previous" in found.fix
    ended = {"state": {"terminated": {"exitCode": 139}}}
    [found] = explain("train-0", Scene((on(HOST, pod(), phase="Failed", status=ended),), NODES).workloads())[1]
    assert "139 (SIGSEGV)" in found.reason
    assert "--previous" not in found.fix  # it ran once: there is no earlier log


def test_a_launchers_summary_below_a_traceback_does_not_hide_the_cause() -> None:
    summary = "\n".join(f"  rank: {number} exitcode: 1" for number in range(30))
    [found] = explain("train-0", log(f"CUDA error: uncorrectable ECC error encountered\n{summary}").workloads())[1]
    assert found.cause == "gpu-ecc"


def test_a_container_that_never_started_is_not_asked_for_its_log() -> None:
    [found] = explain("train-0", started(crashing(128, "StartError", "the flux is too low")).workloads())[1]
    assert found.cause == "start-error"
    assert "logs" not in found.fix


SIDECAR: dict[str, Any] = {"initContainers": [{"name": "proxy", "restartPolicy": "Always"}]}
INIT_DONE = {"name": "proxy", "ready": False, "state": {"terminated": {"exitCode": 137}}}


@in_one_test(
    ("item", "is_well"),
    [
        (on(HOST, pod(), phase="Running", conditions=READY, status=RUNS), True),
        (on(HOST, pod(), phase="Succeeded"), True),
        (on(HOST, pod(), phase="Succeeded", status={"state": {"terminated": {"exitCode": 3}}}), False),
        (on(HOST, pod(**SIDECAR), phase="Succeeded", initContainerStatuses=[INIT_DONE]), True),
        (on(HOST, pod(), phase="Running", conditions=READY, status={"state": {"terminated": {"exitCode": 0}}}), True),
        (on(HOST, pod(), phase="Running", conditions=READY, status={"state": {"terminated": {"exitCode": 1}}}), False),
        (on(HOST, pod(), phase="Running", conditions=READY, status=make.waiting("ErrImagePull")), False),
        (on(HOST, pod(), phase="Running", status=RUNS), False),
        (on(HOST, pod(), phase="Unknown", conditions=READY, status=RUNS), False),
        (on(HOST, pod(), phase="Failed"), False),
        (pod(), False),
        (
            on(HOST, pod(), phase="Running", conditions=READY, status=RUNS,
               ephemeralContainerStatuses=[{"name": "debug", "state": {"terminated": {"exitCode": 1}}}]),
            True,
        ),
    ],
)  # fmt: skip
def test_what_a_pod_in_order_is(item: dict[str, Any], is_well: bool) -> None:
    assert (pod_shortfall(item) == "") is is_well
    assert (explain("train-0", Scene((item,), NODES).workloads())[1] == []) is is_well


def test_all_resources_that_a_pool_lacks_are_named_at_once() -> None:
    item = pod(gpus=2, nodeSelector={"agentpool": "rtxprogpu"}, tolerations=[])
    item["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "640"
    found = explain("train-0", Scene((make.unschedulable(item, "0/3 nodes"),), NODES).workloads())[1]
    assert [each.cause for each in found] == ["too-large", "toleration-missing"]
    assert "640 cpu" in found[0].reason
    assert "2 nvidia.com/gpu" in found[0].reason


def test_all_labels_that_no_pool_has_are_named_at_once() -> None:
    item = make.unschedulable(pod(nodeSelector={"a": "1", "agentpool": "nowhere"}), "0/3 nodes")
    found = explain("train-0", Scene((item,), NODES).workloads())[1]
    assert [each.cause for each in found] == ["selects-no-pool", "selects-no-pool"]
    assert {"a=1", "agentpool=nowhere"} == {each.reason.split()[5].rstrip(";") for each in found}


def test_who_holds_a_host_port_is_named() -> None:
    ports: dict[str, Any] = {"containers": [{"name": "train", "ports": [{"containerPort": 80, "hostPort": 8080}]}]}
    holder = on(HOST, pod("exp-a", **ports), phase="Running", conditions=READY, status=RUNS)
    message = "0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
    item = make.unschedulable(pod(**ports), message)
    [found] = explain("train-0", Scene((holder, item), NODES).workloads())[1]
    assert "8080" in found.reason
    assert "osmo-workflows/exp-a" in found.reason
