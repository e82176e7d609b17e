"""Estimates of a stack's pools as JSON data: shares with four decimals, hours and prices with one and two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.goodput.changes import Worth
from workbench.goodput.estimate import MONTH, Estimate, Figure
from workbench.goodput.own_records import PoolRecords
from workbench.goodput.pools import NotCounted
from workbench.goodput.rates import Rates
from workbench.goodput.simulation import Year

HOURS_IN_MONTH = MONTH


@dataclass(frozen=True)
class PoolResult:
    """Everything that is known of one pool: the estimate, the worth of changes, and a simulation if one was run."""

    estimate: Estimate
    rates: Rates
    worth: Sequence[Worth]
    unwritten: Worth | None
    notes: Sequence[str]
    records: PoolRecords | None = None
    simulated: Year | None = None


def document(stack: str, results: Sequence[PoolResult], without: Sequence[NotCounted]) -> dict[str, Any]:
    """Results of a stack as JSON data. A share is of all GPU time of the pool, unless its name says otherwise."""
    return {
        "stack": stack,
        "pools": [_pool(each) for each in results],
        "notCounted": [{"pool": each.pool, "problem": each.problem} for each in without],
    }


def _pool(result: PoolResult) -> dict[str, Any]:
    found = result.estimate
    pool, month = found.pool, found.gpu_hours
    return {
        "name": pool.name,
        "model": pool.model,
        "nodes": pool.nodes,
        "gpusPerNode": pool.gpus,
        "spot": pool.spot,
        "jobs": pool.jobs,
        "gpusPerJob": pool.job_gpus,
        "useful": _figure(found.useful, 4),
        "usefulOfWanted": _figure(found.of_wanted, 4),
        "notWanted": round(found.share.not_wanted, 4),
        "losses": [
            {
                "cause": cause,
                "share": _figure(lost, 6),
                "gpuHoursPerMonth": _figure(lost.times(month), 1),
                "usdPerMonth": None if pool.usd is None else _figure(lost.times(month * pool.usd), 0),
            }
            for cause, lost in found.losses.items()
        ],
        "usdPerUsefulGpuHour": None if found.usd is None else _figure(found.usd, 2),
        "checkpoint": {
            "minutes": None if pool.checkpoint is None else round(pool.checkpoint * 60, 1),
            "bestMinutes": _figure(found.best.times(60), 1),
            "youngMinutes": round(found.young * 60, 1),
            "ifUnwritten": None if result.unwritten is None else _figure(result.unwritten.points, 4),
        },
        "hoursBetweenInterruptions": round(1 / found.likely.ends, 1) if found.likely.ends else None,
        "changes": [_worth(each) for each in result.worth],
        "notes": list(result.notes),
        "rates": [_rate(result.rates, name) for name in sorted(result.rates)],
        "records": _records(result.records),
        "simulated": _simulated(result.simulated),
    }


def _figure(figure: Figure, decimals: int) -> dict[str, float]:
    return {
        "value": round(figure.value, decimals),
        "low": round(figure.low, decimals),
        "high": round(figure.high, decimals),
    }


def _worth(worth: Worth) -> dict[str, Any]:
    return {
        "change": worth.change,
        "setting": worth.setting,
        "usefulOfWanted": _figure(worth.points, 5),
        "gpuHoursPerMonth": _figure(worth.gpu_hours, 1),
        "usdPerUsefulGpuHour": None if worth.usd is None else _figure(worth.usd, 3),
    }


def _rate(rates: Rates, name: str) -> dict[str, Any]:
    rate = rates[name]
    return {
        "name": name,
        "unit": rate.unit,
        "low": rate.low,
        "likely": rate.likely,
        "high": rate.high,
        "read": rate.read,
        "believed": list(rate.believed),
        "source": rate.source,
        "date": rate.date.isoformat(),
    }


def _records(records: PoolRecords | None) -> dict[str, Any] | None:
    if records is None:
        return None
    return {
        "machineDays": round(records.machine_days, 1),
        "repairs": records.repairs,
        "repairHours": [round(each, 2) for each in records.hours],
        "first": records.first.isoformat() if records.first else None,
        "last": records.last.isoformat() if records.last else None,
    }


def _simulated(year: Year | None) -> dict[str, Any] | None:
    if year is None:
        return None
    fleet = year.fleet
    scale = fleet.job_gpus / (fleet.nodes * fleet.gpus * year.hours)
    hours: Mapping[str, float] = year.totals.hours
    return {
        "seed": year.seed,
        "days": round(year.hours / 24, 1),
        "useful": {
            "value": round(year.useful, 4),
            "low": round(year.useful - 2 * year.spread, 4),
            "high": round(year.useful + 2 * year.spread, 4),
        },
        "shares": {name: round(each * scale, 6) for name, each in sorted(hours.items())},
        "events": dict(sorted(year.totals.events.items())),
    }
