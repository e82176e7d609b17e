"""Values of the GPU Operator's chart: the file's values, merged with values from the settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.catalog.compat import check_values, known_keys
from physical_ai.catalog.compat.keys import Refused
from physical_ai.findings import Finding
from physical_ai.planning.chart_values import completed
from physical_ai.planning.gpu_operator.config_maps import (
    COUNTERS,
    MIG_LAYOUTS,
    POOL_CONFIGS,
    digest_env,
    modules_map,
    shared_configs,
)
from physical_ai.planning.gpu_operator.files import CHART, ValuesFiles
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts import health
from physical_ai.settings.facts.pools import GPU_TAINT_KEY, services_placement
from physical_ai.settings.facts.telemetry import has_series_for_each_pod
from physical_ai.settings.faults import Fault
from physical_ai.settings.models.tree import Settings
from physical_ai.telemetry.counters import PER_POD, RESOURCE_NAMES

GPU_TOLERATION = {"key": GPU_TAINT_KEY, "operator": "Exists", "effect": "NoSchedule"}
RUNTIME_CONFIG_SOURCE = "RUNTIME_CONFIG_SOURCE"
CONFIGS_DIGEST = "GPU_POOL_CONFIGS_DIGEST"
LAYOUTS_DIGEST = "GPU_MIG_LAYOUTS_DIGEST"
COUNTERS_DIGEST = "GPU_COUNTERS_DIGEST"
MODULES_DIGEST = "GPU_MODULE_PARAMETERS_DIGEST"
FINISH_FIRST_SETTING = f"the label {gpu_facts.FINISH_FIRST_LABEL}=true on Pods"

OWNED = {
    "cdi": "gpuOperator.cdi or gpuOperator.nri",
    "daemonsets.tolerations": "pools.<pool>.taints",
    "devicePlugin.config": "pools.<pool>.sharing",
    "devicePlugin.enabled": "pools.<pool>.allocation",
    "dcgm.enabled": "health.mode",
    "driver.enabled": "pools.<pool>.driver.source",
    "driver.nvidiaDriverCRD": "gpuOperator.driverOwner",
    "driver.version": "gpuOperator.driver.version, or pools.<pool>.driver.version",
    "driver.kernelModuleType": "gpuOperator.driver.moduleType, or pools.<pool>.driver.moduleType",
    "driver.usePrecompiled": "gpuOperator.driver.precompiled",
    "driver.kernelModuleConfig": "pools.<pool>.driver.moduleParameters",
    "driver.upgradePolicy.waitForCompletion.podSelector": FINISH_FIRST_SETTING,
    "mig.strategy": "gpuOperator.migStrategy",
    "migManager.enabled": "pools.<pool>.sharing.mig",
    "migManager.config": "pools.<pool>.sharing.mig",
    "toolkit.version": "gpuOperator.toolkit.version",
    "node-feature-discovery.worker.tolerations": "pools.<pool>.taints",
    "node-feature-discovery.master.nodeSelector": "cpuPool",
    "node-feature-discovery.master.tolerations": "cpuPool",
    "node-feature-discovery.gc.nodeSelector": "cpuPool",
    "node-feature-discovery.gc.tolerations": "cpuPool",
    "operator.nodeSelector": "cpuPool",
    "operator.tolerations": "cpuPool",
    f"toolkit.env.{RUNTIME_CONFIG_SOURCE}": "gpuOperator.toolkit.runtimeConfigSource",
    f"devicePlugin.env.{CONFIGS_DIGEST}": "pools.<pool>.sharing",
    f"gfd.env.{CONFIGS_DIGEST}": "pools.<pool>.sharing",
    f"migManager.env.{LAYOUTS_DIGEST}": "pools.<pool>.sharing.mig",
    f"driver.env.{MODULES_DIGEST}": "pools.<pool>.driver.moduleParameters",
}
"""Chart keys that the user's values file may not set. Each value names the setting to change instead, or says
why there is none.
"""
OWNED_IF_MEASURED = {
    "dcgmExporter.config": "monitoring.counters",
    f"dcgmExporter.env.{COUNTERS_DIGEST}": "monitoring.counters",
    f"dcgmExporter.env.{PER_POD}": "pools.<pool>.sharing",
    f"dcgmExporter.env.{RESOURCE_NAMES}": "pools.<pool>.sharing",
}
"""Chart keys that the values file may not set in a stack that collects metrics, each with the setting to change
instead. In other stacks the file may set these keys.
"""

MODULE = f"{__name__.replace('.', '/')}.py"
"""Path of this module, which faults name as the source of values that the program sets."""


def chart_values(
    settings: Settings, files: ValuesFiles, maps: Mapping[str, Mapping[str, str]]
) -> tuple[dict[str, Any], list[Fault]]:
    """Values of the chart, and the faults of the file; warnings are among the faults.

    `maps` is the data of the ConfigMaps by name.
    """
    release, ours = settings.gpu_operator.version, derived_values(settings, maps)

    def check(values: Mapping[str, Any], refused: Refused) -> list[Finding]:
        return check_values(release, values, refused, ours)

    owners = OWNED | (OWNED_IF_MEASURED if settings.monitoring.is_measured else {})
    return completed(files.cluster, owners, ours, check, chart=CHART, module=MODULE)


def operand_tolerations(settings: Settings) -> list[dict[str, str]]:
    """Tolerations of everything that runs on GPU nodes: one for every taint of every pool, including the Spot taint.

    These tolerations replace the chart's own, so the toleration of the GPU taint is always among them.
    """
    found = gpu_facts.all_tolerations(settings)
    return found if GPU_TOLERATION in found else [GPU_TOLERATION, *found]


def derived_values(settings: Settings, maps: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Values of the chart that follow from settings alone."""
    operator, tolerations = settings.gpu_operator, operand_tolerations(settings)
    on_cpu_pool = services_placement(settings)
    configs = digest_env(CONFIGS_DIGEST, shared_configs(maps[POOL_CONFIGS]))
    values: dict[str, Any] = {
        # Redundant with the taints of the system pool and the GPU pools, but explicit.
        "operator": on_cpu_pool,
        "node-feature-discovery": {
            "master": on_cpu_pool,
            "gc": on_cpu_pool,
            "worker": {"tolerations": tolerations},
        },
        "daemonsets": {"tolerations": tolerations},
        "cdi": {"enabled": operator.cdi},
        "mig": {"strategy": gpu_facts.mig_strategy(settings)},
        "migManager": {"enabled": False},
        # The exporter has an engine of its own, but NVSentinel's monitor needs one with a Service.
        "dcgm": {"enabled": health.reaches(settings, "detect")},
        "toolkit": {"env": [{"name": RUNTIME_CONFIG_SOURCE, "value": operator.toolkit.runtime_config_source}]},
        "devicePlugin": {
            "config": {"create": False, "name": POOL_CONFIGS, "default": gpu_facts.DEFAULT_CONFIG},
            "env": configs,
        },
        "gfd": {"env": configs},
        "driver": _driver(settings, maps),
    }
    if not gpu_facts.has_device_plugin(settings):
        # Otherwise the validator would wait for GPUs, which nothing offers without the device plugin
        # (assets/state-operator-validation).
        values["devicePlugin"]["enabled"] = False
    if operator.nri or "cdi.nriPluginEnabled" in known_keys(operator.version):
        values["cdi"]["nriPluginEnabled"] = operator.nri
    if operator.toolkit.version is not None:
        values["toolkit"]["version"] = f"v{operator.toolkit.version.removeprefix('v')}"
    if MIG_LAYOUTS in maps:
        values["migManager"] = {
            "enabled": True,
            "config": {"create": False, "name": MIG_LAYOUTS, "default": gpu_facts.MIG_DISABLED},
            "env": digest_env(LAYOUTS_DIGEST, maps[MIG_LAYOUTS]),
        }
    if COUNTERS in maps:
        values["dcgmExporter"] = {
            "config": {"create": False, "name": COUNTERS},
            "env": [*digest_env(COUNTERS_DIGEST, maps[COUNTERS]), *_per_pod(settings), *_renamed(settings)],
        }
    return values


