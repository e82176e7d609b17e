"""What a change of a driver's settings does to running drivers: a reinstallation, a restart, or nothing."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
import yaml

from simulator.cluster.objects import annotations_of, at, labels, name, with_changes
from simulator.gpu import operator
from simulator.gpu.driver_digest import digest_of
from simulator.gpu.names import (
    LAST_APPLIED,
    UPGRADE_ENABLED,
    UPGRADE_REQUESTED,
    UPGRADE_SKIP,
    UPGRADE_STATE,
)
from simulator.gpu.release import names, release
from simulator.gpu.state import State
from tests.support.cases import in_one_test
from tests.support.gpu_cluster import Cluster
from tests.support.gpu_recordings import FOLDER
from tests.support.gpu_replay import set_at
from tests.unit.simulator.test_gpu_operator_model import POOL, config_map, driver, error, started

AUTOMATIC = {"autoUpgrade": True, "maxParallelUpgrades": 1, "maxUnavailable": "25%"}
NEWER = "610.57.04"
FIELDS: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "driver-changes.yaml").read_text())
CASES = [(kind, field) for kind, fields in FIELDS.items() for field in fields]


def driver_daemonset(made: Cluster) -> dict[str, Any]:
    (item,) = [each for key, each in made.state.daemonsets.items() if "driver-" in key]
    return item


def fingerprint(made: Cluster) -> tuple[str, str, str]:
    """Of the DaemonSet: its template, what it installs, and its name."""
    item = driver_daemonset(made)
    return annotations_of(item)[LAST_APPLIED], digest_of(item["spec"]["template"]["spec"]), name(item)


def effect(before: tuple[str, str, str], after: tuple[str, str, str]) -> str:
    if before[2] != after[2]:
        return "replace"
    if before[0] == after[0]:
        return "nothing"
    return "restart" if before[1] == after[1] else "reinstall"


def set_driver(made: Cluster, field: str, value: Any) -> None:
    changed = copy.deepcopy(made.state.drivers["h100"])
    set_at(changed["spec"], field, value)
    made.change(lambda state: replace(state, drivers={"h100": changed}))


def set_policy(made: Cluster, field: str, value: Any) -> None:
    changed = copy.deepcopy(dict(made.state.policy or {}))
    set_at(changed["spec"], field, value)
    made.change(lambda state: replace(state, policy=changed))


def made_with(kind: str) -> Cluster:
    crd = kind == "NVIDIADriver"
    given = driver("h100", upgradePolicy={**AUTOMATIC})
    policy = {"enabled": True, "useNvidiaDriverCRD": crd, "version": "595.91.07", "upgradePolicy": AUTOMATIC}
    made = started(1, *([given] if crd else []), driver=policy)
    made.change(lambda state: replace(state, others={**state.others, **config_map("modules", **{"a.conf": "a=1"})}))
    return made


@in_one_test(("kind", "field"), CASES)
def test_a_changed_field_reinstalls_restarts_or_does_nothing_as_the_operator_does_it(kind: str, field: str) -> None:
    case = FIELDS[kind][field]
    made = made_with(kind)
    before = fingerprint(made)
    made.mark()
    (set_driver if kind == "NVIDIADriver" else set_policy)(made, field, case["value"])
    does = effect(before, fingerprint(made))
    assert does == case["does"]
    assert passed(made) == PASSED[does]


PASSED = {
    "nothing": [],
    "replace": [],
    "restart": ["upgrade-required", "pod-restart-required", "validation-required", "uncordon-required", "upgrade-done"],
    "reinstall": [
        "upgrade-required",
        "cordon-required",
        "wait-for-jobs-required",
        "pod-deletion-required",
        "pod-restart-required",
        "validation-required",
        "uncordon-required",
        "upgrade-done",
    ],
}


def passed(made: Cluster, node: str = "h100-0") -> list[str]:
    """The upgrade states that a node got since the last mark."""
    changes = [step.body for step in made.steps if step.verb == "label" and step.name == node]
    return [each[UPGRADE_STATE] for each in changes if UPGRADE_STATE in each]


@pytest.mark.parametrize("version", ["v25.3.4", "v26.3.3"])
def test_before_v26_7_every_new_template_clears_the_node(version: str) -> None:
    made = started(1, driver("h100"), version=version)
    made.mark()
    set_driver(made, "tolerations", [{"key": "team", "operator": "Exists"}])
    assert passed(made) == PASSED["reinstall"]


def test_a_restart_cordons_the_node_and_releases_it() -> None:
    made = made_with("NVIDIADriver")
    made.mark()
    set_driver(made, "tolerations", [{"key": "team", "operator": "Exists"}])
    cordons = [step.body for step in made.steps if step.verb == "cordon"]
    assert cordons == [True, False]
    assert [step.verb for step in made.steps].index("cordon") < [step.verb for step in made.steps].index("restart")


def test_an_upgrade_that_somebody_asks_for_clears_the_node_and_is_asked_for_once() -> None:
    made = made_with("NVIDIADriver")
    made.mark()
    asked = with_changes(made.state.nodes["h100-0"], annotations_={UPGRADE_REQUESTED: "true"})
    made.change(lambda state: replace(state, nodes={"h100-0": asked}, is_due=True))
    made.restart()
    assert passed(made)[:3] == ["upgrade-required", "cordon-required", "wait-for-jobs-required"]
    assert UPGRADE_REQUESTED not in annotations_of(made.state.nodes["h100-0"])
    assert not any(step.verb == "restart" for step in made.steps), "the driver's pod is of the present template"


def test_a_new_default_of_the_driver_manager_alone_replaces_no_driver() -> None:
    """Seen with v26.7.0; `handleDefaultImagesInObjects` in internal/state/driver.go."""
    made = made_with("NVIDIADriver")
    template = fingerprint(made)[0]
    made.change(lambda state: replace(state, manager_image="registry.example/manager:v0.13.0"))
    made.restart()
    assert fingerprint(made)[0] == template
    set_driver(made, "version", NEWER)
    (manager,) = driver_daemonset(made)["spec"]["template"]["spec"]["initContainers"]
    assert manager["image"] == "registry.example/manager:v0.13.0"


@pytest.mark.parametrize("version", names())
def test_a_missing_module_configuration_is_left_out_until_it_exists(version: str) -> None:
    """Seen with all three releases: the error is in the operator's log only."""
    made = started(1, driver("h100", kernelModuleConfig={"name": "modules"}), version=version)

    def volumes() -> list[str]:
        return [each["name"] for each in driver_daemonset(made)["spec"]["template"]["spec"]["volumes"]]

    assert made.state.drivers["h100"]["status"]["state"] == "ready"
    assert "modules" not in volumes()
    made.change(lambda state: replace(state, others={**state.others, **config_map("modules", a="1")}))
    assert "modules" not in volumes(), "nothing watches the ConfigMap of a driver that is ready"
    made.restart()
    assert "modules" in volumes()


