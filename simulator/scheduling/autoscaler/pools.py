"""Access of the autoscaler to Azure: the pools of its cluster, and requests that change their numbers of nodes."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator import node_drain, pool_nodes
from simulator.azure.autoscaling import ScaledPool, allocation_failure, profile, scaled_pools
from simulator.azure.pool_cloud import PoolCloud
from simulator.cluster.objects import Json
from simulator.errors import SimulationError
from simulator.kubernetes.client import Client
from simulator.subscription import AZURE_FILE, LIMITS_FILE, open_pools
from simulator.wire import Refused


class OneCluster:
    """Implementation of `simulator.azure.cluster_host.NodeHost` that changes the nodes of one cluster through its API
    server.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def apply_nodes(self, cluster_id: str, pool: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        pool_nodes.apply(self._client, pool, nodes)

    def budgets(self, cluster_id: str) -> Sequence[Mapping[str, Any]]:
        return node_drain.budgets(self._client)

    def drain(self, cluster_id: str, pool: str, seconds: float) -> str:
        return node_drain.wait(self._client, pool, seconds)


@dataclass(frozen=True)
class Scaled:
    """The cluster's autoscaled pools as they are now in Azure, with the cluster's id and autoscaler profile."""

    cluster_id: str = ""
    pools: tuple[ScaledPool, ...] = ()
    profile: Json = field(default_factory=dict[str, Any])


class Pools:
    """The autoscaled pools of the cluster whose control plane is in the folder `slot`."""

    def __init__(self, client: Client, slot: Path, slots_file: Path, simulation: Path) -> None:
        self._client, self._slot, self._slots, self._folder = client, slot, slots_file, simulation
        self._cloud: PoolCloud | None = None
        self._stamp: object = None
        self._limits: object = None
        self._scaled = Scaled()

    def now(self) -> Scaled:
        """Present state of the pools in Azure; a state without pools if Azure does not know the cluster."""
        limits = _stamp(self._folder / LIMITS_FILE)
        if limits != self._limits:
            self._cloud, self._limits = None, limits
        stamp = (_stamp(self._folder / AZURE_FILE), _stamp(self._slots))
        if stamp != self._stamp or self._cloud is None:
            self._scaled = self._look() if None not in stamp else Scaled()
            self._stamp = stamp
        return self._scaled

    def _look(self) -> Scaled:
        slots: dict[str, str] = json.loads(self._slots.read_text(encoding="utf-8"))
        cluster_id = next((key for key, slot in slots.items() if slot == self._slot.name), "")
        if not cluster_id:
            return Scaled()
        if self._cloud is None:
            self._cloud = open_pools(self._folder, OneCluster(self._client))
        azure = self._cloud.azure()
        return Scaled(cluster_id, tuple(scaled_pools(cluster_id, azure)), profile(cluster_id, azure))

    def finish(self, registered: Mapping[str, int]) -> None:
        """Finishes the resizes that an earlier autoscaler process began: those of all pools whose number of machines in
        Azure differs from their number of nodes in the cluster.

        The numbers are compared because the pool's state in Azure is not reliable: another operation that has ended
        since then has overwritten it.

        Args:
            registered: Number of each pool's nodes in the cluster, by pool.
        """
        scaled = self.now()
        for pool in scaled.pools:
            if self._cloud is not None and pool.count != registered.get(pool.pool, 0):
                self._cloud.finish_scaling(scaled.cluster_id, pool.pool)

    def resize(self, pool: ScaledPool, count: int, without: Collection[int] = ()) -> str:
        """Changes the pool's number of nodes in Azure to `count`. Returns Azure's error; empty if there is none."""
        cluster_id = self._scaled.cluster_id
        if self._cloud is None:
            return "Azure is not there"
        try:
            got = self._cloud.autoscale(cluster_id, pool.pool, count, without)
        except (Refused, ValueError, SimulationError) as problem:
            return str(problem)
        return allocation_failure(pool.spec) if got < count else ""


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns
