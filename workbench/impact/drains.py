"""Reasons why a Pod stays on a node that is cleared for a change. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable

from physical_ai.settings.facts.gpu import FINISH_FIRST_LABEL
from workbench.impact.changes import Change
from workbench.impact.grid import WAIT, policy
from workbench.impact.ways import Way
from workbench.impact.work import Work

WAITS = "the node waits until the work has ended, without a limit"
TURN = "its node's turn may come only after nodes that wait for work"


def waits_for(work: Work, change: Change, way: Way) -> bool:
    """True if the node is not cleared before the Pod has ended by itself."""
    if way.jobs == "policy":
        return policy(change, work.pool) == WAIT
    return way.jobs == "waits" and (work.labels or {}).get(FINISH_FIRST_LABEL) == "true"


def kept_by(work: Work, causes: Iterable[tuple[Change, Way]]) -> str:
    """Reason why these changes do not end a Pod, as a sentence without its final dot; empty if there is none."""
    given = list(causes)
    if any(waits_for(work, change, way) for change, way in given):
        return WAITS
    if work.budget and any(way.drain for _, way in given):
        return f"the budget {work.budget} allows no eviction, so the drain of the node fails"
    return ""
