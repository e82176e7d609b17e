"""Every known cause, broken into a node that works: the diagnosis has to name it, at its gate."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from physical_ai.readiness import ClosedGate, Expected
from physical_ai.readiness.causes import causes
from physical_ai.readiness.model import GATES
from tests.support.cases import in_one_test
from tests.support.readiness_objects import DRIVER, NFD, PCI, PLUGIN, TOOLKIT, Situation, daemonset, pod
from tests.support.readiness_situations import (
    CREATING,
    EARLIER,
    LATER,
    SPOT,
    configured,
    down,
    grid_agent,
    instances,
    label,
    mig_failed,
    mig_none,
    no_label,
    nothing_offered,
    other_os,
    policies,
    shared,
    spot,
    stray_driver,
    unclaimed,
    unscheduled,
    unselected,
    waiting_for_ofed,
    waiting_in_validation,
    waiting_validator,
    with_agent,
    with_fabric,
    with_ports,
    without_deployment,
)
from tests.unit.readiness.test_gates_claims import OF_CLAIMS
from tests.unit.readiness.test_gates_slurm import OF_SLURM

CASES: list[tuple[str, str, Callable[[], Situation]]] = [
    (
        "node",
        "containerd-drop-in",
        lambda: Situation().not_ready("failed to load drop-in conf.d/99.toml"),
    ),
    ("toolkit", "containerd-drop-in", lambda: Situation().fails("toolkit", "drop-in config version 4 is higher")),
    (
        "toolkit",
        "toolkit-before-containerd",
        lambda: Situation().fails("toolkit", "unable to setup runtime: unable to restart containerd: unable to dial"),
    ),
    ("node", "runtime-down", lambda: Situation().not_ready("container runtime is down")),
    ("node", "node-silent", lambda: Situation().not_ready("Kubelet stopped posting node status.", "NodeStatusUnknown")),
    ("nfd", "nfd-absent", lambda: no_label(PCI).without("nfd", daemonset=True)),
    ("nfd", "nfd-master-down", lambda: down("gpu-operator-node-feature-discovery-master", no_label(PCI))),
    (
        "nfd",
        "nfd-master-scaled-down",
        lambda: scaled_down("gpu-operator-node-feature-discovery-master", no_label(PCI)),
    ),
    ("nfd", "nfd-worker-down", lambda: no_label(PCI).fails("nfd", "panic")),
    ("toolkit", "untolerated-taint", spot),
    ("toolkit", "unselected", unselected),
    ("toolkit", "unscheduled", unscheduled),
    ("driver", "image-pull", lambda: Situation().stuck("driver", state={"waiting": {"reason": "ImagePullBackOff"}})),
    ("driver", "ofed-missing", waiting_for_ofed),
    (
        "driver",
        "peermem-outdated",
        lambda: Situation().fails("driver", "could not insert 'nvidia_peermem': Invalid argument"),
    ),
    (
        "validator",
        "fabric-manager",
        lambda: Situation().fails("validator", "802: system not yet initialized"),
    ),
    ("fabric", "nic-unlabeled", with_fabric),
    ("fabric", "nic-driver", lambda: with_fabric(nic="true")),
    ("fabric", "nic-driver", lambda: with_fabric(nic="true", wait="true")),
    ("fabric", "adapters-missing", lambda: with_fabric(7, nic="true", wait="false")),
    ("fabric", "port-down", lambda: with_ports(["DOWN", *["ACTIVE"] * 7])),
    ("fabric", "ports-missing", lambda: with_ports(["ACTIVE"] * 7)),
    ("labels", "operator-absent", lambda: without_deployment("gpu-operator")),
    ("labels", "operator-down", lambda: down("gpu-operator", no_label("nvidia.com/gpu.present"))),
    ("labels", "operator-scaled-down", lambda: scaled_down("gpu-operator", no_label("nvidia.com/gpu.present"))),
    ("labels", "policy-absent", policies),
    ("toolkit", "operator-absent", lambda: without_operator(None)),
    ("toolkit", "operator-scaled-down", lambda: without_operator(0)),
    ("toolkit", "policy-absent", lambda: without_operator(1)),
    ("labels", "policy-ignored", lambda: policies("notReady", "")),
    ("labels", "policy-error", lambda: policies("notReady").error("ReconcileFailed", "no such ConfigMap")),
    ("deploy-labels", "operands-off", lambda: label(gpu_deploy_operands="false")),
    ("deploy-labels", "workload-config", lambda: label(gpu_workload_config="vm-passthrough")),
    ("deploy-labels", "label-paused", lambda: label(gpu_deploy_container_toolkit="paused-for-driver-upgrade")),
    ("deploy-labels", "label-false", lambda: label(gpu_deploy_container_toolkit="false")),
    ("deploy-labels", "label-missing", lambda: label(gpu_deploy_container_toolkit=None)),
    ("driver", "driver-conflict", lambda: unclaimed_by("ConflictingNodeSelector")),
    ("driver", "driver-error", lambda: unclaimed_by("ReconcileFailed")),
    ("driver", "driver-unclaimed", unclaimed),
    ("driver", "two-drivers", stray_driver),
    (
        "driver",
        "driver-preinstalled",
        lambda: (
            Situation()
            .stuck("driver", "k8s-driver-manager")
            .says("driver", "driver is pre-installed on host", container="k8s-driver-manager")
        ),
    ),
    ("driver", "driver-vgpu", lambda: Situation().fails("driver", "No supported NVIDIA GPU found: the GPU is a vGPU")),
    ("driver", "driver-wrong-os", other_os),
    (
        "driver",
        "driver-secure-boot",
        lambda: Situation().fails("driver", "ERROR: Key was rejected by service"),
    ),
    ("driver", "driver-headers", lambda: Situation().fails("driver", "Could not resolve Linux kernel version")),
    ("driver", "driver-in-use", lambda: Situation().fails("driver", "Could not unload NVIDIA driver kernel modules")),
    (
        "driver",
        "driver-stuck",
        lambda: Situation(work=[]).fails("driver", "Could not unload NVIDIA driver kernel modules"),
    ),
    ("driver", "grid-unlicensed", lambda: grid_agent("the vGPU has no licence yet")),
    ("driver", "grid-stopped", lambda: grid_agent("no such version", "FetchFailed")),
    ("driver", "grid-driver", lambda: grid_agent("building the modules, for 80 s now")),
    (
        "driver",
        "driver-building",
        lambda: Situation().stuck("driver").says("driver", "Installing NVIDIA driver"),
    ),
    ("driver-validation", "host-driver-absent", lambda: waiting_validator("toolkit", LATER)),
    ("validator", "host-driver-late", lambda: waiting_validator("validator", EARLIER)),
    ("validator", "bind-mount", lambda: Situation().fails("validator", "lstat /run/nvidia/driver/dev/nvidiactl: no")),
    (
        "device-plugin",
        "no-runtime",
        lambda: (
            Situation()
            .stuck("device-plugin", "toolkit-validation", state=CREATING)
            .says("device-plugin", 'no runtime for "nvidia" is configured', "FailedCreatePodSandBox", "")
        ),
    ),
    ("device-plugin", "driver-gone", lambda: Situation().fails("device-plugin", "failed to initialize NVML")),
    (
        "device-plugin",
        "driver-gone-aks",
        lambda: Situation().grid("aks").fails("device-plugin", "failed to initialize NVML"),
    ),
    (
        "device-plugin",
        "config-key",
        lambda: Situation().fails("device-plugin", "specified config h1oo does not exist", "config-manager-init"),
    ),
    ("device-plugin", "mig-failed", mig_failed),
    ("device-plugin", "mig-single", lambda: Situation().fails("device-plugin", "more than one MIG mode is present")),
    ("device-plugin", "mps-on-mig", lambda: Situation().fails("device-plugin", "MPS is not supported for MIG devices")),
    ("device-plugin", "mps-daemon", lambda: Situation().fails("device-plugin", "error waiting for MPS daemon")),
    ("allocatable", "mig-none", mig_none),
    ("allocatable", "other-resource", lambda: Situation().gpus({"nvidia.com/mig-1g.12gb": 7})),
    ("allocatable", "config-not-applied", lambda: configured().gpus({"nvidia.com/mig-1g.12gb": 7})),
    ("allocatable", "gpus-missing", lambda: configured(2).gpus({"nvidia.com/gpu": 1})),
    ("allocatable", "unhealthy-share", lambda: shared(4, 3)),
    ("allocatable", "unhealthy-instance", instances),
    ("allocatable", "unhealthy", lambda: Situation().gpus({"nvidia.com/gpu": 0}, {"nvidia.com/gpu": 1})),
]


def scaled_down(deployment: str, situation: Situation) -> Situation:
    situation.deployments[deployment]["spec"]["replicas"] = 0
    return situation


def without_operator(replicas: int | None) -> Situation:
    """A node whose operands have gone with the operator, with its replicas, or with its ClusterPolicy."""
    found = nothing_offered().without("toolkit", daemonset=True)
    if replicas is None:
        del found.deployments["gpu-operator"]
    elif replicas:
        found.policies.clear()
    else:
        scaled_down("gpu-operator", found)
    return found


def unclaimed_by(reason: str) -> Situation:
    return unclaimed_but_declared().error(reason, "conflicting NodeSelectors", driver=True)


def unclaimed_but_declared() -> Situation:
    return nothing_offered().without("driver", daemonset=True)


def first(situation: Situation) -> ClosedGate:
    report = situation.report()
    assert report.state == "waiting"
    return report.closed[0]


def test_the_node_that_is_broken_below_works() -> None:
    assert Situation().report().state == "ready"
    assert Situation().grid().report().state == "ready"


@in_one_test(("gate", "cause", "broken"), CASES, ids=[f"{gate}-{cause}" for gate, cause, _ in CASES])
def test_cause(gate: str, cause: str, broken: Callable[[], Situation]) -> None:
    closed = first(broken())
    assert (closed.gate, closed.cause) == (gate, cause)
    assert "{" not in closed.reason + closed.fix
    assert not re.search(r"(?<!\w)\?", closed.reason + closed.fix), "something was not filled in"


def test_every_cause_of_the_table_is_tried() -> None:
    assert {cause for _, cause, _ in [*CASES, *OF_CLAIMS, *OF_SLURM]} == set(causes())


def test_every_cause_names_gates_that_exist() -> None:
    assert {gate for cause in causes().values() for gate in cause.stages} <= set(GATES)


WAITS: list[tuple[str, Callable[[], Situation]]] = [
    ("node", lambda: Situation().not_ready("starting")),
    ("nfd", lambda: no_label(PCI)),
    ("nfd", lambda: no_label(PCI).without("nfd")),
    ("labels", lambda: no_label("nvidia.com/gpu.present")),
    ("driver", lambda: Situation().stuck("driver")),
    ("driver", unclaimed_but_declared),
    ("driver-validation", lambda: waiting_in_validation(Situation())),
    ("toolkit", lambda: nothing_offered().without("toolkit", daemonset=True)),
    ("toolkit", lambda: Situation().stuck("toolkit")),
    ("validator", lambda: Situation().stuck("validator", "cuda-validation")),
    ("device-plugin", lambda: Situation().stuck("device-plugin")),
    ("allocatable", nothing_offered),
]


@in_one_test(("gate", "broken"), WAITS, ids=[gate for gate, _ in WAITS])
def test_what_has_only_not_come_yet_has_no_cause_and_may_open(gate: str, broken: Callable[[], Situation]) -> None:
    closed = first(broken())
    assert (closed.gate, closed.cause, closed.may_recover) == (gate, "", True)


def test_the_grid_agents_report_precedes_the_labels_it_set() -> None:
    closed = first(grid_agent("building the modules, for 80 s now"))
    assert (closed.gate, closed.message, closed.may_recover) == ("driver", "building the modules, for 80 s now", True)
    assert "Installing" in closed.reason


def test_an_agent_that_cannot_start_is_reported_like_any_pod() -> None:
    creating = [{"name": "main", "ready": False, "state": {"waiting": {"reason": "ImagePullBackOff"}}}]
    closed = first(with_agent(phase="Pending", containerStatuses=creating))
    assert (closed.gate, closed.cause, closed.pod) == ("driver", "image-pull", "agent-x")
    kept_off = with_agent()
    del kept_off.pods["agent"]
    assert first(kept_off).cause == "untolerated-taint"


def test_a_driver_that_the_agent_has_proven_is_no_gate() -> None:
    situation = Situation().grid()
    situation.node["status"]["conditions"].append({"type": "GridDriverReady", "status": "True", "reason": "Ready"})
    assert situation.report().state == "ready"


def test_a_driver_of_an_image_without_the_agent_is_no_gate_either() -> None:
    assert first(waiting_in_validation(nothing_offered().grid())).gate == "driver-validation"


def test_the_first_closed_gate_hides_those_behind_it() -> None:
    situation = Situation().fails("device-plugin", "failed to initialize NVML").fails("toolkit", "who knows")
    assert first(situation).gate == "toolkit"


def test_a_validator_that_waits_for_the_device_plugin_is_not_the_gate() -> None:
    situation = Situation().stuck("device-plugin").stuck("validator", "plugin-validation")
    assert first(situation).gate == "device-plugin"


def test_an_old_event_about_the_sandbox_does_not_apply_to_a_container_that_runs() -> None:
    situation = waiting_validator("validator", EARLIER)
    situation.says("validator", 'no runtime for "nvidia" is configured', "FailedCreatePodSandBox", "")
    assert first(situation).cause == "host-driver-late"


def test_the_log_line_of_a_container_that_is_done_is_not_what_was_found() -> None:
    situation = (
        Situation().stuck("device-plugin").says("device-plugin", "waiting for toolkit", container="toolkit-validation")
    )
    assert first(situation).message == ""


def test_a_containers_own_message_precedes_the_kubelets() -> None:
    closed = first(Situation().fails("device-plugin", "starting\nerror starting plugins: out of luck\n"))
    assert (closed.message, closed.phase) == ("error starting plugins: out of luck", "CrashLoopBackOff")


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("driver", "NVIDIADriver's spec.tolerations"),
        ("device-plugin", "spec.daemonsets.tolerations"),
        ("nfd", "node-feature-discovery.worker.tolerations"),
    ],
)
def test_each_toleration_list_is_named_where_it_is_missing(role: str, expected: str) -> None:
    situation = (no_label(PCI) if role == "nfd" else nothing_offered()).without(role)
    situation.node["spec"]["taints"].append(SPOT)
    for other, each in situation.daemonsets.items():
        if other != role:
            each["spec"]["template"]["spec"]["tolerations"].append({"operator": "Exists"})
    closed = first(situation)
    assert (closed.gate, closed.cause) == (role, "untolerated-taint")
    assert expected in closed.fix
    assert "kubernetes.azure.com/scalesetpriority=spot:NoSchedule" in closed.reason


def test_of_two_driver_daemonsets_the_one_for_the_node_is_reported() -> None:
    situation = nothing_offered().without("driver")
    other = daemonset("driver")
    other["metadata"]["name"] = "nvidia-gpu-driver-ubuntu22.04-9"
    other["spec"]["template"]["spec"]["nodeSelector"]["feature.node.kubernetes.io/system-os_release.VERSION_ID"] = (
        "22.04"
    )
    situation.daemonsets = {"other": other, **situation.daemonsets}
    situation.daemonsets["driver"]["spec"]["template"]["spec"]["tolerations"] = []
    closed = first(situation)
    assert (closed.cause, DRIVER in closed.reason) == ("untolerated-taint", True)


@pytest.mark.parametrize("taint", ["ToBeDeletedByClusterAutoscaler"])
def test_a_node_that_is_being_removed_is_not_waited_for(taint: str) -> None:
    situation = nothing_offered()
    situation.node["spec"]["taints"].append({"key": taint, "effect": "NoSchedule"})
    assert situation.report().state == "empty"


def test_a_pod_that_is_going_does_not_speak_for_its_successor() -> None:
    situation = Situation().stuck("toolkit")
    old = pod("toolkit")
    old["metadata"] |= {"deletionTimestamp": "2026-11-20T10:00:00Z", "name": "old"}
    situation.pods["old"] = old
    assert first(situation).pod == f"{TOOLKIT}-x"


def test_a_preinstalled_label_on_an_operator_pool_passes_the_driver_gate() -> None:
    situation = nothing_offered().without("driver").without("device-plugin")
    situation.labels["nvidia.com/gpu.deploy.driver"] = "pre-installed"
    assert first(situation).gate == "device-plugin"


def test_more_nodes_and_resources_are_summed() -> None:
    situation = Situation(Expected("h100gpu", {"nvidia.com/mig-1g.12gb": 6, "nvidia.com/mig-3g.47gb": 2}, "operator"))
    report = situation.gpus({"nvidia.com/mig-1g.12gb": 6}).report()
    assert report.expected == {"nvidia.com/mig-1g.12gb": 6, "nvidia.com/mig-3g.47gb": 2}
    assert report.allocatable == {"nvidia.com/mig-1g.12gb": 6}
    assert report.document()["gpus"]["nvidia.com/mig-3g.47gb"] == {"allocatable": 0, "expected": 2}
    assert {NFD, PLUGIN} <= {each["metadata"]["name"] for each in situation.daemonsets.values()}


def test_a_node_with_all_its_adapters_is_open_and_one_without_its_gpus_names_these_first() -> None:
    assert not with_fabric(8, nic="true", wait="false").report().closed
    assert first(with_fabric().gpus({"nvidia.com/gpu": 0})).gate == "allocatable"


def test_shares_of_a_broken_gpu_are_called_shares_and_the_node_is_to_be_cordoned_first() -> None:
    (found,) = shared(4, 3).report().closed
    assert "1 of 4 shares" in found.reason
    assert "cordons" in found.fix


def test_a_driver_of_aks_that_is_gone_names_its_node_image_and_the_commands() -> None:
    situation = Situation().grid("aks").fails("device-plugin", "Driver/library version mismatch")
    situation.labels["kubernetes.azure.com/node-image-version"] = "AKSUbuntu-2404gen2containerd-202607.01.0"
    closed = first(situation)
    assert closed.cause == "driver-gone-aks"
    assert "AKSUbuntu-2404gen2containerd-202607.01.0" in closed.reason
    assert "az aks nodepool get-upgrades --nodepool-name h100gpu" in closed.fix
    assert "--node-image-only --name h100gpu" in closed.fix
    assert "driver.source" in closed.fix


@in_one_test("case", [*CASES, *OF_CLAIMS], ids=[cause for _, cause, _ in [*CASES, *OF_CLAIMS]])
def test_no_fix_sets_what_is_set_or_drains_where_nobody_is(case: tuple[str, str, Callable[[], Situation]]) -> None:
    situation = case[2]()
    fix = first(situation).fix
    for key, value in re.findall(r"--overwrite (\S+?)=(\S+?)[.;, (]", f"{fix} "):
        assert situation.labels.get(key) != value, "the label has this value already"
    for key in re.findall(r"kubectl label node \S+ (\S+?)-(?:[.;, ]|$)", fix):
        assert key in situation.labels, "there is no such label"
    if "kubectl drain" in fix:
        assert situation.work != [], "nobody holds a GPU of the node"
