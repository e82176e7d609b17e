"""Creates nodes, Pods, gangs and queues for tests of the scheduling models."""

from __future__ import annotations

from typing import Any

from physical_ai.catalog.osmo import KAI_GROUP_ANNOTATION, KAI_POD_GROUP_API, KAI_QUEUE_API, SCHEDULER
from simulator.azure.nodes import taint

GPU = "nvidia.com/gpu"
GPU_TAINT = f"{GPU}=present:NoSchedule"
GPU_TOLERATED = [{"key": GPU, "operator": "Exists"}]
NAMESPACE = "work"
FREE: dict[str, Any] = {"quota": -1, "limit": -1, "overQuotaWeight": 1}


def node(name: str, *taints: str, gpus: int = 0, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    allocatable = {"cpu": "8", "memory": "32Gi", "pods": "110", **({GPU: str(gpus)} if gpus else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"taints": [taint(text) for text in taints], **spec},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(name: str, *, gpus: int = 0, cpu: str = "1", on: str = "", **spec: Any) -> dict[str, Any]:
    """Pod that tolerates GPU nodes; `on` is the node on which it runs."""
    asked = {"cpu": cpu, **({GPU: str(gpus)} if gpus else {})}
    spec = {"tolerations": GPU_TOLERATED, **spec, **({"nodeName": on} if on else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}"},
        "spec": {"containers": [{"name": "main", "image": "image", "resources": {"requests": asked}}], **spec},
        "status": {"phase": "Running" if on else "Pending"},
    }


def kai_pod(name: str, group: str = "", **given: Any) -> dict[str, Any]:
    made = pod(name, schedulerName=SCHEDULER, **given)
    if group:
        made["metadata"]["annotations"] = {KAI_GROUP_ANNOTATION: group}
    return made


def gang(name: str, least: int, queue: str = "leaf", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": KAI_POD_GROUP_API,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"minMember": least, "queue": queue, **spec},
    }


def queue(name: str, parent: str = "", **resources: Any) -> dict[str, Any]:
    """Queue without limits, except the given ones: `gpu={"limit": 2}`."""
    known = {key: {**FREE, **resources.get(key, {})} for key in ("gpu", "cpu", "memory")}
    spec = {"resources": known, **({"parentQueue": parent} if parent else {})}
    return {"apiVersion": KAI_QUEUE_API, "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def unschedulable(given: dict[str, Any]) -> dict[str, Any]:
    """The Pod after its scheduler has found no node for it."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {**given, "status": {"phase": "Pending", "conditions": [condition]}}
