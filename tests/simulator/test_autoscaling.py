"""Nodes that come and go with the pods: the autoscaler, the simulated Azure and a real API server."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from physical_ai import catalog
from physical_ai.catalog.osmo import SCHEDULER
from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import pool_labels
from physical_ai.settings.facts.pools import node_taints
from physical_ai.simulator.clock import IDLE_VARIABLE
from physical_ai.simulator.cluster.objects import at
from physical_ai.simulator.clusters import SLOTS_FILE, Clusters
from physical_ai.simulator.kubernetes.client import MERGE_PATCH
from physical_ai.simulator.scheduling.autoscaler.live import TO_BE_DELETED
from physical_ai.simulator.scheduling.kai import GROUP_ANNOTATION
from physical_ai.simulator.subscription import AZURE_FILE, LIMITS_FILE
from physical_ai.simulator.tools import toolbox
from tests.simulator.kai import define, install
from tests.simulator.pods import create, events, host
from tests.support.azure_fakes import Azure
from tests.support.gpu_settings import given_settings
from tests.support.scheduling import GPU_TOLERATED, gang, queue
from tests.support.simulated_cluster import SimulatedCluster, simulated_cluster

WORK = "default"
GPU = {"nvidia.com/gpu": "1"}
SPOT_TOLERATED = [*GPU_TOLERATED, {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"}]
H100, A100 = "Standard_NC40ads_H100_v5", "Standard_NC24ads_A100_v4"
EMPTY: dict[str, Any] = {"enableAutoScaling": True, "minCount": 0, "maxCount": 2, "count": 0}
SECONDS_PER_IDLE_MINUTE = 0.1
PATIENT = {"scaleDownUnneededTime": "10m", "scaleDownUnreadyTime": "400m", "scaleDownDelayAfterAdd": "10m"}
"""A second for nodes that work; those whose driver is being built have all the time a busy machine may need."""


@dataclass
class Place:
    """A cluster of the simulated Azure, with its autoscaler at work."""

    azure: Azure
    field: SimulatedCluster
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

    def gpu_pool(self, **more: Any) -> None:
        """The settings' own H100 pool: labels and taints as the program gives them."""
        found = self.settings.pools["h100gpu"]
        given = {"nodeLabels": pool_labels("h100gpu", found), "nodeTaints": node_taints(found), **more}
        spot = {"scaleSetPriority": "Spot", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1}
        self.pool("h100gpu", H100, **spot, **given)

    def nodes(self, pool: str) -> list[str]:
        found = self.field.client.get("/api/v1/nodes", {"labelSelector": f"agentpool={pool}"})["items"]
        return sorted(each["metadata"]["name"] for each in found)

    def count(self, pool: str) -> int:
        """The pool's nodes as Azure counts them."""
        found = self.azure.cloud.get(f"{self.azure.cluster_id}/agentPools/{pool}")
        assert found is not None
        return int(found.outputs["count"])

    def create(self, name: str, **spec: Any) -> None:
        create(self.field.client, name, WORK, **spec)

    def delete(self, name: str) -> None:
        path = f"/api/v1/namespaces/{WORK}/pods/{name}"
        self.field.client.request("DELETE", path, params={"gracePeriodSeconds": "0"})

    def hosts(self, *names: str) -> list[str]:
        """Where pods run, those left out that run nowhere."""
        return sorted(filter(None, (host(self.field.client, name, WORK) for name in names)))

    def says(self, name: str) -> str:
        return events(self.field.client, name, WORK)

    def autoscaler_says(self) -> str:
        return events(self.field.client, "cluster-autoscaler-status", "kube-system")


@contextmanager
def short_idle_minutes() -> Generator[None]:
    """For the control plane that is started meanwhile, and for nothing else that the worker starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(IDLE_VARIABLE, str(SECONDS_PER_IDLE_MINUTE))
        yield


@pytest.fixture(scope="module")
def ground(users_tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A cluster with a system node and a cpu node, in which idle minutes are short and A100s are not to be had."""
    folder = tmp_path_factory.mktemp("autoscaled")
    limits = {"quota": {catalog.vm_size(A100).family: 0}, "capacity": {"Standard_D16ds_v5": 1}}
    (folder / LIMITS_FILE).write_text(json.dumps(limits))
    clusters = Clusters(folder / "clusters", toolbox(users_tools))
    try:
        azure = Azure(folder / AZURE_FILE, options=limits, host=clusters)  # pyright: ignore[reportArgumentType]  # the real one
        azure.network()
        azure.identities()
        with short_idle_minutes():
            azure.cluster(autoScalerProfile=PATIENT)
        azure.pool(agentPoolName="cpu", vmSize="Standard_D8ds_v5", nodeTaints=[], nodeLabels={})
        slot = json.loads((folder / "clusters" / SLOTS_FILE).read_text())[azure.cluster_id]
        kubeconfig = (folder / "clusters" / slot / "admin.kubeconfig").read_text()
        field = simulated_cluster(kubeconfig, toolbox(users_tools).path("helm"))
        yield Place(azure, field, given_settings().settings, clusters)
    finally:
        clusters.wipe()


