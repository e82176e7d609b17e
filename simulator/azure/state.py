"""A read-only snapshot of Azure: resources, directory, quotas and offers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import Json, get, to_body
from simulator.azure.data import KINDS, TypeMapping, mappings
from simulator.azure.offers import CatalogOffers, Offers, location
from simulator.azure.restrictions import Restrictions
from simulator.azure.roles import builtin_roles, role_of

SUCCEEDED, FAILED = "Succeeded", "Failed"
FINAL = (SUCCEEDED, FAILED)
"""States of a resource on which no operation is in progress."""
UPGRADED_FROM = "from"
"""Key in a pool's facts during an upgrade of its nodes; the value is the old Kubernetes version, node image and
operating system.
"""
OS = "osSKU"
"""Key in a pool's facts after a failed upgrade; the value is the operating system that its nodes still have."""
KEPT = "kept"
"""Key in a pool's facts after a failed upgrade; the value is AKS's message about the Pod that was not evicted."""


@dataclass
class Resource:
    """One resource in the cloud's state."""

    id: str
    kind: str
    inputs: Json
    """Inputs of the last PUT, in Pulumi's shape, path parameters included."""
    outputs: Json
    state: str = SUCCEEDED
    """ARM's provisioningState; anything but Succeeded and Failed means that an operation is in progress."""
    serial: int = 0
    """Serial number of the resource. A resource that is deleted and created again gets another number."""
    created: float = 0
    """Time of creation in seconds since the epoch."""
    facts: Json = field(default_factory=dict[str, Any])
    """Data that only Azure has: a pool's current count and addresses, the time at which a role takes effect."""
    inline: bool = False
    """True if the parent's PUT created the resource, such as a pool in agentPoolProfiles."""

    @property
    def mapping(self) -> TypeMapping:
        return mappings()[self.kind]

    @cached_property
    def body(self) -> Json:
        return to_body(self.mapping, self.inputs)

    @property
    def location(self) -> str:
        return location(str(self.body.get("location", "")))


@dataclass(frozen=True)
class StandingRole:
    """A built-in role on the subscription that was assigned before the stack existed and without the stack."""

    principal: str
    """Entra object id of the principal that has the role."""
    role: str
    """GUID of the role."""
    assigns: Collection[str] = ()
    """GUIDs of the only roles that the principal may assign and remove with this role; empty for any role."""

    def allows(self, action: str, assigned: str) -> bool:
        """True if the role permits `action`. `assigned`: GUID of the role in the role assignment that `action`
        concerns; empty for other actions.
        """
        limited = self.assigns and action.lower().startswith("microsoft.authorization/roleassignments/")
        is_excluded = limited and not action.endswith("/read") and assigned not in self.assigns
        return builtin_roles()[self.role].allows(action) and not is_excluded


@dataclass(frozen=True)
class Directory:
    """Ids of the subscription, the tenant and the deployer, and the directory's other principals."""

    subscription: str = "11111111-1111-4111-8111-111111111111"
    tenant: str = "22222222-2222-4222-8222-222222222222"
    deployer: str = "33333333-3333-4333-8333-333333333333"
    """Entra object id of the deployer: Owner of the subscription, without rights in a cluster."""
    deployer_type: str = "User"
    """`User` for a person at a machine, `ServicePrincipal` for a pipeline."""
    deployer_client: str = "44444444-4444-4444-8444-444444444444"
    principals: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further principals of the tenant, object id → User, Group or ServicePrincipal."""
    roles: Sequence[StandingRole] = ()
    """Roles that principals have on the subscription; the deployer is its owner."""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Object id of a principal → its groups."""
    closed: Collection[str] = ()
    """Scopes outside of the subscription on which the deployer has no role; on all other scopes the deployer is an
    owner.
    """


SUBNET_FIELDS: Mapping[str, tuple[str, ...]] = {
    "AgentPool": ("vnetSubnetID", "podSubnetID"),
    "ManagedCluster": ("apiServerAccessProfile.subnetId",),
    "PrivateEndpoint": ("subnet.id",),
    "VirtualNetworkGateway": ("ipConfigurations[].properties.subnet.id",),
    "InboundEndpoint": ("ipConfigurations[].subnet.id",),
}
"""Kinds of resources that take addresses in a subnet: kind → paths, below `properties`, of its references to the
subnet.
"""


def _ids_at(resource: Resource, path: str) -> list[Any]:
    holder, is_list, rest = path.partition("[].")
    found = get(resource.body, f"properties.{holder}")
    return [get(each, rest) for each in found or ()] if is_list else [found]


DEFAULT_QUOTA = 100_000
"""Default limit in vCPUs of every quota: per VM family, regional total, and low priority. Real subscriptions start
lower.
"""


