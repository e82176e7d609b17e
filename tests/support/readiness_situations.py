"""Working node, broken in the ways that the causes describe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from parts.network_operator.names import DRIVER_WAIT_LABEL, NIC_LABEL
from physical_ai.readiness import Expected
from physical_ai.readiness.ports import KEY, LABEL, SEEN
from tests.support.readiness_objects import Situation, pod

SPOT = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}
CREATING = {"waiting": {"reason": "PodInitializing"}}
LATER, EARLIER = "2026-11-20T11:00:00Z", "2026-11-20T09:00:00Z"


def configured(gpus: int = 1) -> Situation:
    """Node of a size with so many GPUs, whose device plugin uses the pool's configuration."""
    situation = Situation(Expected("h100gpu", {"nvidia.com/gpu": gpus}, "operator"))
    situation.labels["nvidia.com/device-plugin.config"] = "h100gpu"
    return situation


def nothing_offered() -> Situation:
    return Situation().gpus({"nvidia.com/gpu": 0})


def spot() -> Situation:
    situation = nothing_offered().without("toolkit")
    situation.node["spec"]["taints"].append(SPOT)
    return situation


def label(**values: str | None) -> Situation:
    """Node without GPUs on which labels that begin with nvidia.com are changed; None removes a label."""
    situation = nothing_offered()
    for key, value in values.items():
        name = f"nvidia.com/{key.replace('_', '.')}".replace("container.toolkit", "container-toolkit")
        situation.labels.pop(name, None)
        if value is not None:
            situation.labels[name] = value
    return situation


def no_label(*names: str) -> Situation:
    situation = nothing_offered()
    for name in names:
        del situation.labels[name]
    return situation


def waiting_validator(role: str, began: str) -> Situation:
    return nothing_offered().grid().stuck(role, "driver-validation", state={"running": {"startedAt": began}})


def unselected() -> Situation:
    situation = nothing_offered().without("toolkit")
    situation.daemonsets["toolkit"]["spec"]["template"]["spec"]["nodeSelector"]["disk"] = "ssd"
    return situation


def down(name: str, situation: Situation) -> Situation:
    situation.deployments[name]["status"] = {}
    situation.pods[name] = {
        "metadata": {"name": f"{name}-y", "labels": {"app": name}},
        "spec": {"containers": [{"name": "main"}]},
        "status": {"phase": "Pending", "conditions": [scheduling("0/4 nodes are available: 4 untolerated taints")]},
    }
    return situation


def scheduling(message: str) -> dict[str, str]:
    return {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}


def unscheduled() -> Situation:
    situation = nothing_offered()
    found = situation.pods["toolkit"]
    del found["spec"]["nodeName"]
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["aks-h100gpu-0"]}]}]
    wanted = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    found["spec"]["affinity"] = {"nodeAffinity": wanted}
    found["status"] = {"phase": "Pending", "conditions": [scheduling("0/4 nodes are available: 1 Too many pods")]}
    return situation


def without_deployment(name: str) -> Situation:
    situation = no_label("nvidia.com/gpu.present")
    del situation.deployments[name]
    return situation


def policies(*states: str) -> Situation:
    situation = no_label("nvidia.com/gpu.present")
    situation.policies = [{"metadata": {"name": f"p{state}"}, "status": {"state": state}} for state in states]
    return situation


def stray_driver() -> Situation:
    situation = nothing_offered().grid()
    situation.pods["driver"] = pod("driver")
    return waiting_in_validation(situation)


def waiting_in_validation(situation: Situation) -> Situation:
    return situation.stuck("toolkit", "driver-validation")


def grid_agent(message: str, reason: str = "Installing") -> Situation:
    """GRID node whose agent keeps the operands off the node."""
    situation = label(gpu_deploy_container_toolkit="paused-for-grid-driver").grid()
    reported = {"type": "GridDriverReady", "status": "False", "reason": reason, "message": message}
    situation.node["status"]["conditions"].append(reported)
    return situation


