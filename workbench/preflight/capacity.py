"""Ways to get a node pool, each with quota, restrictions and price: the pool as its settings describe it, and each of
its fallbacks.

Azure reports quotas and restrictions. Only a deployment shows whether Azure has capacity now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from physical_ai.catalog import UnknownName, price, vm_size
from physical_ai.findings import Finding, Severity
from physical_ai.settings import Pool, Settings
from physical_ai.settings.facts.fallbacks import applied, with_pool
from physical_ai.settings.facts.pool_regions import place
from physical_ai.settings.facts.quota import quota_needs
from physical_ai.subscription.answers import SizeOffer, Unanswered, Usage
from physical_ai.subscription.quotas import quota_findings
from physical_ai.subscription.sizes import size_findings
from workbench.preflight.judging import AZURE, CATALOGUE


class Capacity(Protocol):
    """Source of Azure's answers about sizes and quotas. Both methods raise `Unanswered` if Azure does not answer."""

    def usages(self, region: str) -> Mapping[str, Usage]: ...
    def sizes(self, region: str) -> Mapping[str, SizeOffer]: ...


@dataclass(frozen=True)
class Price:
    """Lowest and highest price of a node in USD per hour. They differ for Spot nodes, which are in no price list."""

    least: float
    most: float

    @property
    def is_exact(self) -> bool:
        return self.least == self.most


@dataclass(frozen=True)
class Choice:
    """One way to get a node pool: the pool as its settings describe it, or one of the pool's fallbacks."""

    index: int
    """Number of the fallback, counted from 1; 0 for the pool as its settings describe it."""
    stack: str
    region: str
    pool_name: str
    """Name of the pool in the stack `stack`."""
    pool: Pool | None
    """Pool that this choice uses; None if the choice is another stack that has no such pool or cannot be loaded."""
    findings: tuple[Finding, ...]
    price: Price | None

    @property
    def state(self) -> Severity:
        """State of this choice: ERROR if Azure would refuse the pool; else UNKNOWN if a request was not answered; else
        OK.
        """
        severities = [finding.severity for finding in self.findings]
        return next((each for each in (Severity.ERROR, Severity.UNKNOWN) if each in severities), Severity.OK)

    @property
    def gpus(self) -> int:
        """Number of GPUs in one node."""
        gpu = vm_size(self.pool.sku).gpu if self.pool is not None else None
        return gpu.count if gpu is not None else 0


@dataclass(frozen=True)
class Question:
    """Data from which the choices for a node pool are made: a stack's settings, other stacks, and prices."""

    settings: Settings
    azure: Capacity | None
    """Source of Azure's answers; None if Azure is not to be asked."""
    others: Mapping[str, Settings]
    """Other stacks that fallbacks name, by stack name. Stacks that cannot be loaded are left out."""
    spot_factor: float | None = None
    """Price of a Spot node as a share of the regular price, if the user gives it."""


def choices(question: Question, name: str) -> list[Choice]:
    """The choices for the pool `name`: first the pool that the settings describe, then its fallbacks in their order."""
    pool = question.settings.pools[name]
    found = [_own(question, name, pool, 0)]
    for index, fallback in enumerate(pool.fallbacks, 1):
        if fallback.stack is not None:
            found.append(_elsewhere(question, fallback.stack, pool, index))
        else:
            found.append(_own(question, name, applied(pool, fallback), index))
    return found


def chosen(found: Sequence[Choice], wanted: int | None = None) -> Choice | None:
    """The choice whose index is `wanted`; if `wanted` is None, the first choice without a known obstacle. None if no
    choice fits.
    """
    if wanted is not None:
        return next((each for each in found if each.index == wanted), None)
    return next((each for each in found if each.state is Severity.OK), None)


def may_cost_more(choice: Choice, current: Choice) -> bool:
    """True if a node of the choice may cost more than a node of the current choice. An unknown price counts as more."""
    if choice.index == current.index:
        return False
    if choice.price is None or current.price is None:
        return True
    same_spot = choice.pool is not None and current.pool is not None and _same_price(choice, current)
    return not same_spot and choice.price.most > current.price.least


