"""What the chart models render, and how that differs by release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.support.charts import OURS, RELEASES, Json, model, nested, one, over, render, run
from tests.support.gpu_recordings import recording, scenarios

RECORDED = ("v25.3.4", "v26.3.3", "v26.7.0")


@pytest.mark.parametrize("release", RELEASES)
def test_helm_finds_nothing_wrong_with_a_model(release: str) -> None:
    assert "0 chart(s) failed" in run("lint", str(model(release)), values=OURS)


# What a ClusterPolicy says of images, and of workloads in virtual machines, is not in the recordings.
UNRECORDED = ("repository", "image", "version", "imagePullPolicy")
FOR_VMS = (
    "sandboxWorkloads",
    "vgpuManager",
    "vgpuDeviceManager",
    "vfioManager",
    "kataManager",
    "sandboxDevicePlugin",
    "kataSandboxDevicePlugin",
    "ccManager",
)


def dotted(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves that say something, by path; lists are leaves."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from dotted(item, f"{path}.{key}" if path else key)
    elif (value or value == 0) and path.rpartition(".")[2] not in UNRECORDED and path.partition(".")[0] not in FOR_VMS:
        yield path, value


def changed(base: Mapping[str, Any], difference: Any) -> Json:
    """Values or dotted facts with a recording's difference applied: `+` came, `-` went, `~` was and is."""
    result = dict(base)
    for marked, value in ({} if difference == "same" else difference).items():
        mark, path = marked[0], marked[1:]
        if mark == "-":
            result.pop(path)
        else:
            result[path] = value[1] if mark == "~" else value
    return result


def inputs(release: str, scenario: str) -> tuple[Json, Json]:
    """Chart values of a recorded scenario, and the ClusterPolicy's spec that came of them, by dotted path."""
    baseline, own = (recording(release, name)["inputs"] for name in ("a-baseline", scenario))
    spec = changed(baseline["clusterpolicy_spec"], own.get("clusterpolicy_spec_vs_baseline", "same"))
    values: Json = baseline["chart_values"]
    for path, value in changed({}, own.get("chart_values_vs_baseline", "same")).items():
        values = over(values, nested(path, value))
    return values, spec


DISTINCT = [
    (release, scenario)
    for release in RECORDED
    for scenario in scenarios(release)
    if scenario == "a-baseline" or recording(release, scenario)["inputs"]["chart_values_vs_baseline"] != "same"
]


# In `make test`: the newest recorded release; a baseline and the objects of every release.
SCENARIOS = [
    pytest.param(*each, marks=pytest.mark.deep)
    if each[0] != RECORDED[-1] and each[1] != "a-baseline"
    else pytest.param(*each)
    for each in DISTINCT
]


@pytest.mark.parametrize(("release", "scenario"), SCENARIOS)
def test_the_cluster_policy_is_the_recorded_one(release: str, scenario: str) -> None:
    values, spec = inputs(release, scenario)
    policy = one(render(release, values), "ClusterPolicy")
    flat = dict(dotted(policy["spec"]))
    assert flat == spec


def test_every_recorded_release_has_scenarios_with_values() -> None:
    assert {release for release, _ in DISTINCT} == set(RECORDED)
    assert len(DISTINCT) >= 3 * len(RECORDED)


def test_older_releases_let_an_empty_device_plugin_configuration_pass() -> None:
    assert one(render("v26.3.3", {"devicePlugin": {"config": {"create": True, "data": {"a": "b"}}}}), "ClusterPolicy")


@pytest.mark.parametrize(("release", "is_null"), [("v25.3.4", True), ("v25.10.1", True), ("v26.3.3", False)])
def test_up_to_25_10_empty_sections_render_as_null(release: str, is_null: bool) -> None:
    spec = one(render(release, {"devicePlugin": {"config": {"name": "configs"}}}), "ClusterPolicy")["spec"]
    assert (spec["validator"]["plugin"] is None) == is_null
    assert ("default" in spec["devicePlugin"]["config"]) == is_null
    assert spec["devicePlugin"]["config"].get("default") is None
    ours = one(render(release, OURS), "ClusterPolicy")["spec"]
    assert ours["validator"]["plugin"]["env"] == [{"name": "WITH_WORKLOAD", "value": "false"}]


