"""Events about one node, in order of time."""

from __future__ import annotations

from collections.abc import Sequence

from physical_ai.kubernetes.objects import Json, is_about, time_of

MOST_EVENTS = 50


def own_events(events: Sequence[Json], node: Json | None) -> list[Json]:
    """The newest `MOST_EVENTS` events about a node in order of time, without those about an earlier machine of the same
    name.
    """
    mine = [each for each in events if node is None or is_about(each, node)]
    return sorted(mine, key=time_of)[-MOST_EVENTS:]
