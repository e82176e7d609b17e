"""Rules about node pools: findings of the catalogue, names, and AKS's requirements on system pools."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import UnknownName, judge, vm_size, vm_sizes
from physical_ai.findings import Severity
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts.pools import CPU_POOL, SYSTEM_POOL, pool_paths
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import DriverSource, NodePool, Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, finding, warning
from physical_ai.settings.rules.registry import ONE_OS

MOST_POOLS = 100
MOST_NODES = {"Free": 1000, "Standard": 5000, "Premium": 5000}
"""Largest number of nodes in a cluster, by AKS tier (AKS docs, quotas-skus-regions)."""


def check_pools(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about node pools, except those about labels, taints and addresses."""
    for path, pool in pool_paths(settings).items():
        yield from _size(path, pool, settings, trust)
        yield from _zones(path, pool, trust)
    yield from _system(settings.system_pool, trust)
    if trust(("cpuPool", "scale")) and settings.cpu_pool.scale.most < 1:
        problem = "The cpu pool has no node: operators and schedulers could not run."
        yield error(("cpuPool", "scale"), problem, "At least count: 1, or max: 1.")
    for name in settings.pools:
        if name in (SYSTEM_POOL, CPU_POOL):
            problem = f"'{name}' is the name of a pool that every cluster has."
            yield error(("pools", name), problem, f"Such as '{name}gpu'.")
    for name, pool in settings.pools.items():
        if not pool.is_spot and pool.spot.max_price != -1 and trust(("pools", name, "priority")):
            problem = "spot.maxPrice has no effect: the pool's priority is Regular."
            yield warning(("pools", name, "spot", "maxPrice"), problem, "priority: Spot, or omit spot.")
    yield from _one_os(settings, trust)
    yield from _limits(settings, trust)


def _size(path: Path, pool: NodePool, settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of the catalogue about the pool's size. Findings about settings with unusable values are left out."""
    if not trust((*path, "sku")):
        return
    gpu = pool if isinstance(pool, Pool) else None
    driver = gpu.driver.source.value if gpu else None
    if gpu and not trust((*path, "driver")):
        # If the source is unusable, any source that the size supports serves to check the rest.
        driver = _any_source(pool.sku)
    found = judge(
        pool.sku,
        settings.region,
        driver,
        pool.os_disk.type,
        pool.os_disk.size_gb,
        pool.zones,
        os_sku=pool.os_sku,
        spot=gpu is not None and gpu.is_spot,
        trusted_launch=gpu is not None and gpu.secure_boot,
    )
    for each in found:
        if each.where == "region":
            continue
        setting = (*path, *each.where.split("."))
        if trust(setting):
            # A conflict between a size and another setting can also be resolved by another size.
            others = () if each.where == "sku" else ((*path, "sku"),)
            recorded = settings.record and each.rule == "size-retired"
            severity = Severity.WARNING if recorded else each.severity
            rule = Rule(each.rule, each.source or "")
            yield finding(severity, setting, each.problem, each.fix, others=others, stand_in=recorded, rule=rule)


def _any_source(sku: str) -> str:
    size = vm_sizes().get(sku)
    return next(iter(size.driver_sources if size else ()), DriverSource.AKS.value)


def _zones(path: Path, pool: NodePool, trust: Trust) -> Iterator[SettingFinding]:
    setting = (*path, "zones")
    if trust(setting) and len(set(pool.zones)) < len(pool.zones):
        listed = ", ".join(f'"{zone}"' for zone in dict.fromkeys(pool.zones))
        yield error(setting, "A zone is listed twice.", f"zones: [{listed}]")


def _system(pool: NodePool, trust: Trust) -> Iterator[SettingFinding]:
    path: Path = ("systemPool",)
    fewest = pool.scale.count if pool.scale.count is not None else pool.scale.min or 0
    if trust((*path, "scale")) and fewest < 1:
        key = "count" if pool.scale.count is not None else "min"
        problem = "A system pool needs at least one node at all times (AKS rejects zero)."
        yield error((*path, "scale", key), problem, f"{key}: 1")
    if trust((*path, "upgrade")) and pool.upgrade.max_unavailable not in ("0", "0%"):
        problem = "A system pool is upgraded with a surge: AKS accepts no maxUnavailable on it."
        yield error((*path, "upgrade", "maxUnavailable"), problem, 'upgrade: {maxSurge: "1", maxUnavailable: "0"}')
    if trust((*path, "maxPods")) and pool.max_pods < 30:
        problem = f"A system pool must allow at least 30 Pods per node, not {pool.max_pods}."
        yield error((*path, "maxPods"), problem, "maxPods: 30")
    try:
        size = vm_size(pool.sku)
    except UnknownName:
        return
    if trust((*path, "sku")) and (size.burstable or size.vcpus < 2 or size.memory_gib < 4):
        problem = f"{size.name} is too small for a system pool: AKS requires 2 vCPU and 4 GiB that don't burst."
        yield error((*path, "sku"), problem, "Such as Standard_D4ds_v5.")


def _one_os(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    operated = gpu_facts.operator_pools(settings)
    # Where the release has no driver resource per pool, physical_ai.settings.rules.gpu reports an error instead.
    if len({pool.os_sku for pool in operated.values()}) < 2 or settings.gpu_operator.driver_owner == "ClusterPolicy":
        return
    first, *rest = operated
    for name in rest:
        if operated[name].os_sku != operated[first].os_sku and trust(("pools", name), ("pools", first)):
            problem = f"osSku {operated[name].os_sku} beside {operated[first].os_sku} of pool {first}: AKS documents "
            problem += "one node operating system for all pools whose driver the GPU Operator installs."
            yield warning(("pools", name, "osSku"), problem, f"osSku: {operated[first].os_sku}", rule=ONE_OS)


def _limits(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    every = list(pool_paths(settings).values())
    if len(every) > MOST_POOLS:
        problem = f"{len(every)} node pools, system and cpu included; AKS accepts {MOST_POOLS} in a cluster."
        yield warning(("pools",), problem, "Distribute the pools over two stacks.")
    nodes, most = sum(pool.scale.most for pool in every), MOST_NODES[settings.cluster.tier]
    if nodes > most and trust(("cluster", "tier"), ("systemPool",), ("cpuPool",), ("pools",)):
        problem = f"{nodes} nodes over all pools; AKS accepts {most} in a cluster of tier {settings.cluster.tier}."
        yield warning(("cluster", "tier"), problem, "Lower scale.max, or raise the tier.")
