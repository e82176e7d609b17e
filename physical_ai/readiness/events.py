"""Events: read without the routine ones, up to a number, and never silently less."""

from __future__ import annotations

from typing import Any

from physical_ai.nested import at
from physical_ai.readiness.answers import Get, Missing, Unreachable, is_forbidden
from physical_ai.readiness.model import Json
from physical_ai.readiness.paging import first_pages

MOST = 20_000
"""Events of one reading. A storm has ten times as many, nearly all of which say the same."""
LEFT_OUT = ("Scheduled", "Pulling", "Pulled", "Created", "Started")
"""Reasons of most events of a cluster that works. The server leaves them out."""
ROUTINE = (*LEFT_OUT, "Killing", "SuccessfulCreate", "TriggeredScaleUp", "Bound", "Pipelined", "SuccessfulAttachVolume",
           "SuccessfulMountVolume", "SandboxChanged")  # fmt: skip
"""Reasons of events that name no trouble."""
_QUIET = ",".join(f"reason!={each}" for each in LEFT_OUT)
OF_NODES = "involvedObject.kind=Node"
_FIRST = (OF_NODES, "involvedObject.name=cluster-autoscaler-status", "reason=FailedCreate")
"""Events that are read even if there are very many: the server lists events by the names of their objects, not by time.
"""


def read_events(get: Get, path: str, unread: list[str], most: int = MOST, about: str = "") -> list[Json]:
    """The events of a list. What is not read is added to `unread`.

    Args:
        about: A field selector: only events about these objects.

    Raises:
        Unreachable, Unusable: as `get` does, but for a login without the right to read events.
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