def test_a_driver_that_is_not_ready_follows_the_files_of_its_configuration() -> None:
    made = started(1, driver("h100", kernelModuleConfig={"name": "modules"}))
    waiting = {"h100": {**made.state.drivers["h100"], "status": {"state": "notReady"}}}
    before = replace(made.state, drivers=waiting)
    after = replace(before, others={**before.others, **config_map("modules", a="1")})
    assert "driver" in operator.wakes(before, after)
    ready = replace(made.state, others=after.others)
    assert "driver" not in operator.wakes(made.state, ready)


def test_of_a_cluster_policy_a_missing_module_configuration_stops_everything_after_the_driver() -> None:
    named = {"enabled": True, "kernelModuleConfig": {"name": "modules"}}
    made = started(1, driver=named)
    conditions = at(made.state.policy, "status.conditions")
    expected = (
        "Failed to reconcile state-driver: ERROR: failed to create ConfigMap VolumeMounts for kernel module "
        'configuration: ERROR: could not get ConfigMap modules from client: ConfigMap "modules" not found'
    )
    assert [each["message"] for each in conditions if each["type"] == "Error"] == [expected]
    assert made.state.daemonsets == {}
    made.change(lambda state: replace(state, others={**state.others, **config_map("modules", a="1")}))
    assert "nvidia-operator-validator" in made.state.daemonsets