@pytest.mark.parametrize("release", ["v25.3.4", "v26.3.3", "v26.7.0"])
def test_an_empty_mig_strategy_renders_as_null(release: str) -> None:
    """As in templates/clusterpolicy.yaml of each tag. Helm's POST drops it, and server-side apply refuses it."""
    assert one(render(release, OURS), "ClusterPolicy")["spec"]["mig"] is None


def test_from_26_7_on_the_driver_manager_of_drivers_is_named_in_the_operators_environment() -> None:
    rendered = render("v26.7.0", over(OURS, {"driver": {"manager": {"version": "v0.12.1"}}}))
    assert "manager" not in one(rendered, "ClusterPolicy")["spec"]["driver"]
    (container,) = one(rendered, "Deployment", "gpu-operator")["spec"]["template"]["spec"]["containers"]
    environment = {each["name"]: each.get("value", "") for each in container["env"]}
    assert environment["DRIVER_MANAGER_IMAGE"].endswith("/k8s-driver-manager:v0.12.1")


@pytest.mark.parametrize(("release", "kept"), [("v26.3.3", True), ("v26.7.0", False)])
def test_from_26_7_on_drivers_take_nothing_from_the_values(release: str, kept: bool) -> None:
    driver = one(render(release, over(OURS, {"driver": {"version": "580.173.02"}})), "ClusterPolicy")["spec"]["driver"]
    assert driver["useNvidiaDriverCRD"] is True
    assert driver["upgradePolicy"]["autoUpgrade"] is True
    assert (driver.get("version") == "580.173.02") == kept
    assert ("kernelModuleType" in driver) == kept


@pytest.mark.parametrize(("release", "selector", "default"), [("v26.3.3", {"a": "b"}, None), ("v26.7.0", None, True)])
def test_the_charts_own_driver_takes_every_node_from_26_7_on(
    release: str, selector: Json | None, default: bool | None
) -> None:
    crd: Json = {"enabled": True, **({"nodeSelector": selector} if selector else {})}
    spec = one(render(release, {"driver": {"nvidiaDriverCRD": crd}}), "NVIDIADriver", "default")["spec"]
    assert (spec.get("nodeSelector"), spec.get("default")) == (selector, default)
    assert spec["image"] == "driver"


COMMON = {
    "ServiceAccount/node-feature-discovery",
    "ServiceAccount/gpu-operator",
    "ConfigMap/gpu-operator-node-feature-discovery-master-conf",
    "ConfigMap/gpu-operator-node-feature-discovery-worker-conf",
    "ClusterRole/gpu-operator-node-feature-discovery",
    "ClusterRole/gpu-operator-node-feature-discovery-gc",
    "ClusterRole/gpu-operator",
    "ClusterRoleBinding/gpu-operator-node-feature-discovery",
    "ClusterRoleBinding/gpu-operator-node-feature-discovery-gc",
    "ClusterRoleBinding/gpu-operator",
    "Role/gpu-operator-node-feature-discovery-worker",
    "Role/gpu-operator",
    "RoleBinding/gpu-operator-node-feature-discovery-worker",
    "RoleBinding/gpu-operator",
    "DaemonSet/gpu-operator-node-feature-discovery-worker",
    "Deployment/gpu-operator-node-feature-discovery-master",
    "Deployment/gpu-operator-node-feature-discovery-gc",
    "Deployment/gpu-operator",
    "ClusterPolicy/cluster-policy",
    "ServiceAccount/gpu-operator-node-feature-discovery-prune post-delete",
    "ClusterRole/gpu-operator-node-feature-discovery-prune post-delete",
    "ClusterRoleBinding/gpu-operator-node-feature-discovery-prune post-delete",
    "Job/gpu-operator-node-feature-discovery-prune post-delete",
    "ServiceAccount/gpu-operator-upgrade-crd-hook-sa pre-upgrade",
    "ClusterRole/gpu-operator-upgrade-crd-hook-role pre-upgrade",
    "ClusterRoleBinding/gpu-operator-upgrade-crd-hook-binding pre-upgrade",
    "Job/gpu-operator-upgrade-crd pre-upgrade",
}
"""Objects of every release with its default values, hooks with the moment they run; rendered from upstream's charts."""


def names(objects: list[Json]) -> set[str]:
    return {
        " ".join(
            [
                f"{item['kind']}/{item['metadata']['name']}",
                *filter(None, [item["metadata"].get("annotations", {}).get("helm.sh/hook")]),
            ]
        )
        for item in objects
    }


