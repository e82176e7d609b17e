"""The GRID driver's agent against the GPU Operator on a real API server: who comes first, and what happens later.

The agent is the one that was deployed; its host is simulated, with a minute of Azure in half a second.
"""

from __future__ import annotations

import pytest

from components import manifests
from components.agents import files
from components.grid_driver import AGENT, FILES_MAP, daemon_set, key
from physical_ai.settings import Settings
from physical_ai.settings.plans.grid_driver import grid_plan
from physical_ai.simulator.cluster.names import HOST_DRIVER
from physical_ai.simulator.cluster.objects import at
from physical_ai.simulator.gpu import names
from tests.support.field import NAMESPACE, Field
from tests.support.gpu_settings import given_settings

TOOLKIT, VALIDATOR = "nvidia-container-toolkit-daemonset", "nvidia-operator-validator"
INSTALLER = "gpu-grid-driver-installer"
OTHER = "580.105.08"


def stack(*assignments: str) -> Settings:
    return given_settings(*assignments).settings


def agents(place: Field, settings: Settings, without: str = "") -> None:
    """The agent's files and DaemonSet as the program declares them; `without`: a file that the ConfigMap lacks."""
    plan = grid_plan(settings)
    assert plan is not None
    account = {"name": INSTALLER, "namespace": NAMESPACE}
    place.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    text = files(AGENT)
    data = {key(path): each for path, each in text.items() if path != without}
    metadata = {"name": FILES_MAP, "namespace": NAMESPACE}
    place.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    (manifest,) = manifests.load("grid-driver.yaml")
    place.apply(daemon_set(manifest, plan, text))


def driver(place: Field, node: str) -> str:
    return at(place.node(node), "metadata.annotations", {}).get(HOST_DRIVER, "")


def condition(place: Field, node: str) -> tuple[str, str]:
    """Status and message of the agent's condition on the node."""
    found = next((c for c in at(place.node(node), "status.conditions", []) if c["type"] == "GridDriverReady"), {})
    return found.get("status", ""), found.get("message", "")


def has_gpu(place: Field, node: str) -> bool:
    return place.gpus(node) == {"nvidia.com/gpu": 1}


def is_proven(place: Field, node: str) -> bool:
    return condition(place, node)[0] == "True"


def test_agent_first_the_node_gets_its_driver_and_then_its_gpus(place: Field) -> None:
    settings = stack()
    agents(place, settings)
    (rtx,) = place.pool(settings, "rtxprogpu")
    place.install(settings)
    place.until(lambda: has_gpu(place, rtx), "no GPU")
    assert driver(place, rtx) == settings.grid_driver.version
    place.until(lambda: is_proven(place, rtx), "the agent does not say that the driver works")
    assert place.phase(rtx, INSTALLER) == "Running"


def test_an_incomplete_config_map_is_reported_until_it_is_complete(place: Field) -> None:
    settings = stack()
    agents(place, settings, without="grid_agent/decide.py")
    (rtx,) = place.pool(settings, "rtxprogpu")
    place.install(settings)
    place.until(lambda: "config key: grid_agent.decide.py" in condition(place, rtx)[1], "the missing key is not named")
    agents(place, settings)
    place.until(lambda: has_gpu(place, rtx) and is_proven(place, rtx), "no GPU with the complete ConfigMap")


def test_validator_first_its_pods_are_deleted_once_the_driver_works(place: Field) -> None:
    settings = stack()
    (rtx,) = place.pool(settings, "rtxprogpu")
    place.pool(settings, "h100gpu")
    place.install(settings)
    place.until(lambda: place.phase(rtx, TOOLKIT) == "Init:0/1", "the toolkit does not wait")
    too_early = place.pods(rtx)[TOOLKIT]["metadata"]["uid"]
    agents(place, settings)
    place.until(lambda: has_gpu(place, rtx), "nobody freed the pods that had looked too early")
    assert place.pods(rtx)[TOOLKIT]["metadata"]["uid"] != too_early


def test_after_a_reboot_the_driver_is_proven_again(place: Field) -> None:
    settings = stack()
    agents(place, settings)
    (rtx,) = place.pool(settings, "rtxprogpu")
    place.install(settings)
    place.until(lambda: has_gpu(place, rtx), "no GPU")
    place.annotate(rtx, names.BOOTS, "2")
    place.until(lambda: place.gpus(rtx) == {} or has_gpu(place, rtx), "the node did not reboot")
    place.until(lambda: has_gpu(place, rtx) and is_proven(place, rtx), "no GPU after the reboot")


