"""Part of the simulated Azure that the cluster autoscaler uses: Azure's state, and changes of a pool's number of
nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from simulator.azure import autoscaling, ids, outputs, puts
from simulator.azure import capacity as machines
from simulator.azure.background import Background
from simulator.azure.clock import ModelClock
from simulator.azure.cluster_host import NodeHost
from simulator.azure.cluster_operations import PoolOperations
from simulator.azure.deleted_vaults import kept
from simulator.azure.locks import PoolLocks, SharedLock
from simulator.azure.offers import CatalogOffers, Offers
from simulator.azure.restrictions import Restrictions
from simulator.azure.state import AzureState, Directory, Resource
from simulator.azure.store import Store


class Options(TypedDict, total=False):
    """Options of the simulated Azure."""

    clock: ModelClock | None
    directory: Directory | None
    quota: Mapping[str, int] | None
    """Limits in vCPUs by usage name: a size's family, `cores`, `lowPriorityCores`, or `*` for all others."""
    capacity: Mapping[str, int] | None
    """Total number of nodes that can exist, by VM size; other sizes are unlimited."""
    busy: Mapping[str, int] | None
    """Number of requests that Azure refuses during an operation of its own on a cluster or pool, by the name of the
    cluster or pool.
    """
    offers: Offers | None
    taken: Mapping[str, Collection[str]] | None
    """Globally unique names that other customers hold, by kind of resource."""
    restrictions: Restrictions | None
    accepts_retired_sizes: bool
    """True to accept a VM size that Azure has retired, as Azure did before it retired the size."""


class PoolCloud:
    """The state of Azure in the file at `path`, with changes of node pools only. Safe to use from many threads and
    processes.
    """

    def __init__(self, path: Path, host: NodeHost, **options: Unpack[Options]) -> None:
        """Opens the cloud whose state is in the file at `path`, or creates it."""
        self.clock = options.get("clock") or ModelClock()
        self.directory = options.get("directory") or Directory()
        self._quota, self._offers = dict(options.get("quota") or {}), options.get("offers") or CatalogOffers()
        self._capacity, self._taken = dict(options.get("capacity") or {}), dict(options.get("taken") or {})
        self.restrictions = options.get("restrictions") or Restrictions()
        self._accepts_retired_sizes = options.get("accepts_retired_sizes", False)
        self._store = Store(path)
        self._lock = SharedLock(path, self._store.refresh)
        self._in_flight: dict[str, str] = {}
        self._background = Background(self._store, options.get("busy") or {})
        self._budgets = host.budgets
        self._pools = PoolOperations(
            host, self._lock, PoolLocks(path), self._azure, self.clock.seconds_per_model_minute
        )

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
            restrictions=self.restrictions,
            budgets=self._budgets,
        )

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

    def finish_scaling(self, cluster_id: str, pool: str) -> None:
        """Finishes a resize that a process began and did not finish: Azure continues without its client."""
        with self._lock:
            resource = self._azure().get(f"{cluster_id}/agentPools/{pool}", "AgentPool")
        if resource is not None and resource.state != "Deleting":
            self._finish_pool(resource)

    def _finish_pool(self, pool: Resource) -> None:
        with self._operation(pool.id, "Scaling"):
            self._finish(pool.id, {pool.id: self._pools.put(pool)})

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
        """Gives the final state of an operation to a resource and, for a cluster, to the pools that its PUT created.

        `kept`: pool id → reason why the pool was not drained; only for pools that were not drained.
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
