"""Changes that Azure's operations make to Kubernetes clusters. All of them are idempotent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from simulator.azure import ids, puts
from simulator.azure.bodies import get
from simulator.azure.cluster_host import ClusterHost, NodeHost
from simulator.azure.locks import PoolLocks
from simulator.azure.own_facts import VAULT_ADDON
from simulator.azure.rules.upgrade_budgets import drain_minutes, is_forced
from simulator.azure.state import UPGRADED_FROM, AzureState, Resource

KINDS = ("ManagedCluster", "AgentPool")
"""Kinds whose operations change a cluster."""


class PoolOperations:
    """Applies node pools to their Kubernetes cluster, as the simulated cloud's state file describes them."""

    def __init__(
        self,
        host: NodeHost,
        lock: AbstractContextManager[None],
        pools: PoolLocks,
        azure: Callable[[], AzureState],
        seconds_per_minute: float,
    ) -> None:
        self._host, self._lock, self._pools, self._azure = host, lock, pools, azure
        self._seconds_per_minute = seconds_per_minute

    def put(self, pool: Resource) -> str:
        """Makes the pool's nodes in the cluster equal to those in the simulated cloud's state file. Returns the reason
        if nodes cannot be drained for an upgrade, and then changes no node; otherwise an empty text.
        """
        with self._pools.of(ids.key(pool.id)):
            with self._lock:
                azure = self._azure()
                cluster = azure.get(ids.parent(pool.id), "ManagedCluster")
                current = azure.get(pool.id, "AgentPool")
                wanted = puts.nodes_of(current, azure) if current else []
            if cluster is None or current is None or current.state == "Deleting":
                return ""
            if why := self._undrained(cluster, current, azure):
                return why
            self._host.apply_nodes(cluster.id, ids.name(pool.id), wanted)
            return ""

    def _undrained(self, cluster: Resource, pool: Resource, azure: AzureState) -> str:
        """Reason why the nodes of a pool that is being upgraded cannot be drained; empty if they can.

        A forced upgrade ignores disruption budgets.
        """
        if not pool.facts.get(UPGRADED_FROM) or is_forced(cluster.body, azure.now):
            return ""
        minutes = drain_minutes(puts.spec_of(pool, azure))
        return self._host.drain(cluster.id, ids.name(pool.id), minutes * self._seconds_per_minute)

    def delete(self, pool: Resource) -> None:
        """Removes the nodes of a pool."""
        with self._lock:
            cluster = self._azure().get(ids.parent(pool.id), "ManagedCluster")
        if cluster is not None:
            with self._pools.of(ids.key(pool.id)):
                self._host.apply_nodes(cluster.id, ids.name(pool.id), [])


class ClusterOperations:
    """Applies clusters and their pools, as the simulated cloud's state file describes them."""

    def __init__(
        self,
        host: ClusterHost,
        pools: PoolOperations,
        lock: AbstractContextManager[None],
        azure: Callable[[], AzureState],
    ) -> None:
        self._host, self._pools, self._lock, self._azure = host, pools, lock, azure

    def put(self, resource: Resource) -> Mapping[str, str]:
        """Applies a resource to its cluster.

        Returns the reasons why upgrades of pools failed, by pool id; empty if none failed.
        """
        kept: dict[str, str] = {}
        if resource.kind == "AgentPool":
            kept[resource.id] = self._pools.put(resource)
        if resource.kind == "ManagedCluster":
            if resource.state == "Creating":
                self._host.create(resource.id, str(resource.facts["version"]))
            if get(resource.body, "properties.azureMonitorProfile.metrics.enabled") is True:
                self._host.enable_metrics(resource.id)
            if get(resource.body, f"properties.addonProfiles.{VAULT_ADDON}.enabled") is True:
                self._host.enable_vault_secrets(resource.id)
            with self._lock:
                inline = [pool for pool in self._azure().children(resource.id, "AgentPool") if pool.inline]
            for pool in inline:
                kept[pool.id] = self._pools.put(pool)
        return {pool_id: why for pool_id, why in kept.items() if why}

    def delete(self, resource: Resource) -> None:
        """Ends a cluster, or removes the nodes of a pool. Does nothing for a resource of another kind."""
        if resource.kind == "ManagedCluster":
            self._host.delete(resource.id)
        elif resource.kind == "AgentPool":
            self._pools.delete(resource)
