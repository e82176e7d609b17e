"""Estimates and changes of cost as JSON data with stable keys."""

from __future__ import annotations

import datetime
from typing import Any

from workbench.costs.amounts import HOURS_A_MONTH, Span
from workbench.costs.change import Change
from workbench.costs.model import Estimate, PoolCost
from workbench.costs.services import ServiceCost


def document(found: Estimate, today: datetime.date) -> dict[str, Any]:
    """An estimate as JSON data. Amounts are in USD, and `null` if there is no price."""
    return {
        "stack": found.stack,
        "region": found.region,
        "estimate": True,
        "currency": "USD",
        "hoursAMonth": HOURS_A_MONTH,
        "spotFactor": found.spot_factor,
        "prices": [{"source": each.source, "date": each.date.isoformat()} for each in found.lists],
        "daysOld": found.days_old(today),
        "stale": found.is_stale(today),
        "pools": [_pool(pool) for pool in found.pools],
        "hourly": money(found.hourly),
        "monthly": money(found.monthly),
        "complete": not found.unpriced and not found.not_counted,
        "unpriced": [{"pool": pool.name, "size": pool.size} for pool in found.unpriced],
        "spotAtRegular": [pool.name for pool in found.spot_at_regular],
        "services": [_service(each) for each in found.services],
        "monthlyWithServices": _range(*found.with_services),
        "notCounted": [each.what for each in found.not_counted],
    }


def change_document(found: Change) -> dict[str, Any]:
    """A change of cost as JSON data. Amounts are negative if the change saves money."""
    return {
        "hourly": money(found.hourly),
        "monthly": money(found.monthly),
        "monthlyServices": _range(*found.services),
        "unpriced": [pool.name for pool in found.unpriced],
        "pools": [
            {
                "name": pool.name,
                "kind": pool.kind,
                "before": _pool(pool.before) if pool.before else None,
                "after": _pool(pool.after) if pool.after else None,
                "hourly": money(pool.hourly),
                "monthly": money(pool.monthly),
            }
            for pool in found.pools
        ],
    }


def _pool(pool: PoolCost) -> dict[str, Any]:
    return {
        "name": pool.name,
        "size": pool.size,
        "priority": pool.priority,
        "nodes": {"min": pool.nodes.minimum, "asked": pool.nodes.initial, "max": pool.nodes.maximum},
        "withoutWork": pool.without_work,
        "usdPerNodeHour": round(pool.price.usd_per_hour, 4) if pool.price else None,
        "regularUsdPerNodeHour": pool.price.regular if pool.price else None,
        "basis": pool.price.basis.value if pool.price else None,
        "hourly": money(pool.hourly),
        "monthly": money(pool.monthly),
    }


def _service(cost: ServiceCost) -> dict[str, Any]:
    return {
        "what": cost.what,
        "monthly": _range(cost.low, cost.high),
        "basis": cost.price.basis,
        "source": cost.price.source,
        "date": cost.price.date.isoformat(),
    }


def _range(low: Span, high: Span) -> dict[str, Any]:
    return {"low": money(low), "high": money(high)}


def money(span: Span | None) -> dict[str, float] | None:
    """Amounts in USD as JSON data, rounded; None if there is no price."""
    if span is None:
        return None
    return {"min": round(span.minimum, 4), "asked": round(span.initial, 4), "max": round(span.maximum, 4)}
