"""Resource providers and rights that a deployment needs in Azure, derived from the resources that the program declares.

The resource types determine which resource providers must be registered. Ids of other subscriptions in the inputs
determine the rights on resources of other owners.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from physical_ai.nested import is_mapping
from physical_ai.subscription.needs import (
    ACTIONS,
    ALWAYS_REGISTERED,
    COMPUTE,
    DATA_ACTIONS,
    METRICS_ACTIONS,
    RESERVATION_ACTIONS,
)
from physical_ai.subscription.needs_private import PRIVATE_ACTIONS

AZURE = "azure-native:"
PROVIDER = "pulumi:providers:azure-native"
EVERY_ACTION: Mapping[str, tuple[str, ...]] = {
    **ACTIONS,
    **METRICS_ACTIONS,
    **DATA_ACTIONS,
    **PRIVATE_ACTIONS,
    **RESERVATION_ACTIONS,
}
"""Actions that the creation of a resource needs, for every type that the program declares."""
ASSIGNER, READER = "Role Based Access Control Administrator", "Reader"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
_ZONES, _NETWORK = "Private DNS Zone Contributor", "Network Contributor"
_VIRTUAL_NETWORKS = "Microsoft.Network/virtualNetworks"


@dataclass(frozen=True)
class Use:
    """Use of another owner's resource in an input. `role`: role that the deployer needs on the resource; `actions`:
    actions of this role that are needed; `why`: the purpose, for messages.
    """

    role: str
    actions: tuple[str, ...]
    why: str


USES: Mapping[tuple[str, str], Use] = {
    (ASSIGNMENT, "scope"): Use(
        ASSIGNER, ("Microsoft.Authorization/roleAssignments/write",), "gives an identity a role"
    ),
    ("azure-native:network:PrivateDnsZoneGroup", "privateDnsZoneConfigs.privateDnsZoneId"): Use(
        _ZONES, ("Microsoft.Network/privateDnsZones/join/action",), "registers endpoints"
    ),
    ("azure-native:network:VirtualNetworkPeering", "remoteVirtualNetwork.id"): Use(
        _NETWORK, (f"{_VIRTUAL_NETWORKS}/peer/action",), "peers with it"
    ),
    ("azure-native:privatedns:VirtualNetworkLink", "virtualNetwork.id"): Use(
        _NETWORK, (f"{_VIRTUAL_NETWORKS}/join/action",), "links a zone to it"
    ),
}
"""Role and actions for an input that refers to another owner's resource, by the declared resource's type and the
input's path. For other inputs the necessary role is not known, and Contributor is shown.
"""
CREATES: Mapping[str, str] = {
    "azure-native:network:VirtualNetworkPeering": _NETWORK,
    "azure-native:monitor:PrivateLinkScopedResource": "Monitoring Contributor",
    "azure-native:privatedns:PrivateRecordSet": _ZONES,
    "azure-native:privatedns:VirtualNetworkLink": _ZONES,
    "azure-native:dns:RecordSet": "DNS Zone Contributor",
}
"""Role that the deployer needs to create a resource in another subscription, by resource type. For a type that is not
listed, the role is Contributor.
"""
_ID = re.compile(r"/subscriptions/([0-9a-fA-F-]{36})(?:/|$)")


@dataclass(frozen=True)
class DeclaredResource:
    """A resource as the program declares it. `provider` is the URN of its explicit Pulumi provider, or empty."""

    type: str
    name: str
    inputs: Mapping[str, Any]
    provider: str = ""
    urn: str = ""


@dataclass(frozen=True)
class ForeignScope:
    """A scope in another subscription on which a deployment needs rights: the rights, and the resources that need
    them.
    """

    scope: str
    roles: tuple[str, ...]
    """Roles that the deployer needs at the scope."""
    actions: tuple[str, ...]
    reads: bool
    """True if `pulumi refresh` reads at this scope. The identity with read-only rights then needs the role Reader
    there.
    """
    why: str
    resources: tuple[str, ...] = field(default=())


def registrations(declared: Iterable[DeclaredResource]) -> list[str]:
    """The resource providers that must be registered for the declared resources. Without those of `undescribed`."""
    found = {COMPUTE}
    for each in declared:
        if each.type.startswith(AZURE):
            found |= {action.partition("/")[0] for action in EVERY_ACTION.get(each.type, ())}
    return sorted(found - ALWAYS_REGISTERED)


def undescribed(declared: Iterable[DeclaredResource]) -> list[DeclaredResource]:
    """Resources in Azure of types that are not in `EVERY_ACTION`: those that a team declares beside the platform's."""
    return [each for each in declared if each.type.startswith(AZURE) and each.type not in EVERY_ACTION]


def foreign_scopes(declared: Iterable[DeclaredResource], own: Iterable[str]) -> list[ForeignScope]:
    """Scopes in subscriptions that are not among `own`, each with the rights that a deployment needs there."""
    resources, ours = list(declared), {each.lower() for each in own}
    elsewhere = {
        each.urn: str(each.inputs.get("subscriptionId", "")).lower() for each in resources if each.type == PROVIDER
    }
    rows: dict[str, list[tuple[str, Use, bool, str]]] = {}
    for each in resources:
        if each.type.startswith(AZURE):
            of = elsewhere.get(each.provider.rpartition("::")[0], "")
            for scope, use, reads in _needs(each, ours, of):
                name = f"{each.type.rpartition(':')[2]} {each.name}"
                rows.setdefault(scope.lower(), []).append((scope, use, reads, name))
    return [
        ForeignScope(
            row[0][0],
            _once(use.role for _, use, _, _ in row),
            _once(action for _, use, _, _ in row for action in use.actions),
            any(reads for _, _, reads, _ in row),
            "; ".join(_once(use.why for _, use, _, _ in row)),
            tuple(name for _, _, _, name in row),
        )
        for row in rows.values()
    ]


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _needs(resource: DeclaredResource, own: set[str], of: str) -> Iterator[tuple[str, Use, bool]]:
    """Scopes in other subscriptions that `resource` needs: the scope in which it is created if `of` is another
    subscription, and every resource of another subscription that an input names. Each scope comes with the role and
    actions needed there, and with True if a refresh reads at the scope.

    `own`: ids of the stack's subscriptions; `of`: the subscription of the resource's explicit provider, or empty.
    """
    if of and of not in own:
        group = resource.inputs.get("resourceGroupName")
        scope = f"/subscriptions/{of}" + (f"/resourceGroups/{group}" if group else "")
        role = CREATES.get(resource.type, "Contributor")
        yield scope, Use(role, EVERY_ACTION.get(resource.type, ()), "creates a resource there"), True
    for path, text in _ids(resource.inputs):
        found = _ID.match(text)
        if found is not None and found[1].lower() not in own | {of}:
            key = (resource.type, path)
            use = USES.get(key, Use("Contributor", (), f"names it as {path}"))
            yield text, use, key == (ASSIGNMENT, "scope")


def _ids(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Path and value of each text in a value; an item of a list has the path of the list."""
    if isinstance(value, str):
        yield path, value
    elif is_mapping(value):
        for key, each in value.items():
            yield from _ids(each, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[Any]", value):
            yield from _ids(each, path)
