"""Rules on PostgreSQL flexible servers, their databases, parameters and firewall rules."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.errors import Refusal
from simulator.azure.own_facts import POSTGRES_TIERS
from simulator.azure.registry import models
from simulator.azure.rules.base import Delete, Put, on_delete, on_put, refuse
from simulator.azure.rules.pool_subnets import prefixes

NAME = re.compile(r"^[a-z0-9](-?[a-z0-9]+)*$")
RESERVED_LOGINS = (
    *("azure_superuser", "azuresu", "azure_pg_admin", "replication"),
    *("admin", "administrator", "root", "guest", "public"),
)
LOGIN = re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")
SIZES = (32, 64, 128, 256, 512, 1024, 2048, 4095, 4096, 8192, 16384, 32767)
SYSTEM_DATABASES = ("azure_maintenance", "azure_sys", "postgres", "template0", "template1")
DELEGATION = "Microsoft.DBforPostgreSQL/flexibleServers"
SMALLEST = 28
ALLOWED: Mapping[str, tuple[str, ...] | None] = {
    "azure.extensions": None,
    "require_secure_transport": ("on", "off"),
    "ssl_min_protocol_version": ("TLSv1.2", "TLSv1.3"),
    "max_connections": None,
    "shared_preload_libraries": None,
    "log_min_duration_statement": None,
}
"""Parameters of PostgreSQL servers that the simulator knows, with their allowed values; None if any text is allowed."""
EXTENSIONS = frozenset(
    (
        "btree_gin",
        "btree_gist",
        "citext",
        "dblink",
        "fuzzystrmatch",
        "hstore",
        "intarray",
        "isn",
        "ltree",
        "pageinspect",
        "pg_buffercache",
        "pg_cron",
        "pg_freespacemap",
        "pg_hint_plan",
        "pg_partman",
        "pg_prewarm",
        "pg_repack",
        "pg_squeeze",
        "pg_stat_statements",
        "pg_trgm",
        "pgaudit",
        "pgcrypto",
        "pglogical",
        "pgrowlocks",
        "pgstattuple",
        "plpgsql",
        "plv8",
        "postgis",
        "postgres_fdw",
        "semver",
        "sslinfo",
        "tablefunc",
        "timescaledb",
        "tsm_system_rows",
        "unaccent",
        "uuid-ossp",
        "vector",
    )
)
"""Extensions that Azure allows on PostgreSQL servers, from memory: the service's own list was not read."""


