"""Evidence that a repaired node is still faulty after it has passed acceptance. The causes are worded as in `physai
why`.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from physical_ai.readiness.nodes.findings import NodeFinding
from workbench.health.evidence.node_evidence import NodeEvidence
from workbench.health.replacement.world import Standing

SETTLED = timedelta(minutes=2)
"""Longest time until an alert about a node that offers GPUs becomes pending. It is the sum of 30 seconds for the
collection of metrics, 30 seconds for the scrape, and one minute for the evaluation of the rules.
"""


def standing_of(
    evidence: NodeEvidence,
    offered: datetime | None,
    reported: Mapping[str, float] | None,
    settled: timedelta = SETTLED,
) -> Standing:
    """Causes of faults that a node has now, and evidence that could not be read. If no alert can have fired yet, that
    is a cause, too.

    Args:
        evidence: Evidence with pending and firing alerts, and without signs from before the repair.
        offered: Time since which the node has offered its GPUs.
        reported: Time at which a Prometheus last had metrics of each node, in seconds since 1970; None if no Prometheus
            was read.
        settled: Time for which the node must have offered its GPUs without new signs.
    """
    causes = [f"{each.cause}: {each.reason}" for each in evidence.findings if _stands(each)]
    if not causes and offered is not None and reported is not None:
        wanted = (offered + settled).timestamp()
        if reported.get(evidence.name, 0.0) < wanted:
            causes = [f"metrics: no alert about {evidence.name} can have fired before {offered + settled:%H:%M:%S} UTC"]
    return Standing(tuple(dict.fromkeys(causes)), tuple(evidence.unread))


def _stands(found: NodeFinding) -> bool:
    """True for a cause that needs an action or closes a gate. False for a cause that ends by itself or only affects
    speed.
    """
    return not found.waits or found.gate
