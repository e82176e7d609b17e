"""Facts that follow from a pool's settings: labels, taints, tolerations, driver profile. Pure functions.

Everything that has to agree about a pool (node pool, tolerations of every DaemonSet, platforms, checks) reads it here.
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
"""Key of the taint on pools of NVIDIA's GPUs. Of any pool: `gpu_taint`."""

GPU_TAINT = f"{GPU_TAINT_KEY}=present:NoSchedule"
"""Taint with a value: the autoscaler's Azure template drops a value-less taint, so that a pool at zero nodes would look
untainted and scale up for CPU pods (kubernetes/autoscaler, cloudprovider/azure/azure_template.go)."""

NOT_ACCEPTED_TAINT = "startup-taint.cluster-autoscaler.kubernetes.io/physical-ai-not-accepted=present:NoSchedule"
"""Taint of GPU nodes that have not passed acceptance, with `health.admit: accepted`. It is not one of the pool's
taints, which only the API of AKS can take from a node. The prefix says that it is going to disappear: the autoscaler
takes the node for one that is still starting, and adds none beside it for Pods that wait (kubernetes/autoscaler FAQ,
startup taints)."""

DEPLOY_DRIVER_LABEL = "nvidia.com/gpu.deploy.driver"
"""Read by the GPU Operator: `false` keeps its driver off a node, `pre-installed` says the node image brought one."""

UPGRADE_SKIP_LABEL = "nvidia.com/gpu-driver-upgrade.skip"
"""Label without which the Operator's upgrade controller cordons fresh nodes whose driver it doesn't own."""

CONTAINER_ROOT, HOST_ROOT = "/run/nvidia/driver", "/"
"""Folders of a driver: in the operator's driver container, which mounts it there (NVIDIA/gpu-operator values.yaml,
hostPaths.driverInstallDir), or on the node itself."""

SYSTEM_POOL = "system"
CPU_POOL = "cpu"
"""Names of the two node pools every cluster has."""

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
"""AgentPool inputs that ARM refuses to change. The provider replaces on three of them only and would try the others in
place (pulumi/pulumi-azure-native, forceNew map), so all of them go to `replace_on_changes`."""


@dataclass(frozen=True)
class DriverFacts:
    """Labels, root folder and other facts that a driver source decides about its pools."""

    labels: Mapping[str, str]
    """Node labels beside DRIVER_LABEL."""
    unsigned: str
    """Reason why Secure Boot keeps the driver from loading."""
    defaults: Literal["gpuOperator.driver", "gridDriver"] | None
    """The setting with the defaults of a pool's driver; None: the node image decides, and no driver is built."""
    kind: DriverKind = "datacenter"
    gpu_profile_driver: Literal["Install", "None"] = "None"
    """`gpuProfile.driver`: Install when AKS brings the driver in the node image, else None (the word)."""
    root: str = HOST_ROOT
    """Folder of the driver on the nodes: on the host, or in the container that the GPU Operator mounts there."""
    vtpm: bool | None = None
    """`enableVTPM`: off where NVIDIA's vGPU guest needs it off (VM docs, GRID drivers on NCv6); None: AKS's default."""


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
    """Selector of the nodes of a pool, for Pods and for label selectors.

    On an existing cluster the program labels the nodes of a class, with the shorter of the two labels that AKS has:
    what runs on a pool, workflows included, selects it alike in every cluster.
    """
    return {SHORT_POOL_LABEL if pool.node_selector else POOL_LABEL: name}


def services_selector(settings: Settings) -> dict[str, str]:
    """Labels of the nodes of operators, schedulers and services: of the cpu pool."""
    return pool_selector(CPU_POOL, settings.cpu_pool)


def services_placement(settings: Settings) -> dict[str, Any]:
    """`nodeSelector` of a Pod on the cpu pool, and its `tolerations` where that has taints."""
    tolerated = tolerations_for(settings.cpu_pool.tolerate)
    return {"nodeSelector": services_selector(settings), **({"tolerations": tolerated} if tolerated else {})}


