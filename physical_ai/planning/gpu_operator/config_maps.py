"""ConfigMaps that the operands read: device-plugin configurations, MIG layouts, fields of the DCGM exporter, and
kernel-module parameters.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from physical_ai.planning.gpu_operator.files import ValuesFiles
from physical_ai.planning.values_files import merge_values, section
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.faults import Fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.document import Document
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.telemetry import counters

POOL_CONFIGS = "gpu-pool-configs"
MIG_LAYOUTS = "gpu-mig-layouts"
COUNTERS = counters.CONFIG_MAP
_MODULES = "gpu-driver-modules"

FLAGS = ("gdsEnabled", "mofedEnabled", "gfd.noTimestamp", "gfd.machineTypeFile")
"""Flags of the device plugin and of GPU Feature Discovery (GFD) that take effect when they are written in the
configuration file (NVIDIA/k8s-device-plugin config/v1).
"""
BY_ENVIRONMENT = {
    "migStrategy": "gpuOperator.migStrategy, or pools.<pool>.sharing.mig",
    "failOnInitError": "devicePlugin.env FAIL_ON_INIT_ERROR in values.yaml",
    "plugin.passDeviceSpecs": "devicePlugin.env PASS_DEVICE_SPECS in values.yaml",
    "plugin.deviceListStrategy": "gpuOperator.cdi",
    "plugin.deviceIDStrategy": "devicePlugin.env DEVICE_ID_STRATEGY in values.yaml",
    "plugin.cdiAnnotationPrefix": "devicePlugin.env CDI_ANNOTATION_PREFIX in values.yaml",
    "gfd.sleepInterval": "gfd.env GFD_SLEEP_INTERVAL in values.yaml",
}
"""Flags that have no effect in the configuration file, because the operator sets an environment variable that overrides
the file. Each value says what to write instead.
"""


def config_maps(settings: Settings, files: ValuesFiles) -> tuple[dict[str, dict[str, str]], list[Fault]]:
    """Data of each ConfigMap, by the ConfigMap's name, and the faults of device-plugin flags in the files of single
    pools.
    """
    configs, faults = gpu_facts.device_plugin_configs(settings), list[Fault]()
    for name, document in files.pools.items():
        if name not in configs:
            continue  # another vendor's GPUs have no configuration of NVIDIA's device plugin
        added = section(document, "devicePlugin")
        faults += _flag_faults(document, added)
        configs[name] = merge_values(configs[name], added)
    maps = {POOL_CONFIGS: {key: _yaml(config) for key, config in configs.items()}}
    if (layouts := gpu_facts.mig_manager_config(settings)) is not None:
        maps[MIG_LAYOUTS] = {"config.yaml": _yaml(layouts)}
    if settings.monitoring.is_measured:
        maps[COUNTERS] = {counters.KEY: counters.csv_for(settings.gpu_operator.version, settings.monitoring.counters)}
    for name, pool in gpu_facts.nvidia_pools(settings).items():
        if (own := modules_map(settings, name, pool)) is not None:
            maps[own] = _module_files(pool)
    return maps, faults


def modules_map(settings: Settings, name: str, pool: Pool) -> str | None:
    """Name of the ConfigMap with a pool's kernel-module parameters; None where the GPU Operator loads the modules
    without parameters.

    With a ClusterPolicy all pools share one ConfigMap, because all have the same driver.
    """
    if not pool.driver.is_operator or not any(pool.driver.module_parameters.values()):
        return None
    return _MODULES if settings.gpu_operator.driver_owner == "ClusterPolicy" else f"{_MODULES}-{name}"


def _module_files(pool: Pool) -> dict[str, str]:
    """One configuration file for each kernel module, with a line for each parameter (NVIDIA GPU Operator docs,
    custom-driver-params).
    """
    return {
        f"{module}.conf": "".join(f"{key}={value}\n" for key, value in sorted(parameters.items()))
        for module, parameters in sorted(pool.driver.module_parameters.items())
        if parameters
    }


def digest(data: Mapping[str, str]) -> str:
    """Short text that changes with a ConfigMap's data.

    The operator watches none of these ConfigMaps, and no operand reads one again while it runs. An environment
    variable with the digest turns a change of the data into a change of the Pod template, which is rolled out node by
    node.
    """
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def shared_configs(configs: Mapping[str, str]) -> dict[str, str]:
    """Default device-plugin configuration, and the configurations of pools that differ from it.

    A pool without sharing uses the default and has no entry of its own, so adding or deleting such a pool does not
    change the ConfigMap, which the nodes of other pools read when they start.
    """
    default = configs[gpu_facts.DEFAULT_CONFIG]
    return {key: text for key, text in configs.items() if key == gpu_facts.DEFAULT_CONFIG or text != default}


def digest_env(name: str, data: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": digest(data)}]


def _yaml(data: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(data), sort_keys=False)


def _flag_faults(document: Document, added: Mapping[str, Any]) -> Iterator[Fault]:
    for key, value in added.items():
        here: Path = ("devicePlugin", key)
        if key == "sharing":
            yield document.fault(here, "Sharing is a setting of the pool.", "Set pools.<pool>.sharing instead.")
        elif key != "flags":
            yield document.fault(here, f"'{key}' is not a section of a pool's device plugin.", "Known here: flags.")
        else:
            for path in _leaves(value):
                if path in FLAGS:
                    continue
                problem, fix = f"The device plugin has no flag {path}.", f"Known here: {', '.join(FLAGS)}."
                if path in BY_ENVIRONMENT:
                    problem = f"The operator sets {path} by environment variable, which overrides the file."
                    fix = f"For all pools: {BY_ENVIRONMENT[path]}."
                yield document.fault((*here, *path.split(".")), problem, fix)


def _leaves(value: Any, prefix: str = "") -> Iterator[str]:
    if is_map(value):
        for key, inner in value.items():
            yield from _leaves(inner, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix
