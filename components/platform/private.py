"""Resources of a stack in the network modes hybrid and private: peering, DNS, VPN, a private API server, endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pulumi

from components.aks.cluster import PrivateApi
from components.data.services import DataServices
from components.monitoring.azure_metrics import AzureMetrics
from components.monitoring.logs import Monitoring
from components.network.api_server_zone import ApiServerZone, ApiServerZoneArgs, ExistingZone
from components.network.dns_resolver import Resolver, ResolverArgs
from components.network.gateway_dns import GatewayDns, GatewayDnsArgs
from components.network.hub_peering import HubPeering, HubPeeringArgs
from components.network.monitor_scope import MonitorScope, MonitorScopeArgs
from components.network.private_link import PrivateLink, PrivateLinkArgs
from components.network.private_link_target import PrivateTarget
from components.network.private_zones import ZoneArgs
from components.network.vpn import Vpn, VpnArgs
from components.platform.common import Common, Foundation
from physical_ai.catalog import region
from physical_ai.settings.facts.data_services import pulls_from_registry_only
from physical_ai.settings.facts.gateway_dns import gateway_record
from physical_ai.settings.facts.hub_commands import peering_command, zone_role_command
from physical_ai.settings.facts.monitor_link import monitor_link
from physical_ai.settings.facts.network_access import private_api_server
from physical_ai.settings.facts.private_network import (
    API_SERVER,
    ENDPOINTS,
    GATEWAY,
    RESOLVER,
    assigns_zone_role,
    existing_api_zone,
    existing_zones,
    linked_to_hub,
    own_api_zone,
    private_network,
    resolver_address,
)


@dataclass(frozen=True)
class PrivateParts:
    """Inputs of the cluster from the private network. `node_addresses` are the addresses of nodes on the internet."""

    node_addresses: Sequence[pulumi.Output[str]]
    api: PrivateApi | None = None
    before_cluster: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


def declare_private_network(common: Common, foundation: Foundation) -> PrivateParts:
    """Declares the private network; in the mode public it has only the addresses of NAT gateways."""
    settings, network = common.settings, foundation.network
    given = private_network(settings)
    if given is None:
        return PrivateParts(network.nat_addresses)
    addresses = network.nat_addresses
    if given.firewall is not None:
        addresses = [pulumi.Output.from_input(str(each)) for each in given.firewall.public_addresses]
    ready: list[pulumi.Resource] = []
    last: pulumi.Resource = network.complete
    if given.hub is not None:
        provider = common.subscriptions.provider(given.hub.virtual_network_id) if given.hub.peer_back else None
        args = HubPeeringArgs(
            names=common.names,
            resource_group_name=foundation.group.name,
            virtual_network=network.virtual_network,
            hub=given.hub,
            after=last,
            provider=provider,
        )
        peering = HubPeering(f"{common.name}-hub", args, common.protected)
        last = peering.ready[-1]
        ready += peering.ready
    ready += _declare_resolver(common, foundation)
    _declare_vpn(common, foundation)
    api = _declare_api(common, foundation, ready) if private_api_server(settings) else None
    return PrivateParts(addresses, api, ready)


def _declare_resolver(common: Common, foundation: Foundation) -> list[pulumi.Resource]:
    given = private_network(common.settings)
    address = resolver_address(given) if given is not None else None
    if address is None:
        return []
    settings, network = common.settings, foundation.network
    args = ResolverArgs(
        names=common.names,
        resource_group_name=foundation.group.name,
        location=settings.region,
        tags=settings.tags,
        virtual_network=network.virtual_network,
        subnet_id=network.service_subnet_ids[RESOLVER],
        address=address,
    )
    # The cluster needs the resolver first: its nodes ask it for names.
    return [Resolver(f"{common.name}-resolver", args, common.protected).inbound]


def _declare_vpn(common: Common, foundation: Foundation) -> None:
    """The cluster does not wait for it."""
    settings, given = common.settings, private_network(common.settings)
    if given is None or given.vpn is None:
        return
    args = VpnArgs(
        names=common.names,
        resource_group_name=foundation.group.name,
        location=settings.region,
        tags=settings.tags,
        zones=region(settings.region).zones,
        subnet_id=foundation.network.service_subnet_ids[GATEWAY],
        settings=given.vpn,
    )
    Vpn(f"{common.name}-vpn", args, common.protected)


def _zones(common: Common, foundation: Foundation) -> ZoneArgs:
    given = private_network(common.settings)
    hub = given.hub if given is not None and linked_to_hub(common.settings) else None
    return ZoneArgs(
        names=common.names,
        resource_group_name=foundation.group.name,
        tags=common.settings.tags,
        virtual_network=foundation.network.virtual_network,
        hub_id=hub.virtual_network_id if hub is not None else None,
    )


def _declare_api(common: Common, foundation: Foundation, ready: list[pulumi.Resource]) -> PrivateApi:
    """The API server's place; what it has to wait for is added to `ready`."""
    settings, given = common.settings, private_network(common.settings)
    kind = given.api_server.dns_zone if given is not None else "system"
    subnet = foundation.network.service_subnet_ids.get(API_SERVER)
    source: str | ExistingZone | None = own_api_zone(settings)
    if (existing := existing_api_zone(settings)) is not None:
        source = ExistingZone(existing, common.subscriptions.provider(existing), assigns_zone_role(settings))
    if source is None:
        # The mode none has the private address in public DNS, and needs that name.
        return PrivateApi(kind, kind == "none", subnet)
    zone = ApiServerZone(
        f"{common.name}-api-zone",
        ApiServerZoneArgs(
            source,
            _zones(common, foundation),
            foundation.identities.control_plane.principal_id,
            common.subscription,
        ),
        common.protected,
    )
    ready += zone.ready
    return PrivateApi(zone.zone_id, False, subnet)


