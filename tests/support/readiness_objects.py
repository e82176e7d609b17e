"""Node on which every gate is open, as plain objects that a test breaks one at a time."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from physical_ai.readiness import Cluster, Expected, Report, diagnose

NODE = "aks-h100gpu-0"
PCI = "feature.node.kubernetes.io/pci-10de.present"
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
DRIVER = "nvidia-gpu-driver-ubuntu24.04-1234"
TOOLKIT = "nvidia-container-toolkit-daemonset"
VALIDATOR = "nvidia-operator-validator"
PLUGIN = "nvidia-device-plugin-daemonset"
NFD = "gpu-operator-node-feature-discovery-worker"
NAMES = {"nfd": NFD, "driver": DRIVER, "toolkit": TOOLKIT, "validator": VALIDATOR, "device-plugin": PLUGIN}
INIT = {
    "driver": ["k8s-driver-manager"],
    "toolkit": ["driver-validation"],
    "validator": ["driver-validation", "toolkit-validation", "cuda-validation", "plugin-validation"],
    "device-plugin": ["toolkit-validation", "config-manager-init"],
}
DEPLOY = {f"nvidia.com/gpu.deploy.{operand}": "true" for operand in ("container-toolkit", "operator-validator")}


def daemonset(role: str) -> dict[str, Any]:
    selectors = {
        "driver": {"nvidia.com/gpu.deploy.driver": "true", "physical-ai/gpu-driver": "operator"},
        "toolkit": {"nvidia.com/gpu.deploy.container-toolkit": "true"},
        "validator": {"nvidia.com/gpu.deploy.operator-validator": "true"},
        "device-plugin": {"nvidia.com/gpu.deploy.device-plugin": "true"},
    }
    labels = {"driver": {"app.kubernetes.io/component": "nvidia-driver"}}
    return {
        "metadata": {"name": NAMES[role], "labels": labels.get(role, {})},
        "spec": {"template": {"spec": {"nodeSelector": selectors.get(role, {}), "tolerations": [TOLERATION]}}},
    }


def pod(role: str) -> dict[str, Any]:
    """Pod that runs and whose init containers are done."""
    done = {"terminated": {"exitCode": 0, "finishedAt": "2026-11-20T10:00:00Z"}}
    image = "nvcr.io/nvidia/driver:580.173.02-ubuntu24.04" if role == "driver" else "image:1"
    return {
        "metadata": {
            "name": f"{NAMES[role]}-x",
            "ownerReferences": [{"kind": "DaemonSet", "name": NAMES[role]}],
            "labels": {"app": NAMES[role]},
        },
        "spec": {
            "nodeName": NODE,
            "initContainers": [{"name": each} for each in INIT.get(role, [])],
            "containers": [{"name": "main", "image": image}],
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}],
            "initContainerStatuses": [{"name": each, "ready": True, "state": done} for each in INIT.get(role, [])],
            "containerStatuses": [{"name": "main", "ready": True, "state": {"running": {}}}],
        },
    }


def deployment(name: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": name}}},
        "status": {"availableReplicas": 1},
    }


def gpu_node() -> dict[str, Any]:
    return {
        "metadata": {
            "name": NODE,
            "labels": {
                "agentpool": "h100gpu",
                "physical-ai/gpu-driver": "operator",
                PCI: "true",
                "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
                "feature.node.kubernetes.io/system-os_release.VERSION_ID": "24.04",
                "nvidia.com/gpu.present": "true",
                "nvidia.com/gpu.deploy.driver": "true",
                "nvidia.com/gpu.deploy.device-plugin": "true",
                **DEPLOY,
            },
        },
        "spec": {"taints": [TAINT]},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": {"nvidia.com/gpu": "1", "cpu": "40"},
            "capacity": {"nvidia.com/gpu": "1", "cpu": "40"},
        },
    }


@dataclass
class Situation:
    """Objects of a cluster with one GPU node, which a test changes before they are judged."""

    expected: Expected = field(default_factory=lambda: Expected("h100gpu", {"nvidia.com/gpu": 1}, "operator"))
    node: dict[str, Any] = field(default_factory=gpu_node)
    daemonsets: dict[str, dict[str, Any]] = field(default_factory=lambda: {role: daemonset(role) for role in NAMES})
    pods: dict[str, dict[str, Any]] = field(default_factory=lambda: {role: pod(role) for role in NAMES})
    deployments: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {
            name: deployment(name) for name in ("gpu-operator", "gpu-operator-node-feature-discovery-master")
        }
    )
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    policies: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"metadata": {"name": "cluster-policy"}, "spec": {"driver": {"useNvidiaDriverCRD": True}}}
        ]
    )
    drivers: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"metadata": {"name": "h100"}, "spec": {"nodeSelector": {"physical-ai/gpu-driver": "operator"}}}
        ]
    )
    records: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    work: list[str] | None = None
    """Pods that hold GPUs of the node; None if the Pods were not read."""

    @property
    def labels(self) -> dict[str, str]:
        return self.node["metadata"]["labels"]

    def gpus(self, allocatable: dict[str, int], capacity: dict[str, int] | None = None) -> Situation:
        self.node["status"]["allocatable"] = {key: str(value) for key, value in allocatable.items()}
        total = allocatable if capacity is None else capacity
        self.node["status"]["capacity"] = {key: str(value) for key, value in total.items()}
        return self

    def without(self, role: str, *, daemonset: bool = False) -> Situation:
        """Removes an operand's Pod from the node; with `daemonset`, removes the DaemonSet from the cluster too."""
        del self.pods[role]
        if daemonset:
            del self.daemonsets[role]
        return self

    def not_ready(self, message: str, reason: str = "KubeletNotReady", status: str = "False") -> Situation:
        found = {"type": "Ready", "status": status, "reason": reason, "message": message}
        self.node["status"]["conditions"] = [found]
        return self

    def grid(self, source: Any = "grid") -> Situation:
        """Puts the driver on the host: there is no driver Pod on the node."""
        self.expected = Expected("h100gpu", {"nvidia.com/gpu": 1}, source)
        self.labels.update({"physical-ai/gpu-driver": source, "nvidia.com/gpu.deploy.driver": "false"})
        return self.without("driver")

    def stuck(self, role: str, container: str = "main", **state: Any) -> Situation:
        """Stops an operand's Pod at a container in this state. Later containers wait, and the node offers no GPU."""
        found = self.pods[role]["status"]
        found["conditions"] = [{"type": "Ready", "status": "False"}]
        init: list[dict[str, Any]] = found["initContainerStatuses"]
        names = [each["name"] for each in init]
        at = names.index(container) if container in names else len(names)
        for index, status in enumerate([*init, *found["containerStatuses"]]):
            if index == at:
                status.update({"ready": False, "state": state.pop("state", {"running": {}}), **state})
            elif index > at:
                status.update(ready=False, state={"waiting": {"reason": "PodInitializing"}})
        if at < len(names):
            found["phase"] = "Pending"
        return self.gpus({"nvidia.com/gpu": 0}, {"nvidia.com/gpu": 1})

    def fails(self, role: str, message: str, container: str = "main") -> Situation:
        """Makes a container fail again and again."""
        again = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}}
        ended = {"terminated": {"exitCode": 1, "message": message, "startedAt": "2026-11-20T10:00:00Z"}}
        return self.stuck(role, container, state=again, lastState=ended)

    def says(self, role: str, message: str, reason: str = "SimulatedLog", container: str = "main") -> Situation:
        """Adds an event about an operand's Pod, or about one of its containers."""
        inside = {"fieldPath": f"spec.containers{{{container}}}"} if container else {}
        about = {"kind": "Pod", "name": f"{NAMES[role]}-x", **inside}
        stamp = f"2026-11-20T10:00:{len(self.events):02}Z"
        self.events.append({"involvedObject": about, "reason": reason, "message": message, "lastTimestamp": stamp})
        return self

    def error(self, reason: str, message: str, *, driver: bool = False) -> Situation:
        """Sets the condition Error of the ClusterPolicy or, with `driver`, of the NVIDIADriver."""
        conditions = [{"type": "Error", "status": "True", "reason": reason, "message": message}]
        (self.drivers if driver else self.policies)[0]["status"] = {"state": "notReady", "conditions": conditions}
        return self

    def cluster(self) -> Cluster:
        return copy.deepcopy(
            Cluster(
                nodes=[self.node],
                pods=list(self.pods.values()),
                daemonsets=list(self.daemonsets.values()),
                deployments=list(self.deployments.values()),
                events=self.events,
                policies=self.policies,
                drivers=self.drivers,
                records=self.records,
                work=None if self.work is None else {NODE: self.work},
            )
        )

    def report(self) -> Report:
        [found] = diagnose([self.expected], self.cluster())
        return found
