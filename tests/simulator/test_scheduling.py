"""Pods, nodes and who brings them together, on a real API server: the real kube-scheduler, and the model of KAI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from physical_ai.catalog.osmo import SCHEDULER
from physical_ai.kubernetes.fit import Offer, fitting, refusal
from simulator.cluster.objects import at
from simulator.kubernetes.client import MERGE_PATCH
from tests.simulator.kai import define, install
from tests.simulator.pods import condition, create, events, host
from tests.support.scheduling import GPU_TAINT, GPU_TOLERATED, gang, queue
from tests.support.simulated_cluster import SimulatedCluster
from tests.support.waiting import remains, until

NAMESPACE = "fitting"
GPU = {"nvidia.com/gpu": "1"}


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def named(*names: str) -> dict[str, Any]:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    return affinity({"matchFields": fields})


SPECS: dict[str, dict[str, Any]] = {
    "anywhere": {},
    "small": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    "too-big": {"requests": {"cpu": "100"}},
    "too-big-in-two-ways": {"requests": {"cpu": "100", "memory": "9999Gi"}, "tolerations": GPU_TOLERATED},
    "gpu-untolerated": {"requests": GPU},
    "gpu": {"requests": GPU, "tolerations": GPU_TOLERATED},
    "gpu-again": {"requests": GPU, "tolerations": GPU_TOLERATED},
    "gpu-equal-without-value": {"requests": GPU, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Equal"}]},
    "tolerates-all": {"requests": {"cpu": "1"}, "tolerations": [{"operator": "Exists"}]},
    "selector": {"nodeSelector": {"agentpool": "h100gpu"}},
    "selector-tolerated": {"nodeSelector": {"agentpool": "h100gpu"}, "tolerations": GPU_TOLERATED},
    "nowhere": {"nodeSelector": {"agentpool": "gone"}},
    "in": {"affinity": affinity(expression("agentpool", "In", "cpu", "closed"))},
    "not-in": {"affinity": affinity(expression("agentpool", "NotIn", "cpu"))},
    "exists": {"affinity": affinity(expression("disk", "Exists"))},
    "does-not-exist": {"affinity": affinity(expression("disk", "DoesNotExist"))},
    "greater": {"affinity": affinity(expression("disk", "Gt", "900"))},
    "less": {"affinity": affinity(expression("disk", "Lt", "900"))},
    "either": {"affinity": affinity(expression("agentpool", "In", "gone"), expression("agentpool", "In", "cpu"))},
    "neither": {"affinity": affinity({}, expression("agentpool", "In", "gone"))},
    "by-name": {"affinity": named("full")},
    "by-name-too-big": {"affinity": named("cpu-0"), "requests": {"cpu": "100"}},
    "by-two-names": {"affinity": named("cpu-0", "full")},
    "by-no-name": {"affinity": named("gone")},
    "closed": {"nodeSelector": {"agentpool": "closed"}},
    "closed-tolerated": {
        "nodeSelector": {"agentpool": "closed"},
        "tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}],
    },
    "whole-pod": {"resources": {"requests": {"cpu": "100"}}},
    "init": {"initContainers": [{"name": "init", "image": "i", "resources": {"requests": {"cpu": "100"}}}]},
}
"""Specs of pods, one after the other; `requests` are the container's."""


@pytest.fixture
def mixed(shared_cluster: SimulatedCluster) -> Iterator[SimulatedCluster]:
    """Five nodes, each with something about it, and a namespace for pods."""
    shared_cluster.clear()
    shared_cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    size = "Standard_D8ds_v5"  # without GPUs of its own, so that nothing else changes what the test asserts about them
    shared_cluster.join("cpu-0", size, pool="cpu")
    shared_cluster.join("disk", size, pool="disk", labels={"disk": "1000"}, taints=["lent=no:PreferNoSchedule"])
    shared_cluster.join("gpu", size, pool="h100gpu", taints=[GPU_TAINT])
    shared_cluster.join("closed", size, pool="closed")
    shared_cluster.join("full", size, pool="full", taints=["reserved:NoExecute"])
    for name, resources in {"gpu": {"nvidia.com/gpu": "1"}, "full": {"pods": "0"}}.items():
        status = {"status": {"capacity": resources, "allocatable": resources}}
        shared_cluster.client.patch(f"/api/v1/nodes/{name}/status", status, MERGE_PATCH)
    shared_cluster.client.patch("/api/v1/nodes/closed", {"spec": {"unschedulable": True}}, MERGE_PATCH)
    names = ("cpu-0", "disk", "gpu", "closed", "full")
    until(lambda: all(_is_ready(shared_cluster, name) for name in names), "no nodes")
    yield shared_cluster
    shared_cluster.client.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}")
    shared_cluster.clear()


