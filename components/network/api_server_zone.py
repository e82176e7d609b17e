"""The private DNS zone of a private API server, and the roles with which AKS writes to it."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.azure.roles import assign_role
from components.network.private_zones import ZoneArgs, linked_zone
from physical_ai.catalog.aks import Role


@dataclass(frozen=True)
class ExistingZone:
    """A private DNS zone that the stack did not create. `provider`: Azure provider for the zone's subscription; None if
    the zone is in the stack's own subscription.
    """

    id: str
    provider: pulumi.ProviderResource | None
    assigns_role: bool


@dataclass(frozen=True)
class ApiServerZoneArgs:
    """Inputs of `ApiServerZone`. `principal_id`: Entra object id of the control plane's identity. `source`: name of the
    zone to create, or an `ExistingZone` to use.
    """

    source: str | ExistingZone
    zone: ZoneArgs
    principal_id: pulumi.Input[str]
    subscription_id: str


class ApiServerZone(pulumi.ComponentResource):
    """The private DNS zone of a private API server, created by the stack or existing. The control plane's identity gets
    a role on the zone, unless the zone's owner assigns it, and a role on the nodes' virtual network.

    AKS checks both roles before it creates the cluster, and links an existing zone to the virtual network itself.

    Attributes:
        zone_id: id of the zone.
        ready: resources that the cluster has to wait for.
    """

    zone_id: pulumi.Input[str]
    ready: list[pulumi.Resource]

    def __init__(self, name: str, args: ApiServerZoneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:ApiServerZone", name, {}, opts)
        source, child = args.source, pulumi.ResourceOptions(parent=self)
        self.ready = []
        if isinstance(source, ExistingZone):
            self.zone_id, subscription, assigns = source.id, source.id.split("/")[2], source.assigns_role
            zone_options = pulumi.ResourceOptions(parent=self, provider=source.provider)
        else:
            made = linked_zone(f"{name}-zone", source, args.zone, self)
            self.zone_id, subscription, assigns, zone_options = made.zone.id, args.subscription_id, True, child
            self.ready += made.links
        if assigns:
            self.ready.append(
                assign_role(
                    f"{name}-zone-role",
                    role=Role.PRIVATE_DNS_ZONE_CONTRIBUTOR,
                    scope=self.zone_id,
                    principal_id=args.principal_id,
                    principal_type="ServicePrincipal",
                    subscription_id=subscription,
                    opts=zone_options,
                )
            )
        # The role is on the network, because AKS links the zone to it (AKS docs, private-clusters, prerequisites of a
        # custom zone).
        network_role = assign_role(
            f"{name}-network-role",
            role=Role.NETWORK_CONTRIBUTOR,
            scope=args.zone.virtual_network.id,
            principal_id=args.principal_id,
            principal_type="ServicePrincipal",
            subscription_id=args.subscription_id,
            opts=child,
        )
        self.ready.append(network_role)
        self.register_outputs({"zoneId": self.zone_id})
