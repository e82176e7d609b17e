"""Rules about drivers and the GPU Operator that hold for all versions; `compat` has the rules about versions."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import UnknownName, node_image, operator_release, vm_size
from physical_ai.catalog.gpu_lookup import builds
from physical_ai.catalog.lookup import nearest
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts.pools import driver_facts
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules import registry as rules
from physical_ai.settings.rules.finding import SettingFinding, Trust, error
from physical_ai.settings.rules.modules import check_modules

_OPERATOR: Path = ("gpuOperator",)
_OWNER: Path = (*_OPERATOR, "driverOwner")
_DEFAULT: Path = (*_OPERATOR, "driver")


def check_gpu(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about drivers and the operator, except those about sharing and GRID."""
    yield from _operator(settings, trust)
    for name, pool in gpu_facts.nvidia_pools(settings).items():
        if trust(("pools", name, "driver"), ("pools", name, "sku")) and gpu_facts.knows_gpu(pool):
            yield from _driver(name, pool)
            yield from _secure_boot(name, pool, settings, trust)
    yield from _one_policy(settings, trust)


def _operator(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    operator = settings.gpu_operator
    others: tuple[Path, ...]
    if trust((*_OPERATOR, "version")):
        try:
            has_nri = operator_release(operator.version).nri
        except UnknownName as unknown:
            fix = f"Did you mean '{unknown.suggestion}'?"
            yield error((*_OPERATOR, "version"), str(unknown), fix, rule=rules.RELEASE_UNKNOWN)
        else:
            if operator.nri and not has_nri and trust((*_OPERATOR, "nri")):
                problem = f"GPU Operator {operator.version} has no NRI plugin; 26.3 introduced it."
                others = ((*_OPERATOR, "version"),)
                yield error((*_OPERATOR, "nri"), problem, "nri: false.", others=others, rule=rules.NRI_UNKNOWN)
    if operator.nri and not operator.cdi and trust((*_OPERATOR, "nri"), (*_OPERATOR, "cdi")):
        problem = "The NRI plugin needs CDI: the operator's chart rejects one without the other."
        others = ((*_OPERATOR, "cdi"),)
        fix = "cdi: true, or nri: false."
        yield error((*_OPERATOR, "nri"), problem, fix, others=others, rule=rules.NRI_WITHOUT_CDI)
    if operator.nri and operator.runtime == "crio" and trust((*_OPERATOR, "nri"), (*_OPERATOR, "runtime")):
        problem = "The NRI plugin works with containerd only: with CRI-O no container would get a GPU."
        others = ((*_OPERATOR, "runtime"),)
        yield error((*_OPERATOR, "nri"), problem, "nri: false.", others=others, rule=rules.NRI_CRIO)
    if not trust(_DEFAULT):
        return
    driver, here = operator.driver, (*_DEFAULT, "version")
    yield from _build_or_branch(driver.version, here, precompiled=driver.precompiled)
    if driver.version in builds("grid") and driver.version not in builds("datacenter"):
        yield _other_kind(here, driver.version, "a GRID driver, which the GPU Operator does not install")


def _build_or_branch(version: str, here: Path, *, precompiled: bool) -> Iterator[SettingFinding]:
    others: tuple[Path, ...] = ((*_DEFAULT, "precompiled"),)
    if precompiled and "." in version:
        problem = f"Precompiled drivers are chosen by branch alone, not by build {version}."
        fix = f'version: "{version[:3]}", or precompiled: false.'
        yield error(here, problem, fix, others=others, rule=rules.DRIVER_BUILD)
    elif not precompiled and "." not in version:
        known = [build for build in builds("datacenter") if build.startswith(f"{version}.")]
        fix = f'Such as "{known[-1]}".' if known else f"Known: {', '.join(builds('datacenter'))}."
        problem = f"'{version}' is a branch; a driver that is built on the node has a build."
        yield error(here, problem, fix, rule=rules.DRIVER_BUILD)


def _other_kind(here: Path, version: str, what: str) -> SettingFinding:
    kind = "datacenter" if "GRID" in what else "grid"
    same = [build for build in builds(kind) if build[:3] == version[:3]]
    near = nearest(version, same, 0.0) or nearest(version, builds(kind), 0.0)
    fix = f"Did you mean '{near}'?  Known: {', '.join(builds(kind))}."
    return error(here, f"{version} is {what}.", fix, rule=rules.DRIVER_KIND)


def _driver(name: str, pool: Pool) -> Iterator[SettingFinding]:
    path: Path = ("pools", name, "driver")
    driver, others = pool.driver, ((*path, "source"),)
    if driver_facts(pool).defaults is None:
        for key, is_set in (
            ("version", driver.version is not None),
            ("moduleType", driver.module_type is not None),
            ("moduleParameters", bool(driver.module_parameters)),
        ):
            if is_set:
                problem = f"With driver source '{driver.source.value}' the node image decides; "
                problem += f"driver.{key} would have no effect."
                fix = "Omit it, or choose another source."
                yield error((*path, key), problem, fix, others=others, rule=rules.DRIVER_OF_AKS)
        return
    yield from check_modules((*path, "moduleParameters"), driver.module_parameters)
    grid_only = builds("grid").keys() - builds("datacenter").keys()
    if driver.is_operator and driver.version in grid_only:
        yield _other_kind((*path, "version"), driver.version, "a GRID driver, which runs on vGPU sizes only")


def _secure_boot(name: str, pool: Pool, settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    setting: Path = ("pools", name, "secureBoot")
    if not pool.secure_boot or not trust(setting):
        return
    if gpu_facts.is_precompiled(settings, pool) or _signed_by_aks(pool):
        return
    others = (("pools", name, "driver", "source"), (*_DEFAULT, "precompiled"))
    fix = "secureBoot: false"
    fix += ", or gpuOperator.driver.precompiled: true" if pool.driver.is_operator else ""
    if pool.driver.source == "aks" and "AzureLinux" in vm_size(pool.sku).os_skus:
        fix, others = f"{fix}, or osSku: AzureLinux", (*others, ("pools", name, "osSku"))
    fix += "."
    problem = f"Secure Boot prevents the driver from loading: {driver_facts(pool).unsigned}."
    yield error(setting, problem, fix, others=others, rule=rules.SECURE_BOOT)


def _signed_by_aks(pool: Pool) -> bool:
    """True if the pool uses AKS's driver on Azure Linux, where Secure Boot accepts the driver.

    On Ubuntu with Secure Boot, gpuProfile.driver must be None (AKS docs, use-trusted-launch, 2026-08-21).
    """
    return pool.driver.source == "aks" and pool.os_sku == "AzureLinux"


def _one_policy(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Errors about the form of driver versions in the settings of pools and, if a ClusterPolicy owns the drivers, about
    differences between the pools' drivers or operating systems: a ClusterPolicy has one driver image for all pools.
    """
    default = settings.gpu_operator.driver
    operated = gpu_facts.operator_pools(settings)
    for name, pool in operated.items():
        setting: Path = ("pools", name, "driver", "version")
        if pool.driver.version is not None and trust(("pools", name, "driver"), _DEFAULT):
            yield from _build_or_branch(pool.driver.version, setting, precompiled=default.precompiled)
    if settings.gpu_operator.driver_owner != "ClusterPolicy" or not operated or not trust(_OWNER):
        return
    first = next(iter(operated))
    for name, pool in operated.items():
        common_parameters = operated[first].driver.module_parameters
        for key, own, common in (
            ("version", pool.driver.version or default.version, default.version),
            ("moduleType", pool.driver.module_type or default.module_type, default.module_type),
            ("moduleParameters", pool.driver.module_parameters, common_parameters),
        ):
            setting = ("pools", name, "driver", key)
            if own != common and trust(setting, ("pools", first, "driver"), _DEFAULT):
                text = f"{common}, not {own}" if isinstance(own, str) else f"those of pool {first}"
                problem = f"A ClusterPolicy has one driver for all pools, with one {key}: {text}."
                fix = "driverOwner: NVIDIADriver, or the same on all pools of driver source operator."
                yield error(setting, problem, fix, others=(_OWNER,), rule=rules.POLICY_ONE_DRIVER)
    yield from _one_system(settings, first, trust)


def _one_system(settings: Settings, first: str, trust: Trust) -> Iterator[SettingFinding]:
    version: Path = ("cluster", "kubernetesVersion")
    if not trust(version, ("pools", first, "osSku")):
        return
    try:
        images = {
            name: node_image(pool.os_sku, settings.cluster.kubernetes_version)
            for name, pool in gpu_facts.nvidia_pools(settings).items()
        }
    except UnknownName:
        return
    for name, image in images.items():
        setting: Path = ("pools", name, "osSku")
        if image != images[first] and trust(setting):
            problem = f"A ClusterPolicy takes the driver image's system from any GPU node; {image.name} here"
            problem += f" and {images[first].name} on pool {first} would make it alternate."
            fix = f"osSku: {settings.pools[first].os_sku}, or gpuOperator.driverOwner: NVIDIADriver."
            yield error(setting, problem, fix, others=(_OWNER,), rule=rules.POLICY_ONE_OS)