def _per_pod(settings: Settings) -> list[dict[str, str]]:
    return [{"name": PER_POD, "value": "true"}] if has_series_for_each_pod(settings) else []


def _renamed(settings: Settings) -> list[dict[str, str]]:
    """Environment variable of the DCGM exporter with the renamed GPU resources, such as `nvidia.com/gpu.shared`; empty
    where no resource is renamed.

    Without the variable, the exporter attributes GPUs only to Pods that request `nvidia.com/gpu` or a MIG resource.
    """
    pools = (pool for pool in settings.pools.values() if gpu_facts.knows_gpu(pool) and not pool.uses_claims)
    names = {name for pool in pools for name in gpu_facts.offered(settings, pool) if name.startswith("nvidia.com/")}
    other = sorted(name for name in names if name != "nvidia.com/gpu" and not name.startswith("nvidia.com/mig-"))
    return [{"name": RESOURCE_NAMES, "value": ",".join(other)}] if other else []


def _driver(settings: Settings, maps: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Section `driver` of the chart's values. If NVIDIADriver resources install the drivers, the section only enables
    NVIDIADriver resources; if the ClusterPolicy installs them, it describes the one driver of all pools.
    """
    if settings.gpu_operator.driver_owner == "NVIDIADriver":
        # The chart's own NVIDIADriver would select every GPU node that no other NVIDIADriver selects, or conflict with
        # all of them.
        owner = {"enabled": True, "deployDefaultCR": False}
        return {"enabled": True, "nvidiaDriverCRD": owner, "upgradePolicy": gpu_facts.FINISH_FIRST_POLICY}
    default = settings.gpu_operator.driver
    operated = gpu_facts.operator_pools(settings)
    driver: dict[str, Any] = {
        # Without a pool of driver source `operator`, the driver would be installed on vGPU nodes as soon as these lose
        # a label.
        "enabled": bool(operated),
        "nvidiaDriverCRD": {"enabled": False},
        "version": default.version,
        "kernelModuleType": default.module_type,
        "usePrecompiled": default.precompiled,
        "upgradePolicy": gpu_facts.FINISH_FIRST_POLICY,
    }
    config = next((own for n, p in operated.items() if (own := modules_map(settings, n, p))), None)
    if config is not None:
        driver |= {"kernelModuleConfig": {"name": config}, "env": digest_env(MODULES_DIGEST, maps[config])}
    return driver
