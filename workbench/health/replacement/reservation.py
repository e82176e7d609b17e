"""Reservation of a pool, which allows only one repair of the pool at a time, even if several commands start at the same
moment.

The ConfigMap `repairs-<pool>` names the repair that has reserved the pool. A command replaces the ConfigMap only if
nobody has changed it since the command read it, so only one of several commands succeeds. The reservation lasts until
the repair has ended. If a command dies before it has written the repair's record, the reservation expires after
BEGINNING.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from physical_ai.kubernetes.objects import Json, at
from physical_ai.nested import is_mapping, parsed
from physical_ai.readiness.reader import Missing
from workbench.health.replacement.cluster import MAPS, Changed, RepairCluster, conflicting
from workbench.health.replacement.record import NAMESPACE, Record

BEGINNING = timedelta(minutes=5)
"""Time after which a reservation without a repair's record expires. A command writes the record in the request right
after the reservation, and the clocks of two operators' computers are assumed to differ by less than this time.
"""
ATTEMPTS = 5
DATA_KEY = "reservation.json"


class Taken(Exception):
    """Error if another repair has reserved the pool. The text says which repair, and what to do."""


def reserve(cluster: RepairCluster, record: Record, now: datetime) -> None:
    """Reserves the pool for a repair. Does nothing if the repair already has the reservation.

    Raises:
        Taken: another repair has reserved the pool.
    """
    for _ in range(ATTEMPTS):
        found = _read(cluster, record.pool)
        holder = _holder(found)
        if holder.get("record") == record.name:
            return
        if why := _held(cluster, record.pool, holder, now):
            raise Taken(why)
        try:
            _write(cluster, record, found, now)
        except Changed:
            continue
        return
    raise Taken(f"several commands begin a repair of pool {record.pool} at this moment; run the command again")


def is_reserved(cluster: RepairCluster, record: Record) -> bool:
    """True if the repair has reserved the pool."""
    return _holder(_read(cluster, record.pool)).get("record") == record.name


def _held(cluster: RepairCluster, pool: str, holder: Json, now: datetime) -> str:
    """Text about the repair that has reserved the pool; empty if no unfinished repair has. `holder`: content of the
    reservation.
    """
    if not holder:
        return ""
    node, other = str(holder.get("node")), cluster.record(str(holder.get("record")))
    if other is not None:
        if other.has_ended:
            return ""
        return (
            f"{node} of pool {pool} is in repair, at the step {other.step}; one node of a pool is repaired at a time."
            f" If nobody goes on with that repair: physai node replace {node} resumes it, and with --cancel ends it"
        )
    until = datetime.fromisoformat(str(holder["since"])) + BEGINNING
    if now >= until:
        return ""
    return (
        f"another command begins a repair of {node} of pool {pool} at this moment; if it died, the pool is free again"
        f" at {until.astimezone(UTC):%H:%M} UTC"
    )


def _name(pool: str) -> str:
    return f"repairs-{pool}"


def _read(cluster: RepairCluster, pool: str) -> Json | None:
    try:
        return dict(cluster.send("GET", f"{MAPS}/{_name(pool)}", {}))
    except Missing:
        return None


def _holder(found: Json | None) -> Json:
    """Content of the reservation; empty if there is none, or if it cannot be read."""
    kept: Any = parsed(at(found, "data", {}).get(DATA_KEY, "")) if found is not None else None
    return dict(kept) if is_mapping(kept) and {"record", "node", "since"} <= kept.keys() else {}


def _write(cluster: RepairCluster, record: Record, found: Json | None, now: datetime) -> None:
    """Writes the reservation for a repair. Raises Changed if another command was faster."""
    since = now.astimezone(UTC).isoformat(timespec="seconds")
    text = json.dumps({"record": record.name, "node": record.node, "since": since}, sort_keys=True)
    metadata: Json = {"name": _name(record.pool), "namespace": NAMESPACE}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {DATA_KEY: text}}
    if found is None:
        conflicting(lambda: cluster.send("POST", MAPS, {}, body))
        return
    metadata["resourceVersion"] = at(found, "metadata.resourceVersion")
    conflicting(lambda: cluster.send("PATCH", f"{MAPS}/{_name(record.pool)}", {}, body))
