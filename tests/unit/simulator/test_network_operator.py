"""The model of the Network Operator: what it runs where, in which order, and what nodes offer then."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from parts.network_operator.names import DRIVER_WAIT_LABEL, NIC_LABEL
from simulator.gpu import nfd, node
from simulator.gpu.driver_daemonsets import daemonset
from simulator.gpu.driver_files import NO_FILES
from simulator.gpu.hardware import of_node
from simulator.gpu.live import pod_status
from simulator.gpu.node_state import NodeState, Pod
from simulator.gpu.release import release
from simulator.network_operator import policy as model
from tests.unit.settings.test_settings_fabric import policy as spec

Json = dict[str, Any]
ND, NC = "Standard_ND96isr_H100_v5", "Standard_NC40ads_H100_v5"


def item(key: str, size: str = ND, **labels: str) -> Json:
    given = {
        "node.kubernetes.io/instance-type": size,
        model.OS_ID: "ubuntu",
        model.OS_VERSION: "24.04",
        **({NIC_LABEL: "true"} if size == ND else {}),
        **labels,
    }
    return {"metadata": {"name": key, "labels": given}, "status": {}}


def policy(*assignments: str, name: str = "nic-cluster-policy") -> Json:
    return {"metadata": {"name": name, "uid": "p"}, "spec": spec(*assignments)}


def test_the_driver_is_built_for_the_systems_of_nodes_with_cards() -> None:
    assert [each["metadata"]["name"] for each in model.daemonsets(policy(), [])] == ["rdma-shared-dp-ds"]
    driver, plugin = model.daemonsets(policy(), [item("nd-0"), item("nc-0", NC)])
    pod = driver["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"].endswith("doca-driver:doca3.5.0-26.07-0.7.7.0-0-ubuntu24.04-amd64")
    assert pod["affinity"]["nodeAffinity"] == policy()["spec"]["nodeAffinity"]
    assert plugin["spec"]["template"]["spec"]["nodeSelector"] == {NIC_LABEL: "true", DRIVER_WAIT_LABEL: "false"}


def test_device_plugins_wait_for_the_driver_s_pod() -> None:
    nodes = [item("nd-0"), item("nd-1"), item("nc-0", NC)]
    assert model.wait_labels(policy(), nodes, {"nd-0": True, "nd-1": False}) == {"nd-0": "false", "nd-1": "true"}
    # Without a driver to install there is nothing to wait for.
    hosts = policy("networkOperator.ofedDriver=host")
    assert model.wait_labels(hosts, nodes, {}) == {"nd-0": "false", "nd-1": "false"}
    assert model.wait_labels(hosts, nodes, {"nd-0": False}) == {"nd-0": "true", "nd-1": "false"}
    assert model.wait_labels(hosts, [item("nd-0", **{DRIVER_WAIT_LABEL: "false"})], {}) == {}


def test_nodes_offer_adapters_where_a_plugin_runs_and_finds_them() -> None:
    assert model.resources(policy(), item("nd-0"), [model.SHARED]) == {"rdma/shared_ib": 63}
    assert model.resources(policy(), item("nd-0"), []) == {}
    assert model.resources(policy(), item("nc-0", NC), [model.SHARED]) == {"rdma/shared_ib": 0}
    assert model.resources(policy("networkOperator.devicePlugin=sriov"), item("nd-0"), [model.SRIOV]) == {"rdma/ib": 8}


def test_a_plugin_with_a_wrong_configuration_offers_nothing() -> None:
    given = policy()
    ethernet = {"resourceName": "ib", "rdmaHcaMax": 63, "selectors": {"linkTypes": ["ether"]}}
    given["spec"]["rdmaSharedDevicePlugin"]["config"] = json.dumps({"configList": [ethernet]})
    assert model.resources(given, item("nd-0"), [model.SHARED]) == {"rdma/ib": 0}
    given["spec"]["rdmaSharedDevicePlugin"]["config"] = "configList: []"
    assert model.resources(given, item("nd-0"), [model.SHARED]) == {}


def test_a_policy_is_ready_when_its_daemonsets_are_and_only_one_name_counts() -> None:
    wanted = model.daemonsets(policy(), [item("nd-0")])
    assert model.status(policy(), wanted, {})["state"] == "notReady"

    def live(ready: int) -> Json:
        status = {"observedGeneration": 1, "desiredNumberScheduled": 1, "numberReady": ready}
        return {each["metadata"]["name"]: {"metadata": {"generation": 1}, "status": status} for each in wanted}

    assert model.status(policy(), wanted, live(0))["state"] == "notReady"
    found = model.status(policy(), wanted, live(1))
    assert found["state"] == "ready"
    assert {each["name"] for each in found["appliedStates"]} == {model.OFED, model.SHARED}
    other = model.status(policy(name="mine"), [], {})
    assert (other["state"], "Only instance with name nic-cluster-policy" in other["reason"]) == ("ignore", True)


def driver(use_host: bool, version: str = "580.173.02") -> Json:
    rdma = {"enabled": True, "useHostMofed": use_host}
    resource = {"driverType": "gpu", "repository": "r", "image": "driver", "version": version, "rdma": rdma}
    system = model_system()
    given = {"metadata": {"name": "nd", "uid": "nd"}, "spec": resource}
    return daemonset(release("v26.7.0"), given, "gpu-operator", system, files=NO_FILES, manager="r/manager:1")


def model_system() -> Any:
    from simulator.gpu.driver import OperatingSystem

    return OperatingSystem("ubuntu", "24.04")


def state(**labels: str) -> NodeState:
    hardware = of_node(item("nd-0"))
    assert hardware is not None
    found = nfd.labels({"status": {"nodeInfo": {"osImage": "Ubuntu 24.04"}}}, hardware)
    assert found[NIC_LABEL] == "true"
    given = NodeState("v26.7.0", hardware, labels={**found, **labels})
    return node.step(given, node.PodAdded(driver(use_host=False)))


def test_the_gpu_driver_waits_for_the_network_driver() -> None:
    waiting = state()
    assert waiting.driver_pod is not None
    assert waiting.driver_pod.container == "k8s-driver-manager"
    assert waiting.driver_pod.message == "Waiting for MOFED to be installed..."
    later = node.step(waiting, node.LabelsChanged({**waiting.labels, DRIVER_WAIT_LABEL: "false"}))
    assert later.driver_pod is not None
    assert later.driver_pod.container == "nvidia-driver-ctr"


def test_a_driver_of_the_host_is_not_waited_for() -> None:
    given = node.step(state(), node.PodRemoved(driver(use_host=False)["metadata"]["name"]))
    after = node.step(given, node.PodAdded(driver(use_host=True)))
    assert after.driver_pod is not None
    assert after.driver_pod.container == "nvidia-driver-ctr"
    containers = driver(use_host=True)["spec"]["template"]["spec"]["containers"]
    assert [each["name"] for each in containers] == ["nvidia-driver-ctr", "nvidia-peermem-ctr"]


OLD, NEW = "doca-driver:doca3.1.0", "doca-driver:doca3.5.0"


def settled(given: NodeState, seconds: float = 0.0) -> NodeState:
    return node.step(given, node.Tick(seconds))


def driven(ofed: str = OLD, version: str = "595.91.07") -> NodeState:
    """A node whose GPU driver was built against a network driver, with an operand that the driver manager restarts."""
    given = node.step(state(**{DRIVER_WAIT_LABEL: "false"}), node.NetworkDriverChanged(ofed))
    given = node.step(given, node.PodRemoved(driver(use_host=False)["metadata"]["name"]))
    given = node.step(given, node.PodAdded(driver(False, version)))
    toolkit = {
        "metadata": {"name": "toolkit"},
        "spec": {
            "template": {
                "spec": {
                    "initContainers": [{"name": "driver-validation"}],
                    "containers": [{"name": "nvidia-container-toolkit-ctr", "image": "i"}],
                }
            }
        },
    }
    given = node.step(replace(given, driver_in_cluster=True), node.PodAdded(toolkit))
    return settled(given, given.timing.driver_build)


def driver_pod(given: NodeState) -> Pod:
    found = given.driver_pod
    assert found is not None
    return found


def restarted(given: NodeState, version: str = "595.91.07", **env: str) -> NodeState:
    """The node after its driver's Pod was deleted and made again."""
    item = driver(False, version)
    (manager,) = item["spec"]["template"]["spec"]["initContainers"]
    manager["env"] = [*manager["env"], *({"name": key, "value": value} for key, value in env.items())]
    return node.step(node.step(given, node.PodRemoved(item["metadata"]["name"])), node.PodAdded(item))


