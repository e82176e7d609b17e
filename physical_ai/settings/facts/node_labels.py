"""Labels that the program gives to the nodes of GPU pools, each defined once. Pure functions.

A row of `LABELS` defines one label. The labels that a stack may not set, the labels that kube-state-metrics exports,
and the table in docs/settings.md follow from these rows, or are compared with the rows by a test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from physical_ai.catalog.aks import SHORT_POOL_LABEL, SPOT_LABEL
from physical_ai.catalog.own_names import DRIVER_LABEL, PLATFORM_LABEL
from physical_ai.catalog.vendors import NVIDIA
from physical_ai.settings.facts.gpu import (
    ALLOCATION_LABEL,
    DEPLOY_DEVICE_PLUGIN_LABEL,
    DEPLOY_MIG_MANAGER_LABEL,
    DEVICE_PLUGIN_LABEL,
    MIG_CONFIG_LABEL,
    is_vgpu,
    knows_gpu,
)
from physical_ai.settings.facts.pools import DEPLOY_DRIVER_LABEL, UPGRADE_SKIP_LABEL, driver_facts, gpu_vendor
from physical_ai.settings.models.node_pools import Pool

Value = Callable[[str, Pool], str | None]
"""Type of a function that returns the value of a label on a pool's nodes, from the pool's name and settings; None where
the nodes do not have the label.
"""
EXPORTED_FROM_OTHERS = (SHORT_POOL_LABEL, "nvidia.com/gpu.product", "nvidia.com/mig.config.state")
"""Labels of AKS and of the GPU Operator that kube-state-metrics exports."""


@dataclass(frozen=True)
class NodeLabel:
    key: str
    value: Value
    exported: bool
    """True where kube-state-metrics exports the label, so that alerts and dashboards can tell nodes apart by it."""
    by_driver: bool = False
    """True where the label's value depends on who installs the driver."""


def _driver_label(key: str) -> Value:
    return lambda _name, pool: driver_facts(pool).labels.get(key)


def _where(decides: Callable[[Pool], bool], value: str | None = None) -> Value:
    """Function that returns a label's value for an NVIDIA pool for which `decides` returns True, and None for any other
    pool. The label's value is `value`; if `value` is None, it is the pool's name.
    """

    def label(name: str, pool: Pool) -> str | None:
        is_nvidia = knows_gpu(pool) and gpu_vendor(pool) is NVIDIA
        return (value or name) if is_nvidia and decides(pool) else None

    return label


LABELS: tuple[NodeLabel, ...] = (
    NodeLabel(DRIVER_LABEL, lambda _name, pool: pool.driver.source.value, exported=False, by_driver=True),
    NodeLabel(DEPLOY_DRIVER_LABEL, _driver_label(DEPLOY_DRIVER_LABEL), exported=False, by_driver=True),
    NodeLabel(UPGRADE_SKIP_LABEL, _driver_label(UPGRADE_SKIP_LABEL), exported=False, by_driver=True),
    NodeLabel(SPOT_LABEL[0], lambda _name, pool: SPOT_LABEL[1] if pool.is_spot else None, exported=False),
    NodeLabel(PLATFORM_LABEL, lambda _name, pool: pool.capacity.platform, exported=False),
    NodeLabel(DEVICE_PLUGIN_LABEL, _where(lambda _pool: True), exported=False),
    NodeLabel(MIG_CONFIG_LABEL, _where(lambda pool: pool.sharing.mig is not None), exported=False),
    NodeLabel(DEPLOY_MIG_MANAGER_LABEL, _where(is_vgpu, "false"), exported=False),
    NodeLabel(ALLOCATION_LABEL, _where(lambda pool: pool.uses_claims, "dra"), exported=False),
    NodeLabel(DEPLOY_DEVICE_PLUGIN_LABEL, _where(lambda pool: pool.uses_claims, "false"), exported=False),
)
KEYS = frozenset(each.key for each in LABELS)
"""Keys of the labels that a stack may not set on any pool, whether or not the pool's nodes have them."""
EXPORTED = (*EXPORTED_FROM_OTHERS, *(each.key for each in LABELS if each.exported))
"""Keys of all node labels that kube-state-metrics exports."""


def own_labels(name: str, pool: Pool) -> dict[str, str]:
    """Labels that the program gives to a pool's nodes, without those that the stack adds."""
    return {each.key: value for each in LABELS if (value := each.value(name, pool)) is not None}


def pool_labels(name: str, pool: Pool) -> dict[str, str]:
    """All labels of a pool's nodes. Where stack and program set the same key, the program's value applies."""
    return {**pool.labels, **own_labels(name, pool)}