@pytest.mark.parametrize(("version", "wakes"), [("v25.3.4", True), ("v26.3.3", False), ("v26.7.0", True)])
def test_a_changed_skip_label_starts_an_upgrade_pass_where_the_controller_watches_it(version: str, wakes: bool) -> None:
    """v25.3.4 watches every label, v26.3.3 the upgrade state alone, v26.7.0 that and the skip label (`SetupWithManager`
    in controllers/upgrade_controller.go of each tag)."""
    made = started(1, driver("h100"), version=version)
    skipped = with_changes(made.state.nodes["h100-0"], labels_={UPGRADE_SKIP: "true"})
    after = replace(made.state, nodes={"h100-0": skipped}, is_due=False)
    assert ("upgrade" in operator.wakes(replace(made.state, is_due=False), after)) is wakes


@pytest.mark.parametrize(("version", "wakes"), [("v25.3.4", False), ("v26.3.3", False), ("v26.7.0", True)])
def test_a_changed_upgrade_policy_of_a_driver_starts_a_pass_from_v26_7_on(version: str, wakes: bool) -> None:
    made = started(1, driver("h100", upgradePolicy=AUTOMATIC), version=version)
    other = driver("h100", upgradePolicy={**AUTOMATIC, "maxParallelUpgrades": 2})
    after = replace(made.state, drivers={"h100": {**made.state.drivers["h100"], **other}}, is_due=False)
    assert ("upgrade" in operator.wakes(replace(made.state, is_due=False), after)) is wakes


def stuck(version: str, **policy: Any) -> Cluster:
    """A node whose driver's upgrade has failed."""
    made = started(1, driver("h100", upgradePolicy=AUTOMATIC), version=version, **policy)
    failed = with_changes(made.state.nodes["h100-0"], labels_={UPGRADE_STATE: "upgrade-failed"})
    failed = {**failed, "spec": {**failed["spec"], "unschedulable": True}}
    outdated = {key: replace(pod, current=False, ready=False) for key, pod in made.state.pods.items()}
    made.state = replace(made.state, nodes={"h100-0": failed}, pods=outdated)
    made.seen = made.state
    return made


def test_a_driver_without_automatic_upgrades_loses_its_upgrade_states_and_keeps_its_cordons() -> None:
    made = stuck("v26.7.0")
    set_driver(made, "upgradePolicy", {"autoUpgrade": False})
    node = made.state.nodes["h100-0"]
    assert UPGRADE_STATE not in labels(node)
    assert UPGRADE_ENABLED not in annotations_of(node)
    assert at(node, "spec.unschedulable") is True
    assert at(made.state.policy, "status.state") == "ready"


@pytest.mark.parametrize("version", names())
def test_without_any_automatic_upgrade_all_states_go(version: str) -> None:
    made = stuck(version)
    if version == "v26.7.0":
        made.change(lambda state: replace(state, drivers={}))
    else:
        set_policy(made, "driver.upgradePolicy", {"autoUpgrade": False})
    assert UPGRADE_STATE not in labels(made.state.nodes["h100-0"])


def test_a_driver_without_an_upgrade_policy_is_upgraded_with_the_operators_defaults() -> None:
    """Not with the ClusterPolicy's (`GetUpgradePolicyWithDefaults`)."""
    off = {"enabled": True, "useNvidiaDriverCRD": True, "upgradePolicy": {"autoUpgrade": False}}
    made = started(1, driver("h100"), driver=off)
    made.mark()
    set_driver(made, "version", NEWER)
    assert passed(made) == PASSED["reinstall"]


def test_a_skipped_node_does_not_keep_the_cluster_policy_waiting() -> None:
    made = started(1, driver("h100", upgradePolicy=AUTOMATIC))
    marks = {UPGRADE_SKIP: "true", UPGRADE_STATE: "upgrade-required"}
    node = with_changes(made.state.nodes["h100-0"], labels_={**marks})
    made.change(lambda state: replace(state, nodes={"h100-0": node}))
    assert at(made.state.policy, "status.state") == "ready"


def test_the_mark_of_a_deleted_driver_stays_on_its_nodes() -> None:
    made = started(1, driver("h100", upgradePolicy=AUTOMATIC))
    made.change(lambda state: replace(state, drivers={}))
    assert annotations_of(made.state.nodes["h100-0"]).get(UPGRADE_ENABLED) == "true"


