"""Private DNS zones, with links to the networks that resolve names through them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import network, privatedns

from physical_ai.settings.facts.naming import Names


@dataclass(frozen=True)
class ZoneArgs:
    """Inputs of `linked_zone`.

    `hub_id`: id of the hub's virtual network, if the hub's DNS servers answer queries for the zones; otherwise None.
    """

    names: Names
    resource_group_name: pulumi.Input[str]
    tags: Mapping[str, str]
    virtual_network: network.VirtualNetwork
    hub_id: str | None


@dataclass(frozen=True)
class LinkedZone:
    """A private DNS zone, and its links to networks: without a link, no network resolves names in the zone."""

    zone: privatedns.PrivateZone
    links: list[privatedns.VirtualNetworkLink]


def linked_zone(logical: str, zone_name: str, args: ZoneArgs, parent: pulumi.Resource) -> LinkedZone:
    """Declares a private DNS zone and its links to networks. Zones are global resources."""
    zone = privatedns.PrivateZone(
        logical,
        private_zone_name=zone_name,
        resource_group_name=args.resource_group_name,
        location="global",
        tags=args.tags,
        opts=pulumi.ResourceOptions(parent=parent),
    )
    networks: dict[str, pulumi.Input[str]] = {"": args.virtual_network.id}
    if args.hub_id is not None:
        networks["-hub"] = args.hub_id
    links = [
        privatedns.VirtualNetworkLink(
            f"{logical}-link{suffix}",
            virtual_network_link_name=f"{args.names.zone_link}{suffix}",
            private_zone_name=zone.name,
            resource_group_name=args.resource_group_name,
            location="global",
            tags=args.tags,
            registration_enabled=False,
            virtual_network=privatedns.SubResourceArgs(id=target),
            # The network of a link can't be changed, and its name is fixed.
            opts=pulumi.ResourceOptions(
                parent=parent, replace_on_changes=["virtualNetwork"], delete_before_replace=True
            ),
        )
        for suffix, target in networks.items()
    ]
    return LinkedZone(zone, links)
