"""Rules about InfiniBand: the pools that can have a fabric, and the other settings that a fabric needs."""

from __future__ import annotations

from collections.abc import Iterator

from parts.network_operator.names import MOST_NODES
from physical_ai.catalog import machines
from physical_ai.settings.facts.fabric import has_infiniband, uses_fabric
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules import registry as rules
from physical_ai.settings.rules.finding import SettingFinding, Trust, error, warning

_OPERATOR: Path = ("networkOperator",)


def check_fabric(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about InfiniBand."""
    for name, platform in settings.osmo.platforms.items():
        pool = settings.pools.get(name)
        setting: Path = ("osmo", "platforms", name, "rdma")
        known = pool is not None and pool.sku in machines()
        if platform.rdma and pool is not None and known and not uses_fabric(pool) and trust(setting, ("pools", name)):
            problem = f"Tasks on pool {name} have no adapters to use."
            fabric: tuple[Path, ...] = (("pools", name, "fabric"),)
            yield error(setting, problem, "rdma: false, or fabric: infiniband for the pool.", others=fabric)
    for name, pool in settings.pools.items():
        path: Path = ("pools", name)
        if not trust(path, (*path, "sku"), (*path, "fabric")):
            continue
        if pool.fabric == "infiniband" and pool.sku in machines() and not has_infiniband(pool):
            problem = f"{pool.sku} has no InfiniBand."
            fix = "fabric: none, or an ND size with InfiniBand, such as Standard_ND96isr_H100_v5."
            yield error((*path, "fabric"), problem, fix, others=((*path, "sku"),), rule=rules.FABRIC_SIZE)
        elif uses_fabric(pool):
            yield from _operator(path, pool, settings)
            yield from _placement(path, pool)
            yield from _driver(path, pool, settings)
        elif has_infiniband(pool):
            problem = (
                f"{pool.sku} has InfiniBand, and no Pod reaches it: jobs over several nodes use TCP over Ethernet, and"
                " nodes cannot write into each other's GPUs."
            )
            yield warning((*path, "fabric"), problem, "fabric: infiniband.", rule=rules.FABRIC_OFF)


def _operator(path: Path, pool: Pool, settings: Settings) -> Iterator[SettingFinding]:
    operator = settings.network_operator
    setting: Path = (*path, "fabric")
    if operator is None:
        problem = "Nothing offers the adapters to Pods: the Network Operator is not installed."
        yield error(setting, problem, "networkOperator: {}", others=(_OPERATOR,), rule=rules.FABRIC_OPERATOR)
        return
    if operator.device_plugin == "none":
        problem = "Without a device plugin no Pod can request the adapters."
        fix, where = "devicePlugin: shared, or sriov.", (*_OPERATOR, "devicePlugin")
        yield error(where, problem, fix, others=(setting,), rule=rules.FABRIC_OPERATOR)
    if operator.ofed_driver == "container" and pool.secure_boot:
        problem = "The OFED driver's modules are not signed, and do not load with Secure Boot."
        others: tuple[Path, ...] = (setting, (*_OPERATOR, "ofedDriver"))
        yield error(
            (*path, "secureBoot"),
            problem,
            "secureBoot: false, or ofedDriver: host.",
            others=others,
            rule=rules.FABRIC_DRIVER,
        )


def _placement(path: Path, pool: Pool) -> Iterator[SettingFinding]:
    """Errors of an InfiniBand pool with several zones or too many nodes. A fabric connects one placement group, which
    is one scale set of limited size in one zone.
    """
    if len(set(pool.zones)) > 1:
        problem = f"Nodes in {len(set(pool.zones))} zones share no fabric: InfiniBand connects one placement group."
        yield error(
            (*path, "zones"),
            problem,
            f'zones: ["{pool.zones[0]}"], or none.',
            others=((*path, "fabric"),),
            rule=rules.FABRIC_PLACEMENT,
        )
    if pool.scale.most > MOST_NODES:
        problem = (
            f"{pool.scale.most} nodes: a placement group, which is what shares a fabric, has at most {MOST_NODES}."
        )
        yield error(
            (*path, "scale"),
            problem,
            f"At most {MOST_NODES}; more nodes need another pool.",
            others=((*path, "fabric"),),
            rule=rules.FABRIC_PLACEMENT,
        )


def _driver(path: Path, pool: Pool, settings: Settings) -> Iterator[SettingFinding]:
    fabric: tuple[Path, ...] = ((*path, "fabric"),)
    if not pool.driver.is_operator:
        problem = (
            f"A driver of source '{pool.driver.source.value}' does not load nvidia-peermem, without which adapters"
            " reach GPUs through the memory of the host only."
        )
        yield error((*path, "driver", "source"), problem, "source: operator", others=fabric, rule=rules.FABRIC_DRIVER)
    elif settings.gpu_operator.driver_owner != "NVIDIADriver":
        problem = "A ClusterPolicy has one driver for all pools: nodes without adapters would wait for an OFED driver."
        where: Path = ("gpuOperator", "driverOwner")
        yield error(where, problem, "driverOwner: NVIDIADriver", others=fabric, rule=rules.FABRIC_DRIVER)
    if pool.os_sku == "AzureLinux":
        problem = "The Network Operator is not tested on Azure Linux, and there is no OFED driver for it."
        yield error((*path, "osSku"), problem, "osSku: Ubuntu", others=fabric, rule=rules.FABRIC_DRIVER)
