"""The model of AMD's operator: whose node it is, what a registry refuses, and what the operands' Pods are."""

from __future__ import annotations

import base64
from typing import Any

from parts.amd import names as amd
from parts.amd.plan import RegistryLogin
from simulator.amd import model
from simulator.gpu.hardware import of_node
from tests.support.amd_settings import MI300X, planned

Json = dict[str, Any]
LOGIN = RegistryLogin("contoso.azurecr.io", "drivers", "amdRegistry").document("word")


def config(name: str = "mi300x", created: str = "1", **spec: Any) -> Json:
    plan = planned()
    metadata = {"name": name, "creationTimestamp": created, "uid": name}
    return {"metadata": metadata, "spec": {**plan.configs["mi300x"], **spec}}


def node(name: str = "a", pool: str = "mi300x") -> Json:
    labels = {"node.kubernetes.io/instance-type": MI300X, "kubernetes.azure.com/agentpool": pool}
    info = {"osImage": "Ubuntu 24.04.3 LTS", "kernelVersion": "6.8.0-1052-azure"}
    return {"metadata": {"name": name, "labels": labels}, "status": {"nodeInfo": info}}


def secret(text: str) -> Json:
    return {"data": {amd.DOCKER_CONFIG: base64.b64encode(text.encode()).decode()}}


def test_the_nodes_are_none_of_nvidias_and_found_as_virtual_functions() -> None:
    assert of_node(node()) is None
    assert model.features(node(), has_rule=True).keys() == {
        "feature.node.kubernetes.io/pci-1002.present",
        "feature.node.kubernetes.io/amd-vgpu",
    }
    assert "feature.node.kubernetes.io/amd-vgpu" not in model.features(node(), has_rule=False)


def test_the_charts_own_device_config_finds_no_node() -> None:
    selector = {amd.NFD_LABELS[0]: "true"}
    found, refused = model.claims([config("default", selector=selector)], [node()])
    assert (found, refused) == ({"default": []}, {})


def test_of_two_that_select_a_node_the_older_one_has_it() -> None:
    older, newer = config(created="1"), config("other", created="2")
    found, refused = model.claims([newer, older], [node()])
    assert list(found) == ["mi300x"]
    assert "overlapping selector" in refused["other"]


def test_the_registry_is_refused_without_its_login() -> None:
    assert "cannot find secret" in model.login_problem(config(), None)
    assert "holds no login" in model.login_problem(config(), secret("{"))
    assert "unauthorized" in model.login_problem(config(), secret('{"auths": {"docker.io": {}}}'))
    assert not model.login_problem(config(), secret(LOGIN))


def test_an_image_with_a_tag_is_not_built() -> None:
    tagged = config(driver={"image": "contoso.azurecr.io/amd/driver:mine", "version": "6.4.3"})
    assert "tag is the operator's" in model.build_problem(tagged)
    assert not model.build_problem(config())
    assert model.tag(config(), node()) == "ubuntu-24.04-6.8.0-1052-azure-6.4.3"


def test_operands_tolerate_what_the_device_config_says() -> None:
    made = {each["metadata"]["name"]: each for each in model.daemon_sets(config())}
    assert {"mi300x-device-plugin", "mi300x-node-labeller"} <= set(made)
    for item in made.values():
        assert {each["key"] for each in item["spec"]["template"]["spec"]["tolerations"]} == {"amd.com/gpu"}


def test_its_images_are_those_that_a_registry_without_others_must_have() -> None:
    pods = [each["spec"]["template"] for each in model.daemon_sets(config(metricsExporter={"enable": True}))]
    pods += [model.build_pod(config(), "tag"), model.load_pod(config(), node())]
    used = {
        container["image"]
        for pod in pods
        for container in (*pod["spec"].get("initContainers", []), *pod["spec"]["containers"])
    }
    known = {*amd.images("v1.4.0"), amd.PLUGIN_IMAGE, amd.LABELLER_IMAGE}
    assert {image.replace("busybox", "docker.io/library/busybox") for image in used} <= known
