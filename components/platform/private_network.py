"""Network of a stack in the modes hybrid and private: peering, DNS, VPN, and the DNS zone of a private API server."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from components.aks.cluster import PrivateApi
from components.azure.subscriptions import Subscriptions
from components.network.api_server_zone import ApiServerZone, ApiServerZoneArgs, ExistingZone
from components.network.dns_resolver import Resolver, ResolverArgs
from components.network.hub_peering import HubPeering, HubPeeringArgs
from components.network.vpn import Vpn, VpnArgs
from components.platform.azure_network import AzureNetwork
from components.platform.parent import Parent
from physical_ai.catalog import region
from physical_ai.settings import Settings
from physical_ai.settings.facts.hub_commands import peering_command, zone_role_command
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.network_access import private_api_server
from physical_ai.settings.facts.private_network import (
    API_SERVER,
    GATEWAY,
    RESOLVER,
    assigns_zone_role,
    existing_api_zone,
    own_api_zone,
    private_network,
    resolver_address,
)


class PrivateNetwork:
    """Peering, resolver, VPN and zone that the settings ask for; none of them in the network mode public.

    Attributes:
        node_addresses: public addresses of the nodes.
        api: zone and subnet of a private API server; None for a public one.
        before_cluster: resources that must exist before the cluster.
    """

    node_addresses: Sequence[pulumi.Output[str]]
    api: PrivateApi | None = None
    before_cluster: list[pulumi.Resource]

    def __init__(self, parent: Parent, settings: Settings, subscriptions: Subscriptions, azure: AzureNetwork) -> None:
        self.before_cluster, self.node_addresses = [], azure.network.nat_addresses
        private = private_network(settings)
        if private is None:
            return
        names, group, subnets = Names(settings.stack), azure.group.name, azure.network.service_subnet_ids
        if private.firewall is not None:
            self.node_addresses = [pulumi.Output.from_input(str(each)) for each in private.firewall.public_addresses]
        if (hub := private.hub) is not None:
            peering = HubPeeringArgs(
                names=names,
                resource_group_name=group,
                virtual_network=azure.network.virtual_network,
                hub=hub,
                after=azure.network.complete,
                provider=subscriptions.provider(hub.virtual_network_id) if hub.peer_back else None,
            )
            self.before_cluster += HubPeering(f"{parent.name}-hub", peering, parent.protected).ready
        if (address := resolver_address(private)) is not None:
            resolver = ResolverArgs(
                names=names,
                resource_group_name=group,
                location=settings.region,
                tags=settings.tags,
                virtual_network=azure.network.virtual_network,
                subnet_id=subnets[RESOLVER],
                address=address,
            )
            # The cluster needs the resolver first: its nodes ask it for names.
            self.before_cluster.append(Resolver(f"{parent.name}-resolver", resolver, parent.protected).inbound)
        if private.vpn is not None:
            # The cluster does not wait for the VPN gateway.
            vpn = VpnArgs(
                names=names,
                resource_group_name=group,
                location=settings.region,
                tags=settings.tags,
                zones=region(settings.region).zones,
                subnet_id=subnets[GATEWAY],
                settings=private.vpn,
            )
            Vpn(f"{parent.name}-vpn", vpn, parent.protected)
        if private_api_server(settings):
            self.api = self._api(parent, settings, subscriptions, azure, private.api_server.dns_zone)

    def _api(
        self, parent: Parent, settings: Settings, subscriptions: Subscriptions, azure: AzureNetwork, kind: str
    ) -> PrivateApi:
        """DNS zone and subnet of a private API server. The zone is created by the stack or by AKS, or existed
        before.
        """
        subnet = azure.network.service_subnet_ids.get(API_SERVER)
        source: str | ExistingZone | None = own_api_zone(settings)
        if (existing := existing_api_zone(settings)) is not None:
            source = ExistingZone(existing, subscriptions.provider(existing), assigns_zone_role(settings))
        if source is None:
            # With `none`, the private address is in public DNS, so the API server needs its public name.
            return PrivateApi(kind, kind == "none", subnet)
        zone = ApiServerZone(
            f"{parent.name}-api-zone",
            ApiServerZoneArgs(source, azure.zones, azure.identities.control_plane.principal_id, subscriptions.own),
            parent.protected,
        )
        self.before_cluster += zone.ready
        return PrivateApi(zone.zone_id, False, subnet)


def network_commands(settings: Settings, subscription: str, azure: AzureNetwork) -> dict[str, pulumi.Input[str]]:
    """Commands that the owner of an existing hub or DNS zone has to run because the deployment may not change the hub
    or zone. Keys are the names of the stack's outputs.
    """
    commands: dict[str, pulumi.Input[str]] = {}
    if (peering := peering_command(settings, subscription)) is not None:
        commands["hubPeeringCommand"] = peering
    if zone_role_command(settings) is not None:
        principal = azure.identities.control_plane.principal_id
        commands["zoneRoleCommand"] = principal.apply(lambda each: zone_role_command(settings, each) or "")
    return commands
