"""A DNS private resolver: answers queries for the private zones from clients that cannot ask Azure's own DNS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import dnsresolver, network

from physical_ai.settings.facts.naming import Names


@dataclass(frozen=True)
class ResolverArgs:
    """Inputs of `Resolver`. `address`: static address of the inbound endpoint, in the resolver's subnet."""

    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    virtual_network: network.VirtualNetwork
    subnet_id: pulumi.Input[str]
    address: str


class Resolver(pulumi.ComponentResource):
    """A DNS private resolver with one inbound endpoint."""

    inbound: dnsresolver.InboundEndpoint

    def __init__(self, name: str, args: ResolverArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Resolver", name, {}, opts)
        resolver = dnsresolver.DnsResolver(
            f"{name}-dns",
            dns_resolver_name=args.names.dns_resolver,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            virtual_network=dnsresolver.SubResourceArgs(id=args.virtual_network.id),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.inbound = dnsresolver.InboundEndpoint(
            f"{name}-inbound",
            inbound_endpoint_name="inbound",
            dns_resolver_name=resolver.name,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            ip_configurations=[
                dnsresolver.IpConfigurationArgs(
                    subnet=dnsresolver.SubResourceArgs(id=args.subnet_id),
                    private_ip_address=args.address,
                    private_ip_allocation_method="Static",
                )
            ],
            # The subnet and the address of an endpoint can't be changed.
            opts=pulumi.ResourceOptions(
                parent=self, replace_on_changes=["ipConfigurations"], delete_before_replace=True
            ),
        )
        self.register_outputs({"address": args.address})