@on_put("PostgresServer", "pg-name", "pg-admin", "pg-admin-form", "pg-password", "pg-auth")
def server_login(put: Put) -> Iterator[Refusal]:
    name = ids.name(put.id)
    if not NAME.match(name) or not 3 <= len(name) <= 63:
        yield refuse(put, "pg-name", f"'{name}' must have 3 to 63 lowercase letters, digits and hyphens.", "name")
    login, password = str(put.properties.get("administratorLogin", "")), put.inputs.get("administratorLoginPassword")
    if login.lower() in RESERVED_LOGINS or login.lower().startswith("pg_"):
        yield refuse(put, "pg-admin", f"The login '{login}' is reserved.", "properties.administratorLogin")
    if login and not LOGIN.match(login):
        message = f"The login '{login}' must have 1 to 63 letters, digits and underscores, and begin with no digit."
        yield refuse(put, "pg-admin-form", message, "properties.administratorLogin")
    kinds = sum(bool(re.search(kind, str(password))) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[^a-zA-Z0-9]"))
    wrong = password is not None and (
        not 8 <= len(str(password)) <= 128 or kinds < 3 or (bool(login) and login in str(password))
    )
    if wrong or (put.old is None and login and password is None):
        message = "The password must have 8 to 128 characters of three kinds, without the login."
        yield refuse(put, "pg-password", message, "properties.administratorLoginPassword")
    ways = [get(put.properties, f"authConfig.{way}") for way in ("passwordAuth", "activeDirectoryAuth")]
    if ways[0] == "Disabled" and ways[1] in (None, "Disabled"):
        yield refuse(put, "pg-auth", "One way of authentication must be enabled.", "properties.authConfig")


@on_put("PostgresServer", "pg-sku-tier", "pg-ha-burstable")
def server_size(put: Put) -> Iterator[Refusal]:
    size, tier = str(get(put.body, "sku.name") or ""), get(put.body, "sku.tier")
    if size and POSTGRES_TIERS.get(size.removeprefix("Standard_")[:1]) != tier:
        yield refuse(put, "pg-sku-tier", f"The size {size} is not of the tier {tier}.", "sku")
    mode = get(put.properties, "highAvailability.mode")
    if mode not in (None, "Disabled") and tier == "Burstable":
        message = f"High availability is not supported for {size}, of the tier Burstable."
        yield refuse(put, "pg-ha-burstable", message, "properties.highAvailability")


@on_put("PostgresServer", "pg-storage-shrink", "pg-storage-sizes", "pg-backup", "pg-version-down")
def server_storage(put: Put) -> Iterator[Refusal]:
    size, days = get(put.properties, "storage.storageSizeGB"), get(put.properties, "backup.backupRetentionDays")
    before: Any = get(put.old.body, "properties.storage.storageSizeGB") if put.old else None
    if size is not None and size not in SIZES:
        message = f"storageSizeGB {size} is not one of {', '.join(map(str, SIZES))}."
        yield refuse(put, "pg-storage-sizes", message, "properties.storage.storageSizeGB")
    if size is not None and before is not None and size < before:
        message = f"Storage cannot shrink from {before} to {size} GB."
        yield refuse(put, "pg-storage-shrink", message, "properties.storage.storageSizeGB")
    if days is not None and not 7 <= days <= 35:
        message = f"backupRetentionDays {days} is outside 7..35."
        yield refuse(put, "pg-backup", message, "properties.backup.backupRetentionDays")
    old = get(put.old.body, "properties.version") if put.old else None
    if old is not None and int(str(put.properties.get("version", old))) < int(str(old)):
        message = f"The version cannot be lowered from {old} to {put.properties.get('version')}."
        yield refuse(put, "pg-version-down", message, "properties.version")


@on_put("PostgresServer", "pg-vnet", "pg-vnet-public", "subnet-pg-deleg")
def server_network(put: Put) -> Iterator[Refusal]:
    """Refusals of a server's network: it is either in a delegated subnet with a private zone, or has a public address
    or private endpoints.
    """
    here = "properties.network.delegatedSubnetResourceId"
    subnet_id = get(put.properties, "network.delegatedSubnetResourceId")
    if subnet_id is None:
        return
    if get(put.properties, "network.privateDnsZoneArmResourceId") is None:
        yield refuse(put, "pg-vnet", "A server in a virtual network needs a private DNS zone.", here)
    if get(put.properties, "network.publicNetworkAccess") == "Enabled":
        yield refuse(put, "pg-vnet-public", "A server in a virtual network has no public network access.", here)
    subnet = put.azure.get(subnet_id, "Subnet")
    services = [each.get("serviceName") for each in items(subnet.inputs, "delegations")] if subnet else []
    small = subnet is not None and any(ipaddress.ip_network(each).prefixlen > SMALLEST for each in prefixes(subnet))
    if DELEGATION not in services or small:
        message = f"The subnet must be delegated to {DELEGATION} and have at least the size /{SMALLEST}."
        yield refuse(put, "subnet-pg-deleg", message, here)


@on_put("PostgresDatabase", "pg-db-reserved")
def database(put: Put) -> Iterator[Refusal]:
    if ids.name(put.id).lower() in SYSTEM_DATABASES:
        yield refuse(put, "pg-db-reserved", f"'{ids.name(put.id)}' is a system database.", "name")


@on_delete("PostgresDatabase")
def system_database(request: Delete) -> Iterator[Refusal]:
    if ids.name(request.id).lower() in SYSTEM_DATABASES:
        yield refuse(request, "pg-db-reserved", f"'{ids.name(request.id)}' is a system database.")


@models("pg-config-delete", "pg-config-create")
def _is_always_there() -> None:
    """Marks the rules about creating and deleting a parameter as implemented. They need no code: a parameter always
    exists with its server, so a creation is an update, and a deletion resets the parameter to its default.
    """


@on_put("PostgresConfiguration", "pg-config-name", "pg-config-value", "pg-extensions")
def parameter(put: Put) -> Iterator[Refusal]:
    name, value = ids.name(put.id), str(put.properties.get("value", ""))
    if name not in ALLOWED:
        message = f"The server parameter '{name}' is unknown. (The simulator knows {', '.join(ALLOWED)}.)"
        yield refuse(put, "pg-config-name", message, "name")
        return
    allowed = ALLOWED[name]
    if allowed is not None and value not in allowed:
        message = f"'{value}' is no value of {name}: {', '.join(allowed)}."
        yield refuse(put, "pg-config-value", message, "properties.value")
    unknown = [each for each in value.split(",") if each.strip().lower() not in EXTENSIONS]
    if name == "azure.extensions" and value and unknown:
        message = f"The extension '{unknown[0]}' is not supported by the server."
        yield refuse(put, "pg-extensions", message, "properties.value")


@on_put("PostgresFirewallRule", "pg-firewall-range", "pg-firewall-private")
def firewall(put: Put) -> Iterator[Refusal]:
    ends = [put.properties.get(name) for name in ("startIpAddress", "endIpAddress")]
    first, last = (ipaddress.ip_address(str(each)) for each in ends)
    if int(first) > int(last):
        yield refuse(put, "pg-firewall-range", f"{first} is after {last}.", "properties.startIpAddress")
    server = put.azure.get(ids.parent(put.id), "PostgresServer")
    if server is not None and get(server.body, "properties.network.delegatedSubnetResourceId") is not None:
        message = "Firewall rules cannot be set on a server in a virtual network."
        yield refuse(put, "pg-firewall-private", message)