@pytest.mark.parametrize("release", RELEASES)
def test_the_objects_are_those_of_the_chart(release: str) -> None:
    own = {"Job/gpu-operator-cleanup-gpucluster pre-delete"} if release.startswith("v26.7.") else set[str]()
    assert names(render(release)) == COMMON | own


def test_hooks_and_what_they_remove_are_switched_by_values() -> None:
    assert "Job/gpu-operator-upgrade-crd pre-upgrade" not in names(
        render("v26.7.0", {"operator": {"upgradeCRD": False}})
    )
    cleaning = render("v26.7.0", {"operator": {"cleanupCRD": True}})
    assert "Job/gpu-operator-cleanup-crd pre-delete" in names(cleaning)
    assert one(cleaning, "ClusterPolicy")["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}


CONFIGS: Json = {
    "devicePlugin": {"config": {"create": True, "name": "shared", "data": {"full": "version: v1"}}},
    "extraObjects": [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain"}},
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: of-{{ .Release.Name }}\n",
    ],
    "nfd": {"nodefeaturerules": True},
}


def test_configmaps_rules_and_extra_objects_come_from_values() -> None:
    objects = render("v26.7.0", CONFIGS)
    assert one(objects, "ConfigMap", "shared")["data"] == {"full": "version: v1"}
    assert one(objects, "ConfigMap", "plain")
    assert one(objects, "ConfigMap", "of-gpu-operator")
    assert one(objects, "NodeFeatureRule")["metadata"]["name"] == "nvidia-kernel-modules"


@pytest.mark.parametrize("release", RELEASES)
def test_without_nfd_there_is_nothing_of_it_its_definitions_included(release: str) -> None:
    objects = render(release, {"nfd": {"enabled": False}}, "--include-crds")
    assert not [name for name in names(objects) if "feature" in name]
    assert "CustomResourceDefinition/clusterpolicies.nvidia.com" in names(objects)
    with_nfd = names(render(release, None, "--include-crds"))
    assert "CustomResourceDefinition/nodefeatures.nfd.k8s-sigs.io" in with_nfd


@pytest.mark.parametrize("release", RELEASES)
def test_operators_run_where_no_gpu_is(release: str) -> None:
    objects = render(release, OURS)
    for name in (
        "gpu-operator",
        "gpu-operator-node-feature-discovery-master",
        "gpu-operator-node-feature-discovery-gc",
    ):
        pod = one(objects, "Deployment", name)["spec"]["template"]["spec"]
        tolerated = {toleration.get("key") for toleration in pod.get("tolerations", [])}
        assert tolerated <= {"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}, name
    worker = one(objects, "DaemonSet")["spec"]["template"]["spec"]
    assert worker["tolerations"] == OURS["node-feature-discovery"]["worker"]["tolerations"]


def test_nfd_of_the_newest_release_takes_its_own_keys() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "50%"}}
    init = [{"name": "wait", "image": "registry.example/wait:1"}]
    worker = {"updateStrategy": strategy, "ownerRefs": ["node"], "initContainers": init, "extraArgs": ["-v=1"]}
    own = {"checksumValuesOnly": True, "worker": worker, "gc": {"initContainers": init}}
    objects = render("v26.7.0", {"node-feature-discovery": own})
    daemonset = one(objects, "DaemonSet")["spec"]
    assert daemonset["updateStrategy"] == strategy
    assert daemonset["template"]["spec"]["initContainers"] == init
    assert daemonset["template"]["spec"]["containers"][0]["args"] == ["-owner-refs=node", "-v=1"]
    collector = one(objects, "Deployment", "gpu-operator-node-feature-discovery-gc")["spec"]["template"]["spec"]
    assert collector["initContainers"] == init


def test_the_operators_deployment_is_found_by_upstreams_labels_and_runs_the_release() -> None:
    placed = {"operator": {"tolerations": [{"operator": "Exists"}], "nodeSelector": {"agentpool": "cpu"}}}
    deployment = one(render("v26.7.0", placed), "Deployment", "gpu-operator")
    labels = deployment["metadata"]["labels"]
    assert labels["app"] == labels["app.kubernetes.io/component"] == "gpu-operator"
    assert labels["app.kubernetes.io/version"] == "v26.7.0"
    pod = deployment["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == "nvcr.io/nvidia/gpu-operator:v26.7.0"
    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert pod["nodeSelector"] == {"agentpool": "cpu", "kubernetes.io/os": "linux"}
