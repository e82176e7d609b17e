"""The GRID driver's agent against the GPU Operator on a real API server: who comes first, and what happens later.

The agent is the one that was deployed; its host is simulated, with a minute of Azure in half a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.planning.grid_driver import grid_plan
from physical_ai.planning.grid_objects import grid_objects
from physical_ai.settings import Settings
from simulator.cluster.names import BOOTS, HOST_DRIVER
from simulator.cluster.objects import at
from tests.support.gpu_settings import given_settings
from tests.support.simulated_cluster import NAMESPACE, SimulatedCluster
from tests.support.waiting import remains, until

TOOLKIT, VALIDATOR = "nvidia-container-toolkit-daemonset", "nvidia-operator-validator"
INSTALLER = "gpu-grid-driver-installer"
OTHER = "580.105.08"


def stack(*assignments: str) -> Settings:
    return given_settings(*assignments).settings


def agents(cluster: SimulatedCluster, settings: Settings, without: str = "") -> None:
    """The agent's files and DaemonSet as the program declares them; `without`: a key that the ConfigMap lacks."""
    plan = grid_plan(settings)
    assert plan is not None
    account = {"name": INSTALLER, "namespace": NAMESPACE}
    cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    objects = grid_objects(plan)
    data = {name: text for name, text in objects.config_map["data"].items() if name != without and name}
    cluster.apply({**objects.config_map, "data": data, "immutable": not without})
    cluster.apply(objects.daemon_set)


def driver(cluster: SimulatedCluster, node: str) -> str:
    return at(cluster.node(node), "metadata.annotations", {}).get(HOST_DRIVER, "")


def condition(cluster: SimulatedCluster, node: str) -> tuple[str, str]:
    """Status and message of the agent's condition on the node."""
    found = next((c for c in at(cluster.node(node), "status.conditions", []) if c["type"] == "GridDriverReady"), {})
    return found.get("status", ""), found.get("message", "")


def has_gpu(cluster: SimulatedCluster, node: str) -> bool:
    return cluster.gpus(node) == {"nvidia.com/gpu": 1}


def is_proven(cluster: SimulatedCluster, node: str) -> bool:
    return condition(cluster, node)[0] == "True"


@pytest.mark.deep  # in `make test`: the agent in tests/host/test_lifecycle.py, the model in test_grid_simulated.py
def test_a_node_gets_its_driver_after_an_eviction_a_reboot_and_a_new_image(cluster: SimulatedCluster) -> None:
    settings = stack()
    agents(cluster, settings)
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    until(lambda: condition(cluster, rtx)[0] == "False", "the agent has not begun")
    cluster.leave(rtx)
    until(lambda: not cluster.pods(rtx), "pods of a node that no longer exists")
    cluster.install(settings)
    cluster.pool(settings, "rtxprogpu")
    until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU on the node after the eviction")
    assert driver(cluster, rtx) == settings.grid_driver.version
    assert cluster.phase(rtx, INSTALLER) == "Running"

    cluster.annotate(rtx, BOOTS, "2")
    until(lambda: cluster.gpus(rtx) == {} or has_gpu(cluster, rtx), "the node did not reboot")
    until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU after the reboot")

    cluster.leave(rtx)
    cluster.pool(settings, "rtxprogpu")
    until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU on the fresh node")


def readiness(pod: Mapping[str, Any]) -> list[str]:
    """The status of the condition `Ready`, which is written after the node's condition."""
    return [each["status"] for each in at(pod, "status.conditions", []) if each["type"] == "Ready"]


@pytest.mark.deep  # in `make test`: the key in test_grid_simulated.py, an early validator in host/test_lifecycle.py
def test_validator_first_with_an_incomplete_config_map_its_pods_are_deleted_once_the_driver_works(
    cluster: SimulatedCluster,
) -> None:
    settings = stack()
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.install(settings)
    until(lambda: cluster.phase(rtx, TOOLKIT) == "Init:0/1", "the toolkit does not wait")
    too_early = cluster.pods(rtx)[TOOLKIT]["metadata"]["uid"]
    agents(cluster, settings, without="grid_agent.decide.py")
    until(lambda: "config key: grid_agent.decide.py" in condition(cluster, rtx)[1], "the missing key is not named")
    until(lambda: readiness(cluster.pods(rtx)[INSTALLER]) == ["False"], "the agent's Pod is not unready")
    agents(cluster, settings)
    until(
        lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx),
        "the Pods that started too early were not deleted",
    )
    assert cluster.pods(rtx)[TOOLKIT]["metadata"]["uid"] != too_early


@pytest.mark.deep
def test_a_removed_driver_is_restored_with_its_gpus(cluster: SimulatedCluster) -> None:
    settings = stack()
    agents(cluster, settings)
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.install(settings)
    until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU")
    cluster.annotate(rtx, HOST_DRIVER, None)
    until(lambda: driver(cluster, rtx) == settings.grid_driver.version, "the driver did not come back")
    until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU on the driver that came back")


@pytest.mark.deep  # in `make test`: the agent in tests/host/test_upgrade.py, the model in test_grid_simulated.py
def test_another_version_reaches_one_node_at_a_time_and_a_gpu_pod_keeps_the_driver_it_runs_on(
    cluster: SimulatedCluster,
) -> None:
    settings = stack()
    agents(cluster, settings)
    nodes = cluster.pool(settings, "rtxprogpu", 2)
    cluster.install(settings)
    for node in nodes:
        until(lambda node=node: has_gpu(cluster, node) and is_proven(cluster, node), f"no GPU on {node}")
    container = {"name": "train", "image": "train", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    spec = {"containers": [container], "tolerations": [{"operator": "Exists"}], "automountServiceAccountToken": False}
    pods = "/api/v1/namespaces/default/pods"
    cluster.client.request("POST", pods, {"metadata": {"name": "train"}, "spec": spec})
    most = 0

    def items() -> list[dict[str, Any]]:
        """Nodes at one moment; counts those without a driver."""
        nonlocal most
        found: list[dict[str, Any]] = cluster.client.get("/api/v1/nodes", {"labelSelector": "agentpool=rtxprogpu"})[
            "items"
        ]
        most = max(most, sum(HOST_DRIVER not in at(item, "metadata.annotations", {}) for item in found))
        return found

    try:
        until(lambda: cluster.client.get(f"{pods}/train")["status"].get("phase") == "Running", "it does not run")
        used = str(cluster.client.get(f"{pods}/train")["spec"]["nodeName"])
        agents(cluster, stack(f"gridDriver.version={OTHER}"))
        until(
            lambda: items() and "train" in condition(cluster, used)[1], "the agent does not say which Pod it waits for"
        )
        remains(
            lambda: items() and driver(cluster, used) == settings.grid_driver.version,
            "the driver was changed under a running pod",
        )
    finally:
        cluster.client.request("DELETE", f"{pods}/train", params={"gracePeriodSeconds": "0"})
    until(
        lambda: all(at(item, "metadata.annotations", {}).get(HOST_DRIVER) == OTHER for item in items()),
        "the new driver does not arrive",
    )
    assert most == 1, "both nodes were without a driver at once, or none ever"
    for node in nodes:
        until(lambda node=node: has_gpu(cluster, node) and is_proven(cluster, node), f"no GPU on {node}")
