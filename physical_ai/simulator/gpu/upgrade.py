"""The driver upgrade: nodes whose driver pod is outdated are cordoned, cleared of GPU pods, restarted and released.

As in NVIDIA/k8s-operator-libs, `pkg/upgrade`, in-place mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from physical_ai.simulator.cluster.objects import annotations_of, at, labels
from physical_ai.simulator.gpu import names
from physical_ai.simulator.gpu.workloads import Workload, gpu_pods, is_deletable, selected

REQUIRED, DONE, FAILED = "upgrade-required", "upgrade-done", "upgrade-failed"
CORDON, WAIT, DELETE_PODS, DRAIN = (
    "cordon-required",
    "wait-for-jobs-required",
    "pod-deletion-required",
    "drain-required",
)
RESTART, VALIDATE, UNCORDON = "pod-restart-required", "validation-required", "uncordon-required"
CLEARING = (WAIT, DELETE_PODS, DRAIN)
"""States in which the pods on the node decide what is next."""
_AT_REST = ("", DONE)


@dataclass(frozen=True)
class DriverPod:
    """A node's driver pod: made from the DaemonSet's present template or an older one."""

    current: bool = True
    ready: bool = True


@dataclass(frozen=True)
class Move:
    """One node's next state; with `evict`, what has to go before there is one."""

    node: str
    state: str
    unschedulable: bool | None = None
    """What becomes of `spec.unschedulable` before the label is set; None leaves it."""
    restart: bool = False
    """The driver pod is deleted; its DaemonSet (OnDelete) makes a new one."""
    evict: tuple[Workload, ...] = ()
    was_cordoned: bool | None = None
    """Whether the node is marked as cordoned before the upgrade; None leaves the mark."""


@dataclass(frozen=True)
class Pool:
    """Nodes whose upgrades are counted together: those of one NVIDIADriver, or of the ClusterPolicy."""

    nodes: Mapping[str, Any]
    """Node objects; only those with the upgrade annotation and a driver pod count."""
    policy: Mapping[str, Any]
    """`upgradePolicy` of the ClusterPolicy or the NVIDIADriver."""
    pods: Mapping[str, DriverPod]
    validated: frozenset[str] = frozenset()
    """Nodes whose validator pod is ready."""
    workloads: Mapping[str, Sequence[Workload]] = field(default_factory=dict[str, "Sequence[Workload]"])
    """Pods by node, of nodes that are being cleared."""
    waited: Mapping[str, float] = field(default_factory=dict[str, float])
    """Model seconds that a node has been in its state."""

    @property
    def states(self) -> dict[str, str]:
        return {
            key: labels(node).get(names.UPGRADE_STATE, "")
            for key, node in sorted(self.nodes.items())
            if annotations_of(node).get(names.UPGRADE_ENABLED) == "true" and key in self.pods
        }


def is_pending(given: Mapping[str, str]) -> bool:
    """The node's driver is waiting for an upgrade, in the middle of one, or failed."""
    return given.get(names.UPGRADE_STATE, DONE) not in _AT_REST


