"""Clusters in which a workload waits or has failed, with one builder for each kind of cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.support import workload_objects as make
from tests.support.workload_objects import Scene, crashing, declared_by_name, kai, node, on, pod, unschedulable

H100: dict[str, Any] = {"nodeSelector": {"agentpool": "h100gpu"}}

FULL = "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) didn't match Pod's node affinity/selector."

HOST = "aks-h100gpu-0"

READY = [{"type": "Ready", "status": "True"}]

NODES = (node("system"), node("cpu"), node("h100gpu"))

HOLDER = on(HOST, pod("holder"), phase="Running")

NO_NETWORK = (
    "failed to setup network for sandbox: getKubernetesDelegate: "
    "cannot find a network-attachment-definition (rail-9) in namespace (osmo-workflows): not found"
)
MISSING_PIECE = 'MountVolume.SetUp failed for volume "x" : secret "wandb" not found'


def waits(**spec: Any) -> dict[str, Any]:
    """Pod that asks for the H100 pool and has no node."""
    return unschedulable(pod(**{**H100, **spec}), FULL)


def on_premises(*pods: dict[str, Any]) -> Scene:
    """Cluster that exists already (on premises), with these Pods and with the same pools."""
    pools = tuple(replace(each, existing=True) for each in declared_by_name().values())
    return Scene(pods, more={"pools": pools, "existing": True})


def judged(message: str) -> Scene:
    """Cluster with a Pod for which the scheduler finds no node, with this message, although a node has room."""
    return Scene((unschedulable(pod(**H100), message),), NODES)


def started(status: Mapping[str, Any] | None, *events: tuple[str, str], **more: Any) -> Scene:
    """Cluster with a Pod on an H100 node whose container has this status."""
    item = on(HOST, pod(**H100), status=status, **more)
    return Scene((item,), NODES, {"events": [make.event(item, *each) for each in events]})


def failed(**status: Any) -> Scene:
    """Cluster with a Pod that has failed."""
    return Scene((on(HOST, pod(**H100), phase="Failed", **status),), NODES)


def disrupted(reason: str) -> Scene:
    return failed(conditions=[{"type": "DisruptionTarget", "status": "True", "reason": reason, "message": ""}])


def grown(reason: str, message: str) -> Scene:
    """Cluster in which the autoscaler has written this event about a Pod that waits."""
    return Scene((waits(),), more={"events": [make.event(waits(), reason, message)]})


def refused(code: str) -> Scene:
    """Cluster in which Azure has refused to add a node to the pool."""
    message = f"Scale-up failed for group aks-h100gpu-1-vmss: {code}: no"
    return Scene((waits(),), more={"events": [make.autoscaler("FailedToScaleUpGroup", message)]})


def in_azure(body: Mapping[str, Any] | None) -> Scene:
    """Cluster whose H100 pool Azure describes by `body`; the other pools work."""
    others = {name: {"provisioningState": "Succeeded"} for name in make.declared_by_name() if name != "h100gpu"}
    return Scene((waits(),), more={"azure": {**others, **({"h100gpu": body} if body is not None else {})}})


def failed_in_azure(code: str, message: str) -> dict[str, Any]:
    """Description of the H100 pool after a failed operation, as `az aks nodepool show` prints it."""
    return {"provisioningState": "Failed", "status": {"provisioningError": {"code": code, "message": message}}}


def status(group: str, scale_up: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Status of the autoscaler with one node group."""
    return {"autoscalerStatus": "Running", "nodeGroups": [{"name": group, "scaleUp": scale_up or {}}]}


def log(text: str, gpus: int = 1) -> Scene:
    """Cluster with a container that has failed, and whose log ends with this text."""
    item = on(HOST, pod(gpus=gpus, **H100), status=crashing(1))
    return Scene((item,), NODES, {"logs": {(make.WHERE, "train-0", "train"): f"Traceback …\n{text}\n"}})


def in_queue(message: str, queue: str = "osmo-default", **more: Any) -> Scene:
    return Scene((kai(unschedulable(pod(**H100), message), queue=queue),), NODES, more)


def never_created(message: str) -> Scene:
    job = {"metadata": {"name": "train-0", "namespace": make.WHERE}}
    return Scene(more={"events": [make.event(job, "FailedCreate", message, "Job")]})
