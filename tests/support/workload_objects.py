"""Objects for tests of the workload diagnosis: nodes of the default stack's pools, and Pods."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from physical_ai.catalog.acceptance import ACCEPTED_CONDITION
from physical_ai.catalog.osmo import (
    FINALIZER,
    KAI_NAMESPACE,
    KAI_SCHEDULER,
    OPERATOR_NAMESPACE,
    SCHEDULER,
    WORKFLOW_LABEL,
)
from physical_ai.planning.plan import make_plan
from physical_ai.readiness.model import ClosedGate, Report
from physical_ai.readiness.platform.absence import PlatformState
from physical_ai.readiness.platform.parts import KINDS, installed
from physical_ai.readiness.workloads import DeclaredPool, Workloads, declared_pools
from physical_ai.repository import ROOT
from physical_ai.settings import load
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT

Json = dict[str, Any]
RECORDED_AGENTS: list[list[Any]] = json.loads(
    (ROOT / "tests" / "fixtures" / "osmo" / "6.3.1" / "chart-values-backend-operator.json").read_text()
)["sketch"]["objects"]
"""Kind, name and namespace of each object that the chart of OSMO's agents renders (NVIDIA/OSMO, tag 6.3.1)."""
STACK = "dev-westus2"
WHERE = "osmo-workflows"
KEYS = ("CriticalAddonsOnly", "nvidia.com/gpu", "kubernetes.azure.com/scalesetpriority")
TOLERATED = [{"key": key, "operator": "Exists"} for key in KEYS]
NOW = "2026-11-22T12:00:00Z"


@cache
def declared_by_name() -> Mapping[str, DeclaredPool]:
    return {each.name: each for each in declared_pools(load(STACK).settings)}


def node(pool: str, number: int = 0, *, ready: bool = True, cordoned: bool = False) -> Json:
    """Node of a pool, with its GPUs."""
    declared = declared_by_name()[pool]
    own = f"aks-{pool}-{number}"
    condition = {"type": "Ready", "status": str(ready), "reason": "KubeletReady", "message": ""}
    if not ready:
        condition |= {
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
        }
    return {
        "metadata": {"name": own, "labels": {**declared.labels, "kubernetes.io/hostname": own}},
        "spec": {"taints": list(declared.taints), **({"unschedulable": True} if cordoned else {})},
        "status": {"allocatable": dict(declared.allocatable), "conditions": [condition]},
    }


def kept_out(item: Json, failure: str = "") -> Json:
    """The node with the taint that keeps work off until it is accepted; with `failure`, also with a failed
    acceptance.
    """
    key, value, effect = split_taint(NOT_ACCEPTED_TAINT)
    taints = [*item["spec"]["taints"], {"key": key, "value": value, "effect": effect}]
    failed = {"type": ACCEPTED_CONDITION, "status": "False", "reason": "Failed", "message": failure}
    conditions = [*item["status"]["conditions"], *([failed] if failure else [])]
    return {**item, "spec": {**item["spec"], "taints": taints}, "status": {**item["status"], "conditions": conditions}}


def labeled(item: Json, labels: Mapping[str, str]) -> Json:
    return {**item, "metadata": {**item["metadata"], "labels": {**item["metadata"]["labels"], **labels}}}


def without_gpus(item: Json) -> Json:
    allocatable = {key: value for key, value in item["status"]["allocatable"].items() if "nvidia" not in key}
    return {**item, "status": {**item["status"], "allocatable": allocatable}}


def pod(name: str = "train-0", *, gpus: int = 1, resource: str = "nvidia.com/gpu", **spec: Any) -> Json:
    """Pod that waits for a node and tolerates the taints of all pools; `spec` replaces fields of its spec."""
    requests: dict[str, str] = {"cpu": "2", "memory": "4Gi"} | ({resource: str(gpus)} if gpus else {})
    container = {"name": "train", "image": "nvcr.io/nvidia/isaac-lab:2.3.2", "resources": {"requests": requests}}
    return {
        "metadata": {"name": name, "namespace": WHERE, "uid": f"uid-{name}", "labels": {}, "annotations": {}},
        "spec": {"containers": [container], "tolerations": TOLERATED, **spec},
        "status": {"phase": "Pending"},
    }


def unschedulable(item: Json, message: str) -> Json:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {**item, "status": {**item["status"], "conditions": [condition]}}


