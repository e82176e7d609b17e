"""Stack outputs that describe the stack's pools and OSMO. Pure functions."""

from __future__ import annotations

from typing import Any

from parts.slurm.facts import SLURM, is_slurms
from physical_ai.settings.facts import gpu
from physical_ai.settings.facts.fabric import rdma_resources
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.osmo import platforms
from physical_ai.settings.facts.osmo_access import control_plane_url
from physical_ai.settings.facts.pools import driver_facts, gpus_per_node, node_taints
from physical_ai.settings.models.tree import Settings


def pool_summary(settings: Settings, name: str) -> dict[str, Any]:
    """Description of a GPU pool for the stack's outputs. The numbers of nodes are those in the settings, not those in
    the cluster.
    """
    pool = settings.pools[name]
    version, rdma = gpu.driver_version(settings, pool), rdma_resources(settings, pool)
    return {
        "size": pool.sku,
        "driverSource": pool.driver.source.value,
        # Absent where the node image decides on the version.
        **({"driverVersion": version} if version is not None else {}),
        "gpuDriver": driver_facts(pool).gpu_profile_driver,
        "priority": pool.priority.value,
        "gpusPerNode": gpus_per_node(pool),
        "sharing": gpu.sharing_kind(pool),
        "resources": gpu.offered(settings, pool),
        # Absent without InfiniBand.
        **({"fabric": rdma} if rdma else {}),
        # Absent where Kubernetes itself schedules the pool's work.
        **({"scheduler": SLURM} if is_slurms(settings, name) else {}),
        "nodes": pool.scale.model_dump(exclude_none=True),
        "labels": pool_labels(name, pool),
        "taints": node_taints(pool),
    }


def osmo_summary(settings: Settings) -> dict[str, Any]:
    """Description of OSMO for the stack's outputs: its mode, its queues, and the node pool of each platform."""
    url = control_plane_url(settings) if settings.osmo.installs_service else None
    return {
        "mode": settings.osmo.mode,
        **({"url": url} if url is not None else {}),
        "queues": settings.osmo.queues,
        "platforms": {item.name: item.pool for item in platforms(settings)},
    }
