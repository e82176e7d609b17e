"""Facts that follow from the settings about drivers and shared GPUs: resources, device-plugin and MIG configuration.

All code that counts GPUs as Kubernetes offers them (platforms, quotas, acceptance) reads the numbers here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from parts.dra.names import DRIVER as CLAIM_DRIVER
from physical_ai.catalog import ModuleFlavour, machine, machines, vgpu_model
from physical_ai.catalog.vendors import AMD, NVIDIA
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import (
    NOT_ACCEPTED_TAINT,
    driver_facts,
    gpu_resource,
    gpu_vendor,
    gpus_per_node,
    tolerations,
)
from physical_ai.settings.models.gpu import MigStrategy, ModuleType, OperatorDriver
from physical_ai.settings.models.grid_driver import GridDriver
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

OPERATOR_NAMESPACE = "gpu-operator"
"""Namespace of the GPU Operator and of everything that installs drivers."""
DEFAULT_CONFIG = "default"
"""Key of the device-plugin configuration for nodes without the label: one Pod per GPU."""
DEVICE_PLUGIN_LABEL = "nvidia.com/device-plugin.config"
"""Label of a node with the key of its device-plugin configuration; the operator never removes it."""
MIG_CONFIG_LABEL = "nvidia.com/mig.config"
"""Label of a node with the layout that the MIG manager applies to it."""
DEPLOY_MIG_MANAGER_LABEL = "nvidia.com/gpu.deploy.mig-manager"
DEPLOY_DEVICE_PLUGIN_LABEL = "nvidia.com/gpu.deploy.device-plugin"
"""Label of a node. The value `false` keeps the GPU Operator's device plugin off the node."""
ALLOCATION_LABEL = "physical-ai/gpu-allocation"
"""Label of nodes on which Pods get GPUs by resource claims; the value is `dra`. The DRA driver runs only on these
nodes. The label is set on the pool alone, never on single nodes.
"""
MIG_DISABLED = "all-disabled"
"""Name of the MIG layout without instances, which the operator applies to nodes without a requested layout."""

FINISH_FIRST_LABEL = "physical-ai/finish-before-driver-upgrade"
"""Label of Pods for whose end the operator waits before their node gets another driver; its value is `true`.

Workflow tasks have it: they are Pods without a controller, which the operator never deletes, so without the label the
upgrade would fail.
"""
FINISH_FIRST_POLICY = {"waitForCompletion": {"podSelector": f"{FINISH_FIRST_LABEL}=true"}}
"""Section of every driver's upgrade policy: the operator first waits for the Pods with `FINISH_FIRST_LABEL` to end."""


def installs_operator(settings: Settings) -> bool:
    """True if the stack installs the GPU Operator; False if it uses the GPU Operator of an existing cluster."""
    return settings.gpu_operator.existing == "refuse"


def knows_gpu(pool: Pool) -> bool:
    """True where the catalogue knows the pool's VM size and the size has a GPU. Functions of this module that need
    facts about the GPU accept only such pools.
    """
    size = machines().get(pool.sku)
    return size is not None and size.gpu is not None


def is_vgpu(pool: Pool) -> bool:
    """True where the pool's GPUs are virtual; False for a size without a GPU."""
    gpu = machine(pool.sku).gpu
    return gpu is not None and gpu.virtual


def gpu_model(pool: Pool) -> str | None:
    """GPU model of the pool's size, as the catalogue names it; None for a size without a GPU."""
    gpu = machine(pool.sku).gpu
    return gpu.model if gpu is not None else None


def gpu_families(settings: Settings) -> list[str]:
    """Models of NVIDIA GPUs in the stack's pools, each once; all have the same resource name."""
    models = (gpu_model(pool) for pool in nvidia_pools(settings).values() if knows_gpu(pool))
    return sorted({model for model in models if model is not None})


def has_host_mig(pool: Pool) -> bool:
    """True where Azure's host has partitioned the pool's GPUs by MIG: the guest sees MIG on, and can't change it."""
    gpu = machine(pool.sku).gpu
    return gpu is not None and gpu.host_mig


