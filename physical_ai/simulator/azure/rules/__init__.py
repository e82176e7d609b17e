"""ARM's and AKS's rules that are in no schema: pure functions over a request and Azure's state."""

from __future__ import annotations

from physical_ai.simulator.azure.rules import (
    authorization,
    cluster_access,
    cluster_network,
    cluster_rules,
    general,
    identities,
    immutables,
    maintenance,
    monitoring,
    network_deletes,
    networks,
    pool_labels,
    pool_nodes,
    pool_scale,
    pool_subnets,
    quota,
    versions,
)
from physical_ai.simulator.azure.rules.base import Delete, Put, Request, refusals

__all__ = ["MODULES", "Delete", "Put", "Request", "refusals"]

MODULES = (
    authorization,
    cluster_access,
    cluster_network,
    cluster_rules,
    general,
    identities,
    immutables,
    maintenance,
    monitoring,
    network_deletes,
    networks,
    pool_labels,
    pool_nodes,
    pool_scale,
    pool_subnets,
    quota,
    versions,
)
"""Each registers its rules on import; the order of `refusals` does not depend on it."""
