"""What goes wrong with GPUs in the field, each on a real API server with the real helm, and the way out.

The operator gets what the program makes of a stack. Where a test changes that, the change is the mistake.
"""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings import load
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.pools import node_taints
from simulator.cluster.names import HOST_DRIVER
from simulator.cluster.objects import at, labels
from simulator.gpu import names
from simulator.kubernetes.helm import HelmFailed
from tests.simulator.gpu_nodes import DRIVER, GPU, GRID_DRIVER, TOOLKIT, VALIDATOR, has_gpus, prepared, stack
from tests.support.gpu_settings import H100, MIXED
from tests.support.simulated_cluster import NAMESPACE, SimulatedCluster
from tests.support.waiting import remains, until


@pytest.mark.deep  # in `make test`: both sources of the default stack in test_stack.py, each source in test_gpu_node.py
def test_each_node_gets_its_gpus_from_the_driver_of_its_source(cluster: SimulatedCluster) -> None:
    settings = stack()
    h100, rtx = prepared(cluster, settings)
    pool = settings.pools["h100gpu"]
    given = {"labels": pool_labels("h100gpu", pool), "taints": node_taints(pool)}
    cluster.join("prebaked", pool.sku, pool="h100gpu", host="580.159.04", **given)
    cluster.install(settings)
    until(has_gpus(cluster, h100), "no GPU on the H100 node")
    until(has_gpus(cluster, rtx), "no GPU on the RTX node")
    assert cluster.phase(h100, DRIVER) == "Running"
    assert not cluster.phase(rtx, DRIVER), "the vGPU node got a datacenter driver"
    until(lambda: "nvidia.com/cuda.driver-version.full" in cluster.labels(rtx), "GFD does not report the driver")
    assert cluster.labels(rtx)["nvidia.com/cuda.driver-version.full"] == GRID_DRIVER
    assert cluster.labels(h100)["nvidia.com/cuda.driver-version.full"] == settings.gpu_operator.driver.version

    prebaked = "nvidia.com/gpu.deploy.driver"
    until(lambda: cluster.labels("prebaked").get(prebaked) == "pre-installed", "two drivers on one node")
    until(has_gpus(cluster, "prebaked"), "no GPU on the node whose image has a driver")

    cluster.label(rtx, **{"nvidia.com/gpu.deploy.driver": "true"})
    remains(lambda: not cluster.phase(rtx, DRIVER), "the label brought a datacenter driver to the vGPU node")
    assert cluster.gpus(rtx) == {GPU: 1}


@pytest.mark.deep  # in `make test`: the model in test_gpu_node.py, and the agent that does it in test_grid_scenarios.py
def test_validator_before_driver_waits_for_ever_and_deleting_its_pod_helps(cluster: SimulatedCluster) -> None:
    settings = stack()
    (h100,) = cluster.pool(settings, "h100gpu")
    (rtx,) = cluster.pool(settings, "rtxprogpu")
    cluster.install(settings)
    until(has_gpus(cluster, h100), "no GPU on the H100 node")
    until(lambda: cluster.phase(rtx, TOOLKIT) == "Init:0/1", "the toolkit does not wait")
    until(lambda: ".driver-ctr-ready" in cluster.words(rtx, TOOLKIT), "no word of what it waits for")
    cluster.annotate(rtx, HOST_DRIVER, GRID_DRIVER)
    remains(lambda: cluster.phase(rtx, TOOLKIT) == "Init:0/1", "the validator looked at the host a second time")
    assert cluster.gpus(rtx) == {}
    cluster.delete_pods(rtx, TOOLKIT, VALIDATOR)
    until(has_gpus(cluster, rtx), "deleting its pod did not help")