def gpu_resources(pool: Pool) -> dict[str, int]:
    """GPU resources that one node of the pool offers, as number by resource name: whole GPUs, MIG instances, or shares
    of either. Empty where Pods get GPUs by claims.

    A node with one H100 and `sharing: {mig: {strategy: mixed, profiles: {1g.12gb: 3, 4g.47gb: 1}}}` offers
    `{nvidia.com/mig-1g.12gb: 3, nvidia.com/mig-4g.47gb: 1}`.
    """
    if pool.uses_claims:
        return {}
    gpus, sharing = gpus_per_node(pool), pool.sharing
    name = gpu_resource(pool)
    whole = {name: gpus}
    if sharing.mig is not None:
        instances = {profile: gpus * count for profile, count in sharing.mig.profiles.items()}
        is_mixed = sharing.mig.strategy == "mixed"
        whole = (
            {mig_resource(profile): count for profile, count in instances.items()}
            if is_mixed
            else {name: sum(instances.values())}
        )
    replicated = sharing.time_slicing or sharing.mps
    if replicated is None:
        return whole
    suffix = ".shared" if replicated.rename else ""
    return {f"{name}{suffix}": count * replicated.replicas for name, count in whole.items()}


def offered(settings: Settings, pool: Pool) -> dict[str, int]:
    """GPU resources that one node offers at present, as number by resource name; empty while the GRID driver is being
    removed.

    In a pool whose Pods get GPUs by claims, the key is the name of the DRA driver.
    """
    gone = pool.driver.is_grid and not settings.grid_driver.present
    if pool.uses_claims:
        return {CLAIM_DRIVER: gpus_per_node(pool)}
    return {} if gone else gpu_resources(pool)


def mig_resource(profile: str) -> str:
    """Resource name of a MIG profile with strategy `mixed`; `+me` becomes `.me`."""
    return f"nvidia.com/mig-{profile.replace('+', '.')}"


def sharing_kind(pool: Pool) -> Literal["none", "timeSlicing", "mps", "mig", "mig+timeSlicing"]:
    """Kind of sharing of the pool's GPUs, as one word."""
    if pool.sharing.mig is not None:
        return "mig+timeSlicing" if pool.sharing.time_slicing else "mig"
    if pool.sharing.mps is not None:
        return "mps"
    return "timeSlicing" if pool.sharing.time_slicing else "none"


def pool_mig_strategy(pool: Pool) -> Literal["single", "mixed"]:
    """MIG strategy that the pool needs; `single` for a pool without MIG settings.

    `single` offers whole GPUs where MIG is off, as `none` does. It also works where Azure's host has partitioned the
    GPU: there, `none` would allocate the id of the full GPU, on which CUDA fails.
    """
    return pool.sharing.mig.strategy if pool.sharing.mig is not None else "single"


def mig_strategy(settings: Settings) -> MigStrategy:
    """Value `mig.strategy` of the chart, which applies to all nodes; empty where pools need different strategies.

    An empty value leaves the strategy to each pool's device-plugin configuration. The operator passes any other value
    as an environment variable, which overrides that configuration.
    """
    if settings.gpu_operator.mig_strategy is not None:
        return settings.gpu_operator.mig_strategy
    strategies: list[MigStrategy] = [pool_mig_strategy(pool) for pool in nvidia_pools(settings).values()]
    if len(set(strategies)) > 1:
        return ""
    return strategies[0] if strategies else "single"


def runs_mig_manager(settings: Settings) -> bool:
    """True where a pool has MIG settings. Otherwise the MIG manager stays off: it would do harm on vGPU guests."""
    return any(pool.sharing.mig is not None for pool in settings.pools.values())


def device_plugin_configs(settings: Settings) -> dict[str, dict[str, Any]]:
    """Configurations of the device plugin by key: the default one, and one for each pool under the pool's name."""
    by_file = mig_strategy(settings) == ""
    configs: dict[str, dict[str, Any]] = {DEFAULT_CONFIG: {"version": "v1"}}
    if by_file:
        configs[DEFAULT_CONFIG]["flags"] = {"migStrategy": "single"}
    for name, pool in nvidia_pools(settings).items():
        config: dict[str, Any] = {"version": "v1"}
        if by_file:
            config["flags"] = {"migStrategy": pool_mig_strategy(pool)}
        for key, replicated in (("timeSlicing", pool.sharing.time_slicing), ("mps", pool.sharing.mps)):
            if replicated is not None:
                names = gpu_resources(pool.model_copy(update={"sharing": _only_mig(pool)}))
                config["sharing"] = {
                    key: {
                        "renameByDefault": replicated.rename,
                        "failRequestsGreaterThanOne": replicated.fail_requests_greater_than_one,
                        "resources": [{"name": resource, "replicas": replicated.replicas} for resource in names],
                    }
                }
        configs[name] = config
    return configs


def _only_mig(pool: Pool) -> Any:
    return pool.sharing.model_copy(update={"time_slicing": None, "mps": None})


