"""The cost of a deployed stack, computed from its node pools in Azure instead of its settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.settings import Priority
from workbench.costs.amounts import Span
from workbench.costs.estimate import billed, priced
from workbench.costs.model import Estimate, PoolCost


def deployed(stack: str, region: str, pools: Iterable[Mapping[str, Any]], spot_factor: float | None = None) -> Estimate:
    """Estimated cost of deployed node pools at list prices.

    The estimate's `not_counted` is empty, because uncounted costs follow from settings, which are not known here.

    Args:
        pools: Bodies as in ARM: `name`, `vmSize`, `count`, `enableAutoScaling`, `minCount`, `maxCount`,
            `scaleSetPriority`, `spotMaxPrice`; and `withoutWork`, the machines that are billed while nothing runs.
    """
    costs = tuple(_pool(body, region, spot_factor) for body in pools)
    return Estimate(stack, region, costs, spot_factor, ())


def _pool(body: Mapping[str, Any], region: str, spot_factor: float | None) -> PoolCost:
    size, priority = str(body["vmSize"]), Priority(body.get("scaleSetPriority") or Priority.REGULAR)
    max_price = body.get("spotMaxPrice")
    limit = -1.0 if max_price is None else float(max_price)
    price = priced(size, region, spot_max_price=limit if priority is Priority.SPOT else None, spot_factor=spot_factor)
    kept = int(body.get("withoutWork") or 0)
    return PoolCost(str(body["name"]), size, priority.value, billed(_nodes(body), kept), price, kept)


def _nodes(body: Mapping[str, Any]) -> Span:
    count = int(body.get("count") or 0)
    if not body.get("enableAutoScaling"):
        return Span(count, count, count)
    return Span(int(body.get("minCount") or 0), count, int(body.get("maxCount") or 0))
