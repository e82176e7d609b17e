"""The cost of a change of settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from physical_ai.settings import Settings
from workbench.costs.estimate import estimate
from workbench.costs.model import Estimate, PoolCost, Priced, Span, Total


@dataclass(frozen=True)
class PoolChange(Priced):
    """Cost of one pool before and after a change; None if the pool does not exist on that side."""

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
        """The additional cost per hour; None if a side has no price."""
        spans = [Span(0, 0, 0) if pool is None else pool.hourly for pool in (self.before, self.after)]
        before, after = spans
        return after.plus(before.times(-1)) if before and after else None


@dataclass(frozen=True)
class Change(Total[PoolChange]):
    """The difference between two estimates, without the pools whose cost does not change."""

    before: Estimate | None
    after: Estimate | None
    pools: tuple[PoolChange, ...]


def change(before: Estimate | None, after: Estimate | None) -> Change:
    """The difference between two estimates; an estimate is None if the stack does not exist on that side."""
    old = {pool.name: pool for pool in before.pools} if before else {}
    new = {pool.name: pool for pool in after.pools} if after else {}
    changes = (PoolChange(name, old.get(name), new.get(name)) for name in {**old, **new})
    return Change(before, after, tuple(each for each in changes if each.before != each.after))


def between(before: Settings | None, after: Settings | None, spot_factor: float | None = None) -> Change:
    """The cost of changing one stack's settings to another's. Raises ValueError for a factor out of range."""
    estimates = [None if settings is None else estimate(settings, spot_factor) for settings in (before, after)]
    return change(*estimates)
