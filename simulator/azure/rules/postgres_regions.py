"""Refusals of PostgreSQL servers whose region does not offer their compute size, version or standby.

The regions' capabilities are the simulator's own table, each with its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.azure.bodies import get
from simulator.azure.data import load_json
from simulator.azure.errors import Refusal
from simulator.azure.offers import location
from simulator.azure.own_facts import POSTGRES_SIZES, POSTGRES_VERSIONS
from simulator.azure.rules.base import Put, on_put, refuse
from simulator.azure.state import AzureState

OLDEST_WITH_LOCAL_DISK = 4
NEWEST_LISTED = 5
"""Newest generation of VM sizes that the service lists as compute sizes."""


def offered(region: str, azure: AzureState) -> Mapping[str, Any]:
    """The service's capabilities for the subscription in a region; those of the region are empty if the simulator does
    not know it.
    """
    rows: dict[str, dict[str, Any]] = load_json("postgres_regions.json")
    return {**rows.get(region, {}), **azure.restrictions.databases}


def generation_of(size: str) -> int | None:
    """Generation of a general-purpose or memory-optimized compute size; None for any other size."""
    match = re.search(r"_[DE].*_v([0-9]+)$", size)
    return int(match[1]) if match is not None else None


@on_put("PostgresServer", "pg-restricted")
def restricted(put: Put) -> Iterator[Refusal]:
    """Refusals of a new server in a region that the subscription may not use."""
    region = location(str(put.body.get("location", "")))
    if put.old is None and offered(region, put.azure).get("restricted") == "Enabled":
        message = f"Subscriptions are restricted from provisioning in location '{region}'. Try again in a different"
        message += " location. For exceptions to this rule please open a support request with Issue type of 'Service"
        yield refuse(put, "pg-restricted", f"{message} and subscription limits'.", "location")


@on_put("PostgresServer", "pg-ha-region", "pg-ha-geo")
def standby(put: Put) -> Iterator[Refusal]:
    """Refusals of a zone-redundant standby in a region that does not offer it. This concerns new servers and servers
    that get a standby; an existing standby may stay.
    """
    region = location(str(put.body.get("location", "")))
    found, before = offered(region, put.azure), put.old.body if put.old else {}
    zones = get(put.properties, "highAvailability.mode") == "ZoneRedundant"
    if not zones or get(before, "properties.highAvailability.mode") == "ZoneRedundant":
        return
    if found.get("zoneRedundantHaSupported") == "Disabled":
        yield refuse(put, "pg-ha-region", f"HA is disabled for region {region}.", "properties.highAvailability.mode")
        return
    copies = get(put.properties, "backup.geoRedundantBackup") == "Enabled"
    if copies and found.get("zoneRedundantHaAndGeoBackupSupported") == "Disabled":
        message = f"Unable to find geo zone redundant enabled storage account skus for the region {region}"
        yield refuse(put, "pg-ha-geo", message, "properties.backup.geoRedundantBackup")


@on_put("PostgresServer", "pg-version-offered")
def version(put: Put) -> Iterator[Refusal]:
    """Refusals of a PostgreSQL version that is not offered. This concerns new servers and servers that get another
    version; a server may keep its version.
    """
    wanted, before = put.properties.get("version"), get(put.old.body, "properties.version") if put.old else None
    if wanted is None or str(wanted) in (*POSTGRES_VERSIONS, str(before)):
        return
    offered_now = ", ".join(POSTGRES_VERSIONS)
    message = f"The value of the 'Version' should be in: [{offered_now}]. Verify that the specified parameter value"
    yield refuse(put, "pg-version-offered", f"{message} is correct.", "properties.version")


@on_put("PostgresServer", "pg-size-unknown")
def known_size(put: Put) -> Iterator[Refusal]:
    name = str(get(put.body, "sku.name") or "")
    generation = re.search(r"_v([0-9]+)$", name)
    later = generation is not None and int(generation[1]) > NEWEST_LISTED
    if name and not later and name not in POSTGRES_SIZES:
        message = (
            f"Specified SKU {name} is invalid. (The simulator's list: {', '.join(sorted(POSTGRES_SIZES)[:3])}, ...)"
        )
        yield refuse(put, "pg-size-unknown", message, "sku.name")


@on_put("PostgresServer", "pg-standby-zone")
def zones_differ(put: Put) -> Iterator[Refusal]:
    mode = get(put.properties, "highAvailability.mode")
    own, other = (
        get(put.properties, "availabilityZone"),
        get(put.properties, "highAvailability.standbyAvailabilityZone"),
    )
    if mode == "ZoneRedundant" and own and own == other:
        message = f"The standby cannot be in the zone {own} of the server with the mode ZoneRedundant."
        yield refuse(put, "pg-standby-zone", message, "properties.highAvailability.standbyAvailabilityZone")
    if mode == "SameZone" and own and other and own != other:
        message = f"The standby must be in the zone {own} of the server with the mode SameZone."
        yield refuse(put, "pg-standby-zone", message, "properties.highAvailability.standbyAvailabilityZone")


@on_put("PostgresServer", "pg-geo-region", "pg-size-region")
def size(put: Put) -> Iterator[Refusal]:
    region = location(str(put.body.get("location", "")))
    found, name = offered(region, put.azure), str(get(put.body, "sku.name") or "")
    copies = put.old is None and get(put.properties, "backup.geoRedundantBackup") == "Enabled"
    if copies and found.get("geoBackupSupported") == "Disabled":
        message = f"Geo-redundant backup is not supported in {region}."
        yield refuse(put, "pg-geo-region", message, "properties.backup.geoRedundantBackup")
    same = put.old is not None and get(put.old.body, "sku.name") == name
    generation = generation_of(name)
    have: list[int] = found.get("generations", [])
    if generation and have and not same and generation not in have:
        sizes = ", ".join(f"Standard_D2{'ds' if each >= OLDEST_WITH_LOCAL_DISK else 's'}_v{each}" for each in have)
        message = f"The value of the 'Sku.Name' should be in: [{sizes}, ...]. Verify that the specified parameter value"
        yield refuse(put, "pg-size-region", f"{message} is correct.", "sku.name")