def _is_ready(cluster: SimulatedCluster, name: str) -> bool:
    return cluster.is_ready(name) and _is_untainted(cluster, name)


def _is_untainted(cluster: SimulatedCluster, name: str) -> bool:
    """Whether the taint that a node starts with, until it is ready, is gone."""
    taints: list[dict[str, str]] = at(cluster.node(name), "spec.taints", [])
    return not any(each["key"] == "node.kubernetes.io/not-ready" for each in taints)


def test_the_scheduler_decides_and_reports_as_the_model_does(mixed: SimulatedCluster) -> None:
    seen: set[str] = set()
    for name, spec in SPECS.items():
        nodes = mixed.client.get("/api/v1/nodes")["items"]
        pods = mixed.client.get("/api/v1/pods")["items"]
        offers = [Offer.of(node, pods) for node in nodes]
        pod = create(mixed.client, name, NAMESPACE, **spec)
        until(lambda name=name: condition(mixed.client, name, NAMESPACE).get("status"), f"{name} is not judged")
        # What plugins add about claims and preemption is no reason; it follows in sentences of its own.
        words, stop, _ = str(condition(mixed.client, name, NAMESPACE).get("message", "")).partition(". ")
        assert words + stop.strip() == refusal(pod, offers), name
        chosen = host(mixed.client, name, NAMESPACE)
        possible = {offer.name for offer in fitting(pod, offers)}
        assert chosen in possible if possible else chosen == "", name
        seen |= {chosen, words.partition(" are available")[0]}
    assert {"cpu-0", "gpu", "closed", "0/5 nodes"} <= seen, "the pods do not distinguish nodes"


# KAI

WORK = "osmo-workflows"


@pytest.fixture(scope="module")
def with_kai(shared_cluster: SimulatedCluster) -> SimulatedCluster:
    """A cluster with KAI's kinds and two namespaces, and no scheduler yet. The kinds remain, which disturbs nobody:
    this module is the last of those that share the cluster."""
    cluster = shared_cluster
    cluster.clear()
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": WORK}})
    define(cluster)
    for each in (queue("root"), queue("leaf", "root"), queue("two", "root", gpu={"limit": 2})):
        cluster.apply(each)
    return cluster


@pytest.fixture
def kai(with_kai: SimulatedCluster) -> Iterator[SimulatedCluster]:
    """KAI's scheduler at work on a cpu node and two nodes with a GPU each; pods go when the test has ended."""
    cluster = with_kai
    cluster.join("cpu", "Standard_D8ds_v5", pool="cpu")
    for name in ("gpu-a", "gpu-b"):
        with_gpu(cluster, name)
    install(cluster)
    yield cluster
    for where in (f"/api/v1/namespaces/{WORK}/pods", f"/apis/scheduling.run.ai/v2alpha2/namespaces/{WORK}/podgroups"):
        cluster.client.request("DELETE", where, params={"gracePeriodSeconds": "0"})
    for name in cluster.joined:
        cluster.leave(name)
    cluster.joined.clear()


def with_gpu(cluster: SimulatedCluster, name: str) -> None:
    cluster.join(name, "Standard_D8ds_v5", pool="h100gpu", taints=[GPU_TAINT])
    amount = {"status": {"capacity": GPU, "allocatable": GPU}}
    cluster.client.patch(f"/api/v1/nodes/{name}/status", amount, MERGE_PATCH)
    until(lambda: _is_untainted(cluster, name), f"{name} is not ready")


def train(cluster: SimulatedCluster, name: str, group: str) -> None:
    """A pod of a gang that asks for a GPU."""
    annotations = {"pod-group-name": group}
    spec = {"schedulerName": SCHEDULER, "tolerations": GPU_TOLERATED, "requests": GPU}
    create(cluster.client, name, WORK, annotations=annotations, **spec)


def group(cluster: SimulatedCluster, name: str, least: int, where: str = "leaf") -> None:
    made = gang(name, least, where)
    cluster.apply({**made, "metadata": {**made["metadata"], "namespace": WORK}})


