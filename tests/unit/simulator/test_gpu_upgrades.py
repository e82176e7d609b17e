"""Driver upgrades beside workloads, as NVIDIA/k8s-operator-libs and `kubectl drain` treat them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from simulator.gpu import upgrade, upgrading
from simulator.gpu.live.operator import upgrade_event
from simulator.gpu.names import (
    COMPLETION_START,
    DRIVER_OWNER,
    INITIALLY_CORDONED,
    SAFE_LOAD,
    SKIP_DRAIN,
    UPGRADE_ENABLED,
    UPGRADE_REQUESTED,
    UPGRADE_SKIP,
    UPGRADE_STATE,
    VALIDATION_START,
)
from simulator.gpu.run import Run
from simulator.gpu.state import State
from simulator.gpu.upgrade import advance
from simulator.gpu.upgrade_states import DriverPod, Move, Pool
from simulator.gpu.workloads import Workload, claims_of, fits, workload

POLICY: dict[str, Any] = {
    "autoUpgrade": True,
    "maxParallelUpgrades": 1,
    "maxUnavailable": "25%",
    "waitForCompletion": {"podSelector": "finish=true", "timeoutSeconds": 0},
    "podDeletion": {"force": False, "timeoutSeconds": 300, "deleteEmptyDir": True},
    "drain": {"enable": True, "force": False, "timeoutSeconds": 600, "deleteEmptyDir": True},
}
OUTDATED = DriverPod(current=False)
BARE = Workload("jobs", "bare", {}, has_gpu=True)
WAIT, VALIDATE = "wait-for-jobs-required", "validation-required"
CORDONED = {INITIALLY_CORDONED: "true"}
MANAGED = replace(BARE, name="managed", has_controller=True)


def node(
    state: str = "", marks: Mapping[str, str] | None = None, *, cordoned: bool = False, ready: bool = True
) -> dict[str, Any]:
    annotations = {UPGRADE_ENABLED: "true", **(marks or {})}
    return {
        "metadata": {"labels": {UPGRADE_STATE: state} if state else {}, "annotations": annotations},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]},
    }


def pool(nodes: Mapping[str, Any], pods: Mapping[str, DriverPod] | None = None, **policy: Any) -> Pool:
    return Pool(nodes, {**POLICY, **policy}, pods or dict.fromkeys(nodes, OUTDATED))


def step(state: str, pods: Sequence[Workload] = (), waited: float = 0, **policy: Any) -> Move | None:
    """What becomes of a node in a state, with pods on it."""
    given = replace(pool({"a": node(state)}, **policy), workloads={"a": pods}, waited={"a": waited})
    return next(iter(advance(given)), None)


def test_a_node_without_gpu_pods_goes_from_deletion_to_restart_whether_or_not_a_drain_is_enabled() -> None:
    for enable in (True, False):
        drain = {**POLICY["drain"], "enable": enable}
        assert step("pod-deletion-required", drain=drain) == Move("a", "pod-restart-required")
    other = replace(BARE, has_gpu=False)
    assert step("pod-deletion-required", [other]) == Move("a", "pod-restart-required")


def test_a_pod_with_a_controller_is_evicted_and_the_node_waits_until_it_is_gone() -> None:
    assert step("pod-deletion-required", [MANAGED]) == Move("a", "pod-deletion-required", evict=(MANAGED,))


def test_a_bare_gpu_pod_ends_in_failure_also_with_a_drain() -> None:
    assert step("pod-deletion-required", [MANAGED, BARE]) == Move("a", "drain-required")
    assert step("drain-required", [MANAGED, BARE]) == Move("a", "upgrade-failed")
    assert step("pod-deletion-required", [BARE], drain={"enable": False}) == Move("a", "upgrade-failed")
    forced = {**POLICY["podDeletion"], "force": True}
    assert step("pod-deletion-required", [BARE], podDeletion=forced) == Move(
        "a", "pod-deletion-required", evict=(BARE,)
    )


def test_scratch_space_and_daemonsets_stop_a_deletion_too() -> None:
    scratch, daemon = replace(MANAGED, has_scratch=True), replace(MANAGED, stays=True)
    kept = {**POLICY["podDeletion"], "deleteEmptyDir": False}
    assert step("pod-deletion-required", [scratch], podDeletion=kept) == Move("a", "drain-required")
    assert step("pod-deletion-required", [daemon]) == Move("a", "drain-required")
    assert step("drain-required", [daemon]) == Move("a", "pod-restart-required")


def test_a_pod_that_has_ended_blocks_nothing() -> None:
    assert step("pod-deletion-required", [replace(BARE, is_active=False)]) == Move("a", "pod-restart-required")


def test_a_deletion_that_takes_too_long_becomes_a_drain_and_that_a_failure() -> None:
    assert step("pod-deletion-required", [MANAGED], 301) == Move("a", "drain-required")
    assert step("drain-required", [MANAGED], 599) == Move("a", "drain-required", evict=(MANAGED,))
    assert step("drain-required", [MANAGED], 601) == Move("a", "upgrade-failed")


def test_a_node_waits_for_pods_that_are_to_finish() -> None:
    finishing = replace(BARE, labels={"finish": "true"})
    assert step("wait-for-jobs-required", [finishing], 1e9) is None
    assert step("wait-for-jobs-required", [replace(finishing, is_active=False)]) == Move("a", "pod-deletion-required")
    assert step("wait-for-jobs-required", [BARE]) == Move("a", "pod-deletion-required")


def test_how_long_a_node_waits_for_pods_is_counted_on_the_node() -> None:
    finishing = replace(BARE, labels={"finish": "true"})
    limited = {"podSelector": "finish=true", "timeoutSeconds": 60}
    given = replace(pool({"a": node(WAIT)}, waitForCompletion=limited), workloads={"a": [finishing]}, now=100.0)
    assert advance(given) == [Move("a", WAIT, annotations={COMPLETION_START: "100"})]
    begun = replace(given, nodes={"a": node(WAIT, {COMPLETION_START: "100"})})
    assert advance(replace(begun, now=160.0)) == []
    late = Move("a", "pod-deletion-required", annotations={COMPLETION_START: None})
    assert advance(replace(begun, now=161.0)) == [late]
    assert advance(replace(begun, workloads={})) == [late]
    assert advance(replace(begun, nodes={"a": node(WAIT, {COMPLETION_START: "soon"})}, now=1e9)) == []


def test_a_driver_pod_that_fails_again_and_again_fails_the_upgrade() -> None:
    nodes = {"a": node("pod-restart-required", cordoned=True), "b": node("upgrade-required")}
    crashing = DriverPod(ready=False, failing=True)
    assert advance(pool(nodes, {"a": DriverPod(ready=False), "b": OUTDATED})) == []
    assert advance(pool(nodes, {"a": crashing, "b": OUTDATED})) == [Move("a", "upgrade-failed")]
    failed = {"a": node("upgrade-failed", cordoned=True), "b": node("upgrade-required")}
    assert advance(pool(failed, {"a": crashing, "b": OUTDATED})) == [], "the others wait"
    assert advance(pool(failed, {"a": DriverPod(), "b": OUTDATED})) == [Move("a", "uncordon-required")]


def test_a_validation_fails_after_ten_minutes_and_a_missing_validator_is_waited_for() -> None:
    given = replace(pool({"a": node(VALIDATE)}, {"a": DriverPod()}), now=1000.0)
    assert advance(given) == [], "without a validator pod nothing is counted"
    given = replace(given, validating=frozenset({"a"}))
    assert advance(given) == [Move("a", VALIDATE, annotations={VALIDATION_START: "1000"})]
    begun = replace(given, nodes={"a": node(VALIDATE, {VALIDATION_START: "1000"})})
    assert advance(replace(begun, now=1600.0)) == []
    assert advance(replace(begun, now=1601.0)) == [Move("a", "upgrade-failed", annotations={VALIDATION_START: None})]
    done = Move("a", "uncordon-required", annotations={VALIDATION_START: None})
    assert advance(replace(begun, validated=frozenset({"a"}))) == [done]


def test_a_failed_node_holds_up_the_others_until_its_driver_pod_is_new() -> None:
    nodes = {"a": node("upgrade-failed", cordoned=True), "b": node("upgrade-required"), "c": node("upgrade-required")}
    assert advance(pool(nodes, maxUnavailable="100%")) == []
    renewed = {"a": DriverPod(), "b": OUTDATED, "c": OUTDATED}
    assert advance(pool(nodes, renewed)) == [Move("a", "uncordon-required")]


def test_a_node_that_was_cordoned_before_remains_so_and_uses_up_what_may_be_unavailable() -> None:
    nodes = {"a": node("upgrade-done", cordoned=True), "b": node("upgrade-done")}
    first, second = advance(pool(nodes))
    assert (first, second) == (Move("a", "upgrade-required", annotations=CORDONED), Move("b", "upgrade-required"))
    required = {"a": node("upgrade-required", CORDONED, cordoned=True), "b": node("upgrade-required")}
    assert advance(pool(required)) == [Move("a", "cordon-required")], "b waits"
    done = {"a": node("validation-required", CORDONED, cordoned=True), "b": node("upgrade-required")}
    given = replace(pool(done), validated=frozenset({"a"}))
    assert advance(given) == [Move("a", "upgrade-done", annotations={INITIALLY_CORDONED: None})]
    after = {"a": node("upgrade-done", cordoned=True), "b": node("upgrade-required")}
    assert advance(pool(after, {"a": DriverPod(), "b": OUTDATED})) == [], "and goes on waiting"


def test_a_node_that_is_not_ready_counts_as_unavailable() -> None:
    nodes = {"a": node("upgrade-done", ready=False), "b": node("upgrade-required")}
    assert advance(pool(nodes, {"a": DriverPod(), "b": OUTDATED})) == []


def test_each_driver_has_its_own_count_and_policy() -> None:
    def owned(by: str, state: str) -> dict[str, Any]:
        given = node(state)
        given["metadata"]["labels"][DRIVER_OWNER] = by
        return given

    nodes = {
        "a": owned("one", "pod-restart-required"),
        "b": owned("one", "upgrade-required"),
        "c": owned("two", "upgrade-required"),
        "d": owned("two", "upgrade-required"),
    }
    policies = {"one": POLICY, "two": {**POLICY, "maxParallelUpgrades": 0, "maxUnavailable": "100%"}}
    drivers = {name: {"metadata": {"name": name}, "spec": {"upgradePolicy": own}} for name, own in policies.items()}
    spec = {"driver": {"useNvidiaDriverCRD": True, "upgradePolicy": POLICY}}
    pods = {"a": DriverPod(ready=False), "b": OUTDATED, "c": OUTDATED, "d": OUTDATED}
    started: dict[str, dict[str, Any]] = {}
    for release in ("v26.3.3", "v26.7.0"):
        run = Run(State(release, {"metadata": {"name": "p"}, "spec": spec}, nodes, drivers, pods=pods))
        upgrading.upgrade_drivers(run)
        started[release] = {each.name: each.body[UPGRADE_STATE] for each in run.steps if each.verb == "label"}
    assert started == {"v26.3.3": {}, "v26.7.0": {"c": "cordon-required", "d": "cordon-required"}}


def test_a_pod_that_installs_the_same_is_restarted_in_place_where_the_release_does_so() -> None:
    """NVIDIA/k8s-operator-libs, `nextStateForUpgradeRequiredNode` in pkg/upgrade/upgrade_inplace.go."""
    same = {"a": replace(OUTDATED, same_install=True)}
    given = replace(pool({"a": node("upgrade-required")}, same), workloads={"a": [MANAGED, BARE]})
    assert advance(given) == [Move("a", "cordon-required")]
    given = replace(given, restarts_in_place=True)
    assert advance(given) == [Move("a", "pod-restart-required", unschedulable=True)]
    assert advance(replace(given, pods={"a": OUTDATED})) == [Move("a", "cordon-required")], "another digest, or none"
    assert advance(replace(given, pods={"a": replace(same["a"], is_orphan=True)})) == [Move("a", "cordon-required")]


def test_a_requested_upgrade_and_a_safe_load_clear_the_node_also_for_a_mere_restart() -> None:
    same = {"a": replace(OUTDATED, same_install=True)}
    asked = replace(pool({"a": node("upgrade-required", {UPGRADE_REQUESTED: "true"})}, same), restarts_in_place=True)
    assert advance(asked) == [Move("a", "cordon-required", annotations={UPGRADE_REQUESTED: None})]
    waiting = replace(asked, nodes={"a": node("upgrade-required", {SAFE_LOAD: "pod"})})
    assert advance(waiting) == [Move("a", "cordon-required")]
    for marks in ({UPGRADE_REQUESTED: "true"}, {SAFE_LOAD: "pod"}):
        assert advance(pool({"a": node("upgrade-done", marks)}, {"a": DriverPod()})) == [Move("a", "upgrade-required")]
    loads = pool({"a": node("pod-restart-required", {SAFE_LOAD: "pod"})}, {"a": DriverPod(ready=False)})
    assert advance(loads) == [Move("a", "pod-restart-required", annotations={SAFE_LOAD: None})], "it may load now"


def test_a_request_is_forgotten_on_a_skipped_node() -> None:
    skipped = node("upgrade-required", {UPGRADE_REQUESTED: "true"})
    skipped["metadata"]["labels"][UPGRADE_SKIP] = "true"
    assert advance(pool({"a": skipped})) == [Move("a", "upgrade-required", annotations={UPGRADE_REQUESTED: None})]


def test_an_orphaned_driver_pod_is_replaced_on_request_only() -> None:
    orphan = {"a": DriverPod(current=False, is_orphan=True)}
    assert advance(pool({"a": node("upgrade-done")}, orphan)) == []
    asked = node("upgrade-done", {UPGRADE_REQUESTED: "true"})
    assert advance(pool({"a": asked}, orphan)) == [Move("a", "upgrade-required")]


def test_a_drain_leaves_pods_alone_that_say_so() -> None:
    spared = replace(BARE, labels={SKIP_DRAIN: "true"})
    assert step("drain-required", [spared]) == Move("a", "pod-restart-required")


@pytest.mark.parametrize(
    ("state", "pods", "waited", "policy", "notes"),
    [
        ("pod-deletion-required", [], 30, {}, ["Deleted workload pods on the node for the driver upgrade"]),
        ("pod-deletion-required", [BARE], 0, {"drain": {}}, []),
        ("pod-deletion-required", [BARE], 0, {}, ["Pod deletion failed but drain is enabled in spec"]),
        ("pod-deletion-required", [MANAGED], 301, {"drain": {}}, ['Failed to delete workload pods .* pod "managed"']),
        ("drain-required", [], 0, {}, ["Scheduling drain", "Successfully drained the node"]),
        ("drain-required", [BARE], 0, {}, ["Scheduling drain", "Failed to drain the node, .*no controller.*jobs/bare"]),
        ("drain-required", [MANAGED], 601, {}, ["Failed to drain the node, .*managed.*timeout"]),
    ],
)
def test_what_becomes_of_pods_in_the_way_is_told_on_the_node(
    state: str, pods: list[Workload], waited: float, policy: dict[str, Any], notes: list[str]
) -> None:
    move = step(state, pods, waited, **policy)
    assert move is not None
    assert len(move.notes) == len(notes)
    for note, expected in zip(move.notes, notes, strict=True):
        assert re.search(expected, note.text)
        assert note.type == ("Warning" if "ailed" in expected else "Normal")


def test_each_state_of_an_upgrade_is_an_event_on_the_node() -> None:
    nodes = {"a": node("upgrade-required")}
    policy = {"metadata": {"name": "p"}, "spec": {"driver": {"upgradePolicy": POLICY}}}
    run = Run(State("v26.7.0", policy, nodes, pods={"a": OUTDATED}))
    upgrading.upgrade_drivers(run)
    (note,) = [each.body for each in run.steps if each.verb == "event"]
    event = upgrade_event({"metadata": {"name": "a", "uid": "u"}}, note, "2026-11-27T00:00:00Z")
    assert (event["reason"], event["type"]) == ("GPUDriverUpgrade", "Normal")
    assert event["message"] == "Successfully updated node state label to cordon-required"
    assert event["involvedObject"]["kind"] == "Node"


CLAIM = {"status": {"allocation": {"devices": {"results": [{"driver": "gpu.nvidia.com"}]}}}}
ADMIN = {"status": {"allocation": {"devices": {"results": [{"driver": "gpu.nvidia.com", "adminAccess": True}]}}}}


@pytest.mark.parametrize(("claim", "expected"), [(CLAIM, True), (ADMIN, False), ({}, False)])
def test_a_pod_with_an_allocated_claim_of_a_gpu_is_in_the_way(claim: dict[str, Any], expected: bool) -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one"}, {"name": "late", "resourceClaimTemplateName": "two"}]
    pod: dict[str, Any] = {
        "metadata": {"namespace": "jobs", "name": "claiming"},
        "spec": {"containers": [{}], "resourceClaims": claims},
        "status": {"phase": "Running", "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "claiming-gpu"}]},
    }
    assert claims_of(pod) == ["claiming-gpu"]
    assert workload(pod, {("jobs", "claiming-gpu"): claim}).has_gpu is expected
    assert not workload(pod).has_gpu, "older releases do not look at claims"


def test_a_skipped_or_unmarked_node_is_not_upgraded() -> None:
    skipped, unmarked = node("upgrade-required"), node("upgrade-required")
    skipped["metadata"]["labels"][UPGRADE_SKIP] = "true"
    unmarked["metadata"]["annotations"] = {}
    assert advance(pool({"a": skipped, "b": unmarked})) == []


@pytest.mark.parametrize(
    ("policy", "unavailable", "expected"),
    [
        ({}, 0, 1),
        ({"maxParallelUpgrades": 0, "maxUnavailable": "50%"}, 0, 4),
        ({"maxParallelUpgrades": 0, "maxUnavailable": "50%"}, 3, 1),
        ({"maxParallelUpgrades": 3, "maxUnavailable": 2}, 2, 0),
        ({"maxParallelUpgrades": 0, "maxUnavailable": "100%"}, 3, 8),
    ],
)
def test_upgrade_slots_respect_both_bounds(policy: dict[str, Any], unavailable: int, expected: int) -> None:
    assert upgrade.slots(policy, 8, 0, unavailable) == expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("", True),
        ("a=1", True),
        ("a==1,b", True),
        ("a=2", False),
        ("a!=2,!c", True),
        ("c", False),
        ("a in (1, 2),b notin (3)", True),
        ("physical-ai/finish=true", False),
    ],
)
def test_selectors_are_read_as_kubernetes_reads_them(selector: str, expected: bool) -> None:
    assert fits(selector, {"a": "1", "b": "2"}) is expected


def test_a_pod_is_read_for_gpus_controller_scratch_and_phase() -> None:
    limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    pod: dict[str, Any] = {
        "metadata": {"namespace": "jobs", "name": "bare", "ownerReferences": [{"kind": "PodGroup"}]},
        "spec": {"containers": [{}, limits], "volumes": [{"name": "data"}]},
        "status": {"phase": "Running"},
    }
    assert workload(pod) == BARE
    mig = {"resources": {"requests": {"nvidia.com/mig-1g.12gb": "1"}}}
    owner = {"kind": "DaemonSet", "name": "d", "controller": True}
    pod = {
        "metadata": {"ownerReferences": [owner]},
        "spec": {"containers": [mig], "volumes": [{"emptyDir": {}}]},
        "status": {"phase": "Failed"},
    }
    found = workload(pod)
    assert (found.has_gpu, found.has_controller, found.has_scratch, found.stays) == (True, True, True, True)
    assert not found.is_active
