"""The simulated Azure: handles PUTs and DELETEs, rejects as ARM does, and creates the nodes of node pools.

The cloud survives a kill at any moment. Every operation is saved in the state file before it changes a cluster, with
the state Creating, Updating or Deleting, and leaves that state when its work in the cluster is done. `settle` completes
what a killed process left unfinished, as Azure does without its client. All of that work is idempotent.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from simulator.azure import autoscaling, cluster_operations, groups, ids, outputs, puts, rights, schema
from simulator.azure import capacity as machines
from simulator.azure.background import Background
from simulator.azure.bodies import Json
from simulator.azure.clock import ModelClock
from simulator.azure.cluster_host import ClusterHost
from simulator.azure.deleted_vaults import claim, kept, purge, remember
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.grants import Grants
from simulator.azure.locks import PoolLocks, SharedLock
from simulator.azure.offers import CatalogOffers, Offers
from simulator.azure.registry import models
from simulator.azure.rules import Delete, Put, refusals, upgrade_budgets
from simulator.azure.state import FINAL, SUCCEEDED, AzureState, Directory, Resource
from simulator.azure.store import Store
from simulator.wire import Refused


class Cloud:
    """The complete state of Azure, in the file at `path`. Safe to use from many threads and processes."""

    def __init__(
        self,
        path: Path,
        host: ClusterHost,
        *,
        clock: ModelClock | None = None,
        directory: Directory | None = None,
        quota: Mapping[str, int] | None = None,
        capacity: Mapping[str, int] | None = None,
        busy: Mapping[str, int] | None = None,
        offers: Offers | None = None,
        taken: Mapping[str, Collection[str]] | None = None,
        accepts_retired_sizes: bool = False,
    ) -> None:
        """Opens the cloud whose state is in the file at `path`, or creates it.

        Args:
            quota: Limits in vCPUs by usage name: a size's family, `cores`, `lowPriorityCores`, or `*` for all others.
            capacity: Total number of nodes that can exist, by VM size; other sizes are unlimited.
            taken: Globally unique names that other customers hold, by kind of resource.
            busy: Number of requests that Azure refuses while it works on a cluster or pool, by its name.
            accepts_retired_sizes: True for recordings that are older than the retirement of a preview size.
        """
        self.host = host
        self.clock = clock or ModelClock()
        self.directory = directory or Directory()
        self._quota, self._offers = dict(quota or {}), offers or CatalogOffers()
        self._capacity, self._taken = dict(capacity or {}), dict(taken or {})
        self._accepts_retired_sizes = accepts_retired_sizes
        self._store = Store(path)
        self._lock = SharedLock(path, self._store.refresh)
        self._in_flight: dict[str, str] = {}
        self._background = Background(self._store, busy or {})
        self._grants = Grants(self._store, self._lock, host, self.clock, self.directory)
        self._operations = cluster_operations.ClusterOperations(
            host, self._lock, PoolLocks(path), self._azure, self.clock.seconds_per_model_minute
        )

    # Reads

    def azure(self) -> AzureState:
        """A snapshot of Azure's state; later changes of the cloud do not change it."""
        with self._lock:
            now = self._azure()
            return replace(now, resources=dict(now.resources), in_flight=dict(now.in_flight))

    def _azure(self) -> AzureState:
        return AzureState(
            resources=self._store.resources,
            directory=self.directory,
            offers=self._offers,
            quota=self._quota,
            capacity=self._capacity,
            now=self.clock.now(),
            replicates_after=self.clock.role_delay_seconds,
            in_flight=self._background.operations() | self._in_flight,
            accepts_retired_sizes=self._accepts_retired_sizes,
            deleted_vaults=kept(self._store.deleted_vaults, self.clock.now()),
            taken=self._taken,
            budgets=self.host.budgets,
        )

    def resource_id(self, type: str, inputs: Mapping[str, Any]) -> str | None:
        """The id that a resource of a type (token or last name) with these inputs has or would have: see
        `ids.of_inputs`.
        """
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
        """Id → `{type, inputs, outputs, state}`; with `inline` also resources that a parent's PUT created."""
        with self._lock:
            return {
                r.id: {"type": r.mapping.token, "inputs": r.inputs, "outputs": r.outputs, "state": r.state}
                for r in self._store
                if inline or not r.inline
            }

    def authorize(self, caller: str, action: str, scope: str, assigned: str = "") -> None:
        """Checks that the caller may do this; raises ArmError if not: see `rights.authorize`."""
        with self._lock:
            rights.authorize(self._azure(), caller, action, scope, assigned)

    def failure(self, resource: Resource) -> Refusal:
        """Reason why the last operation on a resource in the state Failed has failed."""
        with self._lock:
            return machines.failure(resource, self._azure())

    # Changes

    @models("subnet-busy", "fic-concurrent")
    def put(self, type: str, inputs: Mapping[str, Any], *, creating: bool = False, subscription: str = "") -> Resource:
        """Creates or updates a resource. Raises `ArmError`; with `creating`, `Refused` if the id is in use.

        A resource that is returned in the state Failed was accepted, but its operation failed in part or completely;
        `failure` tells why. If Azure would answer a second writer with "busy" and azure-native would try again, the
        second writer waits here. `subscription` is given for a subscription other than the directory's.
        """
        mapping = schema.mapping_of(type)
        with self._lock:
            path = {name: inputs[name] for name in mapping.path_params}
            resource_id = ids.build(mapping, subscription or self.directory.subscription, path)
            old = self._azure().get(resource_id)
            if creating and old is not None:
                raise Refused(f"cannot create already existing resource '{old.id}'")
            request = Put(mapping.kind, old.id if old else resource_id, inputs, old, self._azure())
            self._raise_first(
                request.id, chain(schema.refusals(mapping, request.body, request.api_version), refusals(request))
            )
            before = [old, *puts.inline_children(old, self._azure())] if old else []
            staged = puts.record(claim(request, self._store), self._store, self.clock)
            self._store.save()
        if mapping.kind in cluster_operations.KINDS:
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
            self._raise_first(resource.id, refusals(Delete(resource, self._azure())))
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

    def autoscale(self, cluster_id: str, pool: str, count: int, without: Collection[int] = ()) -> int:
        """Sets an autoscaled pool's count as the cluster autoscaler does, within the pool's limits and Azure's
        capacity.

        `without` lists the instance numbers of nodes to remove. Returns the number of nodes afterwards; raises ArmError
        or ValueError.
        """
        stage: autoscaling.Stage = lambda found, azure: autoscaling.staged(found, count, azure, without)  # noqa: E731
        return int(self.change_pool(f"{cluster_id}/agentPools/{pool}", stage).facts["count"])

    def change_pool(self, pool_id: str, stage: autoscaling.Stage) -> Resource:
        """Changes the machines of a pool to the result of `stage`, and returns the pool.

        Raises the errors of `stage`.
        """
        with self._lock:
            staged = stage(self._azure().get(pool_id, "AgentPool"), self._azure())
            self._keep(replace(staged, state="Updating"))
        self._finish_pool(staged)
        return staged

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

    def finish_scaling(self, cluster_id: str, pool: str) -> None:
        """Finishes a resize that a process began and did not finish: Azure continues without its client."""
        with self._lock:
            resource = self._azure().get(f"{cluster_id}/agentPools/{pool}", "AgentPool")
        if resource is not None and resource.state != "Deleting":
            self._finish_pool(resource)

    def _finish_pool(self, pool: Resource) -> None:
        with self._operation(pool.id, "Scaling"):
            self._finish(pool.id, self._operations.put(pool))

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
        """Stops the timer behind pending role assignments; `settle` resumes them."""
        self._grants.stop()

    def _raise_first(self, resource_id: str, found: Iterator[Refusal]) -> None:
        first = next(found, None)
        if first is not None:
            if first.rule == "aks-busy":
                self._background.refused(resource_id)
            raise ArmError(first)

    @contextmanager
    def _operation(self, resource_id: str, name: str) -> Generator[None]:
        key = ids.key(resource_id)
        with self._lock:
            self._in_flight[key] = name
        try:
            yield
        finally:
            with self._lock:
                self._in_flight.pop(key, None)

    def _keep(self, resource: Resource) -> None:
        self._store.put(resource)
        self._store.save()

    def _finish(self, resource_id: str, kept: Mapping[str, str]) -> None:
        """Ends an operation on a resource and on the pools that a cluster's PUT creates.

        `kept`: reason by id for each pool that was not drained.
        """
        with self._lock:
            azure = self._azure()
            resource = azure.get(resource_id)
            if resource is None or resource.state == "Deleting":
                return  # another operation on the resource has started
            for each in (*(r for r in puts.inline_children(resource, azure) if r.kind == "AgentPool"), resource):
                self._store.put(puts.upgraded(each, kept.get(each.id, "")))
            azure = self._azure()
            for each in (*(r for r in puts.inline_children(resource, azure) if r.kind == "AgentPool"), resource):
                now = azure.get(each.id) or each
                ended = replace(now, state=machines.outcome(now, azure))
                self._store.put(replace(ended, outputs=outputs.compute(ended, azure)))
            self._store.save()

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