def test_nothing_is_scheduled_before_the_scheduler_is_there(with_kai: SimulatedCluster) -> None:
    cluster = with_kai
    with_gpu(cluster, "gpu-a")
    group(cluster, "early", 1)
    train(cluster, "early", "early")
    remains(lambda: not condition(cluster.client, "early", WORK), "a scheduler judged the pod", seconds=1.0)
    cluster.join("cpu", "Standard_D8ds_v5", pool="cpu")
    install(cluster)
    until(lambda: host(cluster.client, "early", WORK) == "gpu-a", "KAI does not schedule the pod")
    assigned = "Successfully assigned pod osmo-workflows/early to node gpu-a"
    until(lambda: assigned in events(cluster.client, "early", WORK), "no event says so")
    cluster.client.request("DELETE", f"/api/v1/namespaces/{WORK}/pods/early", params={"gracePeriodSeconds": "0"})
    cluster.leave("gpu-a")


def test_a_gang_waits_until_all_of_it_finds_room(kai: SimulatedCluster) -> None:
    group(kai, "gang", 3)
    for name in "abc":
        train(kai, name, "gang")
    until(lambda: all(condition(kai.client, name, WORK) for name in "abc"), "no scheduler judged the gang")
    assert {condition(kai.client, name, WORK)["reason"] for name in "abc"} == {"Unschedulable"}
    words = "Resources were found for 2 pods while 3 are required for gang scheduling"
    until(lambda: words in events(kai.client, "a", WORK), "no event says how many fit")
    short = "no nodes with enough resources were found"
    until(lambda: short in events(kai.client, "c", WORK), "no event says what lacks")
    path = f"/apis/scheduling.run.ai/v2alpha2/namespaces/{WORK}/podgroups/gang"
    until(lambda: at(kai.client.get(path), "status.schedulingConditions"), "the group says nothing")
    (said,) = kai.client.get(path)["status"]["schedulingConditions"]
    assert (said["type"], said["status"]) == ("UnschedulableOnNodePool", "True")
    remains(lambda: not any(host(kai.client, name, WORK) for name in "abc"), "a part of the gang started", seconds=0.5)

    with_gpu(kai, "gpu-c")
    until(lambda: all(host(kai.client, name, WORK) for name in "abc"), "the gang does not start")
    assert {host(kai.client, name, WORK) for name in "abc"} == {"gpu-a", "gpu-b", "gpu-c"}
    assert condition(kai.client, "a", WORK)["status"] == "True"
    until(lambda: not at(kai.client.get(path), "status.schedulingConditions"), "the group still complains")


@pytest.mark.deep  # in `make test`: the rule in test_scheduling_kai.py, gangs above
def test_a_gang_that_is_not_complete_is_not_looked_at(kai: SimulatedCluster) -> None:
    group(kai, "half", 2)
    train(kai, "one", "half")
    until(lambda: "Waiting for 2 pods, currently 1 exist" in events(kai.client, "half", WORK), "no word of it")
    assert condition(kai.client, "one", WORK) == {}
    train(kai, "other", "half")
    until(lambda: host(kai.client, "one", WORK) and host(kai.client, "other", WORK), "it does not start")


def test_a_queue_gives_no_more_than_its_limit_and_the_rest_when_something_ends(kai: SimulatedCluster) -> None:
    with_gpu(kai, "gpu-c")
    for name in ("x", "y", "z"):
        group(kai, name, 1, "two")
        train(kai, name, name)
    until(lambda: condition(kai.client, "z", WORK).get("status") == "False", "the third pod is not held back")
    assert "two quota has reached the allowable limit of GPUs. Limit is 2 GPUs, currently 2 GPUs" in str(
        condition(kai.client, "z", WORK)["message"]
    )
    kai.client.request("DELETE", f"/api/v1/namespaces/{WORK}/pods/x", params={"gracePeriodSeconds": "0"})
    until(lambda: host(kai.client, "z", WORK), "the third pod never gets its turn")


@pytest.mark.deep  # in `make test`: the rule in test_scheduling_kai.py, queues above
def test_a_queue_that_does_not_exist_is_named(kai: SimulatedCluster) -> None:
    group(kai, "lost", 1, "nowhere")
    train(kai, "lost", "lost")
    until(lambda: condition(kai.client, "lost", WORK), "no reason")
    message = "QueueDoesNotExist: Queue 'nowhere' does not exist."
    assert condition(kai.client, "lost", WORK)["message"] == message
    kai.apply(queue("nowhere"))
    until(lambda: host(kai.client, "lost", WORK), "a queue that came later is not seen")
