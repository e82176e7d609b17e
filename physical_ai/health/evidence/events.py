"""Events about one node, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from physical_ai.kubernetes.objects import Json, at, time_of

MOST_EVENTS = 50


def own_events(events: Sequence[Json], wanted: str, node: Json | None) -> list[Json]:
    """The newest events in their order, without those of a machine that had the node's name before."""
    uid = at(node, "metadata.uid") if node is not None else None
    # Kubelets and monitors write the node's name in place of its UID.
    mine = [each for each in events if not uid or at(each, "involvedObject.uid") in (None, "", uid, wanted)]
    return sorted(mine, key=time_of)[-MOST_EVENTS:]