def without_policy(state: State) -> State:
    return replace(state, policy=None)


@pytest.mark.parametrize("version", names())
def test_what_becomes_of_drivers_whose_cluster_policy_is_deleted(version: str) -> None:
    made = started(1, driver("h100", nodeSelector=POOL), version=version)
    policy, kept = made.state.policy, driver_daemonset(made)
    made.change(without_policy)
    assert driver_daemonset(made) == kept
    if not release(version).policy_required:
        assert made.state.drivers["h100"]["status"]["state"] == "ready"
        set_driver(made, "version", NEWER)
        assert driver_daemonset(made) != kept
        return
    assert error(made, "h100") == ("ReconcileFailed", "no ClusterPolicy object found in the cluster")
    made.change(lambda state: replace(state, daemonsets={}))
    made.change(lambda state: replace(state, policy=policy))
    assert made.state.drivers["h100"]["status"]["state"] == "ready"
    assert driver_daemonset(made)["metadata"]["name"] == kept["metadata"]["name"]


@pytest.mark.parametrize("field", ["gds", "gdrcopy"])
def test_a_module_without_a_complete_image_fails_the_driver(field: str) -> None:
    made = started(1, driver("h100", **{field: {"enabled": True, "image": "x"}}))
    reason, text = error(made, "h100")
    assert reason == "ReconcileFailed"
    assert "repository, image and version must all be set" in text


def test_a_daemonset_that_only_a_taint_keeps_away_stays() -> None:
    """NVIDIA/gpu-operator#1368."""
    cluster = started(1, driver("h100"))
    tainted = cluster.state.nodes["h100-0"]
    tainted = {**tainted, "spec": {"taints": [{"key": "team", "value": "a", "effect": "NoExecute"}]}}
    cluster.change(lambda state: replace(state, nodes={"h100-0": tainted}))
    cluster.mark()
    cluster.restart()
    assert [step.verb for step in cluster.steps if step.kind == "DaemonSet"] == []


OPERANDS = {
    "toolkit": "nvidia-container-toolkit-daemonset",
    "devicePlugin": "nvidia-device-plugin-daemonset",
    "dcgm": "nvidia-dcgm",
    "dcgmExporter": "nvidia-dcgm-exporter",
    "gfd": "gpu-feature-discovery",
    "validator": "nvidia-operator-validator",
}


@pytest.mark.parametrize("component", OPERANDS)
def test_resources_pull_settings_and_network_of_an_operand_reach_its_pods(component: str) -> None:
    """So a change restarts them (the `Transform` functions in controllers/object_controls.go of v26.7.0)."""
    on = {"enabled": True}
    made = started(1, driver("h100"), dcgm=on)
    key = OPERANDS[component]
    before = annotations_of(made.state.daemonsets[key])[LAST_APPLIED]
    given = {"resources": {"requests": {"cpu": "1"}}, "imagePullSecrets": ["pull"], "hostNetwork": True, "args": ["-v"]}
    set_policy(made, component, {**on, **given})
    item = made.state.daemonsets[key]
    pod = item["spec"]["template"]["spec"]
    assert annotations_of(item)[LAST_APPLIED] != before
    assert all(each["resources"] == given["resources"] for each in pod["containers"])
    assert (pod["imagePullSecrets"], pod["hostNetwork"]) == ([{"name": "pull"}], True)
    assert (pod["containers"][0]["args"] == ["-v"]) is (component != "toolkit")


@pytest.mark.parametrize("version", names())
def test_another_folder_for_mps_reaches_the_plugin_and_the_daemon(version: str) -> None:
    """Seen: `devicePlugin.mps.root` patched into the ClusterPolicy works."""
    made = started(1, driver("h100"), version=version, devicePlugin={"enabled": True, "mps": {"root": "/mnt/mps"}})
    for key in ("nvidia-device-plugin-daemonset", "nvidia-device-plugin-mps-control-daemon"):
        pod = made.state.daemonsets[key]["spec"]["template"]["spec"]
        paths = {each["name"]: at(each, "hostPath.path") for each in pod["volumes"]}
        assert (paths["mps-root"], paths["mps-shm"]) == ("/mnt/mps", "/mnt/mps/shm")