def test_the_gpu_driver_does_not_fit_another_network_driver_until_it_is_built_anew() -> None:
    """NVIDIA/gpu-operator#2868: to delete the driver's Pod is not enough, since it keeps the loaded modules."""
    given = driven()
    assert driver_pod(given).is_ready
    assert given.pods["toolkit"].ready
    replaced = node.step(given, node.NetworkDriverChanged(NEW))
    assert "could not insert 'nvidia_peermem'" in driver_pod(replaced).fault
    assert replaced.pods["toolkit"].ready, "what runs goes on"
    short_way = settled(restarted(replaced), replaced.timing.driver_build)
    assert "Module nvidia-peermem not found in directory /lib/modules/" in driver_pod(short_way).fault
    assert short_way.pods["toolkit"].container == "driver-validation"
    assert "nvidia_peermem" in short_way.pods["toolkit"].message
    forced = settled(restarted(replaced, FORCE_REINSTALL="true"), replaced.timing.driver_build)
    assert driver_pod(forced).is_ready
    assert forced.pods["toolkit"].ready
    rebooted = settled(node.step(short_way, node.Rebooted()), short_way.timing.driver_build)
    assert driver_pod(rebooted).is_ready


def test_an_older_image_that_keeps_its_modules_does_not_find_peermem_although_it_is_loaded() -> None:
    """NVIDIA/gpu-operator#2619: the validator is content, the driver's Pod never is, and an upgrade waits for it."""
    given = driven(version="580.126.20")
    again = settled(restarted(given, "580.126.20"), given.timing.driver_build)
    assert "Module nvidia-peermem not found" in driver_pod(again).fault
    assert not driver_pod(again).is_ready
    assert again.has_peermem
    assert again.pods["toolkit"].ready
    forced = settled(restarted(again, "580.126.20", FORCE_REINSTALL="true"), given.timing.driver_build)
    assert driver_pod(forced).is_ready
    rebooted = settled(node.step(again, node.Rebooted()), given.timing.driver_build)
    assert driver_pod(rebooted).is_ready


