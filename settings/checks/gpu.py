"""Rules about drivers and the GPU Operator: what can't work whatever the versions (those: `settings.compat`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog import UnknownName, operator_release
from catalog.gpu_lookup import builds
from catalog.lookup import nearest
from settings import gpu_facts
from settings.checks.finding import Finding, Trust
from settings.model import Settings
from settings.node_pools import Driver, DriverSource, Pool
from settings.paths import Path

MODULES = ("nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-peermem")
"""Kernel modules with parameters of their own (NVIDIA GPU Operator docs, custom-driver-params)."""

_PARAMETER = re.compile(r"[A-Za-z0-9_]+")
_OPERATOR: Path = ("gpuOperator",)
_OWNER: Path = (*_OPERATOR, "driverOwner")
_DEFAULT: Path = (*_OPERATOR, "driver")


def check_gpu(settings: Settings, trust: Trust) -> Iterator[Finding]:
    """All rules about drivers and the operator; those about sharing stand in `settings.checks.sharing`."""
    yield from _operator(settings, trust)
    for name, pool in settings.pools.items():
        if trust(("pools", name, "driver"), ("pools", name, "sku")) and gpu_facts.knows_gpu(pool):
            yield from _driver(name, pool)
            yield from _secure_boot(name, pool, settings, trust)
    yield from _one_policy(settings, trust)


def _operator(settings: Settings, trust: Trust) -> Iterator[Finding]:
    operator = settings.gpu_operator
    if trust((*_OPERATOR, "version")):
        try:
            operator_release(operator.version)
        except UnknownName as error:
            yield Finding((*_OPERATOR, "version"), str(error), f"Did you mean '{error.suggestion}'?")
    if operator.nri and not operator.cdi and trust((*_OPERATOR, "nri"), (*_OPERATOR, "cdi")):
        problem = "The NRI plugin needs CDI: the operator's chart refuses one without the other."
        yield Finding((*_OPERATOR, "nri"), problem, "cdi: true, or nri: false.", others=((*_OPERATOR, "cdi"),))
    if not trust(_DEFAULT):
        return
    driver, here = operator.driver, (*_DEFAULT, "version")
    yield from _build_or_branch(driver.version, here, precompiled=driver.precompiled)
    if driver.version in builds("grid") and driver.version not in builds("datacenter"):
        yield _other_kind(here, driver.version, "a GRID driver, which the GPU Operator does not install")


def _build_or_branch(version: str, here: Path, *, precompiled: bool) -> Iterator[Finding]:
    others: tuple[Path, ...] = ((*_DEFAULT, "precompiled"),)
    if precompiled and "." in version:
        problem = f"Precompiled drivers are chosen by branch alone, not by build {version}."
        yield Finding(here, problem, f'version: "{version[:3]}", or precompiled: false.', others=others)
    elif not precompiled and "." not in version:
        known = [build for build in builds("datacenter") if build.startswith(f"{version}.")]
        fix = f'Such as "{known[-1]}".' if known else None
        yield Finding(here, f"'{version}' is a branch; a driver that is built on the node has a build.", fix)


def _other_kind(here: Path, version: str, what: str) -> Finding:
    kind = "datacenter" if "GRID" in what else "grid"
    same = [build for build in builds(kind) if build[:3] == version[:3]]
    near = nearest(version, same, 0.0) or nearest(version, builds(kind), 0.0)
    return Finding(here, f"{version} is {what}.", f"Did you mean '{near}'?  Known: {', '.join(builds(kind))}.")


def _driver(name: str, pool: Pool) -> Iterator[Finding]:
    path: Path = ("pools", name, "driver")
    driver, others = pool.driver, ((*path, "source"),)
    if driver.source is DriverSource.AKS:
        for key, is_set in (
            ("version", driver.version is not None),
            ("moduleType", driver.module_type is not None),
            ("moduleParameters", bool(driver.module_parameters)),
        ):
            if is_set:
                problem = f"With driver source 'aks' the node image decides; driver.{key} would have no effect."
                yield Finding((*path, key), problem, "Leave it out, or choose another source.", others=others)
        return
    for module in driver.module_parameters:
        if module not in MODULES:
            near = nearest(module, MODULES) or MODULES[0]
            problem = f"'{module}' is no module of the NVIDIA driver."
            yield Finding((*path, "moduleParameters", module), problem, f"Did you mean '{near}'?")
    yield from _parameters(path, driver)
    if driver.source is DriverSource.OPERATOR:
        if driver.version in builds("grid") and driver.version not in builds("datacenter"):
            yield _other_kind((*path, "version"), driver.version, "a GRID driver, which runs on vGPU sizes only")
        return
    if driver.version is not None and driver.version not in builds("grid"):
        what = "a datacenter driver" if driver.version in builds("datacenter") else "no build known for Azure"
        yield _other_kind((*path, "version"), driver.version, f"{what}; a vGPU takes Azure's own")
    if driver.module_type == "proprietary" and gpu_facts.has_host_mig(pool):
        problem = "Blackwell GPUs run with the open kernel modules only; the installer falls back to them."
        yield Finding((*path, "moduleType"), problem, "moduleType: open, or leave it out.", warning=True)


def _parameters(path: Path, driver: Driver) -> Iterator[Finding]:
    for module, parameters in driver.module_parameters.items():
        for name, value in parameters.items():
            here: Path = (*path, "moduleParameters", module, name)
            if not _PARAMETER.fullmatch(name):
                problem = f"'{name}' is no name of a kernel-module parameter."
                yield Finding(here, problem, "Letters, digits and '_', as uvm_disable_hmm.")
            elif not value or not value.isprintable():
                yield Finding(here, "A parameter's value is one line of text.", f'{name}: "1"')


def _secure_boot(name: str, pool: Pool, settings: Settings, trust: Trust) -> Iterator[Finding]:
    here: Path = ("pools", name, "secureBoot")
    if not pool.secure_boot or not trust(here):
        return
    source, others = pool.driver.source, (("pools", name, "driver", "source"), (*_DEFAULT, "precompiled"))
    if source is DriverSource.OPERATOR and settings.gpu_operator.driver.precompiled:
        return
    reason = {
        DriverSource.OPERATOR: "the modules that the GPU Operator builds on the node are not signed",
        DriverSource.GRID: "the modules of the GRID installer are not signed",
        DriverSource.AKS: "AKS installs no GPU driver on Ubuntu pools with it",
    }[source]
    fix = "secureBoot: false"
    fix += ", or gpuOperator.driver.precompiled: true." if source is DriverSource.OPERATOR else "."
    yield Finding(here, f"Secure Boot keeps the driver from loading: {reason}.", fix, others=others)


def _one_policy(settings: Settings, trust: Trust) -> Iterator[Finding]:
    """A ClusterPolicy has one driver for all pools, in an image for the system of whichever GPU node it looks at."""
    for name, pool in settings.pools.items():
        operated = pool.driver.source is DriverSource.OPERATOR
        version = pool.driver.version
        if operated and version is not None and trust(("pools", name, "driver"), _DEFAULT):
            yield from _build_or_branch(
                version, ("pools", name, "driver", "version"), precompiled=settings.gpu_operator.driver.precompiled
            )
    if settings.gpu_operator.driver_owner != "ClusterPolicy" or not trust(_OWNER):
        return
    default = settings.gpu_operator.driver
    operated = {n: p for n, p in settings.pools.items() if p.driver.source is DriverSource.OPERATOR}
    for name, pool in operated.items():
        for key, own, common in (
            ("version", pool.driver.version, default.version),
            ("moduleType", pool.driver.module_type, default.module_type),
        ):
            here: Path = ("pools", name, "driver", key)
            if own is not None and own != common and trust(here, _DEFAULT):
                problem = f"A ClusterPolicy has one driver for all pools: {common}, not {own}."
                yield Finding(here, problem, "driverOwner: NVIDIADriver, or leave it out.", others=(_OWNER,))
    if not operated:
        return
    first = next(iter(operated))
    for name, pool in operated.items():
        here = ("pools", name, "driver", "moduleParameters")
        other: Path = ("pools", first, "driver", "moduleParameters")
        if pool.driver.module_parameters != operated[first].driver.module_parameters and trust(here, other):
            problem = f"A ClusterPolicy has one set of module parameters; these are not those of pool {first}."
            yield Finding(here, problem, "driverOwner: NVIDIADriver, or write the same.", others=(_OWNER, other))
    for name, pool in settings.pools.items():
        here = ("pools", name, "osSku")
        if pool.os_sku != operated[first].os_sku and trust(here, ("pools", first, "osSku")):
            problem = f"A ClusterPolicy takes the driver image's system from any GPU node; {pool.os_sku} here and "
            problem += f"{operated[first].os_sku} on pool {first} would make it change back and forth."
            fix = f"osSku: {operated[first].os_sku}, or gpuOperator.driverOwner: NVIDIADriver."
            yield Finding(here, problem, fix, others=(_OWNER,))
