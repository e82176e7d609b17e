"""Private endpoints of data services and monitoring, and the private DNS zones that resolve their names to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import network

from components.network.private_link_target import PrivateTarget
from components.network.private_zones import ZoneArgs, linked_zone
from physical_ai.catalog.private_link import zones_of


@dataclass(frozen=True)
class PrivateLinkArgs:
    """Inputs of `PrivateLink`.

    `existing_zones`: id of the resource group that contains the private DNS zones; None if the stack creates the zones.
    """

    targets: Sequence[PrivateTarget]
    subnet_id: pulumi.Input[str]
    location: str
    zone: ZoneArgs
    existing_zones: str | None


class PrivateLink(pulumi.ComponentResource):
    """One private endpoint for each target, and its registration in private DNS zones. Targets that need the same zone
    share it.

    Attributes:
        ready: the registrations. A resource that uses a target by its DNS name waits for them.
    """

    ready: list[pulumi.Resource]

    def __init__(self, name: str, args: PrivateLinkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:PrivateLink", name, {}, opts)
        zones = self._zones(name, args)
        self.ready = [self._endpoint(name, target, zones, args) for target in args.targets]
        self.register_outputs({})

    def _zones(self, name: str, args: PrivateLinkArgs) -> dict[str, tuple[pulumi.Input[str], list[pulumi.Resource]]]:
        """Private DNS zones of all targets, by their key in `ZONES` (physical_ai/catalog/private_link.py). Each value
        is the id of the zone, and the resources that must exist before names in the zone resolve.
        """
        wanted = {key: zone for each in args.targets for key, zone in zones_of(each.group, args.location).items()}
        found: dict[str, tuple[pulumi.Input[str], list[pulumi.Resource]]] = {}
        for key, zone in wanted.items():
            if args.existing_zones is not None:
                root = f"{args.existing_zones}/providers/Microsoft.Network/privateDnsZones"
                found[key] = (f"{root}/{zone}", [])
                continue
            made = linked_zone(f"{name}-{key}-zone", zone, args.zone, self)
            found[key] = (made.zone.id, [*made.links])
        return found

    def _endpoint(
        self,
        name: str,
        target: PrivateTarget,
        zones: dict[str, tuple[pulumi.Input[str], list[pulumi.Resource]]],
        args: PrivateLinkArgs,
    ) -> network.PrivateDnsZoneGroup:
        own, group = args.zone.names.private_endpoint(target.name), args.zone.resource_group_name
        endpoint = network.PrivateEndpoint(
            f"{name}-{target.name}",
            private_endpoint_name=own,
            resource_group_name=group,
            location=args.location,
            tags=args.zone.tags,
            subnet=network.SubnetArgs(id=args.subnet_id),
            custom_network_interface_name=f"{own}-nic",
            private_link_service_connections=[
                network.PrivateLinkServiceConnectionArgs(
                    name=target.name, private_link_service_id=target.resource_id, group_ids=[target.group]
                )
            ],
            # The name is fixed, and another service needs a new endpoint.
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=list(target.after),
                replace_on_changes=["privateLinkServiceConnections", "customNetworkInterfaceName"],
                delete_before_replace=True,
            ),
        )
        keys = zones_of(target.group, args.location)
        return network.PrivateDnsZoneGroup(
            f"{name}-{target.name}-registration",
            private_dns_zone_group_name="default",
            private_endpoint_name=endpoint.name,
            resource_group_name=group,
            private_dns_zone_configs=[
                network.PrivateDnsZoneConfigArgs(name=key, private_dns_zone_id=zones[key][0]) for key in keys
            ],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[link for key in keys for link in zones[key][1]]),
        )
