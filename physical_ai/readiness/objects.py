"""Reading of plain Kubernetes objects: paths, labels, owners, conditions, and why a node has no Pod of a DaemonSet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from parts.dra.names import DRIVER as CLAIM_DRIVER
from physical_ai.catalog.aks import POOL_LABEL, SHORT_POOL_LABEL
from physical_ai.catalog.vendors import GPU_DOMAINS
from physical_ai.kubernetes.objects import at, labels, taint_text
from physical_ai.kubernetes.taints import tolerates
from physical_ai.readiness.model import Json

POOL_LABELS = (SHORT_POOL_LABEL, POOL_LABEL)
"""Labels with the name of a node's pool. AKS sets both on every node."""

_TOLERATED_BY_ALL = {
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
}
"""Taints that the DaemonSet controller makes its Pods tolerate (kubernetes/kubernetes, daemonset_util.go)."""

OFFERED = (*GPU_DOMAINS, CLAIM_DRIVER)
SCALE_DOWN_TAINT = "ToBeDeletedByClusterAutoscaler"
EVICTION_TAINT = "remediator.kubernetes.azure.com/unschedulable"
"""Taint that AKS sets on a Spot machine which Azure is about to evict."""
LEAVING = {EVICTION_TAINT: "node-evicted", SCALE_DOWN_TAINT: "node-scaled-down"}
"""Taints of nodes that are being removed, each with the id of the removal's cause. No deployment waits for the GPUs of
such nodes.
"""


def pool_of(node: Json) -> str:
    given = labels(node)
    return next((given[key] for key in POOL_LABELS if key in given), "")


def is_being_removed(node: Json) -> bool:
    return removal(node) is not None


def removal(node: Json) -> tuple[str, str] | None:
    """Cause why a node is being removed, and the evidence; None if the node is not being removed."""
    taints: Sequence[Json] = at(node, "spec.taints", [])
    taint = next((each for each in taints if each["key"] in LEAVING), None)
    if taint is not None:
        since = f", since {taint['timeAdded']}" if taint.get("timeAdded") else ""
        return LEAVING[taint["key"]], f"taint {taint['key']}{since}"
    deleted = at(node, "metadata.deletionTimestamp")
    return ("node-deleted", f"deletionTimestamp: {deleted}") if deleted else None


def allocatable(node: Json) -> dict[str, int]:
    """GPU resources that the node offers, and the number of its devices for claims; resources at zero are left out."""
    given: Mapping[str, Any] = at(node, "status.allocatable", {})
    return {key: int(value) for key, value in given.items() if key.startswith(OFFERED) and int(value)}


def holds_gpu(pod: Json) -> bool:
    """True for a Pod that holds a GPU and that a drain of its node would evict; Pods of DaemonSets are not evicted."""
    if at(pod, "status.phase") in ("Succeeded", "Failed") or owner(pod):
        return False
    containers: Sequence[Json] = at(pod, "spec.containers", [])
    limits = (key for each in containers for key in at(each, "resources.limits", {}))
    return any(key.startswith(OFFERED) for key in limits) or bool(at(pod, "spec.resourceClaims"))


def owner(pod: Json) -> str:
    """Name of the DaemonSet that the Pod belongs to; empty for other Pods."""
    references: Iterable[Json] = at(pod, "metadata.ownerReferences", [])
    return next((str(each["name"]) for each in references if each.get("kind") == "DaemonSet"), "")


def node_of(pod: Json) -> str:
    """Node that a Pod runs on or, for a DaemonSet's Pod that is not scheduled yet, the node that it is for."""
    bound = str(at(pod, "spec.nodeName", ""))
    if bound:
        return bound
    path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    terms: Iterable[Json] = at(pod, path, [])
    fields = (each for term in terms for each in cast("Sequence[Json]", term.get("matchFields") or ()))
    return next((str(each["values"][0]) for each in fields if each.get("key") == "metadata.name"), "")


def untolerated(pod_spec: Json, node: Json) -> list[str]:
    """Taints of the node that keep off the Pods of a DaemonSet with the spec `pod_spec`, as `key=value:Effect`."""
    tolerations: Sequence[Json] = pod_spec.get("tolerations") or ()
    taints: Iterable[Json] = at(node, "spec.taints", [])
    return [
        taint_text(taint)
        for taint in taints
        if taint.get("effect") in ("NoSchedule", "NoExecute")
        and (taint["key"], taint["effect"]) not in _TOLERATED_BY_ALL
        and not any(tolerates(toleration, taint) for toleration in tolerations)
    ]


def unselected(pod_spec: Json, node: Json) -> tuple[str, str, str | None] | None:
    """The first label of the Pod's node selector that the node does not have: key, wanted value, actual value.

    None if the node has all labels of the selector.
    """
    given = labels(node)
    selector: Mapping[str, str] = pod_spec.get("nodeSelector") or {}
    for key, value in sorted(selector.items()):
        if given.get(key) != value:
            return key, value, given.get(key)
    return None


def other_system(pod: Json, node: Json) -> str:
    """Operating system of the node, if the image of the driver Pod `pod` is for another Ubuntu release; empty if the
    image fits the node, or if either system is not known to be Ubuntu.
    """
    images: Sequence[str] = [str(each["image"]) for each in at(pod, "spec.containers", [])]
    given, prefix = labels(node), "feature.node.kubernetes.io/system-os_release."
    system = f"{given.get(f'{prefix}ID', '')}{given.get(f'{prefix}VERSION_ID', '')}"
    made_for = images[0].rpartition(":")[2].rpartition("-")[2] if images else ""
    known = made_for.startswith("ubuntu") and system.startswith("ubuntu")
    return system if known and made_for != system else ""
