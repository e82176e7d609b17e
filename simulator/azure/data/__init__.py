"""The rule tables: recorded schemas of the ARM types, and the rules that are in no schema.

`types/*.json`: the schema of one ARM type at one API version (`tables.py`), as body path → constraints; `[]` stands for
an array's element and `{}` for a map's value. The catalogue's `azure_native` table says how Pulumi inputs become this
body.
`rules.json`: the rules that are in no schema. `documented` rules were read in their source; `believed` rules are
assumed.
`not_modelled.json`: the rules that the simulator omits, and why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from physical_ai.catalog.azure_native import DuplicateEntry, TypeMapping, by_key, by_token, mappings
from simulator.azure.data import tables

__all__ = [
    "KINDS",
    "DuplicateEntry",
    "Rule",
    "TypeMapping",
    "by_key",
    "by_token",
    "load_json",
    "mappings",
    "rules",
    "schema",
    "tables",
]

KINDS = (
    "ResourceGroup",
    "VirtualNetwork",
    "Subnet",
    "NatGateway",
    "PublicIPAddress",
    "NetworkSecurityGroup",
    "SecurityRule",
    "UserAssignedIdentity",
    "FederatedIdentityCredential",
    "RoleAssignment",
    "Workspace",
    "PostgresServer",
    "PostgresDatabase",
    "PostgresConfiguration",
    "PostgresFirewallRule",
    "RedisEnterprise",
    "RedisEnterpriseDatabase",
    "StorageAccount",
    "BlobServiceProperties",
    "BlobContainer",
    "ManagementPolicy",
    "Vault",
    "VaultSecret",
    "Registry",
    "CacheRule",
    "ManagedCluster",
    "AgentPool",
    "CapacityReservationGroup",
    "CapacityReservation",
    "MaintenanceConfiguration",
    "DiagnosticSetting",
    "AzureMonitorWorkspace",
    "DataCollectionEndpoint",
    "DataCollectionRule",
    "DataCollectionRuleAssociation",
    "ActionGroup",
    "Grafana",
    "PrometheusRuleGroup",
    "RouteTable",
    "VirtualNetworkPeering",
    "VirtualNetworkGateway",
    "PrivateDnsZone",
    "VirtualNetworkLink",
    "PrivateEndpoint",
    "PrivateDnsZoneGroup",
    "DnsResolver",
    "InboundEndpoint",
    "PrivateRecordSet",
    "RecordSet",
    "PrivateLinkScope",
    "PrivateLinkScopedResource",
    "ManagedPrivateEndpoint",
)
"""Kinds of resources that the simulator models. A kind is the last part of a Pulumi type token."""


@dataclass(frozen=True)
class Rule:
    """One rule of rules.json."""

    id: str
    types: tuple[str, ...]
    """Kinds that the rule applies to; `ManagedCluster.agentPoolProfiles[]` for inline pools, `*` for all."""
    kind: str
    """Type of the rule: `immutable`, `mutable`, `default`, `lro`, `shape` or `order`; empty for a rule that validates a
    request.
    """
    confidence: Literal["documented", "believed"]
    codes: tuple[str, ...]
    status: int
    when: str
    message: str
    path: str


def load_json(name: str) -> Any:
    """Content of a JSON file of this folder. Raises `DuplicateEntry` if a map has a key twice."""
    return json.loads(files(__name__).joinpath(name).read_text(encoding="utf-8"), object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return by_key(pairs)


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule by id."""
    return by_key((row["id"], _rule(row)) for row in load_json("rules.json"))


def _rule(row: Mapping[str, Any]) -> Rule:
    return Rule(
        id=row["id"],
        types=tuple(row["type"].split("|")),
        kind=row.get("kind", ""),
        confidence=row["confidence"],
        codes=tuple((row.get("code") or "").split("|")),
        status=row.get("status") or 400,
        when=row["when"],
        message=row.get("message", ""),
        path=row.get("path", ""),
    )


@cache
def schema(kind: str, api_version: str = "") -> tables.Table:
    """Body path → constraints (`type`, `enum`, `pattern`, `min`, `max`, `required`, `readOnly` …) of a kind.

    The API version is the one that azure-native sends, unless another one is given. Raises `LookupError` if that
    version was not recorded.
    """
    return tables.table(kind, api_version or mappings()[kind].api_version)