def mig_manager_config(settings: Settings) -> dict[str, Any] | None:
    """Content of the MIG manager's `config.yaml`: no MIG, and under each MIG pool's name its layout; None without
    MIG.
    """
    if not runs_mig_manager(settings):
        return None
    layouts: dict[str, Any] = {MIG_DISABLED: [{"devices": "all", "mig-enabled": False}]}
    for name, pool in settings.pools.items():
        if pool.sharing.mig is not None:
            devices = dict(pool.sharing.mig.profiles)
            layouts[name] = [{"devices": "all", "mig-enabled": True, "mig-devices": devices}]
    return {"version": "v1", "mig-configs": layouts}


def all_tolerations(settings: Settings) -> list[dict[str, str]]:
    """Tolerations for Pods on all GPU nodes: one for each taint of any pool, each once."""
    return tolerations_of(settings, settings.pools.values())


def tolerations_of(settings: Settings, pools: Iterable[Pool]) -> list[dict[str, str]]:
    """Tolerations for Pods on all nodes of these pools: one for each of the pools' taints, each once.

    Taints of nodes that are not accepted yet are included: nodes are accepted together with their driver and device
    plugin.
    """
    every = [item for pool in pools for item in tolerations(pool)]
    if settings.health.admit == "accepted":
        key, _, effect = split_taint(NOT_ACCEPTED_TAINT)
        every.append({"key": key, "operator": "Exists", "effect": effect})
    return [item for index, item in enumerate(every) if item not in every[:index]]


def driver_version(settings: Settings, pool: Pool) -> str | None:
    """Driver build that the settings ask for; None where the node image decides."""
    if gpu_vendor(pool) is AMD:
        return settings.amd_gpu_operator.driver.version if settings.amd_gpu_operator is not None else None
    defaults = _driver_defaults(settings, pool)
    return (pool.driver.version or defaults.version) if defaults is not None else None


def module_type(settings: Settings, pool: Pool) -> ModuleType | None:
    """Kind of kernel modules to build; None where AKS installs the driver. Never `auto` for GRID."""
    if pool.driver.is_grid:
        return grid_modules(settings, pool)
    defaults = _driver_defaults(settings, pool)
    return (pool.driver.module_type or defaults.module_type) if defaults is not None else None


def _driver_defaults(settings: Settings, pool: Pool) -> OperatorDriver | GridDriver | None:
    match driver_facts(pool).defaults:
        case "gpuOperator.driver":
            return settings.gpu_operator.driver
        case "gridDriver":
            return settings.grid_driver
        case None:
            return None


def is_precompiled(settings: Settings, pool: Pool) -> bool:
    """True where the pool's kernel modules are precompiled by NVIDIA, and therefore signed."""
    return gpu_vendor(pool) is NVIDIA and pool.driver.is_operator and settings.gpu_operator.driver.precompiled


def grid_modules(settings: Settings, pool: Pool) -> ModuleFlavour:
    """Kind of kernel modules of a GRID driver; for `auto`, the kind that fits the pool's GPU (`open` if unknown)."""
    wanted = pool.driver.module_type or settings.grid_driver.module_type
    if wanted != "auto":
        return wanted
    model = vgpu_model(gpu_model(pool) or "")
    return model.modules[0] if model is not None else "open"


def nvidia_pools(settings: Settings) -> dict[str, Pool]:
    """Pools with NVIDIA GPUs, which the GPU Operator serves; pools of unknown sizes are among them."""
    return {name: pool for name, pool in settings.pools.items() if gpu_vendor(pool) is NVIDIA}


def has_device_plugin(settings: Settings) -> bool:
    """True if an NVIDIA pool offers its GPUs through the device plugin, or the stack has no NVIDIA pool. If False, the
    operator validates nodes without the device plugin.
    """
    pools = nvidia_pools(settings).values()
    return not pools or any(not pool.uses_claims for pool in pools)


def amd_pools(settings: Settings) -> dict[str, Pool]:
    """Pools with AMD GPUs, which AMD's own operator serves."""
    return {name: pool for name, pool in settings.pools.items() if gpu_vendor(pool) is AMD}


def operator_pools(settings: Settings) -> dict[str, Pool]:
    """Pools whose driver NVIDIA's GPU Operator installs."""
    return {name: pool for name, pool in nvidia_pools(settings).items() if pool.driver.is_operator}


def grid_pools(settings: Settings) -> dict[str, Pool]:
    """Pools whose driver the GRID driver agent installs."""
    return {name: pool for name, pool in settings.pools.items() if pool.driver.is_grid}