@pytest.mark.deep
def test_a_driver_that_somebody_removed_comes_back_with_its_gpus(place: Field) -> None:
    settings = stack()
    agents(place, settings)
    (rtx,) = place.pool(settings, "rtxprogpu")
    place.install(settings)
    place.until(lambda: has_gpu(place, rtx) and is_proven(place, rtx), "no GPU")
    place.annotate(rtx, HOST_DRIVER, None)
    place.until(lambda: driver(place, rtx) == settings.grid_driver.version, "the driver did not come back")
    place.until(lambda: has_gpu(place, rtx) and is_proven(place, rtx), "no GPU on the driver that came back")


def test_a_reimaged_node_starts_from_nothing(place: Field) -> None:
    settings = stack()
    agents(place, settings)
    (rtx,) = place.pool(settings, "rtxprogpu")
    place.install(settings)
    place.until(lambda: has_gpu(place, rtx), "no GPU")
    place.leave(rtx)
    place.pool(settings, "rtxprogpu")
    place.until(lambda: has_gpu(place, rtx) and is_proven(place, rtx), "no GPU on the fresh node")


def test_another_version_reaches_running_nodes_one_at_a_time(place: Field) -> None:
    settings = stack()
    agents(place, settings)
    nodes = place.pool(settings, "rtxprogpu", 2)
    place.install(settings)
    for node in nodes:
        place.until(lambda node=node: has_gpu(place, node) and is_proven(place, node), f"no GPU on {node}")
    agents(place, stack(f"gridDriver.version={OTHER}"))
    most = 0

    def done() -> bool:
        nonlocal most
        items = place.client.get("/api/v1/nodes", {"labelSelector": "agentpool=rtxprogpu"})["items"]  # at one moment
        bare = [item for item in items if HOST_DRIVER not in at(item, "metadata.annotations", {})]
        most = max(most, len(bare))
        return all(at(item, "metadata.annotations", {}).get(HOST_DRIVER) == OTHER for item in items)

    place.until(done, "the new driver does not arrive", 60)
    assert most == 1, "both nodes were without a driver at once, or none ever"
    for node in nodes:
        place.until(lambda node=node: has_gpu(place, node) and is_proven(place, node), f"no GPU on {node}")


def test_a_gpu_pod_keeps_the_driver_it_runs_on(place: Field) -> None:
    settings = stack()
    agents(place, settings)
    (rtx,) = place.pool(settings, "rtxprogpu")
    place.install(settings)
    place.until(lambda: has_gpu(place, rtx) and is_proven(place, rtx), "no GPU")
    limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    container = {"name": "train", "image": "train", **limits}
    spec = {"containers": [container], "tolerations": [{"operator": "Exists"}], "automountServiceAccountToken": False}
    pod = {"metadata": {"name": "train"}, "spec": spec}
    pods = "/api/v1/namespaces/default/pods"
    place.client.request("POST", pods, pod)
    try:
        place.until(lambda: place.client.get(f"{pods}/train")["status"].get("phase") == "Running", "it does not run")
        agents(place, stack(f"gridDriver.version={OTHER}"))
        place.until(lambda: "train" in condition(place, rtx)[1], "the agent does not say whom it waits for")
        place.stays(lambda: driver(place, rtx) == settings.grid_driver.version, "the driver went under a running pod")
    finally:
        place.client.request("DELETE", f"{pods}/train", params={"gracePeriodSeconds": "0"})
    place.until(lambda: driver(place, rtx) == OTHER, "the upgrade does not go on")
    place.until(lambda: has_gpu(place, rtx) and is_proven(place, rtx), "no GPU after the upgrade")


def test_a_spot_node_evicted_in_the_middle_leaves_nothing_behind(place: Field) -> None:
    settings = stack()
    agents(place, settings)
    (rtx,) = place.pool(settings, "rtxprogpu")
    place.until(lambda: condition(place, rtx)[0] == "False", "the agent has not begun")
    place.leave(rtx)
    place.until(lambda: not place.pods(rtx), "pods of a node that is gone")
    place.install(settings)
    place.pool(settings, "rtxprogpu")
    place.until(lambda: has_gpu(place, rtx) and is_proven(place, rtx), "no GPU on the node that came instead")
