"""Machines that a repair has already restarted, according to the records of `physai node replace`. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.kubernetes.objects import at, labels, name
from physical_ai.nested import is_mapping, parsed

KEY = "repair.json"
COUNTS = timedelta(days=30)
"""Time after a restart in which a new failure of the node counts as the same fault, which the restart did not repair.
It is the period for which Prometheus is queried for Xids.

A failure after this time is another fault, for which a restart is tried first.
"""


def counts_still(restart: datetime | str | None, now: datetime | str) -> bool:
    """True if the restart was at most `COUNTS` before `now`, so that a present fault counts as one that the restart did
    not repair. False for an older restart, and if a time is missing or invalid.

    >>> counts_still("2026-11-01T00:00:00+00:00", "2026-11-20T00:00:00Z"), counts_still("2026-03-01", "2026-11-20")
    (True, False)
    """
    then, here = _moment(restart), _moment(now)
    return then is not None and here is not None and here - then <= COUNTS


def _moment(given: datetime | str | None) -> datetime | None:
    try:
        found = given if isinstance(given, datetime) else datetime.fromisoformat(str(given or ""))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def restarted(
    config_maps: Iterable[Mapping[str, Any]], nodes: Iterable[Mapping[str, Any]], now: datetime | str
) -> frozenset[str]:
    """Names of nodes whose machine was restarted recently by a finished repair, including nodes that have left the
    cluster.
    """
    uids = {name(node): uid for node in nodes if (uid := at(node, "metadata.uid"))}
    found: set[str] = set()
    for each in config_maps:
        if REPAIR_LABEL not in labels(each):
            continue
        record = parsed(at(each, "data", {}).get(KEY))
        if not is_mapping(record) or (record.get("action"), record.get("step")) != ("reboot", "done"):
            continue
        if not counts_still(record.get("removed") or record.get("started"), now):
            continue
        node, uid = str(record.get("node", "")), record.get("node_uid", "")
        # AKS may give a new machine an old one's name.
        if uids.get(node, uid) == uid:
            found.add(node)
    return frozenset(found)
