"""The GRID driver's agent against the GPU Operator on a real API server: who comes first, and what happens later.

The agent is the one that was deployed; its host is simulated, with a minute of Azure in half a second.
"""

from __future__ import annotations

import pytest

from physical_ai.settings import Settings
from physical_ai.settings.plans.grid_driver import grid_plan
from physical_ai.settings.plans.grid_objects import grid_objects
from physical_ai.simulator.cluster.names import HOST_DRIVER
from physical_ai.simulator.cluster.objects import at
from physical_ai.simulator.gpu import names
from tests.support.gpu_settings import given_settings
from tests.support.simulated_cluster import NAMESPACE, SimulatedCluster

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


def test_agent_first_the_node_gets_its_driver_and_then_its_gpus(cluster: SimulatedCluster) -> None:
    settings = stack()
    agents(cluster, settings)
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.install(settings)
    cluster.until(lambda: has_gpu(cluster, rtx), "no GPU")
    assert driver(cluster, rtx) == settings.grid_driver.version
    cluster.until(lambda: is_proven(cluster, rtx), "the agent does not say that the driver works")
    assert cluster.phase(rtx, INSTALLER) == "Running"


def test_an_incomplete_config_map_is_reported_until_it_is_complete(cluster: SimulatedCluster) -> None:
    settings = stack()
    agents(cluster, settings, without="grid_agent.decide.py")
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.install(settings)
    cluster.until(
        lambda: "config key: grid_agent.decide.py" in condition(cluster, rtx)[1], "the missing key is not named"
    )
    conditions = at(cluster.pods(rtx)[INSTALLER], "status.conditions", [])
    assert [each["status"] for each in conditions if each["type"] == "Ready"] == ["False"]
    agents(cluster, settings)
    cluster.until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU with the complete ConfigMap")


def test_validator_first_its_pods_are_deleted_once_the_driver_works(cluster: SimulatedCluster) -> None:
    settings = stack()
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.pool(settings, "h100gpu")
    cluster.install(settings)
    cluster.until(lambda: cluster.phase(rtx, TOOLKIT) == "Init:0/1", "the toolkit does not wait")
    too_early = cluster.pods(rtx)[TOOLKIT]["metadata"]["uid"]
    agents(cluster, settings)
    cluster.until(lambda: has_gpu(cluster, rtx), "the pods that had started too early were not freed")
    assert cluster.pods(rtx)[TOOLKIT]["metadata"]["uid"] != too_early


def test_after_a_reboot_the_driver_is_proven_again(cluster: SimulatedCluster) -> None:
    settings = stack()
    agents(cluster, settings)
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.install(settings)
    cluster.until(lambda: has_gpu(cluster, rtx), "no GPU")
    cluster.annotate(rtx, names.BOOTS, "2")
    cluster.until(lambda: cluster.gpus(rtx) == {} or has_gpu(cluster, rtx), "the node did not reboot")
    cluster.until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU after the reboot")


@pytest.mark.deep
def test_a_removed_driver_is_restored_with_its_gpus(cluster: SimulatedCluster) -> None:
    settings = stack()
    agents(cluster, settings)
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.install(settings)
    cluster.until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU")
    cluster.annotate(rtx, HOST_DRIVER, None)
    cluster.until(lambda: driver(cluster, rtx) == settings.grid_driver.version, "the driver did not come back")
    cluster.until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU on the driver that came back")


def test_a_reimaged_node_starts_from_nothing(cluster: SimulatedCluster) -> None:
    settings = stack()
    agents(cluster, settings)
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.install(settings)
    cluster.until(lambda: has_gpu(cluster, rtx), "no GPU")
    cluster.leave(rtx)
    cluster.pool(settings, "rtxprogpu")
    cluster.until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU on the fresh node")


def test_another_version_reaches_running_nodes_one_at_a_time(cluster: SimulatedCluster) -> None:
    settings = stack()
    agents(cluster, settings)
    nodes = cluster.pool(settings, "rtxprogpu", 2)
    cluster.install(settings)
    for node in nodes:
        cluster.until(lambda node=node: has_gpu(cluster, node) and is_proven(cluster, node), f"no GPU on {node}")
    agents(cluster, stack(f"gridDriver.version={OTHER}"))
    most = 0

    def done() -> bool:
        nonlocal most
        items = cluster.client.get("/api/v1/nodes", {"labelSelector": "agentpool=rtxprogpu"})["items"]  # at one moment
        bare = [item for item in items if HOST_DRIVER not in at(item, "metadata.annotations", {})]
        most = max(most, len(bare))
        return all(at(item, "metadata.annotations", {}).get(HOST_DRIVER) == OTHER for item in items)

    cluster.until(done, "the new driver does not arrive", 60)
    assert most == 1, "both nodes were without a driver at once, or none ever"
    for node in nodes:
        cluster.until(lambda node=node: has_gpu(cluster, node) and is_proven(cluster, node), f"no GPU on {node}")


def test_a_gpu_pod_keeps_the_driver_it_runs_on(cluster: SimulatedCluster) -> None:
    settings = stack()
    agents(cluster, settings)
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.install(settings)
    cluster.until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU")
    limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    container = {"name": "train", "image": "train", **limits}
    spec = {"containers": [container], "tolerations": [{"operator": "Exists"}], "automountServiceAccountToken": False}
    pod = {"metadata": {"name": "train"}, "spec": spec}
    pods = "/api/v1/namespaces/default/pods"
    cluster.client.request("POST", pods, pod)
    try:
        cluster.until(
            lambda: cluster.client.get(f"{pods}/train")["status"].get("phase") == "Running", "it does not run"
        )
        agents(cluster, stack(f"gridDriver.version={OTHER}"))
        cluster.until(lambda: "train" in condition(cluster, rtx)[1], "the agent does not say whom it waits for")
        cluster.stays(
            lambda: driver(cluster, rtx) == settings.grid_driver.version, "the driver went under a running pod"
        )
    finally:
        cluster.client.request("DELETE", f"{pods}/train", params={"gracePeriodSeconds": "0"})
    cluster.until(lambda: driver(cluster, rtx) == OTHER, "the upgrade does not go on")
    cluster.until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU after the upgrade")


def test_a_spot_node_evicted_in_the_middle_leaves_nothing_behind(cluster: SimulatedCluster) -> None:
    settings = stack()
    agents(cluster, settings)
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.until(lambda: condition(cluster, rtx)[0] == "False", "the agent has not begun")
    cluster.leave(rtx)
    cluster.until(lambda: not cluster.pods(rtx), "pods of a node that is gone")
    cluster.install(settings)
    cluster.pool(settings, "rtxprogpu")
    cluster.until(lambda: has_gpu(cluster, rtx) and is_proven(cluster, rtx), "no GPU on the node that came instead")
