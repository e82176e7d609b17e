"""Facts that follow from the settings about the health of GPU nodes: active NVSentinel modules, their pools, and their
limits.
"""

from __future__ import annotations

from physical_ai.settings.facts import gpu
from physical_ai.settings.models.health import HealthMode
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

MODES: tuple[HealthMode, ...] = ("alert", "detect", "taint", "drain")
SHARE = 4
"""Divisor that gives the largest number of a pool's nodes that may be out of service at a time: a quarter of the pool's
nodes, but at least one.
"""


def reaches(settings: Settings, mode: HealthMode) -> bool:
    """True if the stack's health mode is `mode`, or a mode that includes `mode`."""
    return MODES.index(settings.health.mode) >= MODES.index(mode)


def budget(nodes: int) -> int:
    """Number of a pool's nodes that may be out of service at a time.

    >>> [budget(nodes) for nodes in (1, 4, 7, 8, 16)]
    [1, 1, 1, 2, 4]
    """
    return max(1, nodes // SHARE)


def passthrough_pools(settings: Settings) -> dict[str, Pool]:
    """Pools whose nodes have whole GPUs. NVSentinel takes only nodes of these pools out of service.

    Pools with vGPU are left out: DCGM does not support vGPU guests (NVIDIA DCGM docs, supported environments), and a
    GPU fault in a guest is a fault of its host.
    """
    return {
        name: pool
        for name, pool in gpu.nvidia_pools(settings).items()
        if gpu.knows_gpu(pool) and not gpu.is_vgpu(pool) and not pool.driver.is_grid
    }


def least_nodes(pool: Pool) -> int:
    """Smallest number of nodes that the pool can have."""
    return pool.scale.count if pool.scale.count is not None else pool.scale.min or 0


def breaker_nodes(settings: Settings) -> int:
    """Number of cordoned nodes in the whole cluster after which NVSentinel cordons no more. The smallest pool
    determines the number, because all cordoned nodes may be in that pool.
    """
    return min((budget(least_nodes(pool)) for pool in passthrough_pools(settings).values()), default=1)
