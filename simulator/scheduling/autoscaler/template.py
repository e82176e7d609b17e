"""Template of the next node of a pool, as the autoscaler predicts it. Pure functions.

If the pool has a ready node, that node is the template. For an empty pool the autoscaler has only Azure's description,
which is incomplete and partly wrong (cloudprovider/azure/azure_template.go).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai import catalog
from physical_ai.kubernetes.fit import PODS, Offer, requests, why_not
from physical_ai.kubernetes.quantities import quantity
from simulator.azure.autoscaling import ScaledPool
from simulator.cluster import names
from simulator.cluster.objects import Json, at, is_ready, labels

GPU_LABELS = ("kubernetes.azure.com/accelerator", "accelerator")
PREDICTED = (
    "kubernetes.io/arch",
    "beta.kubernetes.io/arch",
    "kubernetes.io/os",
    "beta.kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
    "agentpool",
    "kubernetes.azure.com/agentpool",
    "storageprofile",
    "kubernetes.azure.com/storageprofile",
    "storagetier",
    "kubernetes.azure.com/storagetier",
    "kubernetes.azure.com/os-sku",
    "kubernetes.azure.com/cluster",
    # Upstream's list of GPU sizes ends at A100. Assumed, not verified: AKS's own list is longer.
    *GPU_LABELS,
)
"""Labels that the autoscaler expects on the nodes of an empty pool, in addition to the pool's own labels. In a pool
with several zones the autoscaler chooses the zone label at random; the simulation takes the first zone.
"""
RESOURCE_TAG = "k8s.io_cluster-autoscaler_node-template_resources_"
PREDICTED_PODS = 110
"""Number of Pods that the autoscaler assumes for a node, regardless of the pool's maxPods."""
NOT_READY_TAINTS = tuple(f"node.kubernetes.io/{each}" for each in ("not-ready", "disk-pressure", "network-unavailable"))
PASSING_TAINTS = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    names.STARTUP_TAINTS,
)
"""Prefixes of temporary taints, which a new node is assumed not to have."""


def template(pool: ScaledPool, live: Iterable[Offer], daemonsets: Iterable[Json]) -> Offer:
    """An additional node of the pool, as the autoscaler predicts it.

    Args:
        pool: The pool as Azure describes it.
        live: The pool's ready nodes, with all their Pods.
        daemonsets: All DaemonSets of the cluster, whose Pods would run on the node.
    """
    shown = min(live, key=lambda offer: offer.name, default=None)
    node = copy_of(shown.node, pool) if shown is not None else predicted(pool)
    offer = Offer.of(node)
    pods = (pod_of(each) for each in daemonsets)
    taken = [requests(pod) + Counter({PODS: 1}) for pod in pods if not why_not(pod, offer)]
    return offer.with_taken(sum(taken, Counter[str]()))


def pod_of(daemonset: Mapping[str, Any]) -> Json:
    return {"spec": at(daemonset, "spec.template.spec", {})}


def copy_of(node: Mapping[str, Any], pool: ScaledPool) -> Json:
    """Template for an additional node, copied from a ready node of the pool."""
    kept = [taint for taint in at(node, "spec.taints", []) if not str(taint["key"]).startswith(PASSING_TAINTS)]
    own = {**labels(node), "kubernetes.io/hostname": _name(pool)}
    return {"metadata": {"name": _name(pool), "labels": own}, "spec": {"taints": kept}, "status": node["status"]}


def predicted(pool: ScaledPool) -> Json:
    """Template for an additional node of an empty pool. Its GPUs follow from the VM size, and its allocatable amounts
    equal its capacity.
    """
    size = catalog.vm_sizes().get(str(pool.spec.get("vmSize")))
    real = labels(pool.sample)
    own: dict[str, str] = dict(pool.spec.get("nodeLabels") or {})
    own |= {key: real[key] for key in PREDICTED if key in real} | {"kubernetes.io/hostname": _name(pool)}
    amounts = {
        PODS: str(PREDICTED_PODS),
        "cpu": str(size.vcpus if size else 0),
        "memory": f"{size.memory_gib if size else 0}Gi",
        "ephemeral-storage": f"{pool.spec['osDiskSizeGB']}Gi",
        # The template counts any vendor's GPUs under NVIDIA's name (kubernetes/autoscaler, azure_template.go).
        names.GPU: str(size.gpu.count if size and size.gpu else 0),
        **tagged(pool.spec.get("tags") or {}),
    }
    found = (predicted_taint(text) for text in pool.spec.get("nodeTaints") or ())
    return {
        "metadata": {"name": _name(pool), "labels": own},
        "spec": {"taints": [taint for taint in found if taint is not None]},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def tagged(tags: Mapping[str, str]) -> dict[str, str]:
    """Resources that the tags of a pool's scale set announce. The autoscaler skips amounts that are no quantities
    (cloudprovider/azure/azure_template.go, extractAllocatableResourcesFromScaleSet).
    """
    found = {key.partition(RESOURCE_TAG)[2]: amount for key, amount in tags.items() if RESOURCE_TAG in key}
    return {key.replace("_", "/"): amount for key, amount in found.items() if key and quantity(amount) is not None}


def predicted_taint(text: str) -> Json | None:
    """A pool's taint as the autoscaler reads it. None for a text without exactly one `=`: the autoscaler ignores such a
    taint.

    For example, it ignores `nvidia.com/gpu:NoSchedule`, so an empty GPU pool seems to fit Pods that do not tolerate the
    taint.
    """
    parts = text.split("=")
    if len(parts) != 2 or not re.search(r":(NoSchedule|NoExecute|PreferNoSchedule)", parts[1]):
        return None
    value, _, effect = parts[1].partition(":")
    return {"key": parts[0], "value": value, "effect": effect}


def works(node: Mapping[str, Any]) -> bool:
    """True for a node that the autoscaler counts as ready: the node is Ready, has no not-ready or startup taint, and
    offers its GPUs.

    A Ready node may have the not-ready taint for a moment, because the node lifecycle controller removes the taint
    slightly later (utils/kubernetes/ready.go).
    """
    keys = [str(taint["key"]) for taint in at(node, "spec.taints", [])]
    tainted = any(key in NOT_READY_TAINTS or key.startswith(names.STARTUP_TAINTS) for key in keys)
    return is_ready(node) and not tainted and not _lacks_gpus(node)


def _lacks_gpus(node: Mapping[str, Any]) -> bool:
    """True for a node with GPU labels that does not offer its GPUs yet; it counts as not ready. Only whole GPUs, by
    their own name, count as offered: a node with MIG instances of the mixed strategy, or with renamed shares, never
    becomes ready for the autoscaler (processors/customresources/gpu_processor.go; kubernetes/autoscaler#8095).
    """
    with_gpus = any(key in labels(node) for key in GPU_LABELS)
    return with_gpus and not int(at(node, "status.allocatable", {}).get(names.GPU, 0))


def _name(pool: ScaledPool) -> str:
    return f"template-node-for-{pool.scale_set}"


def instance_of(node: Mapping[str, Any]) -> int:
    """The number of the node's machine in its scale set, from the provider id; -1 if the id has none."""
    tail = str(at(node, "spec.providerID", "")).rpartition("/")[2]
    return int(tail) if tail.isdigit() else -1
