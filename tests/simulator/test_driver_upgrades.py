"""Another driver on nodes whose GPUs are in use: what the operator does with the pods, on a real API server."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog.osmo import WORKFLOW_LABEL
from physical_ai.planning.osmo_platforms import TASK_TEMPLATE, pod_templates
from physical_ai.planning.plan import make_plan
from simulator.cluster.objects import at, labels
from simulator.gpu.names import UPGRADE_STATE
from tests.support.gpu_settings import given_settings
from tests.support.simulated_cluster import NAMESPACE, SimulatedCluster
from tests.support.waiting import remains, until

SETTINGS = given_settings().settings
NEWER = "595.91.07"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
TASK = pod_templates(SETTINGS)[TASK_TEMPLATE]["metadata"]["labels"]
"""Labels that OSMO gives the Pod of a task. Without OSMO's own, which would end it after a while."""


def gpu_pod(node: str = "", given: dict[str, str] | None = None) -> dict[str, Any]:
    """Metadata and spec of a Pod with a GPU, without a controller."""
    container = {"name": "work", "image": "registry.example/train:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    place = {"kubernetes.io/hostname": node} if node else {"agentpool": "h100gpu"}
    spec = {"containers": [container], "tolerations": [{"operator": "Exists"}], "nodeSelector": place}
    return {"metadata": {"labels": given or {}}, "spec": spec}


def run(cluster: SimulatedCluster, name: str, pod: dict[str, Any]) -> str:
    """Starts a Pod; returns its uid once it runs."""
    made = cluster.client.request("POST", PODS, {**pod, "metadata": {"name": name, **pod["metadata"]}})
    until(lambda: phase(cluster, name) == "Running", f"{name} does not run")
    return str(made["metadata"]["uid"])


def phase(cluster: SimulatedCluster, name: str) -> str:
    return str(at(cluster.client.get(f"{PODS}/{name}"), "status.phase", ""))


def started(cluster: SimulatedCluster, count: int) -> list[str]:
    """Nodes of the H100 pool that offer their GPUs."""
    nodes = cluster.pool(SETTINGS, "h100gpu", count)
    for node in nodes:
        cluster.label(node, **{"kubernetes.io/hostname": node})
    cluster.install(SETTINGS)
    for node in nodes:
        until(lambda node=node: cluster.gpus(node) == {"nvidia.com/gpu": 1}, f"no GPU on {node}")
    return nodes


def change_driver(cluster: SimulatedCluster) -> None:
    for resource in make_plan(given_settings(f"gpuOperator.driver.version={NEWER}").settings).gpu.drivers.values():
        cluster.driver(resource.name, dict(resource.spec))


def state(cluster: SimulatedCluster, node: str) -> tuple[str, bool]:
    """State of the upgrade, and whether the node is cordoned."""
    item = cluster.node(node)
    return labels(item).get(UPGRADE_STATE, ""), bool(at(item, "spec.unschedulable", False))


def has_newer(cluster: SimulatedCluster, node: str) -> bool:
    version = cluster.labels(node).get("nvidia.com/cuda.driver-version.full")
    return version == NEWER and state(cluster, node) == ("upgrade-done", False)


@pytest.mark.deep  # in `make test`: the wait in test_gpu_upgrades.py, a change in test_gpu_driver_changes.py
def test_another_driver_waits_for_a_task_and_continues_after_it(cluster: SimulatedCluster) -> None:
    (node,) = started(cluster, 1)
    assert WORKFLOW_LABEL not in TASK
    uid = run(cluster, "task", gpu_pod(node, TASK))
    change_driver(cluster)
    waiting = ("wait-for-jobs-required", True)
    until(lambda: state(cluster, node) == waiting, "the upgrade does not wait")
    remains(
        lambda: state(cluster, node) == waiting and phase(cluster, "task") == "Running", "the upgrade does not wait on"
    )
    assert cluster.labels(node)["nvidia.com/cuda.driver-version.full"] != NEWER
    cluster.client.patch(f"{PODS}/task/status", {"status": {"phase": "Succeeded"}}, "application/merge-patch+json")
    until(lambda: has_newer(cluster, node), "the upgrade does not go on")
    assert cluster.client.get(f"{PODS}/task")["metadata"]["uid"] == uid, "the task was deleted"


@pytest.mark.deep
def test_a_deployments_pod_moves_and_a_bare_one_fails_the_upgrade_until_it_is_gone(cluster: SimulatedCluster) -> None:
    first, second, third = started(cluster, 3)
    run(cluster, "bare", gpu_pod(second))
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
    pod = gpu_pod(given={"app": "server"})
    template = {"replicas": 1, "selector": {"matchLabels": {"app": "server"}}, "template": pod}
    cluster.client.request("POST", path, {"metadata": {"name": "server"}, "spec": template})

    def where() -> str:
        pods = cluster.client.get(PODS, {"labelSelector": "app=server"})["items"]
        return next((at(each, "spec.nodeName", "") for each in pods if at(each, "status.phase") == "Running"), "")

    try:
        until(lambda: where() in (first, third), "the Deployment does not run")
        change_driver(cluster)
        until(lambda: state(cluster, second) == ("upgrade-failed", True), "the bare pod is no obstacle")
        until(lambda: has_newer(cluster, first), "the Deployment's node was not upgraded first")
        remains(lambda: state(cluster, third) == ("upgrade-required", False), "the next node does not wait")
        assert phase(cluster, "bare") == "Running"
        cluster.client.request("DELETE", f"{PODS}/bare", params={"gracePeriodSeconds": "0"})
        cluster.delete_pods(second, "nvidia-gpu-driver")
        for node in (first, second, third):
            until(lambda node=node: has_newer(cluster, node), f"{node} does not get the newer driver")
        until(where, "the Deployment does not run any more")
    finally:
        cluster.client.request("DELETE", f"{path}/server")
