"""Application of Azure RBAC's Kubernetes roles to clusters, once their assignments have taken effect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from simulator.azure import ids
from simulator.azure.bodies import get
from simulator.azure.clock import ModelClock
from simulator.azure.cluster_host import ClusterHost
from simulator.azure.roles import builtin_roles, guid_of, role_of
from simulator.azure.state import FINAL, Directory, Resource
from simulator.azure.store import Store

MARGIN = 0.02
"""Seconds that the timer waits beyond the due time. A timer that fires a moment too early would find nothing due."""
RETRY = 1.0
"""Seconds until another try when a cluster could not be reached."""


class Grants:
    """Record of which role assignment is in effect in which cluster, with a timer for the next one to take effect."""

    def __init__(
        self,
        store: Store,
        lock: AbstractContextManager[None],
        host: ClusterHost,
        clock: ModelClock,
        directory: Directory,
    ) -> None:
        self._store, self._lock, self._host, self._clock = store, lock, host, clock
        self._directory = directory
        self._call_off: Callable[[], None] = lambda: None
        self._stopped = False

    def tick(self) -> None:
        """Grants the assignments that are due, and sets the timer for the others."""
        failed, asked = False, self._clock.now()
        for cluster, assignment, principal, kind, role in self._due(asked):
            try:
                self._host.grant(cluster.id, assignment.id, principal, kind, role)
            except Exception:  # the host reports its own errors; the grant remains due
                failed = True
                continue
            self._note(assignment, cluster)
        with self._lock:
            waiting = [(cluster, self._standing(cluster)) for cluster in self._clusters()]
        for cluster, wanted in waiting:
            try:
                self._grant_standing(cluster, wanted)
            except Exception:  # as above
                failed = True
        self._schedule(failed, asked)

    def _schedule(self, failed: bool, asked: float) -> None:
        """Sets the timer for the next role assignment that takes effect after the time `asked`. If that time has
        already passed, the timer fires at once.

        `failed`: True to fire after `RETRY` seconds at the latest.
        """
        with self._lock:
            now = self._clock.now()
            pending = [a.facts["effectiveAt"] for a in self._assignments() if a.facts["effectiveAt"] > asked]
            waits = [max(at - now, 0) + MARGIN for at in pending] + ([RETRY] if failed else [])
            self._call_off()
            if waits and not self._stopped:
                self._call_off = self._clock.later(min(waits), self.tick)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            self._call_off()

    def revoke(self, assignment: Resource) -> None:
        """Removes the rights of a role assignment from every cluster in which it is in effect."""
        for cluster_id in assignment.facts.get("granted", []):
            with self._lock:
                alive = ids.key(cluster_id) in self._store.resources
            if alive:
                self._host.revoke(cluster_id, assignment.id)

    def forget_cluster(self, cluster_id: str) -> None:
        """Removes the grants of a deleted cluster, so that a new cluster of the same name starts without them."""
        for assignment in self._assignments():
            left = [c for c in assignment.facts["granted"] if not ids.same(c, cluster_id)]
            if left != assignment.facts["granted"]:
                self._store.put(replace(assignment, facts={**assignment.facts, "granted": left}))

    def _assignments(self) -> list[Resource]:
        """Assignments of roles that give rights inside a Kubernetes cluster."""
        found: list[Resource] = []
        for resource in self._store:
            role = role_of(resource.inputs.get("roleDefinitionId")) if resource.kind == "RoleAssignment" else None
            if role is not None and role.in_kubernetes:
                found.append(resource)
        return found

    def _clusters(self) -> list[Resource]:
        return [r for r in self._store if r.kind == "ManagedCluster" and r.state in (*FINAL, "Updating")]

    def _due(self, now: float) -> list[tuple[Resource, Resource, str, str, str]]:
        """Role assignments that are in effect, but not yet granted in a cluster; as tuples of cluster, assignment,
        principal id, principal type and role GUID.
        """
        with self._lock:
            found: list[tuple[Resource, Resource, str, str, str]] = []
            for assignment in self._assignments():
                scope, properties = str(assignment.inputs["scope"]), assignment.body["properties"]
                role = role_of(properties["roleDefinitionId"])
                if role is None or assignment.facts["effectiveAt"] > now or assignment.state == "Deleting":
                    continue
                kind = str(assignment.outputs.get("principalType") or properties.get("principalType") or "User")
                for cluster in self._clusters():
                    uses_azure = get(cluster.body, "properties.aadProfile.enableAzureRBAC")
                    granted: list[str] = assignment.facts["granted"]
                    if uses_azure and ids.is_under(cluster.id, scope) and cluster.id not in granted:
                        found.append((cluster, assignment, str(properties["principalId"]), kind, role.guid))
            return found

    def _note(self, assignment: Resource, cluster: Resource) -> None:
        with self._lock:
            current = self._store.resources.get(ids.key(assignment.id))
            if current is None:
                return
            granted: list[str] = [*current.facts["granted"], cluster.id]
            self._store.put(replace(current, facts={**current.facts, "granted": granted}))
            self._store.save()

    def _grant_standing(self, cluster: Resource, wanted: Sequence[_Right]) -> None:
        """Grants and revokes rights until `wanted` are all the rights in the cluster that come from no role assignment
        of the stack.
        """
        known: list[str] = cluster.facts.get("standing", [])
        for right in wanted:
            if right.key not in known:
                name = f"{cluster.id}/standing/{right.key}"
                self._host.grant(cluster.id, name, right.principal, right.kind, right.role)
        for key in set(known) - {right.key for right in wanted}:
            self._host.revoke(cluster.id, f"{cluster.id}/standing/{key}")
        if sorted(known) == (keys := sorted(right.key for right in wanted)):
            return
        with self._lock:
            current = self._store.resources.get(ids.key(cluster.id))
            if current is not None:
                self._store.put(replace(current, facts={**current.facts, "standing": keys}))
                self._store.save()

    def _standing(self, cluster: Resource) -> list[_Right]:
        """Rights that a cluster has from the start: cluster admin for the groups in its aadProfile, and roles assigned
        on the subscription.
        """
        groups: list[str] = get(cluster.body, "properties.aadProfile.adminGroupObjectIDs") or []
        found = [
            _Right(f"admins-{group}", group, "Group", guid_of("Azure Kubernetes Service RBAC Cluster Admin"))
            for group in groups
        ]
        if get(cluster.body, "properties.aadProfile.enableAzureRBAC"):
            for each in self._directory.roles:
                if builtin_roles()[each.role].in_kubernetes:
                    kind = self._directory.principals.get(each.principal, "User")
                    found.append(_Right(f"{each.principal}-{each.role}", each.principal, kind, each.role))
        return found


@dataclass(frozen=True)
class _Right:
    key: str
    principal: str
    kind: str
    role: str
