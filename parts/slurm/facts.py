"""Facts that follow from the settings of Slurm's pools: generic resources, partitions, nodes. Pure functions."""

from __future__ import annotations

from parts.slurm.names import RESOURCE_TYPE
from physical_ai.settings.facts.pools import gpus_per_node
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

SLURM = "slurm"
"""Name of Slurm as the scheduler of a pool, in the stack's outputs."""


def slurm_pools(settings: Settings) -> dict[str, Pool]:
    """The pools that Slurm schedules, by name, in the order of the setting `slurm.pools`."""
    names = settings.slurm.pools if settings.slurm is not None else ()
    return {name: settings.pools[name] for name in names if name in settings.pools}


def is_slurms(settings: Settings, name: str) -> bool:
    """True for a pool whose nodes get work from Slurm, and from no other scheduler."""
    return settings.slurm is not None and name in settings.slurm.pools


def gres(pool: Pool) -> str:
    """Generic resources of a node in the syntax of slurm.conf: the number of its GPUs, such as `gpu:8`.

    The text has no GPU type: slurmd detects the type, and names it after the GPU. A node that has fewer GPUs than the
    text says gets no jobs.
    """
    return f"{RESOURCE_TYPE}:{gpus_per_node(pool)}"


def partition(settings: Settings, name: str) -> dict[str, str]:
    """Options of a pool's partition. The first pool's partition is the default one."""
    assert settings.slurm is not None  # only a pool that Slurm schedules has a partition
    is_default = name == settings.slurm.pools[0]
    return {"State": "UP", "Default": "YES" if is_default else "NO", "MaxTime": settings.slurm.max_time}
