"""Facts that follow from a pool's settings: labels, taints, tolerations, driver profile. Pure functions.

All code that has to agree about a pool (node pool, tolerations of every DaemonSet, platforms, checks) uses these
facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from parts.runners.names import POOL as RUNNER_POOL
from physical_ai.catalog import machine, machines
from physical_ai.catalog.aks import POOL_LABEL, SHORT_POOL_LABEL, SPOT_TAINT
from physical_ai.catalog.gpu_rows import DriverKind
from physical_ai.catalog.vendors import NVIDIA, GpuVendor
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import DriverSource, NodePool, Pool
from physical_ai.settings.models.tree import Settings

GPU_TAINT_KEY = NVIDIA.resource
"""Key of the taint on pools with NVIDIA GPUs; `gpu_taint` returns the taint of any pool."""

GPU_TAINT = f"{GPU_TAINT_KEY}=present:NoSchedule"
"""Taint of pools with NVIDIA GPUs.

It has a value because the autoscaler's Azure template drops a taint without a value: a pool without nodes would look
untainted and scale up for CPU Pods (kubernetes/autoscaler, cloudprovider/azure/azure_template.go).
"""

NOT_ACCEPTED_TAINT = "startup-taint.cluster-autoscaler.kubernetes.io/physical-ai-not-accepted=present:NoSchedule"
"""Taint of GPU nodes that have not passed acceptance, with `health.admit: accepted`.

It is not one of the pool's taints, which only the API of AKS can remove from a node. Its prefix says that it will be
removed: the autoscaler treats the node as one that is still starting, and adds no further node for waiting Pods
(kubernetes/autoscaler FAQ, startup taints).
"""

DEPLOY_DRIVER_LABEL = "nvidia.com/gpu.deploy.driver"
"""Label that the GPU Operator reads: `false` keeps its driver off a node, `pre-installed` means that the node image
contains one.
"""

UPGRADE_SKIP_LABEL = "nvidia.com/gpu-driver-upgrade.skip"
"""Label that keeps the GPU Operator's upgrade controller from cordoning fresh nodes whose driver it doesn't own."""

CONTAINER_ROOT, HOST_ROOT = "/run/nvidia/driver", "/"
"""Folders on a node with the driver's files: `CONTAINER_ROOT` if the GPU Operator's driver container installed the
driver (NVIDIA/gpu-operator values.yaml, hostPaths.driverInstallDir), `HOST_ROOT` if the driver is on the node itself.
"""

SYSTEM_POOL = "system"
CPU_POOL = "cpu"
"""Name of the cpu pool, which every cluster has."""

SYSTEM_TAINT = "CriticalAddonsOnly=true:NoSchedule"

IMMUTABLE_POOL_PROPERTIES = (
    "availabilityZones",
    "enableEncryptionAtHost",
    "enableUltraSSD",
    "gpuInstanceProfile",
    "gpuProfile",
    "hostGroupID",
    "kubeletConfig",
    "kubeletDiskType",
    "linuxOSConfig",
    "maxPods",
    "nodePublicIPPrefixID",
    "osDiskSizeGB",
    "osDiskType",
    "osType",
    "podSubnetID",
    "proximityPlacementGroupID",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "spotMaxPrice",
    "type",
    "vmSize",
    "vnetSubnetID",
    "workloadRuntime",
)
"""Inputs of an AgentPool that ARM refuses to change.

All of them are in `replace_on_changes`: by itself, Pulumi's provider replaces the pool for only three of these inputs,
and would try to change the others in place (pulumi/pulumi-azure-native, forceNew map).
"""

RESERVATION_PROPERTY = "capacityReservationGroupID"
"""Input of an AgentPool that ARM refuses to change, in `replace_on_changes` of pools with a reservation (AKS docs,
use-capacity-reservation-groups: of existing pools a preview).
"""


@dataclass(frozen=True)
class DriverFacts:
    """Labels, root folder and other facts about a pool that depend on its driver source."""

    labels: Mapping[str, str]
    """Labels of the nodes besides DRIVER_LABEL."""
    unsigned: str
    """Reason why the driver does not load with Secure Boot, for messages."""
    defaults: Literal["gpuOperator.driver", "gridDriver"] | None
    """Path of the settings with the defaults of a pool's driver; None if the driver is part of the node image or the
    host.
    """
    kind: DriverKind = "datacenter"
    gpu_profile_driver: Literal["Install", "None"] = "None"
    """Value of `gpuProfile.driver`: `Install` if AKS's node image contains the driver, otherwise the text `None`."""
    root: str = HOST_ROOT
    """Folder of the driver on the nodes: on the host itself, or where the GPU Operator mounts it."""
    vtpm: bool | None = None
    """Value of `enableVTPM`: False where NVIDIA's vGPU guest needs it off (VM docs, GRID drivers on NCv6); None for
    AKS's default.
    """


DRIVER_FACTS: dict[DriverSource, DriverFacts] = {
    DriverSource.OPERATOR: DriverFacts(
        labels={},
        unsigned="the modules that the GPU Operator builds on the node are not signed",
        defaults="gpuOperator.driver",
        root=CONTAINER_ROOT,
    ),
    DriverSource.GRID: DriverFacts(
        labels={DEPLOY_DRIVER_LABEL: "false"},
        unsigned="the modules of the GRID installer are not signed",
        defaults="gridDriver",
        kind="grid",
        vtpm=False,
    ),
    DriverSource.AKS: DriverFacts(
        labels={DEPLOY_DRIVER_LABEL: "pre-installed", UPGRADE_SKIP_LABEL: "true"},
        unsigned="AKS installs no GPU driver on Ubuntu pools with it",
        defaults=None,
        gpu_profile_driver="Install",
    ),
    DriverSource.HOST: DriverFacts(
        labels={DEPLOY_DRIVER_LABEL: "pre-installed", UPGRADE_SKIP_LABEL: "true"},
        unsigned="whether the host's modules are signed is not known",
        defaults=None,
    ),
}


