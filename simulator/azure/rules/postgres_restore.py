"""Rules on restoring a PostgreSQL flexible server: a new server gets the data that its source server had at a point in
time.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from simulator.azure.bodies import get
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse
from simulator.azure.state import Resource

MODE = "PointInTimeRestore"
DAY = 86400
DEFAULT_DAYS = 7
_SOURCE, _TIME = "properties.sourceServerResourceId", "properties.pointInTimeUTC"


def earliest(server: Resource, now: float) -> float:
    """The earliest time, in seconds since the epoch, to which a server's backups can be restored."""
    days = get(server.body, "properties.backup.backupRetentionDays") or DEFAULT_DAYS
    return max(server.created, now - days * DAY)


@on_put("PostgresServer", "pg-restore-source", "pg-restore-time")
def moment(put: Put) -> Iterator[Refusal]:
    if put.inputs.get("createMode") != MODE or put.old is not None:
        return
    source, text = _source(put), put.inputs.get("pointInTimeUTC")
    if source is None or text is None:
        message = "A restore needs pointInTimeUTC, and the id of a server that exists in sourceServerResourceId."
        yield refuse(put, "pg-restore-source", message, _SOURCE)
        return
    wanted, first = datetime.fromisoformat(str(text)).timestamp(), earliest(source, put.azure.now)
    if not first <= wanted <= put.azure.now:
        ends = " to ".join(_written(each) for each in (first, put.azure.now))
        yield refuse(put, "pg-restore-time", f"{text} is not in the time that backups have, {ends}.", _TIME)


@on_put("PostgresServer", "pg-restore-region", "pg-restore-version", "pg-restore-ha", "pg-restore-network")
def likeness(put: Put) -> Iterator[Refusal]:
    """Refusals of a restored server whose settings differ from those of its source."""
    source = _source(put)
    if put.inputs.get("createMode") != MODE or put.old is not None or source is None:
        return
    place = str(put.body.get("location", "")).replace(" ", "").lower()
    if place != source.location:
        message = f"A server of {source.location} is restored there, and not in {place}."
        yield refuse(put, "pg-restore-region", message, "location")
    yield from _same(put, source)
    if get(put.properties, "highAvailability.mode") not in (None, "Disabled"):
        message = "A server is restored without a standby, which can be enabled afterwards."
        yield refuse(put, "pg-restore-ha", message, "properties.highAvailability.mode")
    here = "network.delegatedSubnetResourceId"
    if (get(put.properties, here) is None) != (get(source.body, f"properties.{here}") is None):
        message = "A server in a virtual network is restored into one, and a public one as a public one."
        yield refuse(put, "pg-restore-network", message, f"properties.{here}")


def _same(put: Put, source: Resource) -> Iterator[Refusal]:
    for name in ("version", "administratorLogin"):
        given, theirs = put.properties.get(name), get(source.body, f"properties.{name}")
        if given is not None and theirs is not None and given != theirs:
            message = f"A restored server has the {name} of its source, {theirs}."
            yield refuse(put, "pg-restore-version", message, f"properties.{name}")
    sizes: list[Any] = [get(each, "properties.storage.storageSizeGB") for each in (put.body, source.body)]
    if None not in sizes and sizes[0] < sizes[1]:
        message = f"A restored server has at least the storage of its source, {sizes[1]} GB."
        yield refuse(put, "pg-restore-version", message, "properties.storage.storageSizeGB")


def _source(put: Put) -> Resource | None:
    return put.azure.get(put.properties.get("sourceServerResourceId"), "PostgresServer")


def _written(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
