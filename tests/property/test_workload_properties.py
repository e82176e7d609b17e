"""No Pod that waits, failed or is not ready is ever "nothing is wrong", whatever its status and words are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from physical_ai.readiness.workloads import doctor, explain
from physical_ai.readiness.workloads.health import pod_shortfall
from physical_ai.readiness.workloads.model import STAGES
from tests.support import workload_objects as make
from tests.support.workload_messages import Row, scene, table
from tests.support.workload_objects import Scene, kai, pod
from tests.support.workload_scenes import H100, HOST, NODES

WORDS = st.one_of(
    st.text(max_size=40),
    st.sampled_from([row["message"] for _, row in table()]),
    st.sampled_from(["", "?", "{pod}", "Error", "a: b", "\x1b[31m red", "%s", "0/3 nodes are available: "]),
)
REASONS = st.one_of(
    st.sampled_from(sorted({row["reason"] for _, row in table() if "reason" in row})),
    st.sampled_from(["", "Error", "Completed", "CrashLoopBackOff", "ContainerCreating", "PodInitializing", "OOMKilled",
                     "StartError", "ContainerStatusUnknown", "RestartingAllContainers"]),
    st.text(max_size=12),
)  # fmt: skip
TIMES = st.sampled_from([None, "", "2026-11-22T09:00:00Z", "2026-11-22T11:59:50Z", "2026-11-22T13:00:00Z", "x"])


def optional(values: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=dict(values))


WAITING = optional({"reason": REASONS, "message": WORDS})
ENDED = optional({"exitCode": st.sampled_from([0, 1, 2, 128, 134, 137, 139, 143, 255]), "reason": REASONS,
                  "message": WORDS, "finishedAt": TIMES})  # fmt: skip
STATE = st.one_of(
    st.just({}),
    st.builds(lambda each: {"waiting": each}, WAITING),
    st.builds(lambda each: {"running": {"startedAt": each}}, TIMES),
    st.builds(lambda each: {"terminated": each}, ENDED),
)


def status_of(name: str) -> st.SearchStrategy[dict[str, Any]]:
    more = {"ready": st.booleans(), "started": st.booleans(), "restartCount": st.integers(0, 9),
            "state": STATE, "lastState": STATE}  # fmt: skip
    return st.fixed_dictionaries({"name": st.just(name)}, optional=more)


CONDITION = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["PodScheduled", "Ready", "ContainersReady", "Initialized", "DisruptionTarget", "X"]),
        "status": st.sampled_from(["True", "False", "Unknown"]),
    },
    optional={"reason": REASONS, "message": WORDS, "lastTransitionTime": TIMES},
)
INITS = [{"name": "init"}, {"name": "proxy", "restartPolicy": "Always"}]


@st.composite
def pods(draw: st.DrawFn) -> dict[str, Any]:
    spec: dict[str, Any] = draw(st.sampled_from([{}, H100, {"schedulerName": "volcano"}, {"tolerations": []}]))
    spec = {**spec, **draw(st.sampled_from([{}, {"initContainers": INITS}, {"schedulingGates": [{"name": "x"}]}]))}
    host = draw(st.sampled_from([None, HOST, HOST, "aks-gone-0"]))
    item = pod(gpus=draw(st.integers(0, 9)), **spec, **({"nodeName": host} if host else {}))
    statuses = {
        "containerStatuses": draw(st.one_of(st.just([]), st.lists(status_of("train"), min_size=1, max_size=1))),
        "initContainerStatuses": draw(st.sampled_from([[], ["init"], ["init", "proxy"]]).flatmap(
            lambda names: st.tuples(*map(status_of, names)).map(list))),
        "conditions": draw(st.lists(CONDITION, max_size=3, unique_by=lambda each: each["type"])),
        **draw(optional({"phase": st.sampled_from(["Pending", "Running", "Succeeded", "Failed", "Unknown", "Odd"]),
                         "reason": REASONS, "message": WORDS})),
    }  # fmt: skip
    metadata = {**item["metadata"], **draw(optional({"creationTimestamp": TIMES, "deletionTimestamp": TIMES,
                                                     "finalizers": st.just(["x.io/y"])}))}  # fmt: skip
    item = {**item, "metadata": metadata, "status": statuses}
    return kai(item) if draw(st.booleans()) else item


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    item = draw(pods())
    events = [
        {**make.event(item, draw(REASONS), draw(WORDS)), "type": draw(st.sampled_from(["Normal", "Warning"]))}
        for _ in range(draw(st.integers(0, 2)))
    ]
    logs = {(make.WHERE, "train-0", "train"): draw(WORDS)} if draw(st.booleans()) else {}
    return Scene((item,), NODES, {"events": events, "logs": logs})


def is_fine(item: Mapping[str, Any]) -> bool:
    """The least that is true of a Pod in order, by other means than the diagnosis."""
    status, metadata = item["status"], item["metadata"]
    ready = [each["status"] for each in status["conditions"] if each["type"] == "Ready"]
    ended = [each.get("state", {}).get("terminated", {}).get("exitCode", 0) for each in status["containerStatuses"]]
    waits = [each for each in status["containerStatuses"] if each.get("state", {}).get("waiting", {}).get("reason")]
    if metadata.get("deletionTimestamp") or any(ended):
        return False
    if status.get("phase") == "Succeeded":
        return True
    return status.get("phase") == "Running" and ready == ["True"] and not waits


@given(scenes())
def test_nothing_is_wrong_only_of_a_pod_in_order(given_scene: Scene) -> None:
    workloads, [item] = given_scene.workloads(), given_scene.pods
    found = explain("train-0", workloads)[1]
    if not found:
        assert is_fine(item)
        assert not pod_shortfall(item)
    else:
        assert [each.first.cause for each in doctor(workloads)]
    for each in found:
        assert each.reason
        assert each.fix
        assert each.stage in STAGES
        assert each.known or each.evidence or each.where


@given(WORDS, st.sampled_from(["kube", "kai"]))
@example("", "kube")
def test_what_a_scheduler_says_is_never_lost(message: str, kind: str) -> None:
    item = make.unschedulable(pod(**H100), message)
    found = explain("train-0", Scene((kai(item) if kind == "kai" else item,), NODES).workloads())[1]
    assert found
    line = next((each.strip() for each in message.splitlines() if each.strip()), "")
    assert all(line[:200] in each.evidence + each.reason for each in found)


@given(st.sampled_from([row for of, row in table() if of == "scheduler" and "node(s)" in row["message"]]))
def test_a_reason_of_one_node_is_found_among_those_of_others(row: Row) -> None:
    reason = row["message"].partition(": 1 ")[2].partition(".")[0]
    mixed = {
        **row,
        "message": f"0/9 nodes are available: 1 Insufficient cpu, 2 {reason}, 6 node(s) had untolerated taint(s).",
    }
    assert row["cause"] in [each.cause for each in explain("train-0", scene("scheduler", mixed).workloads())[1]]
