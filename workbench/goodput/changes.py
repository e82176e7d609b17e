"""Worth of changes of settings: the same draws of the rates, before and after a change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.goodput.estimate import MONTH, Estimate, Figure, Values, draws, figure, usd_per_useful_hour
from workbench.goodput.model import share
from workbench.goodput.pools import PoolLoad, fleet
from workbench.goodput.rates import Rates

DAILY = 24.0
ALERTED = 2.0
"""Minutes from a fault to the end of the work that it stopped, where a condition of the node says so."""
Changed = Callable[[Values], tuple[PoolLoad, Values]]


@dataclass(frozen=True)
class Worth:
    """A change of a setting of a pool, and its effect in a month.

    Attributes:
        change: What changes, in words.
        setting: The setting to write, with its value.
        points: Change of the useful share of the GPU time that work asks for.
        gpu_hours: Useful GPU-hours of a month that are won; negative if they are lost.
        usd: Change of the price of a useful GPU-hour; None if a price is not known.
    """

    change: str
    setting: str
    points: Figure
    gpu_hours: Figure
    usd: Figure | None


def changes(found: Estimate, rates: Rates) -> list[Worth]:
    """Changes of settings that a pool allows, the most valuable first."""
    pool = found.pool
    allowed = [
        *_of_checkpoints(found),
        *_of_acceptance(pool),
        *_of_health(pool),
        _of_priority(pool),
    ]
    worth = [_worth(found, rates, *each) for each in allowed]
    return sorted(worth, key=lambda each: -each.gpu_hours.value)


def unwritten(found: Estimate, rates: Rates) -> Worth | None:
    """Effect if the checkpoints of a pool are not written, or cannot be read back; None if tasks write none anyway."""
    pool = found.pool
    if pool.checkpoint is None:
        return None
    without = replace(pool, checkpoint=None)
    return _worth(found, rates, "checkpoints are not written", "", lambda values: (without, values))


def _of_checkpoints(found: Estimate) -> list[tuple[str, str, Changed]]:
    """The best interval, unless it is about the present one or as long as a task."""
    pool, best = found.pool, found.best.value
    if not found.likely.ends or best >= pool.task_hours * 0.9:
        return []
    if pool.checkpoint is not None and 0.8 < pool.checkpoint / best < 1.25:
        return []
    minutes = _rounded(best * 60)
    return [
        (
            f"a checkpoint every {minutes:g} minutes, the best interval",
            f"pools.{pool.name}.usualLoad.checkpointMinutes: {minutes:g}, and the workflows' own",
            lambda values: (replace(pool, checkpoint=minutes / 60), values),
        )
    ]


def _rounded(minutes: float) -> float:
    """Minutes that people write: whole ones, above ten in steps of five."""
    return max(round(minutes), 1) if minutes < 10 else 5 * round(minutes / 5)


def _of_acceptance(pool: PoolLoad) -> list[tuple[str, str, Changed]]:
    every = "health.acceptance.diagnoseIdle"
    if pool.diagnosed is None:
        daily = replace(pool, diagnosed=DAILY)
        return [("idle nodes are diagnosed daily", f'{every}: "0 3 * * *"', lambda values: (daily, values))]
    often, never = replace(pool, diagnosed=pool.diagnosed / 4), replace(pool, diagnosed=None)
    return [
        ("idle nodes are diagnosed four times as often", f"{every}: every {pool.diagnosed / 4:g} hours",
         lambda values: (often, values)),
        ("idle nodes are not diagnosed", f"{every}: absent", lambda values: (never, values)),
    ]  # fmt: skip


def _of_health(pool: PoolLoad) -> list[tuple[str, str, Changed]]:
    def alerted(values: Values) -> tuple[PoolLoad, Values]:
        return pool, {**values, "detection": min(values["detection"], ALERTED)}

    more = replace(pool, nodes=pool.nodes + 1)
    return [
        ("one spare node", f"pools.{pool.name}.scale: one node more", lambda values: (more, values)),
        ("faults are conditions of nodes within minutes, and end their work", "health.mode: detect", alerted),
    ]


def _of_priority(pool: PoolLoad) -> tuple[str, str, Changed]:
    other = replace(pool, spot=not pool.spot)
    name = "Regular" if pool.spot else "Spot"
    return f"{name} machines", f"pools.{pool.name}.priority: {name}", lambda values: (other, values)


def _worth(found: Estimate, rates: Rates, words: str, setting: str, changed: Changed) -> Worth:
    before = found.pool
    drawn = draws(rates)

    def useful(pool: PoolLoad, values: Values) -> float:
        return share(fleet(pool, values)).useful * pool.nodes * pool.gpus

    def won(values: Values) -> float:
        return useful(*changed(values)) - useful(before, values)

    def dearer(values: Values) -> float:
        after, with_values = changed(values)
        return usd_per_useful_hour(after, with_values, share(fleet(after, with_values))) - usd_per_useful_hour(
            before, values, share(fleet(before, values))
        )

    hours = figure(won, rates, drawn)
    wanted = before.jobs * before.job_gpus
    return Worth(
        change=words,
        setting=setting,
        points=hours.times(1 / wanted),
        gpu_hours=hours.times(MONTH),
        usd=None if before.usd is None else figure(dearer, rates, drawn),
    )
