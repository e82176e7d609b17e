"""Reading of a cluster's events. Routine events are left out, and at most `MOST` events are read; a text reports events
that were not read.
"""

from __future__ import annotations

from typing import Any

from physical_ai.nested import at
from physical_ai.readiness.answers import Get, Missing, Unreachable, is_forbidden
from physical_ai.readiness.model import Json
from physical_ai.readiness.paging import first_pages

MOST = 20_000
"""Maximum number of events in one reading. A storm of events may have ten times as many, nearly all with the same
text.
"""
LEFT_OUT = ("Scheduled", "Pulling", "Pulled", "Created", "Started")
"""Reasons of most events in a working cluster. The request excludes them, so the server does not send them."""
ROUTINE = (*LEFT_OUT, "Killing", "SuccessfulCreate", "TriggeredScaleUp", "Bound", "Pipelined", "SuccessfulAttachVolume",
           "SuccessfulMountVolume", "SandboxChanged")  # fmt: skip
"""Reasons of events that report no problem."""
_QUIET = ",".join(f"reason!={each}" for each in LEFT_OUT)
OF_NODES = "involvedObject.kind=Node"
_FIRST = (OF_NODES, "involvedObject.name=cluster-autoscaler-status", "reason=FailedCreate")
"""Field selectors of events that are read first if there are very many: the server sorts events by the name of their
object, not by time.
"""


def read_events(get: Get, path: str, unread: list[str], most: int = MOST, about: str = "") -> list[Json]:
    """Events in the list at `path`, without routine events, and at most `most`. If some events could not be read, a
    text about them is added to `unread`.

    Args:
        about: A field selector, to read only events about certain objects.

    Raises:
        Unreachable, Unusable: `get` raised it; a login without the right to read events raises nothing.
    """
    what = "events of nodes" if about else "events"
    try:
        found, is_all = first_pages(get, path, {"fieldSelector": f"{about},{_QUIET}" if about else _QUIET}, most)
        if is_all:
            return found
        for selector in () if about else _FIRST:
            found += first_pages(get, path, {"fieldSelector": selector}, most // len(_FIRST))[0]
    except Missing:
        return []
    except Unreachable as refusal:
        if not is_forbidden(refusal):
            raise
        unread.append(f"{what} ({refusal})")
        return []
    unread.append(
        f"{what} beyond the first {most:,} (there are more; `kubectl get events --field-selector "
        "involvedObject.name=NAME` lists those of one object)"
    )
    return list({_key(each): each for each in found}.values())


def _key(event: Any) -> tuple[str, str]:
    return str(at(event, "metadata.namespace", "")), str(at(event, "metadata.name", "")) or str(id(event))
