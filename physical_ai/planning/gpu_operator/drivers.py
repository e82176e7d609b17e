"""NVIDIADriver resources: which driver the GPU Operator installs on which nodes.

Each pool whose driver source is `operator` has its own resource: the operator's Pods follow node labels at once, so a
node that moved from one resource to another would lose its driver under running Pods. With one resource per pool,
every change of a driver is an update in place, which the operator rolls out node by node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.compat import check_driver, driver_fields
from physical_ai.catalog.compat.needs import judge_needs
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.findings import Severity
from physical_ai.planning.chart_values import Owned
from physical_ai.planning.gpu_operator.config_maps import digest_env, modules_map
from physical_ai.planning.gpu_operator.files import ValuesFiles
from physical_ai.planning.gpu_operator.values import FINISH_FIRST_SETTING, MODULES_DIGEST, operand_tolerations
from physical_ai.planning.values_files import located, merge_values, section
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts.fabric import uses_fabric
from physical_ai.settings.facts.pools import pool_selector
from physical_ai.settings.faults import Fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.document import Document
from physical_ai.settings.models.node_pools import DriverSource, Pool
from physical_ai.settings.models.tree import Settings

UPGRADE_POLICY = "upgradePolicy"
_RENAMED = {"gpuPodDeletion": "podDeletion"}
"""Keys of the chart's upgrade policy that the NVIDIADriver resource names differently."""
_OTHER_RELEASE = "driver-field-other-release"

OWNED = {
    "driverType": "pools.<pool>.driver.source",
    "default": "pools.<pool>.driver.source",
    "nodeSelector": "pools.<pool>.driver.source",
    "nodeAffinity": "pools.<pool>.driver.source",
    "tolerations": "pools.<pool>.taints",
    "version": "pools.<pool>.driver.version, or gpuOperator.driver.version",
    "kernelModuleType": "pools.<pool>.driver.moduleType, or gpuOperator.driver.moduleType",
    "useOpenKernelModules": "pools.<pool>.driver.moduleType, or gpuOperator.driver.moduleType",
    "usePrecompiled": "gpuOperator.driver.precompiled",
    "kernelModuleConfig": "pools.<pool>.driver.moduleParameters",
    "rdma": "pools.<pool>.fabric, and networkOperator.ofedDriver",
    f"{UPGRADE_POLICY}.waitForCompletion.podSelector": FINISH_FIRST_SETTING,
    f"env.{MODULES_DIGEST}": "pools.<pool>.driver.moduleParameters",
}
"""Fields of an NVIDIADriver that no values file may set, each with the setting to change instead."""


@dataclass(frozen=True)
class DriverResource:
    """Name and spec of an NVIDIADriver, without the fields that every Kubernetes object has."""

    name: str
    spec: Mapping[str, Any]
    config_map: str | None
    """ConfigMap with the driver's kernel-module parameters, which has to exist before the driver."""


def driver_resources(
    settings: Settings, files: ValuesFiles, maps: Mapping[str, Mapping[str, str]]
) -> tuple[dict[str, DriverResource], list[Fault]]:
    """NVIDIADriver resources by pool, and the faults of the files from which they are made."""
    faults = _file_faults(settings, files)
    if settings.gpu_operator.driver_owner != "NVIDIADriver":
        return {}, faults
    release = settings.gpu_operator.version
    base, drivers = _base(settings, files), dict[str, DriverResource]()
    for name, pool in gpu_facts.operator_pools(settings).items():
        own = _known_to(release, section(files.pools.get(name), "driver"))
        config = modules_map(settings, name, pool)
        spec = merge_values(merge_values(base, own), _derived(settings, name, pool, config, maps))
        drivers[name] = DriverResource(name, spec, config)
    return drivers, faults


def node_selector(name: str, pool: Pool) -> dict[str, str]:
    """Labels that select the nodes of one pool whose driver the GPU Operator installs.

    The labels are known even while the pool has no nodes, and no other pool has the same ones. The driver source is
    among them, so a pool whose driver source changes is no longer selected.
    """
    return {**pool_selector(name, pool), DRIVER_LABEL: DriverSource.OPERATOR.value}


