"""What an estimate consists of. Money is in USD."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from physical_ai.costs.others import NotCounted

HOURS_A_MONTH = 730
"""As Azure's own calculator has it: 365 days of 24 hours, over 12."""
STALE_DAYS = 180
"""Price lists older than this are said to be old wherever they are used."""


@dataclass(frozen=True)
class Span:
    """One figure at three sizes of a pool: the autoscaler's least, as asked for, and its most.

    As asked for is the fixed count, or what an autoscaled pool is created with. A fixed pool has one figure thrice.
    """

    least: float
    asked: float
    most: float

    def times(self, factor: float) -> Span:
        return Span(self.least * factor, self.asked * factor, self.most * factor)

    def plus(self, other: Span) -> Span:
        return Span(self.least + other.least, self.asked + other.asked, self.most + other.most)

    @staticmethod
    def total(spans: Iterable[Span]) -> Span:
        found = Span(0, 0, 0)
        for span in spans:
            found = found.plus(span)
        return found


class Basis(StrEnum):
    """How a node's price came about."""

    REGULAR = "regular"
    SPOT_FACTOR = "spot-factor"
    """Spot: the regular price times the user's factor."""
    SPOT_AT_REGULAR = "spot-at-regular"
    """Spot, at the regular price, because no factor was given: no list has Spot prices."""
    MAX_PRICE = "max-price"
    """Spot: what the pool's `spot.maxPrice` pays at most."""


@dataclass(frozen=True)
class PriceList:
    """Where prices come from."""

    source: str
    date: datetime.date


@dataclass(frozen=True)
class NodePrice:
    """What one node costs an hour."""

    usd_per_hour: float
    regular: float
    basis: Basis
    listed: PriceList


@dataclass(frozen=True)
class PoolCost:
    """One node pool. `price` is None where the catalogue has none for its size in the region."""

    name: str
    size: str
    priority: str
    nodes: Span
    price: NodePrice | None

    @property
    def hourly(self) -> Span | None:
        return self.nodes.times(self.price.usd_per_hour) if self.price else None

    @property
    def monthly(self) -> Span | None:
        return self.hourly.times(HOURS_A_MONTH) if self.hourly else None


@dataclass(frozen=True)
class Estimate:
    """A stack's cost as far as the catalogue has prices. Its sums leave out what has none: see `unpriced`."""

    stack: str
    region: str
    pools: tuple[PoolCost, ...]
    spot_factor: float | None
    not_counted: tuple[NotCounted, ...]

    def pool(self, name: str) -> PoolCost:
        """The pool of this name. Raises KeyError."""
        return {pool.name: pool for pool in self.pools}[name]

    @property
    def hourly(self) -> Span:
        """Sum over the pools that have a price."""
        return Span.total(pool.hourly for pool in self.pools if pool.hourly)

    @property
    def monthly(self) -> Span:
        return self.hourly.times(HOURS_A_MONTH)

    @property
    def unpriced(self) -> tuple[PoolCost, ...]:
        return tuple(pool for pool in self.pools if pool.price is None)

    @property
    def spot_at_regular(self) -> tuple[PoolCost, ...]:
        """Spot pools that will cost less than shown, by an unknown amount."""
        return tuple(pool for pool in self.pools if pool.price and pool.price.basis is Basis.SPOT_AT_REGULAR)

    @property
    def lists(self) -> tuple[PriceList, ...]:
        """The price lists used, oldest first."""
        used = {pool.price.listed for pool in self.pools if pool.price}
        return tuple(sorted(used, key=lambda each: (each.date, each.source)))

    def days_old(self, today: datetime.date) -> int | None:
        """Age of the oldest list used, in days; None where no price was found."""
        return (today - self.lists[0].date).days if self.lists else None

    def is_stale(self, today: datetime.date) -> bool:
        """Whether the prices are too old to be shown without saying so."""
        return (self.days_old(today) or 0) > STALE_DAYS
