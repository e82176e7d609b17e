"""Data types of a cost estimate. All money is in USD."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from workbench.costs.amounts import HOURS_A_MONTH, Span
from workbench.costs.not_counted import NotCounted
from workbench.costs.services import ServiceCost, total

STALE_DAYS = 180
"""Age in days above which a price list is reported as old wherever it is used."""


class Priced(ABC):
    """Base class of items with a cost per hour and per month. Both costs are None if the item's price is unknown."""

    @property
    @abstractmethod
    def hourly(self) -> Span | None: ...

    @property
    def monthly(self) -> Span | None:
        return self.hourly.times(HOURS_A_MONTH) if self.hourly else None


Item = TypeVar("Item", bound=Priced)


class Total(Generic[Item]):
    """Items that have a cost, and the sum of the known costs."""

    pools: tuple[Item, ...]

    @property
    def hourly(self) -> Span:
        return Span.total(pool.hourly for pool in self.pools if pool.hourly)

    @property
    def monthly(self) -> Span:
        return self.hourly.times(HOURS_A_MONTH)

    @property
    def unpriced(self) -> tuple[Item, ...]:
        """Pools without a price, which the sum leaves out."""
        return tuple(pool for pool in self.pools if pool.hourly is None)


class Basis(StrEnum):
    """Rule by which the price of a node was determined."""

    REGULAR = "regular"
    SPOT_FACTOR = "spot-factor"
    """Regular price times the Spot factor that the user gives."""
    SPOT_AT_REGULAR = "spot-at-regular"
    """Regular price for Spot nodes, because the user gives no factor and no price list has Spot prices."""
    MAX_PRICE = "max-price"
    """Maximum price in the pool's setting `spot.maxPrice`, which is lower than the price by the other rules."""


@dataclass(frozen=True)
class PriceList:
    """Source of a list of prices, and the date of the prices."""

    source: str
    date: datetime.date


@dataclass(frozen=True)
class NodePrice:
    """Price of one node per hour in USD, the regular price, and the origin of the price."""

    usd_per_hour: float
    regular: float
    basis: Basis
    listed: PriceList


@dataclass(frozen=True)
class PoolCost(Priced):
    """Cost of one node pool. `price` is None if the catalogue has no price for the pool's size in the region."""

    name: str
    size: str
    priority: str
    nodes: Span
    """Machines that are billed: nodes, and reserved machines that no node uses."""
    price: NodePrice | None
    without_work: int = field(default=0, compare=False)
    """Number of machines that are billed while nothing runs on them: those that are reserved or kept ready."""

    @property
    def hourly(self) -> Span | None:
        return self.nodes.times(self.price.usd_per_hour) if self.price else None


@dataclass(frozen=True)
class Estimate(Total[PoolCost]):
    """The estimated cost of a stack. Sums leave out pools without a price in the catalogue, which `unpriced` lists."""

    stack: str
    region: str | None
    """Region of the cluster; None for a cluster that the stack does not create."""
    pools: tuple[PoolCost, ...]
    spot_factor: float | None
    not_counted: tuple[NotCounted, ...]
    services: tuple[ServiceCost, ...] = ()
    """Costs other than nodes, as ranges per month. `hourly` and `monthly` leave them out."""

    @property
    def with_services(self) -> tuple[Span, Span]:
        """Monthly cost of nodes and services together: at the low prices of the services, and at their high prices."""
        low, high = total(self.services)
        return self.monthly.plus(low), self.monthly.plus(high)

    def pool(self, name: str) -> PoolCost:
        """The cost of the pool with this name. Raises KeyError if there is none."""
        return {pool.name: pool for pool in self.pools}[name]

    @property
    def spot_at_regular(self) -> tuple[PoolCost, ...]:
        """Spot pools that are counted at the regular price, and really cost less by an unknown amount."""
        return tuple(pool for pool in self.pools if pool.price and pool.price.basis is Basis.SPOT_AT_REGULAR)

    @property
    def lists(self) -> tuple[PriceList, ...]:
        """The price lists that the estimate uses, oldest first."""
        used = {pool.price.listed for pool in self.pools if pool.price}
        return tuple(sorted(used, key=lambda each: (each.date, each.source)))

    def days_old(self, today: datetime.date) -> int | None:
        """Age in days of the oldest price list that the estimate uses; None if no pool has a price."""
        return (today - self.lists[0].date).days if self.lists else None

    def is_stale(self, today: datetime.date) -> bool:
        """True if the oldest price list that the estimate uses is more than STALE_DAYS old, so that the estimate needs
        a note.
        """
        return (self.days_old(today) or 0) > STALE_DAYS
