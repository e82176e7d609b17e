"""Resource group, network and identities: the Azure resources that a cluster needs before it can be created."""

from __future__ import annotations

from components.azure.identities import Identities, IdentitiesArgs
from components.azure.resource_group import ResourceGroup, ResourceGroupArgs
from components.network.network import Network, NetworkArgs
from components.network.private_zones import ZoneArgs
from components.platform.parent import Parent
from physical_ai.settings import Settings
from physical_ai.settings.facts.inbound import inbound_rules
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.outbound import SYSTEM_SUBNET, outbound_facts
from physical_ai.settings.facts.private_network import (
    API_SERVER,
    dns_servers,
    linked_to_hub,
    private_network,
    service_subnets,
)


class AzureNetwork:
    """Resource group, network and identities of a stack on Azure, which are created first.

    Attributes:
        zones: arguments with which private DNS zones are created and linked to the network.
    """

    group: ResourceGroup
    network: Network
    identities: Identities
    zones: ZoneArgs
    subscription: str
    """Id of the subscription."""

    def __init__(self, parent: Parent, settings: Settings, subscription: str) -> None:
        self.subscription = subscription
        names, region, tags = Names(settings.stack), settings.region, settings.tags
        private = private_network(settings)
        self.group = ResourceGroup(
            f"{parent.name}-rg", ResourceGroupArgs(names.resource_group, region, tags), parent.protected
        )
        self.network = Network(
            f"{parent.name}-network",
            NetworkArgs(
                names=names,
                resource_group_name=self.group.name,
                location=region,
                tags=tags,
                address_space=str(settings.network.address_space),
                subnets={
                    SYSTEM_SUBNET: str(settings.network.system_subnet),
                    **{name: str(pool.subnet) for name, pool in settings.pools.items()},
                },
                outbound=outbound_facts(settings),
                service_subnets=service_subnets(settings),
                dns_servers=dns_servers(settings),
                firewall=str(private.firewall.address) if private and private.firewall else None,
                inbound=inbound_rules(settings),
            ),
            parent.protected,
        )
        service_subnet_ids = self.network.service_subnet_ids
        api_server = {API_SERVER: service_subnet_ids[API_SERVER]} if API_SERVER in service_subnet_ids else {}
        self.identities = Identities(
            f"{parent.name}-identities",
            IdentitiesArgs(
                names=names,
                resource_group_name=self.group.name,
                location=region,
                tags=tags,
                subscription_id=subscription,
                subnet_ids={**self.network.subnet_ids, **api_server},
            ),
            parent.protected,
        )
        hub = private.hub if private and linked_to_hub(settings) else None
        self.zones = ZoneArgs(
            names=names,
            resource_group_name=self.group.name,
            tags=tags,
            virtual_network=self.network.virtual_network,
            hub_id=hub.virtual_network_id if hub else None,
        )
