"""The virtual network: one subnet for the system and cpu pools, one for each GPU pool, and a NAT gateway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import network

from physical_ai.settings.facts.naming import Names, subnet_name
from physical_ai.settings.facts.pools import SYSTEM_POOL

SYSTEM_SUBNET = SYSTEM_POOL
"""The subnet that the system and cpu pools share."""


@dataclass(frozen=True)
class NetworkArgs:
    """`subnets` maps a name (`system`, or a GPU pool's) to its CIDR inside `address_space`."""

    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    address_space: str
    subnets: Mapping[str, str]


class Network(pulumi.ComponentResource):
    """A virtual network whose subnets share a security group and leave through one NAT gateway.

    Attributes:
        subnet_ids: ARM ids by the names given in `NetworkArgs.subnets`.
        nat_address: public IPv4 address of all nodes.
    """

    virtual_network: network.VirtualNetwork
    subnet_ids: dict[str, pulumi.Output[str]]
    nat_address: pulumi.Output[str]

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Network", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.virtual_network = network.VirtualNetwork(
            f"{name}-vnet",
            virtual_network_name=args.names.virtual_network,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            # No inline subnets: a later PUT of the network would remove the subnets that are separate resources.
            address_space=network.AddressSpaceArgs(address_prefixes=[args.address_space]),
            opts=child,
        )
        security_group = network.NetworkSecurityGroup(
            f"{name}-nsg",
            network_security_group_name=args.names.security_group,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            opts=child,
        )
        # ARM's Standard SKU supports static IPv4 only, and a NAT gateway supports no other SKU.
        address = network.PublicIPAddress(
            f"{name}-nat-address",
            public_ip_address_name=args.names.nat_address,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            sku=network.PublicIPAddressSkuArgs(name="Standard"),
            public_ip_allocation_method="Static",
            public_ip_address_version="IPv4",
            # Once the gateway uses the address, its GET shows the gateway. Read back by a refresh, that would be a
            # change to undo in the next plan, whose preview would no longer know the address, which is in the cluster's
            # list of authorized ranges.
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["natGateway"]),
        )
        gateway = network.NatGateway(
            f"{name}-nat",
            nat_gateway_name=args.names.nat_gateway,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            sku=network.NatGatewaySkuArgs(name="Standard"),
            public_ip_addresses=[network.SubResourceArgs(id=address.id)],
            opts=child,
        )
        self.nat_address = address.ip_address.apply(_known_address)
        self.subnet_ids = self._subnets(name, args, gateway.id, security_group.id)
        self.register_outputs({"subnetIds": self.subnet_ids, "natAddress": self.nat_address})

    def _subnets(
        self, name: str, args: NetworkArgs, gateway_id: pulumi.Output[str], security_group_id: pulumi.Output[str]
    ) -> dict[str, pulumi.Output[str]]:
        ids: dict[str, pulumi.Output[str]] = {}
        previous: list[pulumi.Resource] = []
        for key, cidr in args.subnets.items():
            subnet = network.Subnet(
                f"{name}-subnet-{key}",
                subnet_name=subnet_name(key),
                resource_group_name=args.resource_group_name,
                virtual_network_name=self.virtual_network.name,
                address_prefix=cidr,
                default_outbound_access=False,
                nat_gateway=network.SubResourceArgs(id=gateway_id),
                network_security_group=network.NetworkSecurityGroupArgs(id=security_group_id),
                # In sequence, in both directions: ARM answers a write on a network that is being written
                # with AnotherOperationInProgress, and the provider's own retry covers creation only.
                opts=pulumi.ResourceOptions(
                    parent=self,
                    depends_on=previous,
                    # ARM does not change a subnet in use, so its pool has to be deleted first.
                    replace_on_changes=[] if key == SYSTEM_SUBNET else ["addressPrefix"],
                    delete_before_replace=True,
                ),
            )
            previous = [subnet]
            ids[key] = subnet.id
        return ids


def _known_address(address: str | None) -> str:
    """A static address is assigned when the resource is created, although it is optional in ARM's schema."""
    if not address:
        raise pulumi.RunError(
            "Azure returned no IP address for the NAT gateway's public address; run the command again."
        )
    return address