def network_commands(common: Common, foundation: Foundation) -> dict[str, pulumi.Input[str]]:
    """Commands for the owners of hub and zone, where the deployment does not do their part."""
    settings, found = common.settings, dict[str, pulumi.Input[str]]()
    if (peering := peering_command(settings, common.subscription)) is not None:
        found["hubPeeringCommand"] = peering
    if zone_role_command(settings) is not None:
        principal = foundation.identities.control_plane.principal_id
        found["zoneRoleCommand"] = principal.apply(lambda each: zone_role_command(settings, each) or "")
    return found


def image_source(common: Common, data: DataServices | None, link: PrivateLink | None) -> list[pulumi.Resource]:
    """Resources that Pods need before they can pull an image from the stack's registry; empty for other registries."""
    if data is None or not pulls_from_registry_only(common.settings):
        return []
    return [*data.registry.ready, *(link.ready if link is not None else [])]


def declare_gateway_dns(common: Common, foundation: Foundation) -> None:
    """Declares the DNS record of OSMO's gateway, except where it is maintained outside the stack."""
    record = gateway_record(common.settings)
    if record is not None:
        args = GatewayDnsArgs(record, _zones(common, foundation))
        GatewayDns(f"{common.name}-gateway-dns", args, common.unprotected)


def declare_monitor_scope(
    common: Common, foundation: Foundation, logs: Monitoring, metrics: AzureMetrics | None
) -> MonitorScope | None:
    """Declares the private link scope of Azure Monitor; None where Azure Monitor is public."""
    settings, link = common.settings, monitor_link(common.settings)
    if link is None:
        return None
    args = MonitorScopeArgs(
        names=common.names,
        resource_group_name=foundation.group.name,
        location=settings.region,
        tags=settings.tags,
        link=link,
        connected={"logs": logs.workspace.id, **({"metrics": metrics.endpoint.id} if metrics is not None else {})},
        provider=common.subscriptions.provider(link.scope) if link.scope is not None else None,
    )
    return MonitorScope(f"{common.name}-monitor", args, common.protected)


def private_targets(
    data: DataServices | None, scope: MonitorScope | None, metrics: AzureMetrics | None
) -> list[PrivateTarget]:
    """Everything that has a private endpoint in a network that is not public."""
    return [target for each in (data, scope, metrics) if each is not None for target in each.private_targets]


def declare_private_link(
    common: Common, foundation: Foundation, targets: Sequence[PrivateTarget]
) -> PrivateLink | None:
    """Declares the private endpoints; None in the mode public, where data services have public endpoints."""
    if private_network(common.settings) is None or not targets:
        return None
    args = PrivateLinkArgs(
        targets=targets,
        subnet_id=foundation.network.service_subnet_ids[ENDPOINTS],
        location=common.settings.region,
        zone=_zones(common, foundation),
        existing_zones=existing_zones(common.settings),
    )
    return PrivateLink(f"{common.name}-private-link", args, common.protected)