@dataclass(frozen=True)
class AzureState:
    """A consistent snapshot of Azure that the rules read."""

    resources: Mapping[str, Resource]
    """Resources by `ids.key`."""
    directory: Directory = field(default_factory=Directory)
    offers: Offers = field(default_factory=CatalogOffers)
    quota: Mapping[str, int] = field(default_factory=dict[str, int])
    """Quotas in vCPUs by usage name: a VM family, `cores` (regional) or `lowPriorityCores`."""
    capacity: Mapping[str, int] = field(default_factory=dict[str, int])
    """Total number of nodes of a VM size that Azure can provide; sizes that are not listed are unlimited."""
    now: float = 0
    replicates_after: float = 0
    """Seconds until a new identity is known everywhere in the directory."""
    in_flight: Mapping[str, str] = field(default_factory=dict[str, str])
    """Operations in progress: `ids.key` → Creating, Updating, Deleting."""
    accepts_retired_sizes: bool = False
    deleted_vaults: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Key vaults that can still be recovered, by name in lower case."""
    taken: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """Globally unique names that other customers hold, in lower case, by kind of resource."""
    restrictions: Restrictions = field(default_factory=Restrictions)

    budgets: Callable[[str], Sequence[Mapping[str, Any]]] = lambda cluster_id: ()
    """Function that returns the present PodDisruptionBudgets of a cluster, given its id."""

    def get(self, resource_id: Any, kind: str | None = None) -> Resource | None:
        found = self.resources.get(ids.key(resource_id)) if isinstance(resource_id, str) else None
        return found if found is not None and kind in (None, found.kind) else None

    def of_kind(self, kind: str) -> Iterator[Resource]:
        return (resource for resource in self.resources.values() if resource.kind == kind)

    def children(self, parent_id: str, kind: str) -> Iterator[Resource]:
        return (r for r in self.of_kind(kind) if ids.same(ids.parent(r.id), parent_id))

    def limit(self, usage: str) -> int:
        """Limit of a usage in vCPUs; 0 for a usage that the subscription may not use."""
        if usage in self.restrictions.unentitled:
            return 0
        return self.quota.get(usage, self.quota.get("*", DEFAULT_QUOTA))

    def group_exists(self, name: str) -> bool:
        """True if a resource group has this name; node resource groups of clusters count, too."""
        own = f"/subscriptions/{self.directory.subscription}/resourceGroups/{name}"
        node_groups = (str(c.outputs.get("nodeResourceGroup", "")).lower() for c in self.of_kind("ManagedCluster"))
        return self.get(own) is not None or name.lower() in node_groups

    def of_others(self, resource_id: str) -> bool:
        """True if the resource belongs to another owner: it is in another subscription, or in a resource group that the
        simulator does not have. Such a resource is assumed to exist.
        """
        own = ids.is_under(resource_id, f"/subscriptions/{self.directory.subscription}")
        return not own or not self.group_exists(ids.group(resource_id))

    def exists(self, scope: str) -> bool:
        """True if the scope of a role assignment exists.

        Resources of kinds that the simulator does not know are assumed to exist.
        """
        if self.get(scope) is not None or ids.key(scope) == f"subscriptions/{self.directory.subscription}":
            return True
        if arm_type(scope).lower() == "microsoft.network/privatednszones" and self.of_others(scope):
            return True
        if arm_type(scope).lower().startswith("microsoft.keyvault/") and not self.group_exists(ids.group(scope)):
            return True  # A vault in a resource group that is not known is somebody else's.
        known = {m.arm_type.lower() for m in mappings().values()} | {"microsoft.resources/resourcegroups"}
        return arm_type(scope).lower() not in known

    def principal_type(self, principal_id: str) -> str | None:
        """Type of the directory object with this principal id; None while the directory has no such object."""
        if principal_id.lower() == self.directory.deployer.lower():
            return self.directory.deployer_type
        for identity in self.of_kind("UserAssignedIdentity"):
            known = identity.created + self.replicates_after <= self.now
            if str(identity.outputs.get("principalId", "")).lower() == principal_id.lower() and known:
                return "ServicePrincipal"
        return self.directory.principals.get(principal_id)

    def allowed(self, principal_id: str, action: str, scope: str, assigned: str = "") -> bool:
        """True if the principal has a role in effect that allows `action` on `scope`.

        `assigned`: GUID of the assigned role, if the action is about a role assignment.
        """
        holders = self.holders(principal_id)
        for standing in self.directory.roles:
            if standing.principal.lower() in holders and standing.allows(action, assigned):
                return True
        for assignment in self.of_kind("RoleAssignment"):
            properties = assignment.body["properties"]
            role = role_of(properties.get("roleDefinitionId"))
            if (
                str(properties.get("principalId", "")).lower() in holders
                and role is not None
                and role.allows(action)
                and ids.is_under(scope, str(assignment.inputs["scope"]))
                and assignment.facts.get("effectiveAt", 0) <= self.now
            ):
                return True
        return False

    def holders(self, principal_id: str) -> set[str]:
        """The object ids whose roles a principal has: its own, and those of its groups."""
        groups = self.directory.groups.get(principal_id, ())
        return {each.lower() for each in (principal_id, *groups)}

    def subnet_users(self, subnet_id: str) -> list[Resource]:
        """Resources with addresses in this subnet: node pools, endpoints, gateways and API servers."""
        return [
            each
            for each in self.resources.values()
            if each.kind in SUBNET_FIELDS
            and any(ids.same(found, subnet_id) for path in SUBNET_FIELDS[each.kind] for found in _ids_at(each, path))
        ]


def arm_type(resource_id: str) -> str:
    """ARM type in a resource id, such as `Microsoft.Network/virtualNetworks/subnets`; the resource group type for a
    group's id.
    """
    _, separator, rest = resource_id.strip("/").rpartition("/providers/")
    if not separator:
        return "Microsoft.Resources/resourceGroups" if ids.group(resource_id) else ""
    provider, *segments = rest.split("/")
    return "/".join([provider, *segments[::2]])


def kind_of(resource_id: str) -> str | None:
    """The kind that a resource id belongs to; None if the simulator does not know the type."""
    wanted = arm_type(resource_id).lower()
    return next((kind for kind in KINDS if mappings()[kind].arm_type.lower() == wanted), None)
