"""Times as Kubernetes writes them, and differences between them. Pure functions."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from physical_ai.kubernetes.objects import at, time_of


def seconds(since: Any, now: Any) -> float | None:
    """Seconds from one time to another; None if one of the texts is missing or is not a time.

    >>> seconds("2026-11-22T11:59:00Z", "2026-11-22T12:00:00.5Z")
    60.5
    """
    began, ended = moment(since), moment(now)
    return None if began is None or ended is None else (ended - began).total_seconds()


def longer(since: Any, now: Any, least: float) -> bool:
    """True where more than `least` seconds are known to have passed between the two times."""
    passed = seconds(since, now)
    return passed is not None and passed > least


def reading_time(
    own: datetime.datetime, nodes: Iterable[Mapping[str, Any]], events: Iterable[Mapping[str, Any]]
) -> str:
    """Time of a reading, as Kubernetes writes it: the later of this machine's time and the newest time in the cluster's
    objects.

    The newest time corrects a clock of this machine that is slow. With a slow clock, a Pod that has hung for an hour
    would seem to have just started. A clock that is fast is not noticed: the cluster then seems to have done nothing
    for a while.
    """
    newest = max([own, *(found for stamp in _stamps(nodes, events) if (found := moment(stamp)) is not None)])
    return newest.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _stamps(nodes: Iterable[Mapping[str, Any]], events: Iterable[Mapping[str, Any]]) -> Iterator[Any]:
    for node in nodes:
        for condition in at(node, "status.conditions", []):
            yield condition.get("lastHeartbeatTime")
    yield from map(time_of, events)


def moment(given: Any) -> datetime.datetime | None:
    """Time from a text as Kubernetes writes it; None for a text that is no time."""
    try:
        found = datetime.datetime.fromisoformat(str(given or ""))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
