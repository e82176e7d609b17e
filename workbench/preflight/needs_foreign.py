"""Rights that a deployment needs on resources of other owners, and steps that these owners take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from physical_ai.planning.gateway_certificate import gateway_certificate
from physical_ai.settings import Settings
from physical_ai.settings.facts.data_services import managed
from physical_ai.settings.facts.gateway_dns import gateway_record
from physical_ai.settings.facts.hub_commands import peering_command, zone_role_command
from physical_ai.settings.facts.monitor_link import monitor_link
from physical_ai.settings.facts.private_network import (
    assigns_zone_role,
    existing_api_zone,
    linked_to_hub,
    own_api_zone,
    private_network,
)
from workbench.preflight.declared import ForeignScope

_NETWORK = "Microsoft.Network"
_ZONES = f"{_NETWORK}/privateDnsZones"
_JOIN, _PEER = f"{_NETWORK}/virtualNetworks/join/action", f"{_NETWORK}/virtualNetworks/peer/action"
ASSIGN = "Microsoft.Authorization/roleAssignments/write"
_ASSIGNER = "Role Based Access Control Administrator"


@dataclass(frozen=True)
class Foreign:
    """Actions that a deployment performs on another owner's resource. `scope`: ARM id of the resource; `fix`: text
    about granting the rights.
    """

    what: str
    scope: str
    actions: tuple[str, ...]
    fix: str


@dataclass(frozen=True)
class OwnersPart:
    """Step that the owner of a resource takes manually before the deployment."""

    what: str
    does: str
    command: str


def foreign_rights(settings: Settings, subscription: str) -> list[Foreign]:
    """All actions on resources that the stack does not create, in the order in which a deployment performs them.

    `subscription`: id of the stack's subscription.
    """
    return [*_hub(settings), *_zones(settings), *_monitor(settings), *_gateway(settings, subscription)]


def unlisted(listed: Sequence[Foreign], derived: Iterable[ForeignScope]) -> list[Foreign]:
    """A Foreign for each scope of `derived` that no entry of `listed` covers. The entries of `listed` are preferred,
    because they have better descriptions.
    """
    known = [each.scope.lower() for each in listed]
    return [
        Foreign(
            f"{each.scope.rpartition('/')[2]} in another subscription",
            each.scope,
            each.actions,
            " ".join(_granted(role, each.scope) for role in each.roles),
        )
        for each in derived
        if not any(f"{each.scope.lower()}/".startswith(f"{scope}/") for scope in known)
    ]


def owners_parts(settings: Settings, subscription: str) -> list[OwnersPart]:
    """Steps that the owner of the hub network, and the owner of the API server's DNS zone, must take according to the
    settings; empty if there are none.
    """
    found: list[OwnersPart] = []
    if (command := peering_command(settings, subscription)) is not None:
        found.append(OwnersPart("the hub", "creates its side of the peering once the stack's network exists", command))
    if (command := zone_role_command(settings)) is not None:
        does = "gives the cluster's identity its role once that exists"
        found.append(OwnersPart("the zone of the API server", does, command))
    return found


def _granted(role: str, scope: str, instead: str = "") -> str:
    """Text of a fix: the owner of `scope` grants the caller the role `role`, with the command for it. `instead`: text
    about an alternative, or empty.
    """
    command = f'az role assignment create --assignee <you> --role "{role}" --scope {scope}'
    return f"Its owner grants you {role}: {command}{f'; or {instead}' if instead else ''}."


def _hub(settings: Settings) -> Iterator[Foreign]:
    given = private_network(settings)
    if given is None or given.hub is None:
        return
    hub, actions = given.hub, [_PEER]
    if hub.peer_back:
        actions.append(f"{_NETWORK}/virtualNetworks/virtualNetworkPeerings/write")
    if linked_to_hub(settings) and own_api_zone(settings) is not None:
        actions.append(_JOIN)
    instead = "write network.private.hub.peerBack: false, and have the owner create the hub's side" * hub.peer_back
    scope = hub.virtual_network_id
    yield Foreign("the hub", scope, tuple(actions), _granted("Network Contributor", scope, instead))
    # Every stack with private endpoints registers their names in these zones.
    has_endpoints = managed(settings) is not None or monitor_link(settings) is not None
    if hub.dns_zones is not None and has_endpoints:
        fix = _granted("Private DNS Zone Contributor", hub.dns_zones)
        yield Foreign("the zones of the hub", hub.dns_zones, (f"{_ZONES}/join/action",), fix)


def _zones(settings: Settings) -> Iterator[Foreign]:
    zone = existing_api_zone(settings)
    if zone is not None and assigns_zone_role(settings):
        instead = "write network.private.apiServer.zoneRole: given, and have the owner give the cluster's identity"
        fix = _granted(_ASSIGNER, zone, f"{instead} Private DNS Zone Contributor")
        yield Foreign("the zone of the API server", zone, (ASSIGN,), fix)


def _monitor(settings: Settings) -> Iterator[Foreign]:
    link = monitor_link(settings)
    if link is not None and link.scope is not None:
        actions = ("Microsoft.Insights/privateLinkScopes/scopedResources/write",)
        fix = _granted("Monitoring Contributor", link.scope, "write network.private.monitor.access: public")
        yield Foreign("the private link scope", link.scope, actions, fix)


def _gateway(settings: Settings, subscription: str) -> Iterator[Foreign]:
    """Actions on the vault with the certificate of OSMO's gateway, and on the DNS zone with the gateway's name."""
    certificate = gateway_certificate(settings)
    if certificate is not None:
        vault = certificate.vault_id
        fix = _granted(_ASSIGNER, vault, "write osmo.access.tls.source: existing, with a Secret that you create")
        yield Foreign("the vault of the certificate", vault, (ASSIGN,), fix)
    record = gateway_record(settings)
    if record is None or record.resource_group is None:
        return
    kind, row, role = (_ZONES, "A", "Private DNS Zone Contributor")
    if record.alias is not None:
        kind, row, role = (f"{_NETWORK}/dnsZones", "CNAME", "DNS Zone Contributor")
    group = f"/subscriptions/{subscription}/resourceGroups/{record.resource_group}"
    scope = f"{group}/providers/{kind}/{record.zone}"
    fix = _granted(role, scope, "remove osmo.access.dns, and have the owner create the record")
    yield Foreign("the zone of the gateway's name", scope, (f"{kind}/{row}/write",), fix)
