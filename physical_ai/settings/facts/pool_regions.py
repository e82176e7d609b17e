"""Regions in which a pool can exist, according to the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from physical_ai.catalog import judge, price, regions
from physical_ai.findings import Finding
from physical_ai.settings.facts.pools import node_pools
from physical_ai.settings.models.node_pools import NodePool, Pool
from physical_ai.settings.models.tree import Settings

Evidence = Literal["documented", "believed", "price", "seen"]


@dataclass(frozen=True)
class Place:
    """Facts about one pool in one region."""

    evidence: Evidence | None
    """Evidence that the region offers the size; None if the region does not list the size."""
    zones: tuple[str, ...] | None
    """Zones that offer the size; None if the zones differ by subscription, or if the region does not list the size."""
    usd_per_hour: float | None
    """On-demand list price of a node in USD per hour; None if the catalogue has no price."""
    verdicts: tuple[Finding, ...]

    @property
    def possible(self) -> bool:
        """True where no known limit excludes the pool, with its settings, from this region."""
        return not any(verdict.is_error for verdict in self.verdicts)


def pool_places(settings: Settings) -> dict[str, dict[str, Place]]:
    """Facts about each of the stack's pools in each region of the catalogue."""
    return {region: {name: place(pool, region) for name, pool in node_pools(settings).items()} for region in regions()}


def place(pool: NodePool, region: str) -> Place:
    """Facts about a pool, with its settings, in a region of the catalogue."""
    listing = regions()[region].sizes.get(pool.sku)
    row = price(pool.sku, region)
    gpu = pool if isinstance(pool, Pool) else None
    verdicts = judge(
        pool.sku,
        region,
        gpu.driver.source.value if gpu else None,
        pool.os_disk.type,
        pool.os_disk.size_gb,
        pool.zones,
        os_sku=pool.os_sku,
        spot=gpu is not None and gpu.is_spot,
        trusted_launch=gpu is not None and gpu.secure_boot,
    )
    return Place(
        listing.evidence if listing else None,
        listing.zones if listing else None,
        row.usd_per_hour if row else None,
        tuple(verdicts),
    )
