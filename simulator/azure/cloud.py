"""The simulated Azure: handles PUTs and DELETEs, rejects as ARM does, and creates the nodes of node pools.

The process can be killed at any moment. An operation is saved in the state file, with the state Creating, Updating or
Deleting, before it changes a cluster, and gets its final state when it is complete. `settle` completes the operations
of a killed process, as Azure continues without its client. Repeating a step is harmless.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Unpack

from simulator.azure import capacity as machines
from simulator.azure import groups, ids, outputs, puts, rights, schema
from simulator.azure.admission import admission
from simulator.azure.bodies import Json
from simulator.azure.cluster_host import ClusterHost
from simulator.azure.cluster_operations import KINDS, ClusterOperations
from simulator.azure.deleted_vaults import claim, purge, remember
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.grants import Grants
from simulator.azure.pool_cloud import Options, PoolCloud
from simulator.azure.registry import models
from simulator.azure.rules import Delete, Put, refusals, upgrade_budgets
from simulator.azure.state import FINAL, SUCCEEDED, Resource
from simulator.wire import Refused


class Cloud(PoolCloud):
    """The complete state of Azure, in the file at `path`. Safe to use from many threads and processes."""

    def __init__(self, path: Path, host: ClusterHost, **options: Unpack[Options]) -> None:
        """Opens the cloud whose state is in the file at `path`, or creates it."""
        super().__init__(path, host, **options)
        self.host = host
        self._grants = Grants(self._store, self._lock, host, self.clock, self.directory)
        self._operations = ClusterOperations(host, self._pools, self._lock, self._azure)

    # Reads

    def resource_id(self, type: str, inputs: Mapping[str, Any]) -> str | None:
        """Id of the resource that has these inputs, whether the resource exists or not (see `ids.of_inputs`)."""
        return ids.of_inputs(type, inputs, self.directory.subscription)

    def exists(self, resource_id: str) -> bool:
        with self._lock:
            return self._azure().get(resource_id) is not None

    def get(self, resource_id: str) -> Resource | None:
        """A resource with the outputs a GET would show now."""
        with self._lock:
            resource = self._azure().get(resource_id)
            return resource and replace(resource, outputs=outputs.compute(resource, self._azure()))

    def resources(self, *, inline: bool = False) -> dict[str, Json]:
        """Resources by id, each as a map with the keys `type`, `inputs`, `outputs` and `state`. `inline`: True to
        include resources that a parent's PUT created.
        """
        with self._lock:
            return {
                r.id: {"type": r.mapping.token, "inputs": r.inputs, "outputs": r.outputs, "state": r.state}
                for r in self._store
                if inline or not r.inline
            }

    def authorize(self, caller: str, action: str, scope: str, assigned: str = "") -> None:
        """Raises ArmError if the caller has no right to `action` on `scope` (see `rights.authorize`)."""
        with self._lock:
            rights.authorize(self._azure(), caller, action, scope, assigned)

    def failure(self, resource: Resource) -> Refusal:
        """Reason why the last operation on a resource in the state Failed has failed."""
        with self._lock:
            return machines.failure(resource, self._azure())

    # Changes

    @models("subnet-busy", "fic-concurrent")
    def put(self, type: str, inputs: Mapping[str, Any], *, creating: bool = False, subscription: str = "") -> Resource:
        """Creates or updates a resource.

        The returned resource is in the state Failed if ARM accepted the PUT, but the operation failed later; `failure`
        returns the reason. While another writer works, this method waits; the real Azure would answer "busy", and
        azure-native would retry.

        Args:
            creating: True if the resource must not exist yet; raises `Refused` if it does.
            subscription: Id of the resource's subscription; empty for the subscription of `directory`.

        Raises:
            ArmError: ARM refuses the request.
        """
        mapping = schema.mapping_of(type)
        with self._lock:
            path = {name: inputs[name] for name in mapping.path_params}
            resource_id = ids.build(mapping, subscription or self.directory.subscription, path)
            old = self._azure().get(resource_id)
            if creating and old is not None:
                raise Refused(f"cannot create already existing resource '{old.id}'")
            request = Put(mapping.kind, old.id if old else resource_id, inputs, old, self._azure())
            broken = schema.refusals(mapping, request.body, request.api_version)
            self._raise_first(request.id, chain(admission(request), broken, refusals(request)))
            before = [old, *puts.inline_children(old, self._azure())] if old else []
            staged = puts.record(claim(request, self._store), self._store, self.clock)
            self._store.save()
        if mapping.kind in KINDS:
            with self._operation(staged.id, staged.state):
                try:
                    kept = self._operations.put(staged)
                except Exception as error:
                    self._roll_back(staged, before)
                    raise Refused(f"the simulated cluster of {staged.id} failed: {error}") from error
                self._finish(staged.id, kept)
        if mapping.kind in ("RoleAssignment", "ManagedCluster"):
            self._grants.tick()
        resource = self.get(staged.id)
        assert resource is not None
        return resource

    @models("arm-delete-missing", "uai-delete")
    def delete(self, resource_id: str) -> None:
        """Deletes a resource and its children; a missing one is not an error. Raises `ArmError`."""
        with self._lock:
            resource = self._azure().get(resource_id)
            if resource is None:
                return
            request = Delete(resource, self._azure())
            self._raise_first(resource.id, chain(admission(request), refusals(request)))
            self._store.put(replace(resource, state="Deleting"))
            self._store.save()
        if resource.kind == "ResourceGroup":
            self._empty_group(resource)
        with self._operation(resource.id, "Deleting"):
            try:
                self._finish_delete(resource)
            except Exception as error:
                raise Refused(f"the simulated cluster of {resource.id} could not be changed: {error}") from error

    def purge_vault(self, name: str) -> None:
        """Deletes a deleted key vault for good. Raises `ArmError`."""
        with self._lock:
            purge(name, self._store, self.clock.now())
            self._store.save()

    def upgrade_node_image(self, cluster_id: str, pool: str) -> Resource:
        """Gives a pool's nodes the next node image, as a maintenance window does. Raises ArmError, LookupError.

        A pool that could not be drained is then in the state Failed, as after `put`.
        """
        with self._lock:
            azure = self._azure()
            cluster, found = azure.get(cluster_id, "ManagedCluster"), azure.get(f"{cluster_id}/agentPools/{pool}")
            if cluster is None or found is None:
                raise LookupError(f"{cluster_id} has no node pool {pool}")
            self._raise_first(cluster_id, upgrade_budgets.image_refusals(cluster, azure))
            staged = replace(puts.reimaged(found), state="Updating")
            self._keep(staged)
        self._finish_pool(staged)
        ended = self.get(staged.id)
        assert ended is not None
        return ended

    def settle(self) -> None:
        """Finishes the operations of an earlier process, and grants the roles that have taken effect.

        To be called once after opening, when the host can serve clusters.
        """
        with self._lock:
            pending = [r for r in self._store if r.state not in FINAL]
        for resource in sorted(pending, key=lambda r: r.kind != "ManagedCluster"):
            if resource.state == "Deleting":
                self.delete(resource.id)
            elif self.exists(resource.id):
                with self._operation(resource.id, resource.state):
                    self._finish(resource.id, self._operations.put(resource))
        self._grants.tick()

    def close(self) -> None:
        """Stops the timer that puts role assignments into effect. Assignments that are still pending take effect with
        the next `settle`.
        """
        self._grants.stop()

    def _raise_first(self, resource_id: str, found: Iterator[Refusal]) -> None:
        first = next(found, None)
        if first is not None:
            if first.rule == "aks-busy":
                self._background.refused(resource_id)
            raise ArmError(first)

    def _roll_back(self, staged: Resource, before: list[Resource]) -> None:
        """Restores the resources that were there before a failed operation, so that the next run can try again."""
        with self._lock:
            puts.remove_tree(staged.id, self._store)
            for resource in before:
                self._store.put(resource)
            self._store.save()
        if staged.kind == "ManagedCluster" and not before:
            self.host.delete(staged.id)

    def _finish_delete(self, resource: Resource) -> None:
        self._operations.delete(resource)
        if resource.kind == "RoleAssignment":
            self._grants.revoke(resource)
        with self._lock:
            remember(resource, self._store, self.clock.now())
            puts.remove_tree(resource.id, self._store)
            self._grants.forget_cluster(resource.id)
            self._store.save()

    def _empty_group(self, group: Resource) -> None:
        def inside() -> list[Resource]:
            with self._lock:
                return [r for r in self._store if r.id != group.id and ids.is_under(r.id, group.id)]

        refused = groups.empty(inside, self.delete)
        if refused is not None:
            with self._lock:
                self._keep(replace(group, state=SUCCEEDED))
            raise groups.failure(group, refused)
