"""The cost of a stack, computed from its settings."""

from __future__ import annotations

from physical_ai.catalog import price
from physical_ai.settings import NodePool, Pool, Priority, Settings
from physical_ai.settings.facts.capacity import without_work
from physical_ai.settings.facts.created import region_of
from physical_ai.settings.facts.pools import node_pools
from workbench.costs.amounts import HOURS_A_MONTH, Span, nodes
from workbench.costs.model import STALE_DAYS, Basis, Estimate, NodePrice, PoolCost, PriceList
from workbench.costs.others import not_counted
from workbench.costs.services import service_costs


def estimate(settings: Settings, spot_factor: float | None = None) -> Estimate:
    """The cost of a stack at list prices.

    Args:
        spot_factor: The fraction of the regular price that Spot nodes cost, above 0 and at most 1. If it is None, Spot
            pools are counted at the regular price, with the basis SPOT_AT_REGULAR: price lists have no Spot prices,
            which change hourly.

    Raises:
        ValueError: the factor is out of range.
    """
    if spot_factor is not None and not 0 < spot_factor <= 1:
        raise ValueError(f"{spot_factor:g} is not a fraction of a price: use a number above 0 and at most 1")
    pools = tuple(
        PoolCost(
            name,
            pool.sku,
            _priority(pool).value,
            billed(nodes(pool.scale), _without_work(pool)),
            node_price(pool, settings.region, spot_factor),
            _without_work(pool),
        )
        for name, pool in node_pools(settings).items()
    )
    return Estimate(
        settings.stack, region_of(settings), pools, spot_factor, not_counted(settings), service_costs(settings)
    )


def billed(found: Span, kept: int) -> Span:
    """Machines of a pool that are billed: its nodes, and at least those that are paid while nothing runs."""
    return Span(max(found.minimum, kept), max(found.initial, kept), max(found.maximum, kept))


def _without_work(pool: NodePool) -> int:
    return without_work(pool) if isinstance(pool, Pool) else 0


def node_price(pool: NodePool, region: str, spot_factor: float | None) -> NodePrice | None:
    """Cost of one node of the pool per hour; None if the catalogue has no price for its size in the region."""
    spot_max_price = pool.spot.max_price if isinstance(pool, Pool) and pool.is_spot else None
    return priced(pool.sku, region, spot_max_price=spot_max_price, spot_factor=spot_factor)


def priced(size: str, region: str, *, spot_max_price: float | None, spot_factor: float | None) -> NodePrice | None:
    """Cost per hour of one node of a size; None if the catalogue has no price for the size in the region.

    `spot_max_price`: highest Spot price, -1 for Spot without a limit, None for a regular node.
    """
    row = price(size, region)
    if row is None:
        return None
    listed = PriceList(row.source, row.date)
    if spot_max_price is None:
        return NodePrice(row.usd_per_hour, row.usd_per_hour, Basis.REGULAR, listed)
    usd = row.usd_per_hour if spot_factor is None else row.usd_per_hour * spot_factor
    basis = Basis.SPOT_AT_REGULAR if spot_factor is None else Basis.SPOT_FACTOR
    # Above its maximum price a node is evicted and costs nothing.
    if 0 < spot_max_price < usd:
        usd, basis = spot_max_price, Basis.MAX_PRICE
    return NodePrice(usd, row.usd_per_hour, basis, listed)


def _priority(pool: NodePool) -> Priority:
    return pool.priority if isinstance(pool, Pool) else Priority.REGULAR


__all__ = ["HOURS_A_MONTH", "STALE_DAYS", "estimate", "node_price", "nodes", "priced"]