@pytest.mark.deep  # in `make test`: the same mistakes on the model in test_gpu_node.py
def test_missing_tolerations_hide_the_gpus_and_leave_the_node_without_operands(cluster: SimulatedCluster) -> None:
    settings = stack()
    (h100,) = cluster.pool(settings, "h100gpu")

    def without_spot(values: dict[str, Any]) -> None:
        values["daemonsets"] = {"tolerations": [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}]}

    def without_both(values: dict[str, Any]) -> None:
        without_spot(values)
        del values["node-feature-discovery"]["worker"]

    cluster.install(settings, without_both)
    until(lambda: "feature.node.kubernetes.io/kernel-version.full" in cluster.labels("cpu-0"), "NFD does not run")
    remains(lambda: names.PRESENT not in cluster.labels(h100), "GPUs were found without a worker on the node")

    cluster.install(settings, without_spot)
    until(lambda: cluster.phase(h100, DRIVER) == "Running", "the NVIDIADriver's own tolerations do not count")
    remains(lambda: not cluster.phase(h100, TOOLKIT), "the toolkit ignores a taint")
    assert cluster.gpus(h100) == {}

    cluster.install(settings)
    until(has_gpus(cluster, h100), "the tolerations did not help")


@pytest.mark.deep
@pytest.mark.parametrize(("operator", "reached"), [("Exists", True), ("Equal", False)])
def test_valueless_taint_needs_a_toleration_that_requests_no_value(
    cluster: SimulatedCluster, operator: str, reached: bool
) -> None:
    settings = stack("pools.h100gpu.priority=Regular")
    (h100,) = cluster.pool(settings, "h100gpu", taints=[f"{GPU}:NoSchedule"])
    value = {} if operator == "Exists" else {"value": "present"}
    given = [{"key": GPU, "operator": operator, "effect": "NoSchedule", **value}]

    def tolerate(values: dict[str, Any]) -> None:
        values["daemonsets"] = {"tolerations": given}
        values["node-feature-discovery"]["worker"] = {"tolerations": given}

    cluster.install(settings, tolerate)
    if reached:
        until(has_gpus(cluster, h100), "no GPU on the H100 node")
    else:
        until(lambda: names.OS_ID in cluster.labels("cpu-0"), "NFD does not run")
        remains(lambda: names.PRESENT not in cluster.labels(h100), "a taint without value was tolerated")


@pytest.mark.deep
def test_mig_strategy_none_returns_a_gpu_on_which_cuda_fails(cluster: SimulatedCluster) -> None:
    settings = stack("gpuOperator.migStrategy=single")
    (rtx,) = cluster.pool(settings, "rtxprogpu", host=GRID_DRIVER)
    cluster.install(settings, lambda values: values.update(mig={"strategy": "none"}))
    until(has_gpus(cluster, rtx), "no GPU on the RTX node")
    phase, words = cluster.cuda_probe(rtx)
    assert phase == "Failed"
    assert "no CUDA-capable device" in words
    cluster.install(settings)
    until(lambda: cluster.labels(rtx).get("nvidia.com/mig.strategy") == "single", "the strategy does not arrive")
    until(has_gpus(cluster, rtx), "no GPU on the RTX node")
    assert cluster.cuda_probe(rtx) == ("Succeeded", "")


@pytest.mark.deep
def test_mig_manager_let_loose_on_a_vgpu_keeps_its_clients_down(cluster: SimulatedCluster) -> None:
    settings = stack()
    (rtx,) = cluster.pool(settings, "rtxprogpu", host=GRID_DRIVER)

    def let_loose(values: dict[str, Any]) -> None:
        values["migManager"] = {"enabled": True}

    cluster.install(settings, let_loose)
    until(has_gpus(cluster, rtx), "no GPU on the RTX node")
    cluster.label(rtx, **{"nvidia.com/gpu.deploy.mig-manager": "true", "nvidia.com/mig.config": "all-1g.12gb"})
    until(lambda: cluster.labels(rtx).get("nvidia.com/mig.config.state") == "failed", "no MIG manager came")
    until(lambda: cluster.gpus(rtx) == {}, "the GPU's clients were not stopped")
    cluster.install(settings)
    until(has_gpus(cluster, rtx), "switching the MIG manager off did not help")