def difference(choice: Choice, current: Choice) -> tuple[float, float] | None:
    """Least and most additional cost of `choice` over `current`, in USD per hour with the pool's largest number of
    nodes. None if a price is unknown, or `choice` is the current choice.
    """
    if choice.price is None or current.price is None or current.pool is None or choice.index == current.index:
        return None
    nodes = current.pool.scale.most
    if _same_price(choice, current):
        return 0.0, 0.0
    least, most = choice.price.least - current.price.most, choice.price.most - current.price.least
    return least * nodes, most * nodes


def _same_price(choice: Choice, current: Choice) -> bool:
    """True if the nodes of both choices have the same price: the same size, region, priority and Spot settings."""
    one, other = choice.pool, current.pool
    if one is None or other is None or choice.region != current.region:
        return False
    return (one.sku, one.priority, one.spot) == (other.sku, other.priority, other.spot)


def _own(question: Question, name: str, pool: Pool, index: int) -> Choice:
    settings = with_pool(question.settings, name, pool)
    found = tuple(_findings(settings, name, question.azure))
    return Choice(
        index, settings.stack, settings.region, name, pool, found, _price(pool, settings.region, question.spot_factor)
    )


def _elsewhere(question: Question, stack: str, pool: Pool, index: int) -> Choice:
    """The choice to use a pool of the stack `stack` that has the same GPU as `pool`."""
    other = question.others.get(stack)
    if other is None:
        missing = Finding(Severity.ERROR, "stack", stack, f"The stack {stack} can't be loaded.", "physai stacks", None)
        return Choice(index, stack, "", "", None, (missing,), None)
    name = next((key for key, each in other.pools.items() if _gpu(each) == _gpu(pool)), None)
    if name is None:
        problem = f"{stack} has no pool with {_gpu(pool)}."
        missing = Finding(Severity.ERROR, "stack", stack, problem, "Add one there, or name another stack.", None)
        return Choice(index, stack, other.region, "", None, (missing,), None)
    found = [*_findings(other, name, question.azure), *_served(question.settings, other)]
    there = other.pools[name]
    return Choice(
        index, stack, other.region, name, there, tuple(found), _price(there, other.region, question.spot_factor)
    )


def _served(settings: Settings, other: Settings) -> Iterator[Finding]:
    """An error if neither stack lists the other in `osmo.backends`: OSMO then cannot give work to both clusters."""
    if other.stack not in settings.osmo.backends and settings.stack not in other.osmo.backends:
        problem = f"OSMO does not give work to {other.stack}: neither stack has the other in osmo.backends."
        fix = f"osmo.backends: [{other.stack}] in a stack with a control plane."
        yield Finding(Severity.ERROR, "backend", other.stack, problem, fix, None)


def _findings(settings: Settings, name: str, azure: Capacity | None) -> Iterator[Finding]:
    """Obstacles to a pool: the catalogue's limits, Azure's restrictions of the size, and quota."""
    pool = settings.pools[name]
    bad = [each for each in place(pool, settings.region).verdicts if each.is_error]
    yield from (Finding(each.severity, "size", name, each.problem, each.fix, CATALOGUE) for each in bad)
    if bad:
        return
    needs = [need for need in quota_needs(settings) if name in need.pools]
    if azure is None:
        problem = f"Quota and restrictions of {pool.sku} in {settings.region}: Azure was not queried."
        yield Finding(Severity.UNKNOWN, "quota", name, problem, None, CATALOGUE)
        return
    try:
        offers = {size.lower(): offer for size, offer in azure.sizes(settings.region).items()}
        yield from size_findings(name, pool, offers.get(pool.sku.lower()), settings.region)
        yield from quota_findings(settings, azure.usages(settings.region), needs)
    except Unanswered as problem:
        yield Finding(Severity.UNKNOWN, "quota", name, f"Azure did not answer: {problem}.", None, AZURE)


def _gpu(pool: Pool) -> str | None:
    try:
        gpu = vm_size(pool.sku).gpu
    except UnknownName:
        return None
    return gpu.model if gpu is not None else None


def _price(pool: Pool, region: str, spot_factor: float | None) -> Price | None:
    row = price(pool.sku, region)
    if row is None:
        return None
    regular = row.usd_per_hour
    if not pool.is_spot:
        return Price(regular, regular)
    least, most = (0.0, regular) if spot_factor is None else (regular * spot_factor, regular * spot_factor)
    if pool.spot.max_price > 0:
        most = min(most, pool.spot.max_price)
        least = min(least, most)
    return Price(least, most)
