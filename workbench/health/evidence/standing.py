"""Remaining evidence against a node that has passed acceptance: its causes, as every other command names them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from physical_ai.readiness.nodes.findings import NodeFinding
from workbench.health.evidence.node_evidence import NodeEvidence
from workbench.health.replacement.world import Standing

SETTLED = timedelta(minutes=2)
"""Time from the first GPU that a node offers until an alert about it is at least pending: a collection and a scrape,
30 seconds each, and an evaluation of the rules, a minute."""


def standing_of(
    evidence: NodeEvidence,
    offered: datetime | None,
    reported: Mapping[str, float] | None,
    settled: timedelta = SETTLED,
) -> Standing:
    """Evidence about a node now.

    Args:
        evidence: With alerts that are pending beside those that fire, and without signs of before the repair.
        offered: When the node offered its GPUs.
        reported: When a Prometheus had metrics of each node last, in seconds since 1970; None where none was read.
    """
    causes = [f"{each.cause}: {each.reason}" for each in evidence.findings if _stands(each)]
    if not causes and offered is not None and reported is not None:
        wanted = (offered + settled).timestamp()
        if reported.get(evidence.name, 0.0) < wanted:
            causes = [f"metrics: no alert about {evidence.name} can have fired before {offered + settled:%H:%M:%S} UTC"]
    return Standing(tuple(dict.fromkeys(causes)), tuple(evidence.unread))


def _stands(found: NodeFinding) -> bool:
    """True for a cause that needs an action, or closes a gate; not for one that concerns speed, or ends without an
    action.
    """
    return not found.waits or found.gate
