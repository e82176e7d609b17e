"""The private DNS zone of a private API server, and the roles with which AKS writes to it."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import authorization

from components.private_zones import LinkedZone, ZoneArgs, linked_zone
from components.roles import assign_role
from physical_ai.catalog.aks import Role


@dataclass(frozen=True)
class ApiServerZoneArgs:
    """`principal_id` is the control plane's identity."""

    zone_name: str
    zone: ZoneArgs
    principal_id: pulumi.Input[str]
    subscription_id: str


class ApiServerZone(pulumi.ComponentResource):
    """A zone of the stack's own. AKS checks both roles before it creates the cluster.

    Attributes:
        ready: what the cluster has to wait for.
    """

    linked: LinkedZone
    ready: list[pulumi.Resource]

    def __init__(self, name: str, args: ApiServerZoneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:ApiServerZone", name, {}, opts)
        self.linked = linked_zone(f"{name}-zone", args.zone_name, args.zone, self)
        # On the network, because AKS links the zone to it (AKS docs, private-clusters, prerequisites of a custom zone).
        scopes = {
            "zone": (Role.PRIVATE_DNS_ZONE_CONTRIBUTOR, self.linked.zone.id),
            "network": (Role.NETWORK_CONTRIBUTOR, args.zone.virtual_network.id),
        }
        roles: list[authorization.RoleAssignment] = [
            assign_role(
                f"{name}-{key}-role",
                role=role,
                scope=scope,
                principal_id=args.principal_id,
                principal_type="ServicePrincipal",
                subscription_id=args.subscription_id,
                opts=pulumi.ResourceOptions(parent=self),
            )
            for key, (role, scope) in scopes.items()
        ]
        self.ready = [*self.linked.links, *roles]
        self.register_outputs({"zoneId": self.linked.zone.id})
