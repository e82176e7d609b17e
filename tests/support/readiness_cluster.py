"""Cluster of the model as an API server would list it: Nodes and Pods in the form that the diagnosis reads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from physical_ai.readiness import Cluster, Expected
from simulator.cluster.objects import annotations_of, at
from simulator.gpu.node_state import Pod
from tests.support import gpu_placement as placement
from tests.support.gpu_model import GpuModel

H100 = Expected("h100gpu", {"nvidia.com/gpu": 1}, "operator")
RTX = Expected("rtxprogpu", {"nvidia.com/gpu": 1}, "grid", needs_mig_ids=True)
NAMESPACE = "gpu-operator"
NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def deployment(name: str, available: int = 1) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": {"app": name}}},
        "status": {"availableReplicas": available},
    }


def nfd_worker(**spec: Any) -> dict[str, Any]:
    own = {"tolerations": [{"operator": "Exists"}], **spec}
    labels = {"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}
    return {
        "metadata": {"name": "gpu-operator-node-feature-discovery-worker", "labels": labels},
        "spec": {"template": {"spec": own}},
    }


def condition(kind: str, is_true: bool, message: str = "", reason: str = "") -> dict[str, str]:
    return {"type": kind, "status": "True" if is_true else "False", "message": message, "reason": reason}


def node_object(model: GpuModel, name: str, pool: str) -> dict[str, Any]:
    """Node object, as the kubelet reports it."""
    item, mine = model.state.nodes[name], model.nodes[name]
    why = f"container runtime is down: {mine.containerd_dead}" if mine.containerd_dead else ""
    resources = {key: str(count) for key, count in dict(mine.resources).items()}
    return {
        "metadata": {
            "name": name,
            "labels": {**at(item, "metadata.labels", {}), "agentpool": pool},
            "annotations": annotations_of(item),
        },
        "spec": item["spec"],
        "status": {
            "allocatable": resources,
            "capacity": resources,
            "conditions": [condition("Ready", not mine.containerd_dead, why)],
        },
    }


def pod_object(daemonset: Mapping[str, Any], on: str, pod: Pod) -> dict[str, Any]:
    """Pod object, as the kubelet reports it. The Pod's last message is an event, as on a simulated node."""
    spec = at(daemonset, "spec.template.spec")
    names = [each["name"] for each in spec.get("initContainers", ())]
    blocked = "sandbox" in pod.message

    began = (NOW - timedelta(seconds=pod.age)).isoformat()

    def state(index: int) -> dict[str, Any]:
        if index < pod.at:
            return {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": began}}
        if index > pod.at or blocked:
            return {"waiting": {"reason": "PodInitializing"}}
        if pod.failed:
            return {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}}
        return {"running": {"startedAt": began}}

    main_state = {"waiting": {"reason": "ContainerCreating" if blocked else "PodInitializing"}}
    if pod.at >= len(names) and not blocked:
        main_state = state(pod.at)
    return {
        "metadata": {
            "name": f"{pod.workload.name}-{on[-2:]}",
            "labels": {"app": pod.workload.name},
            "ownerReferences": [{"kind": "DaemonSet", "name": pod.workload.name}],
        },
        "spec": {**spec, "nodeName": on},
        "status": {
            "phase": "Running" if pod.at >= len(names) and not blocked else "Pending",
            "conditions": [condition("Ready", pod.ready)],
            "initContainerStatuses": [
                {"name": each, "ready": index < pod.at, "state": state(index)} for index, each in enumerate(names)
            ],
            "containerStatuses": [{"name": pod.workload.main, "ready": pod.ready, "state": main_state}],
        },
    }


def pod_event(pod: Pod, on: str) -> dict[str, Any]:
    reason = "FailedCreatePodSandBox" if "sandbox" in pod.message else "SimulatedLog"
    group = "initContainers" if pod.at < len(pod.workload.init) else "containers"
    where = {"fieldPath": f"spec.{group}{{{pod.container}}}"} if reason == "SimulatedLog" else {}
    return {
        "involvedObject": {"kind": "Pod", "name": f"{pod.workload.name}-{on[-2:]}", **where},
        "reason": reason,
        "message": pod.message,
        "lastTimestamp": "2026-11-20T10:00:00Z",
    }


def rolled_out(daemonset: Mapping[str, Any]) -> dict[str, Any]:
    """DaemonSet object, as its controller leaves it. Its Pods are always made from the newest template."""
    generation = at(daemonset, "metadata.generation", 1)
    return {**daemonset, "status": {"observedGeneration": generation, **daemonset.get("status", {})}}


def cluster(model: GpuModel, pools: Mapping[str, str], **changes: Any) -> Cluster:
    """Complete cluster. `pools` gives the pool of each node."""
    pods = [(name, pod) for name, mine in model.nodes.items() for pod in mine.pods.values()]
    daemonsets = [rolled_out(item) for item in model.state.daemonsets.values()]
    for name, pod in pods:
        assert placement.is_selected(model.state.daemonsets[pod.workload.name], model.state.nodes[name])
    given: dict[str, Any] = {
        "nodes": [node_object(model, name, pool) for name, pool in pools.items()],
        "pods": [pod_object(model.state.daemonsets[pod.workload.name], name, pod) for name, pod in pods],
        "daemonsets": [nfd_worker(), *daemonsets],
        "deployments": [deployment("gpu-operator"), deployment("gpu-operator-node-feature-discovery-master")],
        "events": [pod_event(pod, name) for name, pod in pods if pod.message],
        "policies": [model.state.policy] if model.state.policy else [],
        "drivers": list(model.state.drivers.values()),
        **changes,
    }
    return Cluster(**given)
