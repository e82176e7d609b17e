"""Rates that a cluster's own records show: machines in the evidence about GPU nodes, and records of repairs.

The records of a cluster are few. They correct the published rates in proportion to the time that they cover, and do not
replace them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.kubernetes.objects import labels
from workbench.goodput.rates import Rate, Rates
from workbench.health.evidence import record as machine_record
from workbench.health.replacement.record import Unreadable
from workbench.health.replacement.record import read as read_repair

CONFIG_MAPS = "/api/v1/namespaces/gpu-operator/configmaps"
_SHAPE = 2.0
"""Shape of the gamma distribution that stands for a published rate: its middle nine tenths reach from 0.2 to 2.4 times
the mean, about as far as the published rates lie apart.
"""
_NO_REPAIR = ("canceled", "not begun")
"""Beginnings of the outcomes of repairs that were not made."""
LEAST_DAYS = 30.0
"""Machine-days below which records say nothing about a rate."""


@dataclass(frozen=True)
class PoolRecords:
    """Records of one pool's machines.

    Attributes:
        machine_days: Days for which the machines' records go back, summed over all machines.
        repairs: Number of repairs since the oldest of these records, apart from canceled ones.
        hours: Hours of each finished repair, from its beginning until the node took work again.
        first, last: Times of the oldest and newest record.
    """

    machine_days: float = 0.0
    repairs: int = 0
    hours: tuple[float, ...] = ()
    first: datetime | None = None
    last: datetime | None = None


@dataclass
class _Sums:
    days: float = 0.0
    repairs: int = 0
    hours: list[float] = field(default_factory=list[float])
    times: list[datetime] = field(default_factory=list[datetime])


def read_records(config_maps: Iterable[Mapping[str, Any]], pools: Iterable[str]) -> dict[str, PoolRecords]:
    """Records of each pool in the ConfigMaps of the namespace gpu-operator. A ConfigMap that is not a record of a
    machine or a repair is left out.
    """
    sums = {each: _Sums() for each in pools}
    items = list(config_maps)
    for item in items:
        if machine_record.LABEL in labels(item):
            _add_machine(machine_record.read(item), sums)
    for item in items:
        if REPAIR_LABEL in labels(item):
            _add_repair(item, sums.get(labels(item)[REPAIR_LABEL]))
    return {
        name: PoolRecords(
            each.days, each.repairs, tuple(each.hours), min(each.times, default=None), max(each.times, default=None)
        )
        for name, each in sums.items()
    }


def with_records(rates: Rates, records: PoolRecords, gpus: int) -> dict[str, Rate]:
    """The rates, corrected by a pool's records.

    Args:
        gpus: Number of GPUs of the pool's nodes; the rate of faults is about nodes with eight.
    """
    found = dict(rates)
    if records.machine_days >= LEAST_DAYS:
        found["node-faults"] = _faults(rates["node-faults"], rates["gpu-share"].likely, records, gpus)
    if records.hours:
        # The recorded hours include the new machine and its acceptance, which have rates of their own.
        others = rates["new-node"].likely / 60 + rates["acceptance"].likely / 60
        hours = [max(each - others, 0.0) for each in records.hours]
        found["reaction"] = rates["reaction"].model_copy(
            update={
                "low": min(hours),
                "likely": sum(hours) / len(hours),
                "high": max(hours),
                "believed": (),
                "source": f"{len(hours)} finished repairs of this cluster, less the new machine and its acceptance",
                "date": _day(records),
            }
        )
    return found


def _faults(published: Rate, gpu_share: float, records: PoolRecords, gpus: int) -> Rate:
    """Gamma distribution of the published rate, after the cluster's own faults and machine-days."""
    scale = gpu_share * gpus / 8 + 1 - gpu_share
    shape = _SHAPE + records.repairs
    days = _SHAPE / (published.likely * scale / 1000) + records.machine_days
    mean = shape / days * 1000 / scale
    source = (
        f"repairs in {records.machine_days:.0f} machine-days of this cluster: {records.repairs}; and as published:"
        f" {published.source}"
    )
    return published.model_copy(
        update={
            "low": min(mean * _point(shape, -1.645), mean),
            "likely": mean,
            "high": max(mean * _point(shape, 1.645), mean),
            "believed": (),
            "source": source,
            "date": _day(records),
        }
    )


def _point(shape: float, normal: float) -> float:
    """Point of a gamma distribution relative to its mean, by Wilson and Hilferty's approximation."""
    return max(1 - 1 / (9 * shape) + normal / (3 * math.sqrt(shape)), 0.0) ** 3


def _day(records: PoolRecords) -> date:
    return (records.last or datetime.now(UTC)).date()


def _add_machine(machine: machine_record.Machine, sums: Mapping[str, _Sums]) -> None:
    own = next((each for name, each in sums.items() if re.search(rf"(^|-){re.escape(name)}(-|$)", machine.node)), None)
    times = [each for each in (_time(machine.seen), *map(_time, _seen(machine.starts))) if each is not None]
    if own is None or not times:
        return
    own.days += (max(times) - min(times)).total_seconds() / 86400
    own.times += times


def _seen(starts: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(each.get("at", "")) for each in starts]


def _add_repair(item: Mapping[str, Any], own: _Sums | None) -> None:
    if own is None:
        return
    try:
        repair = read_repair(item)
    except Unreadable:
        return
    if repair.outcome.startswith(_NO_REPAIR) or not own.times or repair.started < min(own.times):
        return
    own.repairs += 1
    if repair.proven is not None and repair.has_ended:
        own.hours.append((repair.proven - repair.started).total_seconds() / 3600)


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
