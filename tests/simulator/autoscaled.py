"""A cluster of the simulated Azure with its autoscaler at work, for tests that watch pools grow and shrink."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from physical_ai.settings import Settings
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.pools import node_taints
from simulator.clock import IDLE_VARIABLE
from simulator.clusters import SLOTS_FILE, Clusters
from simulator.subscription import AZURE_FILE, LIMITS_FILE
from simulator.tools import toolbox
from tests.simulator.pods import create, events, host
from tests.support.azure_fakes import Azure
from tests.support.simulated_cluster import SimulatedCluster, simulated_cluster

WORK = "default"
H100 = "Standard_NC40ads_H100_v5"
EMPTY: dict[str, Any] = {"enableAutoScaling": True, "minCount": 0, "maxCount": 2, "count": 0}
SPOT: dict[str, Any] = {"scaleSetPriority": "Spot", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1}
SECONDS_PER_IDLE_MINUTE = 0.1
PATIENT = {"scaleDownUnneededTime": "10m", "scaleDownUnreadyTime": "400m", "scaleDownDelayAfterAdd": "10m"}
"""A second for nodes that work; those whose driver is being built have all the time a busy machine may need."""


@dataclass
class Autoscaled:
    """A cluster of the simulated Azure, with its autoscaler at work."""

    azure: Azure
    cluster: SimulatedCluster
    settings: Settings
    clusters: Clusters

    def restart(self) -> None:
        """Ends the control plane and starts it again, as a `physai` command does that finds it stopped."""
        self.clusters.stop()
        with short_idle_minutes():
            self.clusters.prepare(spare=False)
            self.clusters.wait()

    def pool(self, name: str, size: str, **more: Any) -> None:
        inputs = {"agentPoolName": name, "vmSize": size, "nodeTaints": [], "nodeLabels": {}, **EMPTY, **more}
        self.azure.pool(**inputs)

    def gpu_pool(self, name: str = "h100gpu", **more: Any) -> None:
        """One of the settings' own H100 pools: labels, taints and priority as the program gives them."""
        found = self.settings.pools[name]
        given = {"nodeLabels": pool_labels(name, found), "nodeTaints": node_taints(found), **more}
        self.pool(name, H100, **(SPOT if found.is_spot else {}), **given)

    def nodes(self, pool: str) -> list[str]:
        found = self.cluster.client.get("/api/v1/nodes", {"labelSelector": f"agentpool={pool}"})["items"]
        return sorted(each["metadata"]["name"] for each in found)

    def count(self, pool: str) -> int:
        """The pool's nodes as Azure counts them."""
        found = self.azure.cloud.get(f"{self.azure.cluster_id}/agentPools/{pool}")
        assert found is not None
        return int(found.outputs["count"])

    def create(self, name: str, **spec: Any) -> None:
        create(self.cluster.client, name, WORK, **spec)

    def delete(self, name: str) -> None:
        path = f"/api/v1/namespaces/{WORK}/pods/{name}"
        self.cluster.client.request("DELETE", path, params={"gracePeriodSeconds": "0"})

    def hosts(self, *names: str) -> list[str]:
        """Where pods run, those left out that run nowhere."""
        return sorted(filter(None, (host(self.cluster.client, name, WORK) for name in names)))

    def says(self, name: str) -> str:
        return events(self.cluster.client, name, WORK)

    def autoscaler_says(self) -> str:
        return events(self.cluster.client, "cluster-autoscaler-status", "kube-system")


@contextmanager
def short_idle_minutes() -> Generator[None]:
    """For the control plane that is started meanwhile, and for nothing else that the worker starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(IDLE_VARIABLE, str(SECONDS_PER_IDLE_MINUTE))
        yield


@contextmanager
def autoscaled_cluster(
    tools: Path, folder: Path, settings: Settings, limits: Mapping[str, Any], profile: Mapping[str, str]
) -> Generator[Autoscaled]:
    """A cluster with a system node and a cpu node, in which idle minutes are short.

    Args:
        limits: Quota and capacity of the simulated Azure.
        profile: The cluster's `autoScalerProfile`.
    """
    (folder / LIMITS_FILE).write_text(json.dumps(limits))
    clusters = Clusters(folder / "clusters", toolbox(tools))
    try:
        azure = Azure(folder / AZURE_FILE, options=dict(limits), host=clusters)  # pyright: ignore[reportArgumentType]  # the real one
        azure.network()
        azure.identities()
        with short_idle_minutes():
            azure.cluster(autoScalerProfile=dict(profile))
        azure.pool(agentPoolName="cpu", vmSize="Standard_D8ds_v5", nodeTaints=[], nodeLabels={})
        slot = json.loads((folder / "clusters" / SLOTS_FILE).read_text())[azure.cluster_id]
        kubeconfig = (folder / "clusters" / slot / "admin.kubeconfig").read_text()
        yield Autoscaled(azure, simulated_cluster(kubeconfig, toolbox(tools).path("helm")), settings, clusters)
    finally:
        clusters.wipe()