def node_pools(settings: Settings) -> dict[str, NodePool]:
    """Every node pool of a stack by its name: system, which only AKS has, cpu, that of runners, then the GPU pools."""
    return {**shared_subnet_pools(settings), **settings.pools}


def shared_subnet_pools(settings: Settings) -> dict[str, NodePool]:
    """The pools without GPUs by name; on Azure they are in `network.systemSubnet`."""
    system = settings.azure_system_pool
    found = {**({SYSTEM_POOL: system} if system is not None else {}), CPU_POOL: settings.cpu_pool}
    return found if settings.runners is None else {**found, RUNNER_POOL: settings.runners.pool}


def pool_paths(settings: Settings) -> dict[Path, NodePool]:
    """Every node pool by the path of its setting."""
    paths: dict[Path, NodePool] = {("systemPool",): settings.system_pool, ("cpuPool",): settings.cpu_pool}
    if settings.runners is not None:
        paths["runners", "pool"] = settings.runners.pool
    return paths | {("pools", name): pool for name, pool in settings.pools.items()}


def driver_facts(pool: Pool) -> DriverFacts:
    """Facts that the pool's driver source decides."""
    return DRIVER_FACTS[pool.driver.source]


def gpu_vendor(pool: NodePool) -> GpuVendor:
    """Vendor of the pool's GPUs; NVIDIA where its size is unknown, or has none, which rules report."""
    size = machines().get(pool.sku)
    return size.gpu.vendor if size is not None and size.gpu is not None else NVIDIA


def gpu_resource(pool: NodePool) -> str:
    """The resource that a Pod requests for a whole GPU of the pool: `nvidia.com/gpu`, `amd.com/gpu`."""
    return gpu_vendor(pool).resource


def gpu_taint(pool: NodePool) -> str:
    """The taint that keeps a GPU pool for Pods that ask for its GPUs."""
    return GPU_TAINT.replace(GPU_TAINT_KEY, gpu_resource(pool), 1)


def own_taints(pool: Pool) -> list[str]:
    """Taints the program gives the pool's nodes, without those the stack adds."""
    return [gpu_taint(pool), SPOT_TAINT] if pool.is_spot else [gpu_taint(pool)]


def node_taints(pool: Pool) -> list[str]:
    """All taints declared on the pool, as `key=value:Effect`, each once."""
    return list(dict.fromkeys([*own_taints(pool), *pool.taints]))


def tolerations(pool: Pool) -> list[dict[str, str]]:
    """Tolerations that let a pod onto the pool's nodes: one a taint, by key and effect whatever the value."""
    return tolerations_for([*node_taints(pool), *pool.tolerate])


def tolerations_for(taints: Iterable[str]) -> list[dict[str, str]]:
    """One toleration for each key and effect among these taints, whatever the value."""
    keys = (split_taint(taint) for taint in taints)
    found = [{"key": key, "operator": "Exists", "effect": effect} for key, _, effect in keys]
    return [item for index, item in enumerate(found) if item not in found[:index]]


def gpus_per_node(pool: NodePool) -> int:
    """GPUs (`gpu_resource`) on one node of the pool; 0 for a size without."""
    gpu = machine(pool.sku).gpu
    return gpu.count if gpu else 0


def sends_upgrade_settings(pool: NodePool) -> bool:
    """True where `upgradeSettings` may be sent: ARM refuses the block on a Spot pool (Azure/bicep-types-az#2217)."""
    return not (isinstance(pool, Pool) and pool.is_spot)


def surge_nodes(pool: NodePool) -> int:
    """Nodes an upgrade adds at most; each needs an address and quota. A percentage, of the most nodes, rounds up."""
    if not sends_upgrade_settings(pool):
        return 0
    surge = pool.upgrade.max_surge
    if surge.endswith("%"):
        return -(-pool.scale.most * int(surge[:-1]) // 100)
    return int(surge)
