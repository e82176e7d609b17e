"""Work that runs in a cluster: Pods of workflows, Jobs and users' services, with the GPU-hours that are lost if they
end.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from physical_ai.catalog.osmo import KAI_GROUP_ANNOTATION, KAI_QUEUE_LABEL, TASK_LABEL, WORKFLOW_LABEL
from physical_ai.catalog.vendors import VENDORS
from physical_ai.kubernetes.objects import annotations_of, at, is_ready, labels, name, namespace
from physical_ai.kubernetes.selectors import selects_labels
from physical_ai.readiness.objects import POOL_LABELS, pool_of
from physical_ai.settings.facts.pools import UPGRADE_SKIP_LABEL

CHECKPOINT_ARGUMENT = "-checkpoint"
"""Flag of OSMO's container that precedes the settings of one checkpoint, `path;url;seconds;regex` (NVIDIA/OSMO 6.3.1,
src/utils/job/task.py).
"""
LEAD_LABEL = "osmo.lead_container"
"""Label of the Pod of the task that leads its group (NVIDIA/OSMO 6.3.1, src/utils/job/task.py, _task_labels)."""
NEVER_EVICTED = ("DaemonSet", "Node")
"""Kinds of controllers whose Pods a drain leaves on the node."""
ENDED = ("Succeeded", "Failed")
RECREATED_BY = ("ReplicaSet", "StatefulSet", "Job", "ReplicationController")
MIG_RESOURCE = "nvidia.com/mig-"
"""Prefix of the resources that a node offers for parts of its GPUs."""
_NUMBER = re.compile(r"^[0-9]+$")


@dataclass(frozen=True)
class Work:
    """One Pod that does somebody's work.

    Attributes:
        owner: Kind and name that the user knows: `workflow train-1`, `Job team/render`, `Pod team/shell`.
        gang: Namespace and name of the KAI PodGroup, whose Pods start together; empty for a Pod without one.
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
        vendor: Name of the vendor of its GPUs, as in physical_ai/catalog/vendors.py; empty if the Pod does not say it.
        has_mig: True if the Pod holds parts of a GPU as resources of their own.
        by_claims: True if the Pod gets GPUs by resource claims.
        budget: Name of the PodDisruptionBudget that allows no eviction of the Pod at present; empty if there is none.
        keeps_driver: True on a node that the GPU Operator skips, so that the node's driver stays when another one is
            deployed.
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
    vendor: str = ""
    has_mig: bool = False
    by_claims: bool = False
    budget: str = ""
    keeps_driver: bool = False

    @property
    def is_workflow(self) -> bool:
        return self.owner.startswith("workflow ")

    @property
    def waits(self) -> bool:
        """True for a Pod that has no node yet."""
        return not self.node

    @property
    def leads(self) -> bool:
        """True for the task with which OSMO ends the other tasks of its group."""
        return (self.labels or {}).get(LEAD_LABEL) == "true"

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

    def hours_since_start(self, now: datetime.datetime) -> float:
        """GPU-hours since the start: what is lost if the Pod ends now and has written no checkpoint so far."""
        if self.started is None:
            return 0.0
        return self.gpus * max((now - self.started).total_seconds(), 0.0) / 3600


def work_of(
    pods: Sequence[Mapping[str, Any]],
    nodes: Sequence[Mapping[str, Any]],
    platform: Collection[str],
    budgets: Sequence[Mapping[str, Any]] = (),
) -> list[Work]:
    """Work of Pods that have not ended, sorted by owner and Pod. Pods of DaemonSets and of the kubelet are left out,
    and those on a node that does not exist any more: they have ended, and Kubernetes deletes them within a minute.

    Args:
        platform: Namespaces of the platform itself, whose Pods do not count as work.
        budgets: PodDisruptionBudgets of the cluster.
    """
    pools = {name(node): pool_of(node) for node in nodes}
    skipped = {name(node) for node in nodes if labels(node).get(UPGRADE_SKIP_LABEL) == "true"}
    found = [
        replace(each, keeps_driver=True) if (each := _work(pod, pools, budgets)).node in skipped else each
        for pod in pods
        if at(pod, "status.phase") not in ENDED
        and namespace(pod) not in platform
        and _controller(pod) not in NEVER_EVICTED
        and (at(pod, "spec.nodeName") or "") in ("", *pools)
    ]
    return sorted(found, key=lambda each: (each.owner, each.task, each.name))


def _work(pod: Mapping[str, Any], pools: Mapping[str, str], budgets: Sequence[Mapping[str, Any]]) -> Work:
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
        vendor=next((vendor.name for vendor in VENDORS for key in _limits(pod) if key.startswith(vendor.domain)), ""),
        has_mig=any(key.startswith(MIG_RESOURCE) for key in _limits(pod)),
        by_claims=bool(at(pod, "spec.resourceClaims")),
        budget=_budget(pod, budgets),
    )


def _budget(pod: Mapping[str, Any], budgets: Sequence[Mapping[str, Any]]) -> str:
    """Name of a budget that allows no eviction of a Pod at present. A Pod that is not ready may be evicted."""
    if not is_ready(pod):
        return ""
    return next(
        (
            f"{namespace(each)}/{name(each)}"
            for each in budgets
            if namespace(each) == namespace(pod)
            and not at(each, "status.disruptionsAllowed", 0)
            and selects_labels(at(each, "spec.selector") or {}, labels(pod))
        ),
        "",
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
    limits = _limits(pod)
    held = sum(limits[key] for key in limits if key in resources or key.startswith(MIG_RESOURCE))
    return held or len(at(pod, "spec.resourceClaims") or [])


def _limits(pod: Mapping[str, Any]) -> Counter[str]:
    """Sum of each limit of the Pod's containers that is a whole number above 0."""
    containers: list[Mapping[str, Any]] = at(pod, "spec.containers") or []
    found: Counter[str] = Counter()
    for each in containers:
        limits: Mapping[str, Any] = at(each, "resources.limits", {}) or {}
        found.update({key: int(amount) for key, amount in limits.items() if _NUMBER.match(str(amount))})
    return +found


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
