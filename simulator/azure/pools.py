"""A node pool's request, completed with AKS's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.azure import sku_capabilities
from simulator.azure.bodies import Json, get
from simulator.azure.offers import Offers, resolve
from simulator.azure.own_facts import SPOT_LABEL, SPOT_TAINT
from simulator.azure.registry import models

MANAGED_DISK_GIB = 128


def is_spot(spec: Mapping[str, Any]) -> bool:
    return spec.get("scaleSetPriority") == "Spot"


@models("spot-server-adds", "spot-system-taint")
def effective(spec: Mapping[str, Any], cluster: Mapping[str, Any], offers: Offers) -> Json:
    """A pool's properties with AKS's defaults.

    `spec` is the `properties` of an agent pool (or an inline profile), `cluster` the body of the managed cluster. The
    default OS disk is ephemeral on sizes whose local disks can hold it.
    """
    size = offers.size(str(spec.get("vmSize", "")))
    disks, asked_gib = offers.capabilities(str(spec.get("vmSize", ""))), spec.get("osDiskSizeGB") or 0
    wanted = asked_gib or sku_capabilities.default_gib(disks)
    disk_type = spec.get("osDiskType") or ("Ephemeral" if sku_capabilities.is_default(disks, wanted) else "Managed")
    default_gib = sku_capabilities.default_gib(disks) if disk_type == "Ephemeral" else MANAGED_DISK_GIB
    sent = {name: value for name, value in spec.items() if value is not None}
    result: Json = {
        "count": 1,
        "mode": "User",
        "type": "VirtualMachineScaleSets",
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "scaleSetPriority": "Regular",
        "scaleDownMode": "Delete",
        "enableAutoScaling": False,
        "kubeletDiskType": "OS",
        "maxPods": default_max_pods(cluster),
        "powerState": {"code": "Running"},
        "workloadRuntime": "OCIContainer",
        "upgradeSettings": {"maxSurge": "10%"},
        **sent,
        "osDiskType": disk_type,
        "osDiskSizeGB": asked_gib or default_gib,
    }
    if size is not None and size.gpu is not None:
        result["gpuProfile"] = {"driver": "Install", **(sent.get("gpuProfile") or {})}
    if is_spot(result):
        result |= {"scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1, **sent}
        result["osDiskType"], result["osDiskSizeGB"] = disk_type, asked_gib or default_gib
        result["nodeLabels"] = {SPOT_LABEL[0]: SPOT_LABEL[1], **(sent.get("nodeLabels") or {})}
        taints = list(sent.get("nodeTaints") or [])
        result["nodeTaints"] = taints if SPOT_TAINT in taints else [*taints, SPOT_TAINT]
        result.pop("upgradeSettings", None)
    return result


def default_max_pods(cluster: Mapping[str, Any]) -> int:
    """Default Pods per node: overlay 250, flat Azure CNI 30, kubenet 110."""
    plugin, mode = get(cluster, "properties.networkProfile.networkPlugin"), "networkProfile.networkPluginMode"
    if plugin == "azure":
        return 250 if get(cluster, f"properties.{mode}") == "overlay" else 30
    return 110


def version_of(spec: Mapping[str, Any], cluster_version: str, offers: Offers) -> str:
    """Patch version of a pool's nodes: the version in the pool's request, where a minor version stands for its newest
    patch. The control plane's version if the request names no version that Azure offers.
    """
    return (
        resolve(str(spec.get("orchestratorVersion") or cluster_version), offers.versions(long_term=True))
        or cluster_version
    )


def initial_count(spec: Mapping[str, Any]) -> int:
    return 0 if get(spec, "powerState.code") == "Stopped" else int(spec.get("count", 1))


@models("autoscale-count-kept")
def count_after(spec: Mapping[str, Any], before: Mapping[str, Any] | None, current: int | None) -> int:
    """Number of nodes that a pool has after a PUT.

    `before` is the request of the previous PUT, `current` the pool's present number of nodes.
    """
    asked = initial_count(spec)
    if before is None or current is None or not (spec.get("enableAutoScaling") and before.get("enableAutoScaling")):
        return asked
    # Believed, no source opened: while autoscaling remains on, a PUT that repeats the initial count does not change the
    # autoscaler's count, except as far as new bounds require it.
    kept = current if asked == initial_count(before) else asked
    return min(max(kept, int(spec.get("minCount") or 0)), int(spec.get("maxCount") or kept))