def pool_selector(name: str, pool: NodePool) -> dict[str, str]:
    """Labels that select the nodes of a pool, for Pods and for label selectors.

    AKS gives every node two labels with the pool's name. In an existing cluster, the program sets only the shorter one,
    so everything that runs on such a pool, workflows included, selects by the shorter label.
    """
    return {SHORT_POOL_LABEL if pool.node_selector else POOL_LABEL: name}


def services_selector(settings: Settings) -> dict[str, str]:
    """Labels that select the nodes for operators, schedulers and services: those of the cpu pool."""
    return pool_selector(CPU_POOL, settings.cpu_pool)


def services_placement(settings: Settings) -> dict[str, Any]:
    """Placement of a Pod on the cpu pool: `nodeSelector`, and `tolerations` where the pool has taints."""
    tolerated = tolerations_for(settings.cpu_pool.tolerate)
    return {"nodeSelector": services_selector(settings), **({"tolerations": tolerated} if tolerated else {})}


def node_pools(settings: Settings) -> dict[str, NodePool]:
    """All node pools of a stack by name, in this order: the system pool (only on AKS), the cpu pool, the runners' pool,
    the GPU pools.
    """
    return {**shared_subnet_pools(settings), **settings.pools}


def shared_subnet_pools(settings: Settings) -> dict[str, NodePool]:
    """Pools without GPUs, by name; on Azure, they share `network.systemSubnet`."""
    system = settings.azure_system_pool
    found = {**({SYSTEM_POOL: system} if system is not None else {}), CPU_POOL: settings.cpu_pool}
    return found if settings.runners is None else {**found, RUNNER_POOL: settings.runners.pool}


def pool_paths(settings: Settings) -> dict[Path, NodePool]:
    """All node pools, by the path of their settings."""
    paths: dict[Path, NodePool] = {("systemPool",): settings.system_pool, ("cpuPool",): settings.cpu_pool}
    if settings.runners is not None:
        paths["runners", "pool"] = settings.runners.pool
    return paths | {("pools", name): pool for name, pool in settings.pools.items()}


def driver_facts(pool: Pool) -> DriverFacts:
    """Facts that depend on the pool's driver source."""
    return DRIVER_FACTS[pool.driver.source]


def gpu_vendor(pool: NodePool) -> GpuVendor:
    """Vendor of the pool's GPUs. It is NVIDIA for a size that is unknown or has no GPU, which rules report."""
    size = machines().get(pool.sku)
    return size.gpu.vendor if size is not None and size.gpu is not None else NVIDIA


def gpu_resource(pool: NodePool) -> str:
    """Resource that a Pod requests for a whole GPU of the pool: `nvidia.com/gpu`, `amd.com/gpu`."""
    return gpu_vendor(pool).resource


def gpu_taint(pool: NodePool) -> str:
    """Taint that reserves a GPU pool for Pods that request its GPUs."""
    return GPU_TAINT.replace(GPU_TAINT_KEY, gpu_resource(pool), 1)


def own_taints(pool: Pool) -> list[str]:
    """Taints that the program gives to the pool's nodes, without those that the stack adds."""
    return [gpu_taint(pool), SPOT_TAINT] if pool.is_spot else [gpu_taint(pool)]


def node_taints(pool: Pool) -> list[str]:
    """All taints declared on the pool, as `key=value:Effect`, each once."""
    return list(dict.fromkeys([*own_taints(pool), *pool.taints]))


def tolerations(pool: Pool) -> list[dict[str, str]]:
    """Tolerations for a Pod on the pool's nodes: one for each taint, by key and effect, whatever the value."""
    return tolerations_for([*node_taints(pool), *pool.tolerate])


def tolerations_for(taints: Iterable[str]) -> list[dict[str, str]]:
    """One toleration for each key and effect among these taints, whatever the value."""
    keys = (split_taint(taint) for taint in taints)
    found = [{"key": key, "operator": "Exists", "effect": effect} for key, _, effect in keys]
    return [item for index, item in enumerate(found) if item not in found[:index]]


def gpus_per_node(pool: NodePool) -> int:
    """Number of GPUs (`gpu_resource`) on one node of the pool; 0 for a size without GPUs."""
    gpu = machine(pool.sku).gpu
    return gpu.count if gpu else 0


def sends_upgrade_settings(pool: NodePool) -> bool:
    """True where `upgradeSettings` may be sent: ARM refuses the block on a Spot pool (Azure/bicep-types-az#2217)."""
    return not (isinstance(pool, Pool) and pool.is_spot)


def surge_nodes(pool: NodePool) -> int:
    """Largest number of nodes that an upgrade adds to the pool; each added node needs an address and quota.

    A percentage in the settings is a share of the pool's largest number of nodes, rounded up.
    """
    if not sends_upgrade_settings(pool):
        return 0
    surge = pool.upgrade.max_surge
    if surge.endswith("%"):
        return -(-pool.scale.most * int(surge[:-1]) // 100)
    return int(surge)
