"""GPUs that each pool should offer according to the settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from parts.slurm.facts import SLURM, is_slurms
from physical_ai.catalog import UnknownName, machine, servers
from physical_ai.readiness.model import Expected
from physical_ai.settings import Settings
from physical_ai.settings.facts.fabric import adapters, rdma_resources, uses_fabric
from physical_ai.settings.facts.gpu import has_host_mig, offered


def expected_pools(settings: Settings) -> tuple[Expected, ...]:
    """Resources that one node of each pool should offer, in the order of the settings."""
    return tuple(
        Expected(
            name,
            offered(settings, pool),
            pool.driver.source.value,
            has_host_mig(pool) or pool.sharing.mig is not None,
            rdma_resources(settings, pool),
            is_slurms(settings, name),
            adapters(pool) if uses_fabric(pool) else 0,
            str(settings.stack),
            pool.sku in servers(),
        )
        for name, pool in settings.pools.items()
    )


def deployed_pools(summaries: Mapping[str, Mapping[str, Any]], stack: str) -> tuple[Expected, ...]:
    """Resources that one node of each pool of a deployed stack should offer, from the stack's output `pools`.

    `stack` is the name to write in commands.
    """
    return tuple(
        Expected(
            name,
            pool["resources"],
            pool["driverSource"],
            _is_cut(pool),
            pool.get("fabric", {}),
            pool.get("scheduler") == SLURM,
            pool["gpusPerNode"] if pool.get("fabric") else 0,
            stack,
            pool["size"] in servers(),
        )
        for name, pool in summaries.items()
    )


def _is_cut(summary: Mapping[str, Any]) -> bool:
    try:
        gpu = machine(summary["size"]).gpu
    except UnknownName:
        return False
    return summary["sharing"].startswith("mig") or (gpu is not None and gpu.host_mig)


def is_existing(pools: Iterable[Expected]) -> bool:
    """True for pools of an existing cluster."""
    return any(each.existing for each in pools)
