"""Difference in cost between two versions of a stack's settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from physical_ai.settings import Settings
from workbench.costs.amounts import Span
from workbench.costs.estimate import estimate
from workbench.costs.model import Estimate, PoolCost, Priced, Total
from workbench.costs.services import total


@dataclass(frozen=True)
class PoolChange(Priced):
    """Cost of one pool before and after a change. `before` is None for an added pool, `after` for a removed pool."""

    name: str
    before: PoolCost | None
    after: PoolCost | None

    @property
    def kind(self) -> Literal["added", "removed", "changed"]:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def hourly(self) -> Span | None:
        """Difference of the pool's cost per hour; None if a price is unknown."""
        spans = [Span(0, 0, 0) if pool is None else pool.hourly for pool in (self.before, self.after)]
        before, after = spans
        return after.plus(before.times(-1)) if before and after else None


@dataclass(frozen=True)
class Change(Total[PoolChange]):
    """Difference between two estimates. `pools` has only the pools whose cost changes."""

    before: Estimate | None
    after: Estimate | None
    pools: tuple[PoolChange, ...]

    @property
    def services(self) -> tuple[Span, Span]:
        """Monthly differences of the costs other than nodes: at the low prices, and at the high prices.

        Both differences are zero if the estimate `before` has no such costs, such as the estimate of a deployed stack.
        """
        new, old = (each.services if each else () for each in (self.after, self.before))
        if self.before is not None and not old:
            return Span(0, 0, 0), Span(0, 0, 0)
        low, high = (after.plus(before.times(-1)) for after, before in zip(total(new), total(old), strict=True))
        return low, high


def change(before: Estimate | None, after: Estimate | None) -> Change:
    """The difference between two estimates. An estimate is None if the stack does not exist before or after
    the change.
    """
    old = {pool.name: pool for pool in before.pools} if before else {}
    new = {pool.name: pool for pool in after.pools} if after else {}
    changes = (PoolChange(name, old.get(name), new.get(name)) for name in {**old, **new})
    return Change(before, after, tuple(each for each in changes if each.before != each.after))


def between(before: Settings | None, after: Settings | None, spot_factor: float | None = None) -> Change:
    """The difference in cost between two settings of a stack. Raises ValueError for a Spot factor out of range."""
    estimates = [None if settings is None else estimate(settings, spot_factor) for settings in (before, after)]
    return change(*estimates)