def kai(item: Json, group: str = "", queue: str = "osmo-default") -> Json:
    """The Pod with the labels and annotations of a Pod that KAI schedules."""
    metadata = {**item["metadata"], "labels": {**item["metadata"]["labels"], "kai.scheduler/queue": queue}}
    if group:
        metadata["annotations"] = {"pod-group-name": group}
    return {**item, "metadata": metadata, "spec": {**item["spec"], "schedulerName": SCHEDULER}}


def of_workflow(item: Json, workflow: str) -> Json:
    return labeled(item, {WORKFLOW_LABEL: workflow})


def on(host: str, item: Json, *, phase: str = "Pending", status: Mapping[str, Any] | None = None, **more: Any) -> Json:
    """The Pod on a node; `status` is that of its container."""
    statuses = [{"name": "train", "ready": False, **status}] if status is not None else []
    own = {"phase": phase, "containerStatuses": statuses, **more}
    return {**item, "spec": {**item["spec"], "nodeName": host}, "status": own}


def deleted(item: Json) -> Json:
    """The Pod after its grace period. OSMO's finalizer keeps it in the cluster."""
    metadata = {**item["metadata"], "deletionTimestamp": "2026-11-22T11:00:00Z", "finalizers": [FINALIZER]}
    return {**item, "metadata": metadata}


def waiting(reason: str, message: str = "") -> Json:
    return {"state": {"waiting": {"reason": reason, "message": message}}}


def crashing(code: int, reason: str = "Error", message: str = "") -> Json:
    ended = {"exitCode": code, "reason": reason, "message": message}
    return {**waiting("CrashLoopBackOff"), "lastState": {"terminated": ended}}


def event(about: Json, reason: str, message: str, kind: str = "Pod", minute: int = 0) -> Json:
    metadata = about["metadata"]
    involved = {"kind": kind, "namespace": metadata.get("namespace", ""), "name": metadata["name"]}
    return {
        "involvedObject": involved,
        "reason": reason,
        "message": message,
        "lastTimestamp": f"2026-11-22T11:{minute:02}:00Z",
    }


def autoscaler(reason: str, message: str, minute: int = 0) -> Json:
    about = {"metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"}}
    return event(about, reason, message, "ConfigMap", minute)


def group(name: str, least: int, queue: str = "osmo-default") -> Json:
    return {"metadata": {"name": name, "namespace": WHERE}, "spec": {"minMember": least, "queue": queue}}


def queue(name: str, parent: str = "") -> Json:
    return {"metadata": {"name": name}, "spec": {"parentQueue": parent}}


def deployment(namespace: str, name: str, available: int = 1, account: str = "default") -> Json:
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 1, "template": {"spec": {"serviceAccountName": account}}},
        "status": {"availableReplicas": available},
    }


def agent(kind: str, available: int = 1) -> Json:
    """Deployment of OSMO's agent `listener` or `worker`, with the name that the chart gives it."""
    name = next(name for what, name, _ in RECORDED_AGENTS if what == "Deployment" and name.endswith(kind))
    account = next(name for what, name, _ in RECORDED_AGENTS if what == "ServiceAccount" and name.endswith(kind))
    return deployment(OPERATOR_NAMESPACE, name, available, account)


def closed(host: str, gate: str = "driver", cause: str = "", reason: str = "The driver is still building.") -> Report:
    """Report about a pool with one node, one of whose gates is closed."""
    pool = host.split("-")[1]
    shut = ClosedGate(pool, host, gate, reason, cause, message="nvidia-driver-daemonset: Init:0/1")
    return Report(pool, "operator", "waiting", 1, {"nvidia.com/gpu": 1}, {}, (shut,))


@cache
def nothing_installed() -> PlatformState:
    """State of the default stack's platform in a cluster in which no part of it is installed."""
    settings = load(STACK).settings
    return PlatformState(installed(settings, make_plan(settings), agents=True), live=dict.fromkeys(KINDS, ()))


@dataclass(frozen=True)
class Scene:
    """Cluster in which everything works, except the given objects."""

    pods: Sequence[Json] = ()
    nodes: Sequence[Json] = field(default_factory=lambda: (node("system"), node("cpu")))
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def workloads(self) -> Workloads:
        usual = Workloads(
            nodes=self.nodes,
            pods=self.pods,
            queues=(queue("osmo-default", "osmo"), queue("osmo")),
            deployments=(
                deployment(KAI_NAMESPACE, KAI_SCHEDULER),
                agent("listener"),
                agent("worker"),
            ),
            pools=tuple(declared_by_name().values()),
            stack=STACK,
            now=NOW,
        )
        return replace(usual, **self.more)
