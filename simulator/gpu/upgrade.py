"""The driver upgrade: nodes with an outdated driver Pod are cordoned, cleared of GPU Pods, restarted and released.

It works as the in-place mode of NVIDIA/k8s-operator-libs, `pkg/upgrade`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from simulator.cluster.objects import annotations_of, at, labels
from simulator.gpu import names
from simulator.gpu.upgrade_states import (
    AT_REST,
    CORDON,
    DELETE_PODS,
    DONE,
    DRAIN,
    FAILED,
    REQUIRED,
    RESTART,
    UNCORDON,
    VALIDATE,
    VALIDATION_SECONDS,
    WAIT,
    WARNING,
    Move,
    Note,
    Pool,
)
from simulator.gpu.workloads import Workload, gpu_pods, is_deletable, selected

_DELETED = "Deleted workload pods on the node for the driver upgrade"


def is_pending(given: Mapping[str, str]) -> bool:
    """True if the node's driver is waiting for an upgrade, is being upgraded, or failed to upgrade."""
    return given.get(names.UPGRADE_STATE, DONE) not in AT_REST


def slots(policy: Mapping[str, Any], total: int, busy: int, unavailable: int = 0) -> int:
    """Number of further nodes whose upgrade may start: `maxParallelUpgrades` (0 = no limit) minus `busy`, but at most
    `maxUnavailable`. A `maxUnavailable` below `total` is first reduced by `unavailable`.

    Args:
        policy: The upgrade policy.
        total: Number of nodes in the pool.
        busy: Number of the pool's nodes whose upgrade has started and not finished. A failed upgrade has not finished.
        unavailable: Number of the pool's nodes that are cordoned, by anyone, or not ready.
    """
    free = (int(policy.get("maxParallelUpgrades", 1)) or total + busy) - busy
    limit = str(policy.get("maxUnavailable", "25%"))
    most = -(-total * int(limit[:-1]) // 100) if limit.endswith("%") else int(limit)
    return max(min(free, most if most >= total else most - unavailable), 0)


def advance(pool: Pool) -> list[Move]:
    """Moves of one pass of the upgrade controller: each node in progress advances one step, nodes with an outdated
    driver are marked, and as many marked nodes start as `slots` allows.
    """
    moves: list[Move] = []
    states = pool.states
    busy = sum(state not in (*AT_REST, REQUIRED) for state in states.values())
    unavailable = sum(_is_unavailable(pool.nodes[key]) or state == CORDON for key, state in states.items())
    free = slots(pool.policy, len(states), busy, unavailable)
    for key, state in states.items():
        node = pool.nodes[key]
        if state in AT_REST:
            if _is_wanted(pool, key):
                mark = {names.INITIALLY_CORDONED: "true"} if _is_cordoned(node) else {}
                moves.append(Move(key, REQUIRED, annotations=mark))
            elif state != DONE:
                moves.append(Move(key, DONE))
        elif state == REQUIRED:
            # A node that is cordoned already waits for no slot.
            if labels(node).get(names.UPGRADE_SKIP) != "true" and (free > 0 or _is_cordoned(node)):
                free -= 1
                moves.append(_begin(pool, key))
            elif _is_requested(node):
                moves.append(Move(key, REQUIRED, annotations={names.UPGRADE_REQUESTED: None}))
        elif (move := _next(pool, key, state)) is not None:
            moves.append(move)
    return moves


def _is_requested(node: Mapping[str, Any]) -> bool:
    return annotations_of(node).get(names.UPGRADE_REQUESTED) == "true"


def _waits_for_safe_load(node: Mapping[str, Any]) -> bool:
    return bool(annotations_of(node).get(names.SAFE_LOAD))


def _is_wanted(pool: Pool, node: str) -> bool:
    """True if the node's driver should be replaced.

    An orphaned Pod is replaced only on request, because no DaemonSet would create a new Pod.
    """
    pod, item = pool.pods[node], pool.nodes[node]
    return (not pod.current and not pod.is_orphan) or _waits_for_safe_load(item) or _is_requested(item)


def _begin(pool: Pool, node: str) -> Move:
    """Move that starts the upgrade of a node. The move only restarts the driver Pod if the pool allows this, the new
    Pod would install the same driver, and nothing asks for a cleared node. Otherwise the move cordons the node.
    """
    pod, item = pool.pods[node], pool.nodes[node]
    removed = _removed(pool, node, names.UPGRADE_REQUESTED) if _is_requested(item) else {}
    in_place = pool.restarts_in_place and pod.same_install and not pod.is_orphan
    if in_place and not removed and not _waits_for_safe_load(item):
        return Move(node, RESTART, unschedulable=True)
    return Move(node, CORDON, annotations=removed)


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
    unblocked = _removed(pool, node, names.SAFE_LOAD)
    if pod.ready:
        return Move(node, VALIDATE, annotations=unblocked)
    if pod.failing:
        return Move(node, FAILED, annotations=unblocked)
    return Move(node, RESTART, annotations=unblocked) if unblocked else None


def _validate(pool: Pool, node: str) -> Move | None:
    if node in pool.validated:
        return _release(pool, node, names.VALIDATION_START)
    if node not in pool.validating:
        return None
    return _timed(pool, node, names.VALIDATION_START, VALIDATION_SECONDS, Move(node, FAILED))


def _recover(pool: Pool, node: str) -> Move | None:
    """Move that ends the upgrade of a failed node once its driver Pod is ready and up to date; None before that."""
    pod = pool.pods[node]
    return _release(pool, node) if pod.current and pod.ready else None


def _release(pool: Pool, node: str, *timers: str) -> Move:
    """Move that ends the upgrade of a node; a node that was cordoned before the upgrade remains cordoned."""
    kept = names.INITIALLY_CORDONED in annotations_of(pool.nodes[node])
    removed = _removed(pool, node, names.INITIALLY_CORDONED, *timers)
    return Move(node, DONE if kept else UNCORDON, annotations=removed)


def _removed(pool: Pool, node: str, *keys: str) -> dict[str, str | None]:
    return dict.fromkeys(key for key in keys if key in annotations_of(pool.nodes[node]))


def _timed(pool: Pool, node: str, key: str, seconds: float, late: Move) -> Move | None:
    """Next move of a node that has `seconds` for a step: a move that starts the timer `key` if it does not run yet,
    None while it runs, and `late` when the time is over.
    """
    begun = annotations_of(pool.nodes[node]).get(key)
    if begun is None:
        return Move(node, labels(pool.nodes[node])[names.UPGRADE_STATE], annotations={key: str(int(pool.now))})
    if not begun.isdigit() or pool.now <= int(begun) + seconds:
        # The operator reports a value that is no number as an error, and does nothing.
        return None
    return replace(late, annotations={key: None})


def _is_overdue(pool: Pool, node: str, spec: Mapping[str, Any]) -> bool:
    limit = int(spec.get("timeoutSeconds", 0))
    return limit > 0 and pool.waited.get(node, 0.0) > limit


def _wait(pool: Pool, node: str) -> Move | None:
    spec: Mapping[str, Any] = at(pool.policy, "waitForCompletion", {})
    selector = str(spec.get("podSelector") or "")
    found = selected(pool.workloads.get(node, ()), selector) if selector else []
    if not any(each.is_active for each in found):
        return Move(node, DELETE_PODS, annotations=_removed(pool, node, names.COMPLETION_START))
    limit = int(spec.get("timeoutSeconds", 0))
    return _timed(pool, node, names.COMPLETION_START, limit, Move(node, DELETE_PODS)) if limit else None


def _delete_pods(pool: Pool, node: str) -> Move:
    """Move that evicts the node's GPU Pods if all of them may be evicted. If some may not, the node is drained instead,
    or its upgrade fails if draining is off.
    """
    spec: Mapping[str, Any] = at(pool.policy, "podDeletion", {})
    found = gpu_pods(pool.workloads.get(node, ()))
    if not found:
        # The operator reports it only after it has evicted some Pods, in the same pass.
        return Move(node, RESTART, notes=(Note(_DELETED),) if pool.waited.get(node) else ())
    overdue = _is_overdue(pool, node, spec)
    if not overdue and all(is_deletable(each, spec) for each in found):
        return Move(node, DELETE_PODS, evict=tuple(found))
    failed = (Note(f"Failed to delete workload pods on the node for the driver upgrade, {_late(found)}", WARNING),)
    drains = at(pool.policy, "drain.enable", False) is True
    tried = (Note("Pod deletion failed but drain is enabled in spec. Will attempt a node drain", WARNING),)
    notes = (failed if overdue else ()) + (tried if drains else ())
    return Move(node, DRAIN if drains else FAILED, notes=notes)


def _late(found: Sequence[Workload]) -> str:
    """Message of `kubectl drain` about Pods that are still there at its time limit."""
    first = found[0]
    where = f'pod "{first.name}" in namespace "{first.namespace}"'
    return f"error when waiting for {where} to terminate: global timeout reached"


def _refused(found: Sequence[Workload], spec: Mapping[str, Any]) -> str:
    """Message of `kubectl drain` if it refuses to start because some Pods must not be deleted; empty if it starts."""
    kept = [each for each in found if not is_deletable(each, spec)]
    bare = [each for each in kept if not each.has_controller]
    named = ", ".join(f"{each.namespace}/{each.name}" for each in bare or kept)
    if bare:
        return f"cannot delete Pods that declare no controller (use --force to override): {named}"
    return f"cannot delete Pods with local storage (use --delete-emptydir-data to override): {named}"


def _drain(pool: Pool, node: str) -> Move:
    spec: Mapping[str, Any] = at(pool.policy, "drain", {})
    if spec.get("enable") is not True:
        return Move(node, RESTART)
    selector = ",".join(part for part in (str(spec.get("podSelector") or ""), f"{names.SKIP_DRAIN}!=true") if part)
    found = selected(pool.workloads.get(node, ()), selector)
    found = [each for each in found if not each.stays]
    begun = () if pool.waited.get(node) else (Note("Scheduling drain of the node"),)
    if not found:
        return Move(node, RESTART, notes=(*begun, Note("Successfully drained the node")))
    if _is_overdue(pool, node, spec):
        return Move(node, FAILED, notes=(Note(f"Failed to drain the node, {_late(found)}", WARNING),))
    if not all(is_deletable(each, spec) for each in found):
        return Move(node, FAILED, notes=(*begun, Note(f"Failed to drain the node, {_refused(found, spec)}", WARNING)))
    return Move(node, DRAIN, evict=tuple(found), notes=begun)


_STEPS = {
    WAIT: _wait,
    DELETE_PODS: _delete_pods,
    DRAIN: _drain,
    RESTART: _restart,
    VALIDATE: _validate,
    FAILED: _recover,
}
