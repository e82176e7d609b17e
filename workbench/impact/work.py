"""Work that runs in a cluster: Pods of workflows, Jobs and users' services, with the GPU-hours that are lost if they
end.

Only Pods and nodes are read, and nothing is changed.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from physical_ai.catalog.osmo import KAI_GROUP_ANNOTATION, KAI_QUEUE_LABEL, TASK_LABEL, WORKFLOW_LABEL
from physical_ai.catalog.vendors import VENDORS
from physical_ai.kubernetes.objects import annotations_of, at, labels, name, namespace
from physical_ai.readiness.objects import POOL_LABELS, pool_of
from physical_ai.readiness.reader import Get, listed

CHECKPOINT_ARGUMENT = "-checkpoint"
"""Flag of OSMO's container that precedes the settings of one checkpoint, `path;url;seconds;regex` (NVIDIA/OSMO 6.3.1,
src/utils/job/task.py).
"""
NEVER_EVICTED = ("DaemonSet", "Node")
"""Kinds of controllers whose Pods a drain leaves on the node."""
ENDED = ("Succeeded", "Failed")
RECREATED_BY = ("ReplicaSet", "StatefulSet", "Job", "ReplicationController")
_NUMBER = re.compile(r"^[0-9]+$")


@dataclass(frozen=True)
class Work:
    """One Pod that does somebody's work.

    Attributes:
        owner: Kind and name that the user knows: `workflow train-1`, `Job team/render`, `Pod team/shell`.
        gang: Namespace and name of the KAI PodGroup, whose Pods end together; empty for a Pod without one.
        task: Name of the workflow's task; empty for other Pods.
        controller: Kind of the controller that owns the Pod; empty if there is none.
        node: Name of the Pod's node; empty while the Pod waits.
        pool: Name of the node pool; empty while the Pod waits, and on a node of no pool.
        gpus: Number of GPUs that the Pod holds, or waits for. Shared and partitioned GPUs count as one each.
        started: Time at which the Pod began to run, with time zone; None while it waits.
        checkpoint: Longest time between two checkpoints that OSMO copies; None if OSMO copies none.
        queue: Name of the Pod's KAI queue; empty for other schedulers.
        labels: Labels of the Pod.
        tolerations: Tolerations of the Pod, as in its spec.
        needs_pool: True if the Pod's node selector names a pool, so that no other pool can take its place.
    """

    namespace: str
    name: str
    owner: str
    gang: str = ""
    task: str = ""
    controller: str = ""
    node: str = ""
    pool: str = ""
    gpus: int = 0
    started: datetime.datetime | None = None
    checkpoint: datetime.timedelta | None = None
    queue: str = ""
    labels: Mapping[str, str] | None = None
    tolerations: tuple[Mapping[str, Any], ...] = ()
    needs_pool: bool = False

    @property
    def is_workflow(self) -> bool:
        return self.owner.startswith("workflow ")

    @property
    def waits(self) -> bool:
        """True for a Pod that has no node yet."""
        return not self.node

    @property
    def comes_back(self) -> bool:
        """True if the Pod's controller creates a new Pod after the Pod has ended. Whether a node can take the new Pod
        is another question. Restarts by OSMO's exit actions do not count.
        """
        return self.controller in RECREATED_BY

    def lost_hours(self, now: datetime.datetime) -> tuple[float, float]:
        """Least and most GPU-hours that are lost if the Pod ends now: since its last checkpoint, or since its start.

        OSMO copies the first checkpoint one interval after the start. So at most the interval is lost, or the whole
        running time if that is shorter.
        """
        if self.started is None or not self.gpus:
            return 0.0, 0.0
        ran = max((now - self.started).total_seconds(), 0.0) / 3600
        if self.checkpoint is None:
            return self.gpus * ran, self.gpus * ran
        interval = self.checkpoint.total_seconds() / 3600
        return (0.0 if ran >= interval else self.gpus * ran), self.gpus * min(ran, interval)


def read_work(get: Get, platform: Collection[str]) -> list[Work]:
    """Unfinished work in a cluster, from two list requests.

    Args:
        platform: Namespaces of the platform itself, whose Pods do not count as work.

    Raises:
        Unreachable, Unusable: `get` raised it.
    """
    return work_of(listed(get, "/api/v1/pods"), listed(get, "/api/v1/nodes"), platform)


def work_of(
    pods: Sequence[Mapping[str, Any]], nodes: Sequence[Mapping[str, Any]], platform: Collection[str]
) -> list[Work]:
    """Work of Pods that have not ended, sorted by owner and Pod. Pods of DaemonSets and of the kubelet are left out."""
    pools = {name(node): pool_of(node) for node in nodes}
    found = [
        _work(pod, pools)
        for pod in pods
        if at(pod, "status.phase") not in ENDED
        and namespace(pod) not in platform
        and _controller(pod) not in NEVER_EVICTED
    ]
    return sorted(found, key=lambda each: (each.owner, each.task, each.name))


def _work(pod: Mapping[str, Any], pools: Mapping[str, str]) -> Work:
    node = str(at(pod, "spec.nodeName") or "")
    own, group = labels(pod), annotations_of(pod).get(KAI_GROUP_ANNOTATION, "")
    workflow = own.get(WORKFLOW_LABEL, "")
    controller = _controller(pod)
    if workflow:
        owner = f"workflow {workflow}"
    elif controller == "ReplicaSet" and _deployment(pod):
        owner = f"Deployment {namespace(pod)}/{_deployment(pod)}"
    elif controller:
        owner = f"{controller} {namespace(pod)}/{_controller_name(pod)}"
    else:
        owner = f"Pod {namespace(pod)}/{name(pod)}"
    return Work(
        namespace=namespace(pod),
        name=name(pod),
        owner=owner,
        gang=f"{namespace(pod)}/{group}" if group else "",
        task=own.get(TASK_LABEL, ""),
        controller=controller,
        node=node,
        pool=pools.get(node, ""),
        gpus=_gpus(pod),
        started=_time(at(pod, "status.startTime")) if node else None,
        checkpoint=_checkpoint(pod),
        queue=own.get(KAI_QUEUE_LABEL, ""),
        labels=own,
        tolerations=tuple(at(pod, "spec.tolerations") or ()),
        needs_pool=not set(POOL_LABELS).isdisjoint(at(pod, "spec.nodeSelector") or {}),
    )


def _controller(pod: Mapping[str, Any]) -> str:
    return next((str(each.get("kind")) for each in _owners(pod) if each.get("controller")), "")


def _controller_name(pod: Mapping[str, Any]) -> str:
    return next((str(each.get("name")) for each in _owners(pod) if each.get("controller")), "")


def _deployment(pod: Mapping[str, Any]) -> str:
    """Name of the Deployment that a Pod belongs to: the name of its ReplicaSet without the hash that Kubernetes
    appends; empty if the Pod has no such hash.
    """
    digest = labels(pod).get("pod-template-hash")
    return _controller_name(pod).removesuffix(f"-{digest}") if digest else ""


def _owners(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(at(pod, "metadata.ownerReferences") or [])


def _gpus(pod: Mapping[str, Any]) -> int:
    """Number of GPU resources in the limits of a Pod's containers; if there are none, number of the Pod's
    DRA claims.
    """
    resources = {vendor.resource for vendor in VENDORS}
    containers: list[Mapping[str, Any]] = at(pod, "spec.containers") or []
    limits: list[Mapping[str, Any]] = [at(each, "resources.limits", {}) for each in containers]
    held = sum(
        int(amount)
        for each in limits
        for key, amount in each.items()
        if (key in resources or key.startswith("nvidia.com/mig-")) and _NUMBER.match(str(amount))
    )
    return held or len(at(pod, "spec.resourceClaims") or [])


def _checkpoint(pod: Mapping[str, Any]) -> datetime.timedelta | None:
    """Longest interval among the checkpoints of the Pod that OSMO copies; None if OSMO copies none."""
    containers: list[Mapping[str, Any]] = at(pod, "spec.containers") or []
    intervals: list[int] = []
    for container in containers:
        words = [*(at(container, "command") or ()), *(at(container, "args") or ())]
        for flag, value in pairwise(str(each) for each in words):
            parts = value.split(";", 3)
            # OSMO copies nothing if the interval is no number (src/runtime/pkg/data/data.go).
            if flag == CHECKPOINT_ARGUMENT and len(parts) > 2 and _NUMBER.match(parts[2]):
                intervals.append(int(parts[2]))
    return datetime.timedelta(seconds=max(intervals)) if intervals else None


def _time(text: Any) -> datetime.datetime | None:
    try:
        found = datetime.datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
