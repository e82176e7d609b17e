"""Peering of the stack's network with an existing hub."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import network

from physical_ai.settings.facts.naming import Names
from physical_ai.settings.models.private_network import Hub


@dataclass(frozen=True)
class HubPeeringArgs:
    """Inputs of `HubPeering`.

    `after`: the last resource that writes to the network before the peering.
    `provider`: Azure provider for the hub's subscription; None if the hub is in the stack's own subscription.
    """

    names: Names
    resource_group_name: pulumi.Input[str]
    virtual_network: network.VirtualNetwork
    hub: Hub
    after: pulumi.Resource
    provider: pulumi.ProviderResource | None


class HubPeering(pulumi.ComponentResource):
    """Peering between the stack's network and a hub. The component declares the stack's side; the hub's side too if
    `peer_back` in the settings of the hub is true.

    Attributes:
        ready: resources that have to exist before traffic passes.
    """

    ready: list[pulumi.Resource]

    def __init__(self, name: str, args: HubPeeringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:HubPeering", name, {}, opts)
        self.ready = []
        if args.hub.peer_back:
            # The hub's side comes first: the stack's side may use the hub's gateway only once the hub's side allows it.
            parts = args.hub.virtual_network_id.split("/")
            theirs = network.VirtualNetworkPeering(
                f"{name}-from-hub",
                virtual_network_peering_name=args.names.peering,
                resource_group_name=parts[4],
                virtual_network_name=parts[8],
                remote_virtual_network=network.SubResourceArgs(id=args.virtual_network.id),
                allow_virtual_network_access=True,
                allow_forwarded_traffic=True,
                allow_gateway_transit=args.hub.use_gateway,
                opts=pulumi.ResourceOptions(parent=self, provider=args.provider, depends_on=[args.after]),
            )
            self.ready.append(theirs)
        peering = network.VirtualNetworkPeering(
            f"{name}-to-hub",
            virtual_network_peering_name=args.names.peering,
            resource_group_name=args.resource_group_name,
            virtual_network_name=args.virtual_network.name,
            remote_virtual_network=network.SubResourceArgs(id=args.hub.virtual_network_id),
            allow_virtual_network_access=True,
            # Lets in traffic from the firewall and from networks behind the hub.
            allow_forwarded_traffic=True,
            use_remote_gateways=args.hub.use_gateway,
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[args.after, *self.ready],
                replace_on_changes=["remoteVirtualNetwork"],
                delete_before_replace=True,
            ),
        )
        self.ready.append(peering)
        self.register_outputs({"peeringId": peering.id})
