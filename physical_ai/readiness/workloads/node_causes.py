"""Reasons why a node takes no Pod, each as a cause of the node, of its pool, or of a Pod. Pure functions."""

from __future__ import annotations

from physical_ai.catalog.acceptance import ACCEPTED_CONDITION
from physical_ai.catalog.own_names import ROLL_ANNOTATION
from physical_ai.kubernetes.objects import Json, annotations_of, at, condition, is_ready, labels, name
from physical_ai.readiness.model import ClosedGate
from physical_ai.readiness.objects import pool_of, removal
from physical_ai.readiness.rollout import UPGRADE_STATE
from physical_ai.readiness.slurmd import is_excluded
from physical_ai.readiness.workloads.index import Index, short
from physical_ai.readiness.workloads.model import Explanation
from physical_ai.readiness.workloads.node_signs import findings, fix_of
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT

NOT_UPGRADING = ("", "upgrade-done")


def cordon(item: str, node: Json, index: Index) -> Explanation | None:
    """Explanation for a node that is cordoned, by a driver upgrade or otherwise; None for other nodes."""
    if not at(node, "spec.unschedulable"):
        return None
    state = labels(node).get(UPGRADE_STATE, "")
    turn = annotations_of(node).get(ROLL_ANNOTATION, "")
    cause = "node-cordoned" if state in NOT_UPGRADING and not turn else "driver-upgrade"
    evidence = f"spec.unschedulable: true{f', {UPGRADE_STATE}: {state}' if state else ''}"
    evidence += f", {ROLL_ANNOTATION}: {short(turn)}" if turn else ""
    return index.explanation(item, cause, "capacity", evidence, node=name(node), pool=pool_of(node), state=state)


def leaving(item: str, node: Json, index: Index) -> Explanation | None:
    """Explanation for a node that Azure, the autoscaler or somebody else is removing; None for a node that nobody is
    removing.
    """
    pending_removal = removal(node)
    if pending_removal is None:
        return None
    cause, evidence = pending_removal
    held = index.on_node(name(node))
    pods = f"{', '.join(held[:3])}{f' and {len(held) - 3} more' if len(held) > 3 else ''}" if held else "none"
    return index.explanation(item, cause, "node", evidence, node=name(node), pool=pool_of(node), pods=pods)


def not_accepted(item: str, node: Json, index: Index) -> Explanation | None:
    """Explanation for a node that takes no work until it has passed acceptance; None for other nodes."""
    key = split_taint(NOT_ACCEPTED_TAINT)[0]
    taints: list[Json] = at(node, "spec.taints", [])
    if all(each["key"] != key for each in taints):
        return None
    result = condition(node, ACCEPTED_CONDITION)
    evidence = f"{result.get('reason', '')}: {result.get('message', '')}" if result else f"taint {key}, no result yet"
    facts = {"node": name(node), "pool": pool_of(node)}
    if not result or result.get("status") == "True":
        return index.explanation(item, "node-not-accepted", "capacity", short(evidence), **facts)
    # The cause at the node itself has the repair.
    failed = [each for each in findings(name(node), index) if each.cause.endswith("acceptance") or each.remedy]
    fix = failed[0].fix if failed else f"physai accept {index.given.stack} --node {name(node)}"
    return index.explanation(item, "node-failed-acceptance", "capacity", short(evidence), nodeFix=fix, **facts)


def slurm_drain(item: str, node: Json, index: Index) -> Explanation | None:
    """Explanation for a node to which Slurm gives no jobs; None for other nodes."""
    found = index.slurm.get(name(node))
    if found is None or not found.drained_for:
        return None
    cause = "slurm-drain-by-others"
    if found.is_drained_by_operator:
        # A drain ends with its cause. A drain without a cause, as after SlinkyProject/slurm-operator#249, does not end.
        cause = "slurm-drain" if is_excluded(node) or leaving(item, node, index) else "slurm-drain-stuck"
    jobs = "running jobs end first" if found.is_busy else "no job runs on it"
    facts = {"node": name(node), "pool": pool_of(node), "host": found.host, "jobs": jobs}
    return index.explanation(item, cause, "capacity", found.drained_for, **facts)


def not_ready(item: str, node: Json, index: Index) -> Explanation | None:
    """Explanation for a node whose kubelet or container runtime does not work; None for a node that is Ready."""
    if is_ready(node):
        return None
    ready = condition(node, "Ready")
    text = f"{ready.get('reason', '')}: {ready.get('message', '')}"
    fix = fix_of(name(node), index, f"physai why {name(node)} {index.given.stack} looks at the node.")
    return index.explanation(item, "node-not-ready", "node", text, node=name(node), condition=short(text), nodeFix=fix)


def behind_gate(item: str, cause: str, stage: str, gate: ClosedGate, index: Index) -> Explanation:
    """Explanation of a problem that a node's closed gate causes for `item`, such as a Pod. It contains the gate's
    message, reason and fix.
    """
    return index.explanation(
        item,
        cause,
        stage,
        gate.message or gate.reason,
        node=gate.node,
        pool=gate.pool,
        gateReason=gate.reason,
        gateFix=fix_of(gate.node, index, gate.fix or "Wait; physai gates shows the progress."),
    )