def _derived(
    settings: Settings, name: str, pool: Pool, config: str | None, maps: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "driverType": "gpu",
        "version": gpu_facts.driver_version(settings, pool),
        "kernelModuleType": gpu_facts.module_type(settings, pool),
        "usePrecompiled": settings.gpu_operator.driver.precompiled,
        "nodeSelector": node_selector(name, pool),
        "tolerations": operand_tolerations(settings),
    }
    if uses_fabric(pool):
        # The driver loads nvidia-peermem after the OFED driver that the module is built against.
        host = settings.network_operator is not None and settings.network_operator.ofed_driver == "host"
        spec["rdma"] = {"enabled": True, "useHostMofed": host}
    if config is not None:
        spec |= {"kernelModuleConfig": {"name": config}, "env": digest_env(MODULES_DIGEST, maps[config])}
    return spec


def _base(settings: Settings, files: ValuesFiles) -> dict[str, Any]:
    """Fields that all NVIDIADriver resources share: the fields of `nvidia-driver.yaml`, and the upgrade policy from the
    chart's values with the keys renamed as NVIDIADriver needs them.
    """
    release, base = settings.gpu_operator.version, dict(files.driver.data)
    given = section(files.cluster, "driver").get(UPGRADE_POLICY)
    policy = {_RENAMED.get(key, key): value for key, value in given.items()} if is_map(given) else {}
    base[UPGRADE_POLICY] = merge_values(policy, gpu_facts.FINISH_FIRST_POLICY)
    return _known_to(release, base)


def _known_to(release: str, spec: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Fields of `spec` that the NVIDIADriver resource of this release knows. Unknown fields are dropped here, and
    reported as faults elsewhere.
    """
    known = driver_fields(release)
    kept: dict[str, Any] = {}
    for key, value in spec.items():
        path = f"{prefix}{key}"
        if path in known:
            kept[key] = value
        elif is_map(value) and any(field.startswith(f"{path}.") for field in known):
            kept[key] = _known_to(release, value, f"{path}.")
    return kept


def _file_faults(settings: Settings, files: ValuesFiles) -> list[Fault]:
    """Faults of the values files for drivers.

    Wrong fields are errors. Fields without effect in this stack are warnings, because stacks with other releases share
    the files.
    """
    has_resources = settings.gpu_operator.driver_owner == "NVIDIADriver"
    owned = Owned(OWNED)
    faults = [*owned.split(files.driver, files.driver.data)[1], *_checked(settings, files.driver, files.driver.data)]
    for name, document in files.pools.items():
        own = section(document, "driver")
        if not own:
            continue
        driver = settings.pools[name].driver
        if not driver.is_operator:
            problem = (
                f"The GPU Operator installs no driver on pool {name}, whose driver source is '{driver.source.value}'; "
            )
            problem += "this has no effect."
            faults.append(document.fault(("driver",), problem, "Leave driver out.", severity=Severity.WARNING))
        elif not has_resources:
            problem = "A ClusterPolicy has one driver for all pools; this has no effect."
            fix = f"Write it under driver in {files.cluster.label}, or set gpuOperator.driverOwner: NVIDIADriver."
            faults.append(document.fault(("driver",), problem, fix, severity=Severity.WARNING))
        faults += owned.split(document, own, ("driver",))[1]
        is_used = has_resources and driver.is_operator
        faults += [item for item in _checked(settings, document, own, "driver") if is_used or item.is_error]
    return faults


def _checked(settings: Settings, document: Document, spec: Mapping[str, Any], *prefix: str) -> list[Fault]:
    found = list[Fault]()
    for finding in [*judge_needs("nvidia-driver", spec), *check_driver(settings.gpu_operator.version, spec)]:
        item = located(document, finding, prefix)
        if finding.rule == _OTHER_RELEASE:
            item = item.as_warning()
        found.append(item)
    return found
