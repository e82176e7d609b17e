"""What goes wrong with GPUs in the field, each on a real API server with the real helm, and the way out.

The operator gets what the program makes of a stack. Where a test changes that, the change is the mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from physical_ai.settings import Settings, load
from physical_ai.simulator.cluster.names import HOST_DRIVER
from physical_ai.simulator.cluster.objects import at, labels
from physical_ai.simulator.gpu import names
from physical_ai.simulator.kubernetes.helm import HelmFailed
from tests.support.field import NAMESPACE, Field
from tests.support.gpu_settings import H100, MIXED, given_settings

TOOLKIT, VALIDATOR = "nvidia-container-toolkit-daemonset", "nvidia-operator-validator"
PLUGIN, DRIVER = "nvidia-device-plugin-daemonset", "nvidia-gpu-driver"
GPU = "nvidia.com/gpu"
GRID_DRIVER = "595.91.07"
Values = dict[str, Any]


def stack(*assignments: str) -> Settings:
    return given_settings(*assignments).settings


def has_gpus(place: Field, node: str, **expected: int) -> Callable[[], bool]:
    wanted = {GPU: 1} if not expected else {f"nvidia.com/{key}": count for key, count in expected.items()}
    return lambda: place.gpus(node) == wanted


def prepared(place: Field, settings: Settings) -> tuple[str, str]:
    """A node of each pool, the vGPU one with its driver on the host."""
    (h100,) = place.pool(settings, "h100gpu")
    (rtx,) = place.pool(settings, "rtxprogpu", host=GRID_DRIVER)
    return h100, rtx


def test_h100_gets_its_gpus_from_the_operators_driver_and_rtx_from_the_hosts(place: Field) -> None:
    settings = stack()
    h100, rtx = prepared(place, settings)
    place.install(settings)
    place.until(has_gpus(place, h100), "no GPU on the H100 node")
    place.until(has_gpus(place, rtx), "no GPU on the RTX node")
    assert place.phase(h100, DRIVER) == "Running"
    assert not place.phase(rtx, DRIVER), "the vGPU node got a datacenter driver"
    place.until(lambda: "nvidia.com/cuda.driver-version.full" in place.labels(rtx), "GFD says nothing of the driver")
    assert place.labels(rtx)["nvidia.com/cuda.driver-version.full"] == GRID_DRIVER
    assert place.labels(h100)["nvidia.com/cuda.driver-version.full"] == settings.gpu_operator.driver.version


def test_vgpu_nodes_never_get_the_operators_driver_whatever_their_label_says(place: Field) -> None:
    settings = stack()
    _, rtx = prepared(place, settings)
    place.install(settings)
    place.until(has_gpus(place, rtx), "no GPU on the RTX node")
    place.label(rtx, **{"nvidia.com/gpu.deploy.driver": "true"})
    place.stays(lambda: not place.phase(rtx, DRIVER), "the vGPU node got a datacenter driver")
    assert place.gpus(rtx) == {GPU: 1}


def test_validator_before_driver_waits_for_ever_and_deleting_its_pod_helps(place: Field) -> None:
    settings = stack()
    (h100,) = place.pool(settings, "h100gpu")
    (rtx,) = place.pool(settings, "rtxprogpu")
    place.install(settings)
    place.until(has_gpus(place, h100), "no GPU on the H100 node")
    place.until(lambda: place.phase(rtx, TOOLKIT) == "Init:0/1", "the toolkit does not wait")
    place.until(lambda: ".driver-ctr-ready" in place.words(rtx, TOOLKIT), "no word of what it waits for")
    place.annotate(rtx, HOST_DRIVER, GRID_DRIVER)
    place.stays(lambda: place.phase(rtx, TOOLKIT) == "Init:0/1", "the validator looked at the host a second time")
    assert place.gpus(rtx) == {}
    place.delete_pods(rtx, TOOLKIT, VALIDATOR)
    place.until(has_gpus(place, rtx), "deleting its pod did not help")


def test_missing_spot_toleration_leaves_the_node_without_operands(place: Field) -> None:
    settings = stack()
    (h100,) = place.pool(settings, "h100gpu")

    def forget(values: Values) -> None:
        values["daemonsets"] = {"tolerations": [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}]}

    place.install(settings, forget)
    place.until(lambda: place.phase(h100, DRIVER) == "Running", "the NVIDIADriver's own tolerations do not count")
    place.stays(lambda: not place.phase(h100, TOOLKIT), "the toolkit ignores a taint")
    assert place.gpus(h100) == {}
    place.install(settings)
    place.until(has_gpus(place, h100), "the toleration did not help")


def test_missing_toleration_of_nfd_hides_the_gpus(place: Field) -> None:
    settings = stack()
    (h100,) = place.pool(settings, "h100gpu")

    def forget(values: Values) -> None:
        del values["node-feature-discovery"]["worker"]

    place.install(settings, forget)
    place.until(lambda: "feature.node.kubernetes.io/kernel-version.full" in place.labels("cpu-0"), "NFD does not run")
    place.stays(lambda: names.PRESENT not in place.labels(h100), "GPUs were found without a worker on the node")


@pytest.mark.deep
@pytest.mark.parametrize(("operator", "reached"), [("Exists", True), ("Equal", False)])
def test_valueless_taint_needs_a_toleration_that_asks_for_no_value(place: Field, operator: str, reached: bool) -> None:
    settings = stack("pools.h100gpu.priority=Regular")
    (h100,) = place.pool(settings, "h100gpu", taints=[f"{GPU}:NoSchedule"])
    value = {} if operator == "Exists" else {"value": "present"}
    given = [{"key": GPU, "operator": operator, "effect": "NoSchedule", **value}]

    def tolerate(values: Values) -> None:
        values["daemonsets"] = {"tolerations": given}
        values["node-feature-discovery"]["worker"] = {"tolerations": given}

    place.install(settings, tolerate)
    if reached:
        place.until(has_gpus(place, h100), "no GPU on the H100 node")
    else:
        place.until(lambda: names.OS_ID in place.labels("cpu-0"), "NFD does not run")
        place.stays(lambda: names.PRESENT not in place.labels(h100), "a taint without value was tolerated")


@pytest.mark.deep
def test_mig_strategy_none_hands_out_a_gpu_on_which_cuda_fails(place: Field) -> None:
    settings = stack("gpuOperator.migStrategy=single")
    (rtx,) = place.pool(settings, "rtxprogpu", host=GRID_DRIVER)
    place.install(settings, lambda values: values.update(mig={"strategy": "none"}))
    place.until(has_gpus(place, rtx), "no GPU on the RTX node")
    phase, words = place.cuda_probe(rtx)
    assert phase == "Failed"
    assert "no CUDA-capable device" in words
    place.install(settings)
    place.until(lambda: place.labels(rtx).get("nvidia.com/mig.strategy") == "single", "the strategy does not arrive")
    place.until(has_gpus(place, rtx), "no GPU on the RTX node")
    assert place.cuda_probe(rtx) == ("Succeeded", "")


@pytest.mark.deep
def test_mig_manager_let_loose_on_a_vgpu_keeps_its_clients_down(place: Field) -> None:
    settings = stack()
    (rtx,) = place.pool(settings, "rtxprogpu", host=GRID_DRIVER)

    def let_loose(values: Values) -> None:
        values["migManager"] = {"enabled": True}

    place.install(settings, let_loose)
    place.until(has_gpus(place, rtx), "no GPU on the RTX node")
    place.label(rtx, **{"nvidia.com/gpu.deploy.mig-manager": "true", "nvidia.com/mig.config": "all-1g.12gb"})
    place.until(lambda: place.labels(rtx).get("nvidia.com/mig.config.state") == "failed", "no MIG manager came")
    place.until(lambda: place.gpus(rtx) == {}, "the GPU's clients were not stopped")
    place.install(settings)
    place.until(has_gpus(place, rtx), "switching the MIG manager off did not help")


@pytest.mark.deep
def test_mig_layouts_of_a_pool_become_its_resources(place: Field) -> None:
    settings = stack(f"{H100}.sharing={MIXED}")
    h100, rtx = prepared(place, settings)
    place.install(settings)
    place.until(lambda: place.gpus(h100) == {"nvidia.com/mig-1g.12gb": 3, "nvidia.com/mig-3g.47gb": 1}, "no instances")
    place.until(has_gpus(place, rtx), "the other pool's strategy is not its own")


@pytest.mark.deep
def test_time_slicing_of_one_pool_leaves_the_other_alone(place: Field) -> None:
    settings = stack(f"{H100}.sharing={{timeSlicing: {{replicas: 4}}}}")
    h100, rtx = prepared(place, settings)
    place.install(settings)
    place.until(has_gpus(place, h100, gpu=4), "the H100 is not shared")
    place.until(has_gpus(place, rtx), "the RTX is")


@pytest.mark.deep
def test_two_drivers_on_one_pool_contradict_each_other(place: Field) -> None:
    settings = stack()
    (h100,) = place.pool(settings, "h100gpu")
    place.install(settings)
    place.until(has_gpus(place, h100), "no GPU on the H100 node")
    place.driver("second", {"driverType": "gpu", "image": "driver", "nodeSelector": {"agentpool": "h100gpu"}})

    def told() -> bool:
        found = {item["metadata"]["name"]: item for item in place.all("nvidia.com/v1alpha1", "NVIDIADriver")}
        conditions: list[dict[str, str]] = at(found["second"], "status.conditions", [])
        return any(each["reason"] == "ConflictingNodeSelector" for each in conditions)

    place.until(told, "nobody says that the selectors conflict")


def test_operators_driver_leaves_a_node_alone_whose_image_has_one(place: Field) -> None:
    settings = stack()
    (h100,) = place.pool(settings, "h100gpu", host="580.159.04")
    place.install(settings)
    place.until(
        lambda: place.labels(h100).get("nvidia.com/gpu.deploy.driver") == "pre-installed", "two drivers on one node"
    )
    place.until(has_gpus(place, h100), "no GPU on the H100 node")


@pytest.mark.deep
def test_mixed_systems_under_one_clusterpolicy_get_the_wrong_driver_image(place: Field) -> None:
    settings = load("seed-westus2").settings
    place.definitions("v25.3.4")
    (h100,) = place.pool(settings, "h100gpu", system="24.04", containerd="1.7.34")
    place.join("old", "Standard_NC40ads_H100_v5", pool="h100old", system="22.04", containerd="1.7.34")
    place.install(settings)
    place.until(
        lambda: any("is not for ubuntu" in place.words(node, "nvidia-driver") for node in (h100, "old")),
        "each system got its own driver",
    )


@pytest.mark.deep
def test_mixed_systems_under_nvidiadrivers_get_a_driver_each(place: Field) -> None:
    settings = stack()
    (new,) = place.pool(settings, "h100gpu", system="24.04")
    pool = settings.pools["h100gpu"]
    place.join("old", pool.sku, pool="h100gpu", system="22.04", labels={"physical-ai/gpu-driver": "operator"})
    place.install(settings)
    place.until(has_gpus(place, new), "no GPU under 24.04")
    place.until(has_gpus(place, "old"), "no GPU under 22.04")


@pytest.mark.deep
def test_nfd_reinstalled_strips_labels_and_they_come_back_as_true(place: Field) -> None:
    settings = stack()
    _, rtx = prepared(place, settings)
    place.install(settings)
    place.until(has_gpus(place, rtx), "no GPU on the RTX node")
    assert place.labels(rtx)["nvidia.com/gpu.deploy.driver"] == "false"
    worker = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets/gpu-operator-node-feature-discovery-worker"
    place.client.request("DELETE", worker)
    place.until(lambda: place.labels(rtx).get(names.PRESENT) == "false", "the operator still sees GPUs")
    assert "nvidia.com/gpu.deploy.driver" not in place.labels(rtx)
    place.install(settings)
    place.until(lambda: place.labels(rtx).get("nvidia.com/gpu.deploy.driver") == "true", "the label did not come back")
    place.until(has_gpus(place, rtx), "no GPU on the RTX node")
    assert not place.phase(rtx, DRIVER), "the lost label brought a datacenter driver onto the vGPU node"


@pytest.mark.deep
def test_containerd_dies_of_a_newer_drop_in_unless_the_toolkit_reads_the_file(place: Field) -> None:
    settings = stack()
    (h100,) = place.pool(settings, "h100gpu", containerd="2.3.2")
    place.install(settings, lambda values: values["toolkit"].update(env=[]))
    place.until(lambda: not place.is_ready(h100), "containerd survived")
    assert place.gpus(h100) == {}
    message = next(each["message"] for each in at(place.node(h100), "status.conditions") if each["type"] == "Ready")
    assert "drop-in config version 4" in message
    place.leave(h100)
    place.install(settings)
    place.pool(settings, "h100gpu", containerd="2.3.2")
    place.until(has_gpus(place, h100), "a fresh node does not live with the file as source")
    assert place.is_ready(h100)


def test_upgrade_from_26_3_to_26_7_brings_its_crds_and_keeps_the_gpus(place: Field) -> None:
    before = stack("gpuOperator.version=v26.3.3", "gpuOperator.driver.version=580.126.20")
    place.definitions("v26.3.3")
    h100, rtx = prepared(place, before)
    place.install(before)
    place.until(has_gpus(place, h100), "no GPU on the H100 node")
    place.install(stack("gpuOperator.driver.version=580.126.20"))
    place.until(lambda: names.DRIVER_OWNER in place.labels(h100), "26.7 has not taken over")
    place.until(has_gpus(place, h100), "no GPU on the H100 node after the upgrade")
    place.until(has_gpus(place, rtx), "no GPU on the RTX node after the upgrade")
    definition = place.client.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nvidiadrivers.nvidia.com")
    schema = at(definition, "spec.versions")[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert "default" in schema, "the CRD is still the older release's"


@pytest.mark.parametrize(
    ("path", "value"), [("driver.tolerations", []), ("devicePlugin.mps", {"root": "/x"}), ("toolkit.envs", [])]
)
def test_dead_key_is_refused_by_helm(place: Field, path: str, value: Any) -> None:
    section, key = path.split(".")

    def add(values: Values) -> None:
        values[section] = {**values.get(section, {}), key: value}

    with pytest.raises(HelmFailed, match=section):
        place.install(stack(), add)
    assert place.all("nvidia.com/v1", "ClusterPolicy") == []


@pytest.mark.deep
def test_pool_scaled_from_zero_finds_its_driver_waiting(place: Field) -> None:
    settings = stack()
    place.install(settings)

    def state() -> str:
        return str(at(place.all("nvidia.com/v1alpha1", "NVIDIADriver")[0], "status.state"))

    place.until(lambda: state() == "ready", "an NVIDIADriver without nodes is not ready")
    first, second = place.pool(settings, "h100gpu", 2)
    place.until(has_gpus(place, first), "no GPU on the first node")
    place.until(has_gpus(place, second), "no GPU on the second node")


@pytest.mark.deep
def test_another_driver_version_drains_one_node_at_a_time(place: Field) -> None:
    settings = stack()
    nodes = place.pool(settings, "h100gpu", 3)
    place.install(settings)
    for node in nodes:
        place.until(has_gpus(place, node), f"no GPU on {node}")
    place.install(stack("gpuOperator.driver.version=595.91.07"))
    most = 0

    def done() -> bool:
        nonlocal most
        items = place.client.get("/api/v1/nodes", {"labelSelector": "agentpool=h100gpu"})["items"]  # at one moment
        held = [item for item in items if at(item, "spec.unschedulable", False)]
        most = max(most, len(held))
        return {labels(item).get("nvidia.com/cuda.driver-version.full") for item in items} == {"595.91.07"} and not held

    place.until(done, "the upgrade does not come to an end", 60)
    assert most == 1, "several nodes at once, or none cordoned at all"
    for node in nodes:
        place.until(has_gpus(place, node), f"no GPU on {node}")
