"""The rule tables: the ARM types, azure-native's mapping of them, and rules that are in no schema.

`types/*.json` are recordings of one ARM type each at one API version (`tables.py`): body path → constraints, with `[]`
for an array's element and `{}` for a map's value. `mapping.json` describes how inputs become that body. `rules.json`
has the rules that are in no schema; `documented` ones have a source that was read, `believed` ones do not.
`not_modelled.json` lists the rules that the simulator omits, and why.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeVar

from simulator.azure.data import tables

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
"""The types this simulator models, by their last name."""


@dataclass(frozen=True)
class Rule:
    """One row of rules.json."""

    id: str
    types: tuple[str, ...]
    """Kinds it is about; `ManagedCluster.agentPoolProfiles[]` for inline pools, `*` for all."""
    kind: str
    """`immutable`, `mutable`, `default`, `lro`, `shape`, `order`; empty for a validation."""
    confidence: Literal["documented", "believed"]
    codes: tuple[str, ...]
    status: int
    when: str
    message: str
    path: str


@dataclass(frozen=True)
class TypeMapping:
    """How azure-native turns the inputs of one type into an ARM request."""

    kind: str
    token: str
    arm_type: str
    api_version: str
    id_format: str
    path_params: tuple[str, ...]
    inputs: Mapping[str, str]
    """Input name → body path."""
    nested: Mapping[str, str]
    """Input path → body path, where they differ below the top level."""
    string_sets: tuple[str, ...]
    """Input paths that are a list going in and a map of objects in the body."""
    output_only: tuple[str, ...]
    input_only: tuple[str, ...]
    required_inputs: tuple[str, ...]
    replace_on: tuple[str, ...]
    """Input paths whose change replaces the resource, beside the path parameters."""
    maintain_if_unset: tuple[str, ...]
    """Lists that an update without them does not change."""
    has_type: bool
    """Whether azure-native returns the ARM type."""

    @property
    def name_param(self) -> str:
        return self.path_params[-1]

    @property
    def is_aks(self) -> bool:
        return self.arm_type.startswith("Microsoft.ContainerService/")

    @property
    def is_network(self) -> bool:
        return self.arm_type.startswith("Microsoft.Network/")

    @property
    def outputs(self) -> tuple[str, ...]:
        """Every top-level output."""
        writable = (name for name in self.inputs if name not in self.input_only)
        # Always there: the resource's name and type, and the scope of what is assigned on one.
        kind = ("type",) if self.has_type else ()
        named = ("name", *kind, *(name for name in self.path_params if name == "scope"))
        return tuple(dict.fromkeys((*writable, *self.output_only, *named)))


T = TypeVar("T")


class DuplicateEntry(ValueError):
    """Data names something twice, of which only the last would count."""


def load_json(name: str) -> Any:
    """A file of this folder. Raises `DuplicateEntry` where a map has a key twice."""
    return json.loads(files(__name__).joinpath(name).read_text(encoding="utf-8"), object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return by_key(pairs)


def by_key(pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """The pairs as a map. Raises `DuplicateEntry`."""
    found: dict[str, T] = {}
    for key, value in pairs:
        if key in found:
            raise DuplicateEntry(f"{key} is there twice")
        found[key] = value
    return found


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
def mappings() -> Mapping[str, TypeMapping]:
    """The mapping of each modelled kind."""
    return {kind: _mapping(kind, row) for kind, row in load_json("mapping.json").items()}


@cache
def by_token() -> Mapping[str, TypeMapping]:
    """The same by Pulumi type token."""
    return {mapping.token: mapping for mapping in mappings().values()}


def _mapping(kind: str, row: Mapping[str, Any]) -> TypeMapping:
    replace = row.get("replaceOn", {})
    return TypeMapping(
        kind=kind,
        token=row["token"],
        arm_type=row["armType"],
        api_version=row["apiVersion"],
        id_format=row["idFormat"],
        path_params=tuple(row["pathParams"]),
        inputs=row["inputs"],
        nested=row.get("nested", {}),
        string_sets=tuple(row.get("stringSets", ())),
        output_only=tuple(row.get("outputOnly", ())),
        input_only=tuple(row.get("inputOnly", ())),
        required_inputs=tuple(row.get("requiredInputs", row["pathParams"][:-1])),
        replace_on=tuple(dict.fromkeys((*replace.get("explicit", ()), *replace.get("createOnly", ())))),
        maintain_if_unset=tuple(row.get("maintainIfUnset", ())),
        has_type=row.get("hasType", True),
    )


@cache
def schema(kind: str, api_version: str = "") -> tables.Table:
    """Body path → constraints (`type`, `enum`, `pattern`, `min`, `max`, `required`, `readOnly` …) of a kind.

    At the API version that azure-native sends, unless another one is given. Raises `LookupError`: no recording.
    """
    return tables.table(kind, api_version or mappings()[kind].api_version)