def with_agent(**status: Any) -> Situation:
    """GRID node with a Pod of the agent, which has not reported about the node yet."""
    situation = nothing_offered().grid()
    situation.daemonsets["agent"] = {
        "metadata": {"name": "gpu-grid-driver-installer"},
        "spec": {"template": {"spec": {"nodeSelector": {"physical-ai/gpu-driver": "grid"}, "tolerations": []}}},
    }
    made = pod("nfd")
    made["metadata"] |= {
        "name": "agent-x",
        "ownerReferences": [{"kind": "DaemonSet", "name": "gpu-grid-driver-installer"}],
    }
    made["status"] |= {"conditions": [{"type": "Ready", "status": "False"}], **status}
    situation.pods["agent"] = made
    return situation


def other_os() -> Situation:
    situation = Situation().fails("driver", "could not install kernel headers")
    situation.pods["driver"]["spec"]["containers"][0]["image"] = "nvcr.io/nvidia/driver:580.173.02-ubuntu22.04"
    return situation


def unclaimed() -> Situation:
    situation = nothing_offered().without("driver", daemonset=True)
    situation.drivers = []
    return situation


def mig_none() -> Situation:
    situation = Situation(Expected("h100gpu", {"nvidia.com/gpu": 1}, "operator", needs_mig_ids=True))
    situation.labels["nvidia.com/mig.strategy"] = "none"
    return situation


def mig_failed() -> Situation:
    return label(mig_config="all-disabled", mig_config_state="failed")


def with_fabric(offered: int | None = None, **labels: str) -> Situation:
    """Node of an ND pool whose GPUs work. `offered` is the number of its InfiniBand devices; `labels` may have `nic`
    and `wait`.
    """
    expected = Expected("h100gpu", {"nvidia.com/gpu": 1}, "operator", fabric={"rdma/ib": 8})
    situation = Situation(expected)
    if "nic" in labels:
        situation.labels[NIC_LABEL] = labels["nic"]
    if "wait" in labels:
        situation.labels[DRIVER_WAIT_LABEL] = labels["wait"]
    if offered is not None:
        situation.node["status"]["allocatable"]["rdma/ib"] = str(offered)
    return situation


def with_ports(states: Sequence[str] | None, *, uid: str = "uid-1") -> Situation:
    """Node of an ND pool that offers everything, with a record of its machine in which the ports have these states."""
    expected = Expected("h100gpu", {"nvidia.com/gpu": 1}, "operator", fabric={"rdma/ib": 8}, ports=8)
    situation = Situation(expected)
    situation.node["metadata"]["uid"] = "uid-1"
    situation.node["status"]["allocatable"]["rdma/ib"] = "8"
    machine: dict[str, Any] = {"nodeUid": uid}
    if states is not None:
        machine["ports"] = [{"device": f"mlx5_{number}", "state": each} for number, each in enumerate(states)]
    situation.records.append(
        {
            "metadata": {
                "labels": {LABEL: situation.node["metadata"]["name"]},
                "annotations": {SEEN: "2026-11-24T00:00:00Z"},
            },
            "data": {KEY: json.dumps(machine)},
        }
    )
    return situation


def shared(replicas: int, left: int) -> Situation:
    """Node with a shared GPU, of whose shares only `left` are allocatable."""
    situation = Situation()
    situation.labels["nvidia.com/gpu.replicas"] = str(replicas)
    situation.expected = Expected("h100gpu", {"nvidia.com/gpu": replicas}, "operator")
    return situation.gpus({"nvidia.com/gpu": left}, {"nvidia.com/gpu": replicas})


def instances() -> Situation:
    """Node with a GPU of seven MIG instances, of which only six are allocatable."""
    situation = Situation()
    situation.expected = Expected("h100gpu", {"nvidia.com/gpu": 7}, "operator", needs_mig_ids=True)
    return situation.gpus({"nvidia.com/gpu": 6}, {"nvidia.com/gpu": 7})


def waiting_for_ofed() -> Situation:
    situation = nothing_offered()
    manager = "k8s-driver-manager"
    return situation.stuck("driver", manager).says("driver", "Waiting for MOFED to be installed...", container=manager)