@pytest.mark.deep
def test_mig_layouts_of_a_pool_become_its_resources(cluster: SimulatedCluster) -> None:
    settings = stack(f"{H100}.sharing={MIXED}")
    h100, rtx = prepared(cluster, settings)
    cluster.install(settings)
    until(lambda: cluster.gpus(h100) == {"nvidia.com/mig-1g.12gb": 3, "nvidia.com/mig-3g.47gb": 1}, "no instances")
    until(has_gpus(cluster, rtx), "the other pool's strategy is not its own")


@pytest.mark.deep
def test_time_slicing_of_one_pool_leaves_the_other_alone(cluster: SimulatedCluster) -> None:
    settings = stack(f"{H100}.sharing={{timeSlicing: {{replicas: 4}}}}")
    h100, rtx = prepared(cluster, settings)
    cluster.install(settings)
    until(has_gpus(cluster, h100, gpu=4), "the H100 is not shared")
    until(has_gpus(cluster, rtx), "the RTX is")


@pytest.mark.deep
def test_two_drivers_on_one_pool_contradict_each_other(cluster: SimulatedCluster) -> None:
    settings = stack()
    (h100,) = cluster.pool(settings, "h100gpu")
    cluster.install(settings)
    until(has_gpus(cluster, h100), "no GPU on the H100 node")
    cluster.driver("second", {"driverType": "gpu", "image": "driver", "nodeSelector": {"agentpool": "h100gpu"}})

    def reported() -> bool:
        found = {item["metadata"]["name"]: item for item in cluster.all("nvidia.com/v1alpha1", "NVIDIADriver")}
        conditions: list[dict[str, str]] = at(found["second"], "status.conditions", [])
        return any(each["reason"] == "ConflictingNodeSelector" for each in conditions)

    until(reported, "no message says that the selectors conflict")


@pytest.mark.deep
def test_mixed_systems_under_one_clusterpolicy_get_the_wrong_driver_image(cluster: SimulatedCluster) -> None:
    settings = load("seed-westus2").settings
    cluster.definitions("v25.3.4")
    (h100,) = cluster.pool(settings, "h100gpu", system="24.04", containerd="1.7.34")
    cluster.join("old", "Standard_NC40ads_H100_v5", pool="h100old", system="22.04", containerd="1.7.34")
    cluster.install(settings)
    until(
        lambda: any("is not for ubuntu" in cluster.words(node, "nvidia-driver") for node in (h100, "old")),
        "each system got its own driver",
    )


@pytest.mark.deep
def test_mixed_systems_under_nvidiadrivers_get_a_driver_each(cluster: SimulatedCluster) -> None:
    settings = stack()
    (new,) = cluster.pool(settings, "h100gpu", system="24.04")
    pool = settings.pools["h100gpu"]
    cluster.join("old", pool.sku, pool="h100gpu", system="22.04", labels={"physical-ai/gpu-driver": "operator"})
    cluster.install(settings)
    until(has_gpus(cluster, new), "no GPU under 24.04")
    until(has_gpus(cluster, "old"), "no GPU under 22.04")


@pytest.mark.deep
def test_nfd_reinstalled_strips_labels_and_they_are_restored_as_true(cluster: SimulatedCluster) -> None:
    settings = stack()
    _, rtx = prepared(cluster, settings)
    cluster.install(settings)
    until(has_gpus(cluster, rtx), "no GPU on the RTX node")
    assert cluster.labels(rtx)["nvidia.com/gpu.deploy.driver"] == "false"
    worker = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets/gpu-operator-node-feature-discovery-worker"
    cluster.client.request("DELETE", worker)
    until(lambda: cluster.labels(rtx).get(names.PRESENT) == "false", "the operator still sees GPUs")
    assert "nvidia.com/gpu.deploy.driver" not in cluster.labels(rtx)
    cluster.install(settings)
    until(lambda: cluster.labels(rtx).get("nvidia.com/gpu.deploy.driver") == "true", "the label did not come back")
    until(has_gpus(cluster, rtx), "no GPU on the RTX node")
    assert not cluster.phase(rtx, DRIVER), "the lost label brought a datacenter driver onto the vGPU node"