@pytest.fixture
def place(ground: Place) -> Iterator[Place]:
    yield ground
    path = f"/api/v1/namespaces/{WORK}/pods"
    ground.field.client.request("DELETE", path, params={"gracePeriodSeconds": "0"})
    ground.field.until(lambda: not ground.field.client.get(path)["items"], "pods stay behind")
    for resource in list(ground.azure.cloud.resources()):
        if "/agentPools/" in resource and not resource.endswith(("/system", "/cpu")):
            ground.azure.cloud.delete(resource)


def test_a_gpu_pod_brings_a_node_to_an_empty_pool_and_takes_it_along_when_it_ends(place: Place) -> None:
    place.field.install(place.settings)
    place.gpu_pool()
    place.create("train", requests=GPU, tolerations=SPOT_TOLERATED, nodeSelector={"agentpool": "h100gpu"})
    place.field.until(lambda: host(place.field.client, "train", WORK), "the pod gets no node")
    (node,) = place.nodes("h100gpu")
    assert host(place.field.client, "train", WORK) == node
    scale_set = node.removesuffix("000000")
    triggered = f"pod triggered scale-up: [{{{scale_set} 0->1 (max: 2)}}]"
    place.field.until(lambda: triggered in place.says("train"), "no word of the scale-up")
    done = f"Scale-up: group {scale_set} size set to 1 instead of 0 (max: 2)"
    place.field.until(lambda: done in place.autoscaler_says(), "the autoscaler does not tell of its scale-up")

    place.gpu_pool(tags={"cost": "robots"})
    assert (place.nodes("h100gpu"), place.count("h100gpu")) == ([node], 1), "a deployment took the node away"
    place.field.stays(lambda: place.nodes("h100gpu") == [node], "a node went under a running pod")

    place.delete("train")
    place.field.until(lambda: place.nodes("h100gpu") == [], "an idle node stays")
    place.field.until(lambda: place.count("h100gpu") == 0, "Azure still counts the node")
    gone = f'Scale-down: empty node "{node}" removed'
    place.field.until(lambda: gone in place.autoscaler_says(), "no word of the scale-down")
    place.gpu_pool()
    assert place.nodes("h100gpu") == []


def test_pods_that_need_two_nodes_get_two_and_the_one_too_many_hears_why(place: Place) -> None:
    place.pool("batch", "Standard_D8ds_v5")
    for name in ("a", "b", "c"):
        place.create(name, requests={"cpu": "6"}, nodeSelector={"agentpool": "batch"})
    place.field.until(lambda: len(place.nodes("batch")) == 2, "the pool does not grow to its bound")
    reason = "1 max node group size reached"
    place.field.until(lambda: any(reason in place.says(name) for name in "abc"), "no pod gets an event about the bound")
    place.field.until(lambda: place.hosts(*"abc") == place.nodes("batch"), "the nodes are not used")


def test_a_pod_that_fits_no_pool_is_refused_in_the_autoscalers_words(place: Place) -> None:
    place.gpu_pool()
    place.pool("batch", "Standard_D8ds_v5")
    place.create("wish", requests={"cpu": "30"})
    message = "pod didn't trigger scale-up: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)"
    place.field.until(lambda: message in place.says("wish"), "no refusal")
    assert (place.nodes("h100gpu"), place.nodes("batch")) == ([], [])


def test_without_a_value_the_taint_is_lost_and_an_empty_gpu_pool_grows_for_nothing(place: Place) -> None:
    place.gpu_pool(nodeTaints=["nvidia.com/gpu:NoSchedule", "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"])
    place.create("web", requests={"cpu": "30"}, tolerations=SPOT_TOLERATED[1:])
    place.field.until(lambda: place.nodes("h100gpu"), "the pool does not grow")
    place.field.until(lambda: "pod triggered scale-up" in place.says("web"), "no word of the scale-up")
    place.field.until(lambda: place.nodes("h100gpu") == [], "the useless node stays")
    assert host(place.field.client, "web", WORK) == ""


