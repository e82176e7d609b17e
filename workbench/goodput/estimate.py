"""Expected use of a pool's GPU time with intervals: the formula at the likely rates, and at rates drawn from their
ranges.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.goodput.model import Fleet, Share, best_interval, share, young
from workbench.goodput.pools import PoolLoad, fleet
from workbench.goodput.rates import Rates

DRAWS = 200
"""Number of draws for an interval; a run has the same draws each time."""
SEED = 1
MONTH = 730.0
"""Hours of a month."""


@dataclass(frozen=True)
class Figure:
    """A value at the likely rates, and the 5 and 95 % points of the values at rates drawn from their ranges."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> Figure:
        ends = sorted((self.low * factor, self.high * factor))
        return Figure(self.value * factor, *ends)


Values = Mapping[str, float]


@dataclass(frozen=True)
class Estimate:
    """Expected use of one pool's GPU time.

    Attributes:
        pool: The pool and its usual work.
        likely: The pool with the likely rates.
        share: Where the GPU time goes at the likely rates.
        useful: Useful share of all GPU time of the pool.
        of_wanted: Useful share of the GPU time that work asks for.
        losses: Shares of all GPU time that are lost, by cause, the largest first.
        usd: Price of a useful GPU-hour; None if the price of the nodes is not known.
        best: Hours between checkpoints at which most work is useful.
        young: Young's approximation of `best`.
    """

    pool: PoolLoad
    likely: Fleet
    share: Share
    useful: Figure
    of_wanted: Figure
    losses: Mapping[str, Figure]
    usd: Figure | None
    best: Figure
    young: float

    @property
    def gpu_hours(self) -> float:
        """GPU-hours that the pool has in a month."""
        return self.pool.nodes * self.pool.gpus * MONTH


def draws(rates: Rates, count: int = DRAWS) -> list[dict[str, float]]:
    """Values of all rates, drawn independently of each other. The same rates give the same values."""
    randomly = random.Random(SEED)  # noqa: S311 - a reproducible sample
    return [{name: rate.drawn(randomly) for name, rate in sorted(rates.items())} for _ in range(count)]


def likely(rates: Rates) -> dict[str, float]:
    return {name: rate.likely for name, rate in rates.items()}


def figure(of: Callable[[Values], float], rates: Rates, drawn: Sequence[Values]) -> Figure:
    """The figure that a function has at the likely rates, with its interval."""
    value = of(likely(rates))
    others = sorted(of(each) for each in drawn)
    low, high = others[len(others) // 20], others[-1 - len(others) // 20]
    return Figure(value, min(low, value), max(high, value))


def estimate(pool: PoolLoad, rates: Rates) -> Estimate:
    """Expected use of the GPU time of a pool."""
    drawn = draws(rates)
    middle = fleet(pool, likely(rates))
    known = {id(each): share(fleet(pool, each)) for each in drawn}

    def of(values: Values) -> Share:
        return known.get(id(values)) or share(fleet(pool, values))

    at_likely = share(middle)
    losses = {
        name: figure(lambda values, name=name: of(values).losses[name], rates, drawn) for name in at_likely.losses
    }
    price = None
    if pool.usd is not None and at_likely.useful > 0:
        price = figure(lambda values: usd_per_useful_hour(pool, values, of(values)), rates, drawn)
    return Estimate(
        pool=pool,
        likely=middle,
        share=at_likely,
        useful=figure(lambda values: of(values).useful, rates, drawn),
        of_wanted=figure(lambda values: of(values).of_wanted, rates, drawn),
        losses={name: losses[name] for name in at_likely.losses},
        usd=price,
        best=figure(lambda values: best_interval(checkpointed(pool, values)), rates, drawn[:60]),
        young=young(checkpointed(pool, likely(rates))),
    )


def checkpointed(pool: PoolLoad, values: Values) -> Fleet:
    """The pool with the time that a checkpoint takes, also where tasks write none."""
    return replace(fleet(pool, values), stall=values["checkpoint-stall"] / 3600)


def usd_per_useful_hour(pool: PoolLoad, values: Values, found: Share) -> float:
    """Price of a useful GPU-hour. An evicted Spot machine costs nothing; a machine in repair is paid."""
    if found.useful <= 0:
        return float("inf")
    price = pool.usd or 0.0
    if pool.spot:
        given = fleet(pool, values)
        price *= values["spot-price"] / (1 + given.evictions * given.away)
    return price / found.useful
