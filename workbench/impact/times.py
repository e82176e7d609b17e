"""Times of what happens to work, in minutes after the change begins. Pure functions.

>>> from workbench.impact.outages import Outage
>>> node_by_node = Outage("h100gpu", "H100", 3, 3, (5, 15), one_by_one=True, returns="certain", why="")
>>> span(node_by_node)
(0, 30)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.impact.judging import Effect, Fate
from workbench.impact.outages import Outage

Minutes = tuple[float, float]
"""Earliest and latest time, in minutes after the change begins."""


@dataclass(frozen=True)
class Times:
    """Times of one Pod.

    Attributes:
        ends: Time at which the Pod ends; None if it does not.
        runs_again: Time at which its successor can run, or at which it can be placed; None if there is none.
    """

    ends: Minutes | None = None
    runs_again: Minutes | None = None


def span(outage: Outage | None) -> Minutes:
    """Time at which a node's turn comes: at once, or after up to all others of its pool."""
    if outage is None or not outage.one_by_one:
        return 0, 0
    return 0, outage.minutes[1] * max(outage.nodes - 1, 0)


def times(effect: Effect, outages: Mapping[str, Outage]) -> Times:
    """Times of a Pod, by the outages of the pools."""
    turn = span(outages.get(effect.work.pool))
    if effect.fate is Fate.WAITS:
        return Times(None, effect.minutes)
    if effect.fate not in (Fate.ENDED, Fate.RESTARTED):
        return Times()
    if effect.fate is Fate.ENDED:
        return Times(turn)
    # A Pod that no node selector binds can start at once on another node.
    earliest = effect.minutes[0] if effect.work.needs_pool else 0
    return Times(turn, (earliest, turn[1] + effect.minutes[1]))