def slots(policy: Mapping[str, Any], total: int, busy: int, unavailable: int = 0) -> int:
    """How many more nodes may start: `maxParallelUpgrades` (0 = no bound) within `maxUnavailable`.

    Args:
        policy: The upgrade policy.
        total: Nodes that count.
        busy: Of them, those that have started and not ended; a failed one has not ended.
        unavailable: Of them, those cordoned by anyone, and those not ready.
    """
    free = (int(policy.get("maxParallelUpgrades", 1)) or total + busy) - busy
    limit = str(policy.get("maxUnavailable", "25%"))
    most = -(-total * int(limit[:-1]) // 100) if limit.endswith("%") else int(limit)
    return max(min(free, most if most >= total else most - unavailable), 0)


def advance(pool: Pool) -> list[Move]:
    """One pass: each node in progress advances one step; outdated ones are marked; as many start as there are slots."""
    moves: list[Move] = []
    states = pool.states
    busy = sum(state not in (*_AT_REST, REQUIRED) for state in states.values())
    unavailable = sum(_is_unavailable(pool.nodes[key]) or state == CORDON for key, state in states.items())
    free = slots(pool.policy, len(states), busy, unavailable)
    for key, state in states.items():
        node = pool.nodes[key]
        if state in _AT_REST:
            if not pool.pods[key].current:
                moves.append(Move(key, REQUIRED, was_cordoned=_is_cordoned(node) or None))
            elif state != DONE:
                moves.append(Move(key, DONE))
        elif state == REQUIRED:
            # A node that is cordoned already waits for no slot.
            if labels(node).get(names.UPGRADE_SKIP) != "true" and (free > 0 or _is_cordoned(node)):
                free -= 1
                moves.append(Move(key, CORDON))
        elif (move := _next(pool, key, state)) is not None:
            moves.append(move)
    return moves


def _is_cordoned(node: Mapping[str, Any]) -> bool:
    return at(node, "spec.unschedulable", False) is True


def _is_unavailable(node: Mapping[str, Any]) -> bool:
    conditions: list[dict[str, str]] = at(node, "status.conditions", [])
    return _is_cordoned(node) or any(each["type"] == "Ready" and each["status"] != "True" for each in conditions)


def _next(pool: Pool, node: str, state: str) -> Move | None:
    if state == CORDON:
        return Move(node, WAIT, unschedulable=True)
    if state == UNCORDON:
        return Move(node, DONE, unschedulable=False)
    step = _STEPS.get(state)
    return step(pool, node) if step else None


def _restart(pool: Pool, node: str) -> Move | None:
    pod = pool.pods[node]
    if not pod.current:
        return Move(node, RESTART, restart=True)
    return Move(node, VALIDATE) if pod.ready else None


def _validate(pool: Pool, node: str) -> Move | None:
    return _release(pool, node) if node in pool.validated else None


def _recover(pool: Pool, node: str) -> Move | None:
    """A failed node goes on once its driver pod is of the present template."""
    pod = pool.pods[node]
    return _release(pool, node) if pod.current and pod.ready else None


def _release(pool: Pool, node: str) -> Move:
    """A node that was cordoned before the upgrade remains cordoned."""
    if annotations_of(pool.nodes[node]).get(names.INITIALLY_CORDONED) == "true":
        return Move(node, DONE, was_cordoned=False)
    return Move(node, UNCORDON)


def _is_overdue(pool: Pool, node: str, spec: Mapping[str, Any]) -> bool:
    limit = int(spec.get("timeoutSeconds", 0))
    return limit > 0 and pool.waited.get(node, 0.0) > limit


def _wait(pool: Pool, node: str) -> Move | None:
    spec: Mapping[str, Any] = at(pool.policy, "waitForCompletion", {})
    selector = str(spec.get("podSelector") or "")
    found = selected(pool.workloads.get(node, ()), selector) if selector else []
    if any(each.is_active for each in found) and not _is_overdue(pool, node, spec):
        return None
    return Move(node, DELETE_PODS)


def _delete_pods(pool: Pool, node: str) -> Move:
    """GPU pods are evicted if all of them may be; a drain, if enabled, is what follows where that fails."""
    spec: Mapping[str, Any] = at(pool.policy, "podDeletion", {})
    found = gpu_pods(pool.workloads.get(node, ()))
    if not found:
        return Move(node, RESTART)
    if _is_overdue(pool, node, spec) or not all(is_deletable(each, spec) for each in found):
        return Move(node, DRAIN if at(pool.policy, "drain.enable", False) is True else FAILED)
    return Move(node, DELETE_PODS, evict=tuple(found))


def _drain(pool: Pool, node: str) -> Move:
    spec: Mapping[str, Any] = at(pool.policy, "drain", {})
    if spec.get("enable") is not True:
        return Move(node, RESTART)
    found = selected(pool.workloads.get(node, ()), str(spec.get("podSelector") or ""))
    found = [each for each in found if not each.stays]
    if not found:
        return Move(node, RESTART)
    if _is_overdue(pool, node, spec) or not all(is_deletable(each, spec) for each in found):
        return Move(node, FAILED)
    return Move(node, DRAIN, evict=tuple(found))


_STEPS = {
    WAIT: _wait,
    DELETE_PODS: _delete_pods,
    DRAIN: _drain,
    RESTART: _restart,
    VALIDATE: _validate,
    FAILED: _recover,
}
