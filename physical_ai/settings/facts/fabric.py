"""Facts that follow from the settings about the network between the nodes of a pool. Pure functions."""

from __future__ import annotations

from parts.network_operator.names import SHARED_PODS, SHARED_RESOURCE, VF_RESOURCE
from physical_ai.catalog import machines
from physical_ai.settings.facts.pools import gpus_per_node
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings


def has_infiniband(pool: Pool) -> bool:
    """True where the pool's nodes have InfiniBand; False for an unknown size."""
    size = machines().get(pool.sku)
    return size is not None and size.infiniband


def uses_fabric(pool: Pool) -> bool:
    """True if the settings give Pods InfiniBand adapters, and the pool's nodes have InfiniBand adapters."""
    return pool.fabric == "infiniband" and has_infiniband(pool)


def fabric_pools(settings: Settings) -> dict[str, Pool]:
    """Pools whose InfiniBand adapters Pods can use."""
    return {name: pool for name, pool in settings.pools.items() if uses_fabric(pool)}


def adapters(pool: Pool) -> int:
    """Number of InfiniBand adapters of a node: Azure's sizes have one for each GPU (VM docs, ND H100 v5 and ND H200
    v5).
    """
    return gpus_per_node(pool) if has_infiniband(pool) else 0


def rdma_resources(settings: Settings, pool: Pool) -> dict[str, int]:
    """RDMA resources of one node of the pool, by name; empty without a fabric or without a device plugin."""
    operator = settings.network_operator
    if operator is None or not uses_fabric(pool):
        return {}
    match operator.device_plugin:
        case "shared":
            return {SHARED_RESOURCE: SHARED_PODS}
        case "sriov":
            return {VF_RESOURCE: adapters(pool)}
        case "none":
            return {}


def rdma_request(settings: Settings, pool: Pool, gpus: int | str) -> dict[str, str]:
    """RDMA request of a Pod with this number of GPUs: its node's shared adapters, or one adapter for each GPU."""
    return {name: "1" if name == SHARED_RESOURCE else str(gpus) for name in rdma_resources(settings, pool)}
