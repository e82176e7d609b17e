"""The cluster's identities, with the roles that they need before the cluster can be created."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import authorization, managedidentity

from components.azure.roles import assign_role
from physical_ai.catalog.aks import Role
from physical_ai.settings.facts.naming import Names


@dataclass(frozen=True)
class IdentitiesArgs:
    """Inputs of `Identities`. `subnet_ids` are the subnets the cluster's nodes join, by name."""

    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    subscription_id: str
    subnet_ids: Mapping[str, pulumi.Input[str]]


class Identities(pulumi.ComponentResource):
    """User-assigned identities of the control plane and of the kubelets.

    Both are created here rather than by AKS, so that their roles can exist before the cluster: AKS checks at PUT time
    that the control plane may use the kubelet identity and may join each subnet.

    Attributes:
        assignments: role assignments that must exist before the cluster. A destroy deletes them after the cluster, so
            the subnets remain until the cluster, and the pools in it, have left them.
        subnet_assignments: role assignments on the subnets, by the names in `IdentitiesArgs.subnet_ids`.
    """

    control_plane: managedidentity.UserAssignedIdentity
    kubelet: managedidentity.UserAssignedIdentity
    assignments: list[authorization.RoleAssignment]
    subnet_assignments: dict[str, authorization.RoleAssignment]

    def __init__(self, name: str, args: IdentitiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Identities", name, {}, opts)
        self.control_plane = self._identity(f"{name}-control-plane", args.names.identity("control-plane"), args)
        self.kubelet = self._identity(f"{name}-kubelet", args.names.identity("kubelet"), args)
        use_kubelet = assign_role(
            f"{name}-use-kubelet",
            role=Role.MANAGED_IDENTITY_OPERATOR,
            scope=self.kubelet.id,
            principal_id=self.control_plane.principal_id,
            principal_type="ServicePrincipal",
            subscription_id=args.subscription_id,
            opts=pulumi.ResourceOptions(parent=self),
        )
        # Roles are assigned on each subnet, not on the network: the NAT gateway and the security group are only
        # referred to by the subnets, which the deployer writes, so the cluster needs no right on them.
        self.subnet_assignments = {
            key: assign_role(
                f"{name}-join-{key}",
                role=Role.NETWORK_CONTRIBUTOR,
                scope=subnet_id,
                principal_id=self.control_plane.principal_id,
                principal_type="ServicePrincipal",
                subscription_id=args.subscription_id,
                opts=pulumi.ResourceOptions(parent=self),
            )
            for key, subnet_id in args.subnet_ids.items()
        }
        self.assignments = [use_kubelet, *self.subnet_assignments.values()]
        self.register_outputs(
            {"controlPlanePrincipalId": self.control_plane.principal_id, "kubeletClientId": self.kubelet.client_id}
        )

    def _identity(self, logical: str, name: str, args: IdentitiesArgs) -> managedidentity.UserAssignedIdentity:
        return managedidentity.UserAssignedIdentity(
            logical,
            resource_name_=name,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            # Tags are not updated: in the preview of an update the principal's id is unknown, and every role
            # assignment, protected or not, would show as replaced.
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["tags"]),
        )
