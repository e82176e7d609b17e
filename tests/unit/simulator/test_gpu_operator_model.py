"""The operator's model beyond its recordings: ownership, driver images, upgrades, NFD, sharing."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from simulator.cluster.objects import at, labels, with_changes
from simulator.errors import SimulationError
from simulator.gpu import operator
from simulator.gpu.names import DRIVER_OWNER, UPGRADE_STATE
from simulator.gpu.release import names, release
from simulator.gpu.state import State
from tests.support.gpu_cluster import Cluster
from tests.support.gpu_model import spec
from tests.support.gpu_replay import nfd as nfd_labels
from tests.support.gpu_replay import node as make_node

POOL = {"agentpool": "h100gpu"}


def driver(name: str, **own: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": name}, "spec": {"image": "driver", "version": "595.91.07", **own}}


def started(count: int, *drivers: dict[str, Any], version: str = "v26.7.0", **policy: Any) -> Cluster:
    """A cluster of H100 nodes on which the operator has come to rest."""
    items = [make_node(f"h100-{n}", {**POOL, **nfd_labels()}, []) for n in range(count)]
    made = Cluster(
        State(
            release=version,
            policy={"metadata": {"name": "cluster-policy"}, "spec": spec(**policy)},
            nodes={item["metadata"]["name"]: item for item in items},
            drivers={item["metadata"]["name"]: item for item in drivers},
        )
    )
    made.settle()
    return made


def error(made: Cluster, name: str) -> tuple[str, str]:
    found = next(each for each in made.state.drivers[name]["status"]["conditions"] if each["type"] == "Error")
    return found["reason"], found["message"]


SELECTORS = 'conflicting NVIDIADriver NodeSelectors found for resource: two, nodeSelector: map["agentpool":"h100gpu"]'
CONFLICTS = {
    "v25.3.4": SELECTORS,
    "v26.3.3": SELECTORS,
    "v26.7.0": "multiple NVIDIADrivers match the same node h100-0: [one two]",
}


@pytest.mark.parametrize("version", names())
def test_two_drivers_for_one_node_are_both_refused(version: str) -> None:
    made = started(1, driver("one"), driver("two", nodeSelector=POOL), version=version)
    assert error(made, "one")[0] == "ConflictingNodeSelector"
    assert error(made, "two")[1] == CONFLICTS[version]
    assert not any(name.startswith("nvidia-gpu-driver") for name in made.state.daemonsets)


def test_a_conflict_shows_in_the_clusterpolicy_too() -> None:
    made = started(1, driver("one"), driver("two"))
    assert at(made.state.policy, "status.state") == "notReady"
    assert DRIVER_OWNER not in labels(made.state.nodes["h100-0"])


def test_a_specific_driver_wins_over_the_default() -> None:
    made = started(1, driver("all", default=True), driver("h100", nodeSelector=POOL))
    assert labels(made.state.nodes["h100-0"])[DRIVER_OWNER] == "h100"
    assert made.state.drivers["all"]["status"]["state"] == "ready"


def test_two_defaults_and_a_default_with_a_selector_are_refused() -> None:
    assert error(started(1, driver("a", default=True), driver("b", default=True)), "a") == (
        "ReconcileFailed",
        "multiple default NVIDIADrivers found: [a b]",
    )
    assert error(started(1, driver("a", default=True, nodeSelector=POOL)), "a") == (
        "ConflictingNodeSelector",
        'default NVIDIADriver "a" cannot use nodeSelector',
    )
    owned = driver("a", nodeSelector={DRIVER_OWNER: "a"})
    assert "cannot use reserved label" in error(started(1, owned), "a")[1]


def test_a_removed_driver_gives_its_nodes_back() -> None:
    made = started(1, driver("h100"))
    made.change(lambda state: replace(state, drivers={}))
    assert DRIVER_OWNER not in labels(made.state.nodes["h100-0"])


@pytest.mark.parametrize(
    ("own", "image"),
    [
        ({}, "nvcr.io/nvidia/driver:595.91.07-ubuntu24.04"),
        ({"repository": "registry.example/gpu"}, "registry.example/gpu/driver:595.91.07-ubuntu24.04"),
        ({"version": f"sha256:{'0' * 64}"}, f"nvcr.io/nvidia/driver@sha256:{'0' * 64}"),
        ({"usePrecompiled": True, "version": "595"}, "nvcr.io/nvidia/driver:595-6.8.0-1040-azure-ubuntu24.04"),
    ],
)
def test_driver_image_names_version_kernel_and_system(own: dict[str, Any], image: str) -> None:
    made = started(1, driver("h100", **own))
    item = next(each for name, each in made.state.daemonsets.items() if name.startswith("nvidia-gpu-driver"))
    pod = item["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == image
    kernel = pod["nodeSelector"].get("feature.node.kubernetes.io/kernel-version.full")
    assert kernel == ("6.8.0-1040-azure" if own.get("usePrecompiled") else None)


def config_map(name: str, **data: str) -> dict[tuple[str, str], Any]:
    return {("ConfigMap", name): {"kind": "ConfigMap", "metadata": {"name": name}, "data": data}}


@pytest.mark.parametrize("crd", [True, False])
def test_a_driver_mounts_each_key_of_its_module_configuration_and_its_digest_knows_their_names(crd: bool) -> None:
    """Not their content: a user who changes that has to change a variable of the driver, too."""
    config = {"kernelModuleConfig": {"name": "modules"}}
    digests: list[str] = []
    for files in ({"nvidia.conf": "a=1"}, {"nvidia.conf": "a=0"}, {"nvidia.conf": "a=0", "nvidia-uvm.conf": "b=1"}):
        policy = {"enabled": True, "useNvidiaDriverCRD": crd, **({} if crd else config)}
        made = started(1, *([driver("h100")] if crd else []), driver=policy)
        content = config_map("modules", **files)
        made.change(lambda state, content=content: replace(state, others={**state.others, **content}))
        if crd:
            made.change(lambda state: replace(state, drivers={"h100": driver("h100", **config)}))
        made.restart()
        item = next(each for name, each in made.state.daemonsets.items() if "driver" in name)
        pod = item["spec"]["template"]["spec"]
        (volume,) = [each for each in pod["volumes"] if each["name"] == "modules"]
        assert volume["configMap"] == {"name": "modules", "items": [{"key": key, "path": key} for key in sorted(files)]}
        env = {each["name"]: each.get("value", "") for each in pod["containers"][0]["env"]}
        digests.append(env["DRIVER_CONFIG_DIGEST"])
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("version", ["v25.3.4", "v26.3.3"])
def test_a_driver_without_a_cluster_policy_says_so(version: str) -> None:
    made = Cluster(State(version, None, drivers={"h100": driver("h100")}))
    made.settle()
    assert error(made, "h100") == ("ReconcileFailed", "no ClusterPolicy object found in the cluster")


@pytest.mark.parametrize(("version", "left"), [("v25.3.4", 2), ("v26.3.3", 1), ("v26.7.0", 1)])
def test_a_daemonset_for_a_system_that_no_node_has_any_more_is_deleted_by_newer_releases(
    version: str, left: int
) -> None:
    made = started(2, driver("h100"), version=version)
    older = with_changes(made.state.nodes["h100-1"], labels_=dict(nfd_labels("22.04")))

    def drivers() -> list[str]:
        return [name for name in made.state.daemonsets if name.startswith("nvidia-gpu-driver")]

    made.change(lambda state: replace(state, nodes={**state.nodes, "h100-1": older}))
    assert len(drivers()) == 2
    newer = with_changes(older, labels_=dict(nfd_labels("24.04")))
    made.change(lambda state: replace(state, nodes={**state.nodes, "h100-1": newer}))
    assert len(drivers()) == left


@pytest.mark.parametrize("version", names())
def test_the_mig_manager_reads_layouts_of_a_users_own_config_map(version: str) -> None:
    own = {"enabled": True, "config": {"name": "layouts"}, "gpuClientsConfig": {"name": "clients"}}
    made = started(1, driver("h100"), version=version, migManager=own)
    pod = made.state.daemonsets["nvidia-mig-manager"]["spec"]["template"]["spec"]
    env = {each["name"]: each.get("value", "") for each in pod["containers"][0]["env"]}
    assert (env["CONFIG_FILE"], "DEFAULT_CONFIG_FILE" in env) == ("/mig-parted-config/config.yaml", False)
    volumes = {each["name"]: each.get("configMap") for each in pod["volumes"]}
    assert (volumes["mig-parted-config"], volumes["gpu-clients"]) == ({"name": "layouts"}, {"name": "clients"})


def test_a_new_driver_version_drains_one_node_at_a_time() -> None:
    made = started(3, driver("h100"))
    made.mark()
    newer = copy.deepcopy(made.state.drivers["h100"])
    newer["spec"]["version"] = "610.57.04"
    made.change(lambda state: replace(state, drivers={"h100": newer}))
    cordoned = [sum(at(each, "spec.unschedulable", False) for each in state.nodes.values()) for state in made.states]
    assert max(cordoned) == 1
    assert cordoned[-1] == 0
    assert {labels(each)[UPGRADE_STATE] for each in made.state.nodes.values()} == {"upgrade-done"}
    assert all(pod.current for pod in made.state.pods.values())
    assert at(made.state.policy, "status.state") == "ready"


@pytest.mark.parametrize("version", names())
@pytest.mark.parametrize("enabled", [True, False])
def test_a_node_gets_the_layout_without_mig_only_with_a_mig_manager(version: str, enabled: bool) -> None:
    made = started(
        1, driver("h100"), version=version, migManager={"enabled": enabled, "config": {"default": "all-disabled"}}
    )
    product = {"nvidia.com/gpu.product": "NVIDIA-H100-NVL"}
    node = with_changes(made.state.nodes["h100-0"], labels_={**product})
    made.change(lambda state: replace(state, nodes={"h100-0": node}))
    given = labels(made.state.nodes["h100-0"])
    assert given.get("nvidia.com/gpu.deploy.mig-manager") == "true"
    assert given.get("nvidia.com/mig.config") == ("all-disabled" if enabled else None)


@pytest.mark.parametrize("version", names())
@pytest.mark.parametrize("enabled", [True, False])
def test_the_validator_checks_the_device_plugin_only_where_there_is_one(version: str, enabled: bool) -> None:
    made = started(1, driver("h100"), version=version, devicePlugin={"enabled": enabled})
    pod = made.state.daemonsets["nvidia-operator-validator"]["spec"]["template"]["spec"]
    steps = [each["name"] for each in pod["initContainers"]]
    assert steps[:3] == ["driver-validation", "toolkit-validation", "cuda-validation"]
    assert steps[3:] == (["plugin-validation"] if enabled else [])


@pytest.mark.parametrize("version", names())
def test_a_settled_cluster_is_left_alone(version: str) -> None:
    made = started(2, driver("h100"), version=version)
    assert operator.reconcile(made.state).steps == ()
    assert operator.wakes(made.state, made.state) == frozenset()


def test_every_daemonset_is_one_an_api_server_takes() -> None:
    made = started(1, driver("h100"), sandboxWorkloads={"enabled": True}, dcgm={"enabled": True})
    for item in made.state.daemonsets.values():
        template = item["spec"]["template"]
        assert item["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        volumes = [each["name"] for each in template["spec"].get("volumes", ())]
        assert len(volumes) == len(set(volumes))
        for container in template["spec"]["containers"]:
            assert container["image"]
            assert all(isinstance(each.get("value", ""), str) for each in container.get("env", ()))


def test_an_unknown_release_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SimulationError, match=r"v99\.1\.0.*v25\.3\.4"):
        release("99.1.0")