def test_after_a_restart_of_the_machine_both_drivers_are_built_again() -> None:
    """The OFED driver first: until its Pod is ready, the GPU driver waits, and peermem is not loaded."""
    given = driven()
    away = node.step(given, node.LabelsChanged({**given.labels, DRIVER_WAIT_LABEL: "true"}))
    down = settled(node.step(away, node.Rebooted()), given.timing.driver_build)
    assert driver_pod(down).message == "Waiting for MOFED to be installed..."
    assert not down.has_peermem
    back = node.step(down, node.LabelsChanged({**given.labels, DRIVER_WAIT_LABEL: "false"}))
    assert driver_pod(settled(back, given.timing.driver_build)).is_ready


def test_a_driver_that_is_loaded_is_back_before_one_that_is_built() -> None:
    given = driven()
    again = settled(restarted(given), given.timing.driver_start)
    assert driver_pod(again).is_ready
    assert given.timing.driver_start < given.timing.driver_build


def test_a_pod_with_a_failing_sidecar_is_reported_as_such() -> None:
    broken = driver_pod(node.step(driven(), node.NetworkDriverChanged(NEW)))
    spec_ = driver(use_host=False)["spec"]["template"]["spec"]
    live = {"metadata": {"name": "d", "namespace": "n", "uid": "u"}, "spec": {**spec_, "nodeName": "nd-0"}}
    found = pod_status.status(broken, live, "2026-11-27T00:00:00Z")
    states = {each["name"]: each["ready"] for each in found["containerStatuses"]}
    assert states == {"nvidia-driver-ctr": True, "nvidia-peermem-ctr": False}
    assert {each["type"]: each["status"] for each in found["conditions"]}["Ready"] == "False"
    event = pod_status.event(broken, live, "2026-11-27T00:00:00Z")
    assert event["involvedObject"]["fieldPath"] == "spec.containers{nvidia-peermem-ctr}"


def test_a_new_network_driver_updates_the_daemonset_and_waits_for_its_pods_to_be_deleted() -> None:
    newer = policy()
    newer["spec"]["ofedDriver"] = {**newer["spec"]["ofedDriver"], "version": "doca9.9.9"}
    old, new = (model.daemonsets(each, [item("nd-0")])[0] for each in (policy(), newer))
    assert old["metadata"]["name"] == new["metadata"]["name"]
    assert old["spec"]["updateStrategy"] == {"type": "OnDelete"}
    assert old["spec"]["template"] != new["spec"]["template"]
