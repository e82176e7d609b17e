"""Node pools of the settings, each described as an empty node on which a Pod could be placed, even if the pool has no
nodes now.
"""

from __future__ import annotations

from parts.runners import names as runners
from physical_ai.catalog import machine, servers
from physical_ai.catalog.aks import SHORT_POOL_LABEL, allocatable
from physical_ai.readiness.workloads.model import DeclaredPool
from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import offered
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.node_room import disk_gib
from physical_ai.settings.facts.pools import (
    SYSTEM_POOL,
    SYSTEM_TAINT,
    node_taints,
    pool_selector,
    shared_subnet_pools,
)
from physical_ai.settings.models.node_pools import NodePool, Pool

_TAINTS = {SYSTEM_POOL: [SYSTEM_TAINT], runners.POOL: [runners.TAINT]}


def declared_pools(settings: Settings) -> tuple[DeclaredPool, ...]:
    """Descriptions of all node pools of a stack, GPU pools first, since Pods usually wait for GPUs."""
    pools = {**settings.pools, **dict(reversed(shared_subnet_pools(settings).items()))}
    return tuple(_plan(settings, name, pool) for name, pool in pools.items())


def _plan(settings: Settings, name: str, pool: NodePool) -> DeclaredPool:
    size = machine(pool.sku)
    gpus = offered(settings, pool) if isinstance(pool, Pool) else {}
    taints = node_taints(pool) if isinstance(pool, Pool) else _TAINTS.get(name, [])
    taints = [*taints, *pool.tolerate]
    usable = allocatable(size.vcpus, size.memory_gib, disk_gib(pool), pool.max_pods)
    return DeclaredPool(
        name=name,
        size=pool.sku,
        labels={
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/instance-type": pool.sku,
            SHORT_POOL_LABEL: name,
            **pool_selector(name, pool),
            **(pool_labels(name, pool) if isinstance(pool, Pool) else {}),
        },
        taints=[dict(zip(("key", "value", "effect"), split_taint(each), strict=True)) for each in taints],
        allocatable={
            "cpu": f"{usable.millis}m",
            "memory": f"{usable.memory_mib}Mi",
            "ephemeral-storage": f"{usable.disk_bytes >> 30}Gi",
            "pods": str(pool.max_pods),
            **{resource: str(count) for resource, count in gpus.items()},
        },
        gpus=gpus,
        most=pool.scale.most,
        autoscaled=pool.scale.is_autoscaled,
        existing=pool.sku in servers(),
    )