def test_the_idle_node_goes_whichever_it_is_and_the_minimum_stays(place: Place) -> None:
    place.pool("batch", "Standard_D8ds_v5", minCount=1, count=1)
    for name in ("one", "two"):
        place.create(name, requests={"cpu": "6"}, nodeSelector={"agentpool": "batch"})
    place.field.until(lambda: len(place.hosts("one", "two")) == 2, "the pool does not grow")
    (kept,) = place.hosts("two")
    place.delete("one")
    place.field.until(lambda: place.nodes("batch") == [kept], "the other node went, or none")
    place.delete("two")
    place.field.stays(lambda: place.nodes("batch") == [kept], "the pool fell below its minimum", 3.0)


def test_without_quota_the_pool_backs_off_and_the_pod_hears_of_it(place: Place) -> None:
    place.pool("a100gpu", A100)
    place.create("train", requests={"cpu": "12"}, nodeSelector={"agentpool": "a100gpu"})
    place.field.until(lambda: "in backoff after failed scale-up" in place.says("train"), "no word of the backoff")
    for words in ("Scale-up failed for group", "quota left for location westus2"):
        place.field.until(lambda words=words: words in place.autoscaler_says(), f"the autoscaler does not say: {words}")
    assert (place.nodes("a100gpu"), place.count("a100gpu")) == ([], 0)


def test_where_azure_has_no_more_machines_the_pool_gets_what_there_is(place: Place) -> None:
    place.pool("batch", "Standard_D16ds_v5")
    for name in ("a", "b"):
        place.create(name, requests={"cpu": "12"}, nodeSelector={"agentpool": "batch"})
    place.field.until(lambda: "sufficient capacity for the requested VM size" in place.autoscaler_says(), "no failure")
    place.field.until(lambda: len(place.nodes("batch")) == 1, "not even the one node")
    place.field.until(lambda: place.hosts("a", "b") == place.nodes("batch"), "it is not used")


def test_a_gang_that_kai_holds_back_brings_the_nodes_for_all_of_it(place: Place) -> None:
    """As a workflow of OSMO asks for them: two pods of one group, at a pool without nodes."""
    place.field.install(place.settings)
    define(place.field)
    install(place.field)
    place.field.apply(queue("root"))
    place.field.apply(queue("leaf", "root"))
    made = gang("pair", 2)
    place.field.apply({**made, "metadata": {**made["metadata"], "namespace": WORK}})
    place.gpu_pool()
    for name in ("worker", "leader"):
        spec = {"schedulerName": SCHEDULER, "nodeSelector": {"agentpool": "h100gpu"}, "tolerations": SPOT_TOLERATED}
        create(place.field.client, name, WORK, annotations={GROUP_ANNOTATION: "pair"}, requests=GPU, **spec)
    place.field.until(lambda: len(place.nodes("h100gpu")) == 2, "the pool does not grow by two")
    place.field.until(lambda: len(place.hosts("worker", "leader")) == 2, "the gang does not start")
    assert place.hosts("worker", "leader") == place.nodes("h100gpu")


def test_a_control_plane_that_starts_again_finishes_what_was_under_way(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.pool("batch", "Standard_D8ds_v5")
    place.create("before", requests={"cpu": "6"}, nodeSelector={"agentpool": "batch"})
    place.field.until(lambda: place.hosts("before"), "the pool does not grow")
    with monkeypatch.context() as patch:
        patch.setattr(place.clusters, "apply_nodes", _broken)
        with pytest.raises(ConnectionError):
            place.azure.cloud.autoscale(place.azure.cluster_id, "batch", 2)
    (node,) = place.hosts("before")
    about_to_go = {"spec": {"taints": [{"key": TO_BE_DELETED, "value": "1", "effect": "NoSchedule"}]}}
    place.field.client.patch(f"/api/v1/nodes/{node}", about_to_go, MERGE_PATCH)
    place.restart()
    place.create("after", requests={"cpu": "6"}, nodeSelector={"agentpool": "batch"})
    place.field.until(lambda: len(place.hosts("before", "after")) == 2, "no node is created any more")
    assert place.count("batch") == 2
    assert not at(place.field.client.get(f"/api/v1/nodes/{node}"), "spec.taints")
    place.delete("after")
    place.field.until(lambda: place.nodes("batch") == place.hosts("before"), "the idle node stays")


def _broken(*arguments: object) -> None:
    raise ConnectionError("the simulator was stopped")
