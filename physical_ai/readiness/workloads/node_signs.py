"""Signs of problems on one node, such as Xids, alerts and conditions, and the causes that the signs indicate. Pure
functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.objects import Json, at, is_about, name, namespace
from physical_ai.readiness.nodes.counts import facts_of
from physical_ai.readiness.nodes.findings import NodeFinding, findings_of
from physical_ai.readiness.nodes.operands import failing, is_operand
from physical_ai.readiness.nodes.signs import NodeSigns, seen_in
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import Explanation


def findings(wanted: str, index: Index) -> tuple[NodeFinding, ...]:
    """Causes of a node's problems, also for a node that has left the cluster; computed once per reading."""
    if wanted not in index.findings:
        index.findings[wanted] = findings_of(signs_of(wanted, index))
    return index.findings[wanted]


def fix_of(wanted: str, index: Index, otherwise: str) -> str:
    """Instruction that opens the node's closed gate, or makes the node Ready: the fix of the finding that explains the
    gate, or `otherwise` if there is none. All commands show this instruction.
    """
    return next((each.fix for each in findings(wanted, index) if each.gate), otherwise)


def signs_of(wanted: str, index: Index) -> NodeSigns:
    """All known signs of problems on a node."""
    given, node = index.given, index.nodes.get(wanted)
    alerts = index.alerts_of_node(wanted)
    seen = [*seen_in(alerts, node, _own_events(wanted, node, index)), *given.xids.get(wanted, ())]
    return NodeSigns(
        name=wanted,
        node=node,
        gate=index.gates.get(wanted) or index.changes.get(wanted),
        alerts=alerts,
        seen=seen,
        facts=facts_of(node, index.records_of(wanted)) if node is not None else {},
        restarted=wanted in given.restarted,
        operands=failing(index.operands_on(wanted)),
        stack=given.stack,
        existing=given.existing,
    )


def of_operand(pod: Mapping[str, Any], index: Index) -> list[Explanation]:
    """Explanations of a Pod of the GPU stack that does not run, from the findings about its node. Only findings that
    explain a closed gate or that mention the Pod are used.
    """
    host = str(at(pod, "spec.nodeName", ""))
    if not is_operand(pod) or not host:
        return []
    item = f"pod {namespace(pod)}/{name(pod)}"
    return [explanation(item, each) for each in findings(host, index) if each.gate or name(pod) in "".join(each.signs)]


def _own_events(wanted: str, node: Json | None, index: Index) -> Sequence[Json]:
    """Events about the node itself, not about an earlier machine with the same name."""
    return [each for each in index.events_of_node(wanted) if node is None or is_about(each, node)]


def explanation(item: str, found: NodeFinding) -> Explanation:
    """A finding of a node as an explanation, which `why` prints."""
    return Explanation(
        item,
        "node",
        found.cause,
        found.reason,
        found.fix,
        found.signs[0],
        found.waits,
        signs=found.signs,
        alerts=found.alerts,
        remedy=found.remedy or "",
    )
