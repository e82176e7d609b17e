"""What operations change in Kubernetes clusters. All of it is idempotent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from physical_ai.catalog.vault_secrets import ADDON
from physical_ai.simulator.azure import ids, puts
from physical_ai.simulator.azure.bodies import get
from physical_ai.simulator.azure.cluster_host import ClusterHost
from physical_ai.simulator.azure.locks import PoolLocks
from physical_ai.simulator.azure.state import AzureState, Resource

KINDS = ("ManagedCluster", "AgentPool")
"""Kinds whose operations change a cluster."""


class ClusterOperations:
    """Applies a resource, as the cloud's file describes it, to its cluster."""

    def __init__(
        self, host: ClusterHost, lock: AbstractContextManager[None], pools: PoolLocks, azure: Callable[[], AzureState]
    ) -> None:
        self._host, self._lock, self._pools, self._azure = host, lock, pools, azure

    def put(self, resource: Resource) -> None:
        if resource.kind == "AgentPool":
            self._apply_nodes(resource)
        if resource.kind == "ManagedCluster":
            if resource.state == "Creating":
                self._host.create(resource.id, str(resource.facts["version"]))
            if get(resource.body, "properties.azureMonitorProfile.metrics.enabled") is True:
                self._host.enable_metrics(resource.id)
            if get(resource.body, f"properties.addonProfiles.{ADDON}.enabled") is True:
                self._host.enable_vault_secrets(resource.id)
            with self._lock:
                inline = [pool for pool in self._azure().children(resource.id, "AgentPool") if pool.inline]
            for pool in inline:
                self._apply_nodes(pool)

    def _apply_nodes(self, pool: Resource) -> None:
        """Applies the pool's nodes as the cloud's file describes them now."""
        with self._pools.of(ids.key(pool.id)):
            with self._lock:
                azure = self._azure()
                cluster = azure.get(ids.parent(pool.id), "ManagedCluster")
                current = azure.get(pool.id, "AgentPool")
                wanted = puts.nodes_of(current, azure) if current else []
            if cluster is not None and current is not None and current.state != "Deleting":
                self._host.apply_nodes(cluster.id, ids.name(pool.id), wanted)

    def delete(self, resource: Resource) -> None:
        if resource.kind == "ManagedCluster":
            self._host.delete(resource.id)
        elif resource.kind == "AgentPool":
            with self._lock:
                cluster = self._azure().get(ids.parent(resource.id), "ManagedCluster")
            if cluster is not None:
                with self._pools.of(ids.key(resource.id)):
                    self._host.apply_nodes(cluster.id, ids.name(resource.id), [])
