"""Nodes that are created and deleted for pods: the autoscaler, the simulated Azure and a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from physical_ai import catalog
from physical_ai.catalog.osmo import KAI_GROUP_ANNOTATION, SCHEDULER
from simulator.cluster.objects import at
from simulator.kubernetes.client import MERGE_PATCH
from simulator.scheduling.autoscaler.live import TO_BE_DELETED
from tests.simulator.autoscaled import PATIENT, WORK, Autoscaled, autoscaled_cluster
from tests.simulator.kai import define, install
from tests.simulator.pods import create, host
from tests.support.gpu_settings import given_settings
from tests.support.scheduling import GPU_TOLERATED, gang, queue
from tests.support.waiting import remains, until

GPU = {"nvidia.com/gpu": "1"}
SPOT_TOLERATED = [*GPU_TOLERATED, {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"}]
A100 = "Standard_NC24ads_A100_v4"


@pytest.fixture(scope="module")
def running_cluster(users_tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Autoscaled]:
    """A cluster in which A100s are not to be had."""
    limits = {"quota": {catalog.vm_size(A100).family: 0}, "capacity": {"Standard_D16ds_v5": 1}}
    folder = tmp_path_factory.mktemp("autoscaled")
    with autoscaled_cluster(users_tools, folder, given_settings().settings, limits, PATIENT) as found:
        yield found


@pytest.fixture
def autoscaled(running_cluster: Autoscaled) -> Iterator[Autoscaled]:
    yield running_cluster
    path = f"/api/v1/namespaces/{WORK}/pods"
    running_cluster.cluster.client.request("DELETE", path, params={"gracePeriodSeconds": "0"})
    until(lambda: not running_cluster.cluster.client.get(path)["items"], "pods stay behind")
    for resource in list(running_cluster.azure.cloud.resources()):
        if "/agentPools/" in resource and not resource.endswith(("/system", "/cpu")):
            running_cluster.azure.cloud.delete(resource)


@pytest.mark.deep  # in `make test`: a pool that is scaled in test_stack.py
def test_a_gpu_pod_scales_an_empty_pool_up_and_its_end_scales_it_down(autoscaled: Autoscaled) -> None:
    autoscaled.cluster.install(autoscaled.settings)
    autoscaled.gpu_pool()
    autoscaled.create("train", requests=GPU, tolerations=SPOT_TOLERATED, nodeSelector={"agentpool": "h100gpu"})
    until(lambda: host(autoscaled.cluster.client, "train", WORK), "the pod gets no node")
    (node,) = autoscaled.nodes("h100gpu")
    assert host(autoscaled.cluster.client, "train", WORK) == node
    scale_set = node.removesuffix("000000")
    triggered = f"pod triggered scale-up: [{{{scale_set} 0->1 (max: 2)}}]"
    until(lambda: triggered in autoscaled.says("train"), "no event about the scale-up")
    done = f"Scale-up: group {scale_set} size set to 1 instead of 0 (max: 2)"
    until(lambda: done in autoscaled.autoscaler_says(), "the autoscaler does not report its scale-up")

    autoscaled.gpu_pool(tags={"cost": "robots"})
    assert (autoscaled.nodes("h100gpu"), autoscaled.count("h100gpu")) == ([node], 1), "a deployment took the node away"
    remains(lambda: autoscaled.nodes("h100gpu") == [node], "a node went under a running pod")

    autoscaled.delete("train")
    until(lambda: autoscaled.nodes("h100gpu") == [], "an idle node remains")
    until(lambda: autoscaled.count("h100gpu") == 0, "Azure still counts the node")
    gone = f'Scale-down: empty node "{node}" removed'
    until(lambda: gone in autoscaled.autoscaler_says(), "no event about the scale-down")
    autoscaled.gpu_pool()
    assert autoscaled.nodes("h100gpu") == []


@pytest.mark.deep  # in `make test`: the rule in test_scheduling_autoscaler.py and test_azure_scaling.py
def test_pods_that_need_two_nodes_get_two_and_the_one_beyond_the_maximum_gets_an_event(autoscaled: Autoscaled) -> None:
    autoscaled.pool("batch", "Standard_D8ds_v5")
    for name in ("a", "b", "c"):
        autoscaled.create(name, requests={"cpu": "6"}, nodeSelector={"agentpool": "batch"})
    until(lambda: len(autoscaled.nodes("batch")) == 2, "the pool does not grow to its bound")
    reason = "1 max node group size reached"
    until(lambda: any(reason in autoscaled.says(name) for name in "abc"), "no pod gets an event about the bound")
    until(lambda: autoscaled.hosts(*"abc") == autoscaled.nodes("batch"), "the nodes are not used")


@pytest.mark.deep  # in `make test`: the rule in test_scheduling_autoscaler.py
def test_a_pod_that_fits_no_pool_gets_the_autoscalers_event(autoscaled: Autoscaled) -> None:
    autoscaled.gpu_pool()
    autoscaled.pool("batch", "Standard_D8ds_v5")
    autoscaled.create("wish", requests={"cpu": "30"})
    message = "pod didn't trigger scale-up: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)"
    until(lambda: message in autoscaled.says("wish"), "no refusal")
    assert (autoscaled.nodes("h100gpu"), autoscaled.nodes("batch")) == ([], [])


@pytest.mark.deep  # in `make test`: the rule in test_scheduling_autoscaler.py
def test_a_taint_without_a_value_is_lost_and_an_empty_gpu_pool_is_scaled_up_needlessly(autoscaled: Autoscaled) -> None:
    autoscaled.gpu_pool(
        nodeTaints=["nvidia.com/gpu:NoSchedule", "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
    )
    autoscaled.create("web", requests={"cpu": "30"}, tolerations=SPOT_TOLERATED[1:])
    until(lambda: autoscaled.nodes("h100gpu"), "the pool does not grow")
    until(lambda: "pod triggered scale-up" in autoscaled.says("web"), "no event about the scale-up")
    until(lambda: autoscaled.nodes("h100gpu") == [], "the useless node remains")
    assert host(autoscaled.cluster.client, "web", WORK) == ""


@pytest.mark.deep  # in `make test`: the rule in test_scheduling_autoscaler.py and test_azure_scaling.py
def test_the_idle_node_is_removed_and_the_minimum_remains(autoscaled: Autoscaled) -> None:
    autoscaled.pool("batch", "Standard_D8ds_v5", minCount=1, count=1)
    for name in ("one", "two"):
        autoscaled.create(name, requests={"cpu": "6"}, nodeSelector={"agentpool": "batch"})
    until(lambda: len(autoscaled.hosts("one", "two")) == 2, "the pool does not grow")
    (kept,) = autoscaled.hosts("two")
    autoscaled.delete("one")
    until(lambda: autoscaled.nodes("batch") == [kept], "the other node went, or none")
    autoscaled.delete("two")
    remains(lambda: autoscaled.nodes("batch") == [kept], "the pool fell below its minimum", seconds=3.0)


@pytest.mark.deep  # in `make test`: the rule in test_azure_scaling.py and test_scheduling_autoscaler.py
def test_without_quota_the_pool_backs_off_and_the_pod_gets_an_event(autoscaled: Autoscaled) -> None:
    autoscaled.pool("a100gpu", A100)
    autoscaled.create("train", requests={"cpu": "12"}, nodeSelector={"agentpool": "a100gpu"})
    until(lambda: "in backoff after failed scale-up" in autoscaled.says("train"), "no event about the backoff")
    for words in ("Scale-up failed for group", "quota left for location westus2"):
        until(lambda words=words: words in autoscaled.autoscaler_says(), f"the autoscaler does not say: {words}")
    assert (autoscaled.nodes("a100gpu"), autoscaled.count("a100gpu")) == ([], 0)


@pytest.mark.deep  # in `make test`: the rule in test_azure_capacity.py
def test_without_capacity_the_pool_gets_the_machines_that_are_available(autoscaled: Autoscaled) -> None:
    autoscaled.pool("batch", "Standard_D16ds_v5")
    for name in ("a", "b"):
        autoscaled.create(name, requests={"cpu": "12"}, nodeSelector={"agentpool": "batch"})
    until(lambda: "sufficient capacity for the requested VM size" in autoscaled.autoscaler_says(), "no failure")
    until(lambda: len(autoscaled.nodes("batch")) == 1, "not even the one node")
    until(lambda: autoscaled.hosts("a", "b") == autoscaled.nodes("batch"), "it is not used")


@pytest.mark.deep  # in `make test`: the rule in test_scheduling_autoscaler.py, KAI in test_scheduling.py
def test_a_gang_that_kai_holds_back_scales_the_pool_up_for_all_its_pods(autoscaled: Autoscaled) -> None:
    """As a workflow of OSMO asks for them: two pods of one group, at a pool without nodes."""
    autoscaled.cluster.install(autoscaled.settings)
    define(autoscaled.cluster)
    install(autoscaled.cluster)
    autoscaled.cluster.apply(queue("root"))
    autoscaled.cluster.apply(queue("leaf", "root"))
    made = gang("pair", 2)
    autoscaled.cluster.apply({**made, "metadata": {**made["metadata"], "namespace": WORK}})
    autoscaled.gpu_pool()
    for name in ("worker", "leader"):
        spec = {"schedulerName": SCHEDULER, "nodeSelector": {"agentpool": "h100gpu"}, "tolerations": SPOT_TOLERATED}
        create(autoscaled.cluster.client, name, WORK, annotations={KAI_GROUP_ANNOTATION: "pair"}, requests=GPU, **spec)
    until(lambda: len(autoscaled.nodes("h100gpu")) == 2, "the pool does not grow by two")
    until(lambda: len(autoscaled.hosts("worker", "leader")) == 2, "the gang does not start")
    assert autoscaled.hosts("worker", "leader") == autoscaled.nodes("h100gpu")


@pytest.mark.deep  # in `make test`: the resize that the next process finishes in test_azure_scaling.py
def test_a_control_plane_that_starts_again_finishes_what_was_under_way(
    autoscaled: Autoscaled, monkeypatch: pytest.MonkeyPatch
) -> None:
    autoscaled.pool("batch", "Standard_D8ds_v5")
    autoscaled.create("before", requests={"cpu": "6"}, nodeSelector={"agentpool": "batch"})
    until(lambda: autoscaled.hosts("before"), "the pool does not grow")
    with monkeypatch.context() as patch:
        patch.setattr(autoscaled.clusters, "apply_nodes", _broken)
        with pytest.raises(ConnectionError):
            autoscaled.azure.cloud.autoscale(autoscaled.azure.cluster_id, "batch", 2)
    (node,) = autoscaled.hosts("before")
    about_to_go = {"spec": {"taints": [{"key": TO_BE_DELETED, "value": "1", "effect": "NoSchedule"}]}}
    autoscaled.cluster.client.patch(f"/api/v1/nodes/{node}", about_to_go, MERGE_PATCH)
    autoscaled.restart()
    autoscaled.create("after", requests={"cpu": "6"}, nodeSelector={"agentpool": "batch"})
    until(lambda: len(autoscaled.hosts("before", "after")) == 2, "no node is created any more")
    assert autoscaled.count("batch") == 2
    assert not at(autoscaled.cluster.client.get(f"/api/v1/nodes/{node}"), "spec.taints")
    autoscaled.delete("after")
    until(lambda: autoscaled.nodes("batch") == autoscaled.hosts("before"), "the idle node remains")


def _broken(*arguments: object) -> None:
    raise ConnectionError("the simulator was stopped")
