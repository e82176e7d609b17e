"""The driver upgrade: nodes whose driver pod is outdated are cordoned, restarted and released, a few at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.simulator.cluster.objects import annotations_of, at, labels
from physical_ai.simulator.gpu import names

REQUIRED, DONE, FAILED = "upgrade-required", "upgrade-done", "upgrade-failed"
CORDON, WAIT, DELETE_PODS, DRAIN = (
    "cordon-required",
    "wait-for-jobs-required",
    "pod-deletion-required",
    "drain-required",
)
RESTART, VALIDATE, UNCORDON = "pod-restart-required", "validation-required", "uncordon-required"
IN_PROGRESS = (CORDON, WAIT, DELETE_PODS, DRAIN, RESTART, VALIDATE, UNCORDON)


@dataclass(frozen=True)
class DriverPod:
    """A node's driver pod: made from the DaemonSet's present template or an older one."""

    current: bool = True
    ready: bool = True


@dataclass(frozen=True)
class Move:
    """One node's next state."""

    node: str
    state: str
    unschedulable: bool | None = None
    """What becomes of `spec.unschedulable` before the label is set; None leaves it."""
    restart: bool = False
    """The driver pod is deleted; its DaemonSet (OnDelete) makes a new one."""


def is_pending(given: Mapping[str, str]) -> bool:
    """The node's driver is waiting for an upgrade, in the middle of one, or failed."""
    return given.get(names.UPGRADE_STATE, DONE) not in ("", DONE)


def slots(policy: Mapping[str, Any], total: int, busy: int) -> int:
    """How many more nodes may start: `maxParallelUpgrades` (0 = no bound) within `maxUnavailable`."""
    parallel = int(policy.get("maxParallelUpgrades", 1)) or total
    most = str(policy.get("maxUnavailable", "25%"))
    unavailable = -(-total * int(most[:-1]) // 100) if most.endswith("%") else int(most)
    return max(min(parallel, unavailable) - busy, 0)


def _next(node: str, state: str, pod: DriverPod, policy: Mapping[str, Any], validated: bool) -> Move | None:
    drained = at(policy, "drain.enable", False) is True
    fixed = {WAIT: DELETE_PODS, DELETE_PODS: DRAIN if drained else RESTART, DRAIN: RESTART}
    if state == CORDON:
        return Move(node, WAIT, unschedulable=True)
    if state in fixed:
        return Move(node, fixed[state])
    if state == RESTART:
        if not pod.current:
            return Move(node, RESTART, restart=True)
        return Move(node, VALIDATE) if pod.ready else None
    if state == VALIDATE:
        return Move(node, UNCORDON) if validated else None
    return Move(node, DONE, unschedulable=False) if state == UNCORDON else None


def advance(
    nodes: Mapping[str, Any], pods: Mapping[str, DriverPod], policy: Mapping[str, Any], validated: frozenset[str]
) -> list[Move]:
    """One pass: each node in progress advances one step; outdated ones are marked; as many start as there are slots.

    Args:
        nodes: Node objects; only those with the upgrade annotation count.
        pods: Driver pods by node.
        policy: `upgradePolicy` of the ClusterPolicy or the NVIDIADriver.
        validated: Nodes whose validator pod is ready.
    """
    moves: list[Move] = []
    marked = {
        key: labels(node).get(names.UPGRADE_STATE, "")
        for key, node in sorted(nodes.items())
        if annotations_of(node).get(names.UPGRADE_ENABLED) == "true" and key in pods
    }
    free = slots(policy, len(marked), sum(state in IN_PROGRESS for state in marked.values()))
    for key, state in marked.items():
        if state in ("", DONE):
            wanted = DONE if pods[key].current else REQUIRED
            if state != wanted:
                moves.append(Move(key, wanted))
        elif state == REQUIRED:
            if labels(nodes[key]).get(names.UPGRADE_SKIP) != "true" and free:
                free -= 1
                moves.append(Move(key, CORDON))
        else:
            move = _next(key, state, pods[key], policy, key in validated)
            if move is not None:
                moves.append(move)
    return moves
