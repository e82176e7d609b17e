"""Model of the GPU Operator and of its nodes together, without an API server, for tests that take no time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from simulator.azure.nodes import taint
from simulator.cluster.objects import annotations_of, labels, with_changes
from simulator.gpu import nfd, node, operator
from simulator.gpu.driver import COMPONENT, DRIVER_COMPONENT
from simulator.gpu.hardware import Hardware
from simulator.gpu.names import LAST_APPLIED
from simulator.gpu.node_state import Host, NodeState, Timing
from simulator.gpu.state import State, apply
from tests.support import gpu_placement as placement
from tests.support.gpu_hardware import h100, rtx_pro_6000

SPOT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
TOLERATIONS = [
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists", "effect": "NoSchedule"},
]
NO_DRIVER = Host()
GRID = Host(driver="580.105.08")
IMAGES = {"24.04": "Ubuntu 24.04.3 LTS", "22.04": "Ubuntu 22.04.5 LTS"}


def spec(**changes: Any) -> dict[str, Any]:
    """Spec of a ClusterPolicy as this platform sets it, with some top-level keys replaced."""
    return {
        "daemonsets": {"tolerations": TOLERATIONS},
        "mig": {"strategy": "single"},
        "cdi": {"enabled": True},
        "driver": {"enabled": True, "useNvidiaDriverCRD": True, "upgradePolicy": {"autoUpgrade": True}},
        "toolkit": {"enabled": True, "env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]},
        "migManager": {"enabled": False, "config": {"default": "all-disabled"}},
        **changes,
    }


def h100_driver(**changes: Any) -> dict[str, Any]:
    own = {"nodeSelector": {"physical-ai/gpu-driver": "operator"}, "tolerations": TOLERATIONS[1:], **changes}
    return {"metadata": {"name": "h100"}, "spec": {"image": "driver", "version": "595.91.07", **own}}


@dataclass
class GpuModel:
    """Cluster with GPU nodes in which every gate is modelled."""

    state: State
    nodes: dict[str, NodeState] = field(default_factory=dict[str, NodeState])
    seen: State | None = None
    templates: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def join(self, name: str, hardware: Hardware, *, host: Host = NO_DRIVER, os: str = "24.04", **extra: Any) -> None:
        """Registers a node of a GPU pool. NFD labels it, unless `nfd` is False."""
        grid = hardware.vgpu
        own = {"physical-ai/gpu-driver": "grid" if grid else "operator"}
        own |= {"nvidia.com/gpu.deploy.driver": "false"} if grid else {}
        info = {"kernelVersion": "6.8.0-1041-azure", "osImage": IMAGES[os]}
        item = {
            "metadata": {"name": name, "labels": {**own, **extra.get("labels", {})}},
            "spec": {"taints": [taint(text) for text in extra.get("taints", [GPU_TAINT])]},
            "status": {"nodeInfo": info},
        }
        self.nodes[name] = NodeState(
            self.state.release,
            hardware,
            os=f"ubuntu{os}",
            host=host,
            timing=Timing(driver_build=60),
            configs=extra.get("configs", {}),
            containerd=extra.get("containerd", "2.3.2"),
        )
        self.state = replace(self.state, nodes={**self.state.nodes, name: item})
        if extra.get("nfd", True):
            self.discover(name)
        self.run()

    def discover(self, name: str) -> None:
        """Labels the node as NFD's worker does."""
        found = nfd.labels(self.state.nodes[name], self.nodes[name].hardware)
        self.label(name, **found)

    def label(self, name: str, **changes: str | None) -> None:
        self.state = replace(
            self.state, nodes={**self.state.nodes, name: with_changes(self.state.nodes[name], labels_=dict(changes))}
        )
        self.run()

    def policy(self, **changes: Any) -> None:
        policy = {**(self.state.policy or {}), "spec": {**self.state.spec, **changes}}
        self.state = replace(self.state, policy=policy)
        self.run()

    def event(self, name: str, event: node.Event) -> None:
        self.nodes[name] = node.step(self.nodes[name], event)
        self.run()

    def kick(self, name: str, daemonset: str) -> None:
        """Deletes a Pod as a user does; its DaemonSet creates another one."""
        self.nodes[name] = node.step(self.nodes[name], node.PodRemoved(daemonset))
        del self.templates[name, daemonset]
        self.run()

    def wait(self, seconds: float = 600) -> None:
        for name in self.nodes:
            self.nodes[name] = node.step(self.nodes[name], node.Tick(seconds))
        self.run()

    def run(self) -> None:
        """Runs the operator and the nodes until nothing changes unless time passes."""
        for _ in range(100):
            before = (self.state, dict(self.nodes))
            awake = operator.wakes(self.seen, self.state)
            self.seen = self.state
            for step in operator.reconcile(self.state, awake).steps:
                self.state = apply(self.state, step)
            for name in self.nodes:
                self._kubelet(name)
            if before == (self.state, self.nodes):
                return
        raise AssertionError("the cluster does not come to rest")

    def _kubelet(self, name: str) -> None:
        """Creates and removes the Pods of a node, gives the node's model the labels of the Node, and gives the Node the
        labels that its Pods set.
        """
        item, mine = self.state.nodes[name], self.nodes[name]
        drivers = any(labels(each).get(COMPONENT) == DRIVER_COMPONENT for each in self.state.daemonsets.values())
        mine = node.step(node.step(mine, node.ClusterDriver(drivers)), node.LabelsChanged(labels(item)))
        wanted = {key: each for key, each in self.state.daemonsets.items() if placement.nodes_for(each, {name: item})}
        for key in list(mine.pods):
            if key not in wanted or self.templates[name, key] != annotations_of(wanted[key])[LAST_APPLIED]:
                mine = node.step(mine, node.PodRemoved(key))
        for key, each in wanted.items():
            if key not in mine.pods:
                self.templates[name, key] = annotations_of(each)[LAST_APPLIED]
                mine = node.step(mine, node.PodAdded(each))
        self.nodes[name] = mine
        self.state = replace(
            self.state, nodes={**self.state.nodes, name: with_changes(item, labels_=dict(mine.own_labels))}
        )

    def gpus(self, name: str) -> dict[str, int]:
        return {key: count for key, count in self.nodes[name].resources.items() if count}

    def closed_gates(self, name: str) -> dict[str, str]:
        """Phase, container and message of each Pod that is not ready, by DaemonSet: `Init:0/1 (driver-validation):
        reason`.
        """
        return {
            key: f"{pod.phase} ({pod.container}): {pod.message}"
            for key, pod in sorted(self.nodes[name].pods.items())
            if not pod.ready
        }

    def labels(self, name: str) -> Mapping[str, str]:
        return labels(self.state.nodes[name])

    def kept_off(self, name: str) -> dict[str, str]:
        """Reason why a DaemonSet has no Pod on the node, by DaemonSet. DaemonSets with a Pod are left out."""
        item = self.state.nodes[name]
        return {key: why for key, each in self.state.daemonsets.items() if (why := placement.kept_off(each, item))}


def gpu_model(release: str = "v26.7.0", drivers: Mapping[str, Any] | None = None, **changes: Any) -> GpuModel:
    """Cluster without nodes that has the operator and, by default, one NVIDIADriver for H100 pools. `changes` are
    changes of the ClusterPolicy.
    """
    policy = {"metadata": {"name": "cluster-policy"}, "spec": spec(**changes)}
    return GpuModel(
        State(release=release, policy=policy, drivers={"h100": h100_driver()} if drivers is None else drivers)
    )


__all__ = ["GPU_TAINT", "GRID", "SPOT", "GpuModel", "gpu_model", "h100", "h100_driver", "rtx_pro_6000", "spec"]