@pytest.mark.deep
def test_containerd_fails_on_a_newer_drop_in_unless_the_toolkit_reads_the_file(cluster: SimulatedCluster) -> None:
    settings = stack()
    (h100,) = cluster.pool(settings, "h100gpu", containerd="2.3.2")
    cluster.install(settings, lambda values: values["toolkit"].update(env=[]))
    until(lambda: not cluster.is_ready(h100), "containerd survived")
    assert cluster.gpus(h100) == {}
    message = next(each["message"] for each in at(cluster.node(h100), "status.conditions") if each["type"] == "Ready")
    assert "drop-in config version 4" in message
    cluster.install(settings)

    def reads_the_file() -> bool:
        """Whether new Pods of the toolkit do: its DaemonSet is changed, and the controller has seen that."""
        daemonset = next(each for each in cluster.all("apps/v1", "DaemonSet") if each["metadata"]["name"] == TOOLKIT)
        env = at(daemonset, "spec.template.spec.containers", [])[0]["env"]
        seen = at(daemonset, "status.observedGeneration") == daemonset["metadata"]["generation"]
        return seen and {"name": "RUNTIME_CONFIG_SOURCE", "value": "file"} in env

    # The operator changes operands only while there is a GPU node: the broken one is one until this is done.
    until(reads_the_file, "the operator does not change the toolkit")
    cluster.leave(h100)
    cluster.pool(settings, "h100gpu", containerd="2.3.2")
    until(has_gpus(cluster, h100), "a fresh node does not live with the file as source")
    assert cluster.is_ready(h100)


@pytest.mark.deep  # in `make test`: keys without effect, refused by the same helm, in test_chart_values.py
@pytest.mark.parametrize(
    ("path", "value"), [("driver.tolerations", []), ("devicePlugin.mps", {"root": "/x"}), ("toolkit.envs", [])]
)
def test_dead_key_is_refused_by_helm(cluster: SimulatedCluster, path: str, value: Any) -> None:
    section, key = path.split(".")

    def add(values: dict[str, Any]) -> None:
        values[section] = {**values.get(section, {}), key: value}

    with pytest.raises(HelmFailed, match=section):
        cluster.install(stack(), add)
    assert cluster.all("nvidia.com/v1", "ClusterPolicy") == []


@pytest.mark.deep
def test_pool_scaled_from_zero_finds_its_driver_waiting(cluster: SimulatedCluster) -> None:
    settings = stack()
    cluster.install(settings)

    def state() -> str:
        return str(at(cluster.all("nvidia.com/v1alpha1", "NVIDIADriver")[0], "status.state"))

    until(lambda: state() == "ready", "an NVIDIADriver without nodes is not ready")
    first, second = cluster.pool(settings, "h100gpu", 2)
    until(has_gpus(cluster, first), "no GPU on the first node")
    until(has_gpus(cluster, second), "no GPU on the second node")


@pytest.mark.deep
def test_another_driver_version_drains_one_node_at_a_time(cluster: SimulatedCluster) -> None:
    settings = stack()
    nodes = cluster.pool(settings, "h100gpu", 3)
    cluster.install(settings)
    for node in nodes:
        until(has_gpus(cluster, node), f"no GPU on {node}")
    cluster.install(stack("gpuOperator.driver.version=595.91.07"))
    most = 0

    def done() -> bool:
        nonlocal most
        items = cluster.client.get("/api/v1/nodes", {"labelSelector": "agentpool=h100gpu"})["items"]  # at one moment
        held = [item for item in items if at(item, "spec.unschedulable", False)]
        most = max(most, len(held))
        return {labels(item).get("nvidia.com/cuda.driver-version.full") for item in items} == {"595.91.07"} and not held

    until(done, "the upgrade does not come to an end")
    assert most == 1, "several nodes at once, or none cordoned at all"
    for node in nodes:
        until(has_gpus(cluster, node), f"no GPU on {node}")
