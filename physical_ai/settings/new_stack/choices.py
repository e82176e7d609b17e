"""Choices for the pools of a new stack, and the findings about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog import judge, vm_size, vm_sizes
from physical_ai.findings import Finding
from physical_ai.settings.new_stack.proposal import PoolProposal


@dataclass(frozen=True)
class Choice:
    """Choices for one pool of a new stack. `size` None: the pool is left out. `zones` None: the zones of the layers are
    used.
    """

    size: str | None
    driver: str | None = None
    zones: tuple[str, ...] | None = None


def choose(pool: PoolProposal, region: str, region_zones: Sequence[str]) -> Choice:
    """Default choice for a pool of a new stack.

    The size is the layers' size if the region lists it. If not, it is the cheapest listed size with the same GPU model.
    Without such a size, the pool is left out: workloads depend on the GPU model. Zones that the region does not have
    are dropped.
    """
    zones = () if pool.zones and not set(pool.zones) <= set(region_zones) else None
    if not pool.has_gpu or lists(pool.size, region):
        return Choice(pool.size, zones=zones)
    same = next((each for each in pool.candidates if each.same_gpu), None)
    return Choice(same.size, driver_for(pool, same.size), zones) if same else Choice(None)


def lists(size: str, region: str) -> bool:
    """True unless the catalogue reports that the region does not offer the size (`size-not-in-region`)."""
    return not any(verdict.where == "sku" for verdict in judge(size, region) if verdict.rule == "size-not-in-region")


def driver_for(pool: PoolProposal, size: str) -> str | None:
    """Driver source for a pool with this VM size: the pool's own if the size supports it, otherwise the first source
    that the size supports.
    """
    sources = vm_size(size).driver_sources if size in vm_sizes() else ()
    if pool.driver is None or pool.driver in sources or not sources:
        return pool.driver
    return sources[0]


def overrides(pool: PoolProposal, choice: Choice, region: str) -> dict[str, Any] | None:
    """Values that override the layers for this choice; None to remove the pool."""
    if choice.size is None:
        return None
    found: dict[str, Any] = {}
    if choice.size != pool.size:
        found["sku"] = choice.size
    driver = choice.driver or driver_for(pool, choice.size)
    if driver != pool.driver:
        found["driver"] = {"source": driver}
    if any(_no_room(verdict) for verdict in refusals(pool, choice, region)):
        found["osDisk"] = {"type": "Managed"}
    if choice.zones is not None and choice.zones != pool.zones:
        found["zones"] = list(choice.zones)
    return found


def _no_room(verdict: Finding) -> bool:
    """True for a finding that the size cannot hold the ephemeral OS disk, or that it is not known if the size can."""
    return verdict.where.startswith("osDisk") and (verdict.is_error or verdict.rule == "ephemeral-unknown")


def refusals(pool: PoolProposal, choice: Choice, region: str) -> list[Finding]:
    """Findings of the catalogue about a choice, errors and warnings."""
    if choice.size is None:
        return []
    zones = pool.zones if choice.zones is None else choice.zones
    driver = choice.driver or driver_for(pool, choice.size)
    return judge(choice.size, region, driver, pool.disk_type, pool.disk_gib, zones, os_sku=pool.os_sku, spot=pool.spot)


def is_forced(pool: PoolProposal, region: str) -> bool:
    """True if the region does not offer the size, or the zones, that the layers set for the pool."""
    verdicts = refusals(pool, Choice(pool.size), region)
    return any(verdict.rule in ("size-not-in-region", "zone-not-in-region", "size-not-in-zone") for verdict in verdicts)
