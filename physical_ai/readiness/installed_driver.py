"""Comparison of the drivers of a GPU Operator that the stack has not installed with the drivers that the stack's pools
need. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from physical_ai.findings import Finding, Severity
from physical_ai.kubernetes.objects import name
from physical_ai.nested import at
from physical_ai.planning.gpu_operator.config_maps import modules_map
from physical_ai.readiness.model import Json
from physical_ai.settings import Pool, Settings
from physical_ai.settings.facts import gpu

OWNERS = "owners"
"""Id of the rule behind these findings: the stack adapts to objects of other owners, and never changes these objects.
"""
OWNERS_SOURCE = "docs/existing-clusters.md#what-the-program-does-in-the-cluster"


def stops(where: str, problem: str, fix: str) -> Finding:
    """Error about a difference between the operator and the settings with which the stack cannot work."""
    return Finding(Severity.ERROR, OWNERS, where, problem, fix, OWNERS_SOURCE)


def differs(where: str, problem: str, fix: str) -> Finding:
    """Warning about a difference between the operator and the settings with which the stack can work."""
    return Finding(Severity.WARNING, OWNERS, where, problem, fix, OWNERS_SOURCE)


def driver_differences(
    settings: Settings,
    spec: Mapping[str, Any],
    drivers: Sequence[Json],
    classes: Mapping[str, Sequence[Mapping[str, str]]],
) -> Iterator[Finding]:
    """Differences between the drivers of the installed GPU Operator and the drivers in the stack's settings.

    `spec` is the ClusterPolicy's spec. `classes` has, by pool, the labels of each of the pool's nodes.
    """
    operated = gpu.operator_pools(settings)
    if not operated:
        return
    if not at(spec, "driver.enabled", True):
        problem = f"it is off, and {', '.join(operated)} would have no driver"
        yield stops("driver.enabled", problem, "Write driver.source: host where the hosts have one, or switch it on.")
        return
    owner = "NVIDIADriver" if at(spec, "driver.useNvidiaDriverCRD", False) else "ClusterPolicy"
    wanted = settings.gpu_operator.driver_owner
    if owner != wanted:
        problem = f"its drivers are those of {'NVIDIADrivers' if owner == 'NVIDIADriver' else 'the ClusterPolicy'}"
        yield stops("driver", f"{problem}, and gpuOperator.driverOwner is {wanted}", f"Write {owner} there.")
        return
    for pool_name, pool in operated.items():
        if owner == "ClusterPolicy":
            yield from _compared(settings, pool_name, pool, "ClusterPolicy driver", at(spec, "driver", {}))
        else:
            yield from _of_resources(settings, pool_name, pool, drivers, classes.get(pool_name, ()))


def _of_resources(
    settings: Settings, pool_name: str, pool: Pool, drivers: Sequence[Json], nodes: Sequence[Mapping[str, str]]
) -> Iterator[Finding]:
    selecting = {
        name(each): each
        for each in drivers
        for held in nodes
        if at(each, "spec.nodeSelector", {}).items() <= held.items()
    }
    if not selecting:
        fix = f"Create one for the nodes with agentpool={pool_name}, or write driver.source: host."
        yield stops("NVIDIADriver", f"none selects the nodes of {pool_name}", fix)
    elif len(selecting) > 1:
        problem = f"{', '.join(sorted(selecting))} select nodes of {pool_name}"
        yield stops("NVIDIADriver", problem, "One for each node: narrow a nodeSelector.")
    for resource, each in selecting.items():
        yield from _compared(settings, pool_name, pool, f"NVIDIADriver {resource}", at(each, "spec", {}))


def _compared(
    settings: Settings, pool_name: str, pool: Pool, where: str, given: Mapping[str, Any]
) -> Iterator[Finding]:
    here = f"pools.{pool_name}.driver"
    wanted, version = gpu.driver_version(settings, pool), str(given.get("version") or "")
    if not version:
        yield differs(
            where, f"it names no version for {pool_name}", f"Run nvidia-smi on the node; {here}.version expects one."
        )
    elif version != wanted:
        fix = f'Write {here}.version: "{version}", or gpuOperator.driver.version, or change it there.'
        yield stops(where, f"version {version}, and {pool_name} asks for {wanted}", fix)
    modules, kind = gpu.module_type(settings, pool), str(given.get("kernelModuleType") or "auto")
    if modules not in (None, "auto", kind):
        fix = f"Write {here}.moduleType: {kind}, or change it there."
        yield stops(where, f"kernelModuleType {kind}, and {pool_name} asks for {modules}", fix)
    if bool(given.get("usePrecompiled", False)) != settings.gpu_operator.driver.precompiled:
        fix = "Write gpuOperator.driver.precompiled as it is there."
        yield stops(where, f"usePrecompiled is {str(given.get('usePrecompiled', False)).lower()}", fix)
    config = modules_map(settings, pool_name, pool)
    if config is not None and at(given, "kernelModuleConfig.name") != config:
        problem = f"the parameters of kernel modules that {pool_name} asks for are not set"
        fix = f"Set kernelModuleConfig.name={config} there; the ConfigMap comes with the stack. Or remove"
        yield stops(where, problem, f"{fix} {here}.moduleParameters.")
