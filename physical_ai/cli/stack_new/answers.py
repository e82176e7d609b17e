"""What `stack new` is given: by options, and where they say nothing by answers to questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

import typer

from physical_ai.cli.console import err

if TYPE_CHECKING:
    from physical_ai.settings.new_stack import Choice, PoolProposal, Proposal

NONE = "none"
"""What is written instead of a size to leave a pool out."""


class Given:
    """What the options say, and what is asked where they say nothing."""

    def __init__(  # noqa: PLR0917 - each is an option
        self,
        proposal: Proposal,
        sizes: Sequence[str],
        drivers: Sequence[str],
        zones: Sequence[str],
        space: str | None,
        ranges: Sequence[str],
    ) -> None:
        self.proposal = proposal
        self.sizes = _by_pool(sizes, proposal, "--size")
        self.drivers = _by_pool(drivers, proposal, "--driver")
        self.zones = _by_pool(zones, proposal, "--zones")
        self.given_space = space
        self.given_ranges = ranges

    def choice(self, pool: PoolProposal, *, asks: bool) -> Choice:
        """What to take for a pool. Raises typer.BadParameter where an option says something impossible."""
        from physical_ai.settings.new_stack import choose

        region, region_zones = self.proposal.name.region, self.proposal.region_zones
        usual = choose(pool, region, region_zones)
        size = self.sizes.get(pool.name)
        if size is None and asks and pool.has_gpu:
            return self._asked(pool, usual)
        picked = self._with(pool, usual, size)
        if problem := _problem(pool, picked, region):
            hint = "--zones" if pool.name in self.zones else "--driver" if pool.name in self.drivers else "--size"
            raise typer.BadParameter(f"{pool.name}: {problem}", param_hint=hint)
        return picked

    def _asked(self, pool: PoolProposal, usual: Choice) -> Choice:
        from physical_ai.cli.stack_new.summary import offer

        err.print(offer(pool, self.proposal.name.region))
        while True:
            answer = typer.prompt(f"size of {pool.name} (or {NONE})", default=usual.size or NONE, err=True)
            picked = self._with(pool, usual, answer.strip())
            problem = _problem(pool, picked, self.proposal.name.region)
            if problem is None and picked.size and pool.name not in self.zones:
                picked = self._asked_zones(pool, picked)
                problem = _problem(pool, picked, self.proposal.name.region)
            if problem is None:
                return picked
            err.print(problem, markup=False, style="red")

    def _asked_zones(self, pool: PoolProposal, picked: Choice) -> Choice:
        """The choice with its zones, which differ by subscription for most GPU sizes."""
        from physical_ai.catalog import region

        place = region(self.proposal.name.region)
        listing = place.sizes.get(picked.size or "")
        if not place.zones or (listing is not None and listing.zones == ()):
            return picked
        known = "differ by subscription" if listing is None or listing.zones is None else ", ".join(listing.zones)
        usual = ",".join(pool.zones if picked.zones is None else picked.zones)
        question = f"zones of {pool.name}, as 1,2 (those that offer it: {known}; empty: Azure chooses)"
        answer = typer.prompt(question, default=usual, show_default=bool(usual), err=True)
        return replace(picked, zones=_zone_names(answer))

    def _with(self, pool: PoolProposal, usual: Choice, size: str | None) -> Choice:
        from physical_ai.settings.new_stack import Choice

        zones = self.zones.get(pool.name)
        chosen = usual.size if size is None else None if size == NONE else size
        return Choice(
            chosen,
            self.drivers.get(pool.name),
            usual.zones if zones is None else _zone_names(zones),
        )

    def space(self, *, asks: bool) -> IPv4Network:
        """The address space. Raises typer.BadParameter."""
        while True:
            text = self.given_space or str(self.proposal.address_space)
            if asks and self.given_space is None:
                text = typer.prompt("address space", default=text, err=True)
            try:
                found = _network(text)
                problem = _space_problem(found, self.proposal)
            except ValueError as error:
                found, problem = None, str(error)
            if found is not None and problem is None:
                return found
            if not asks or self.given_space is not None:
                raise typer.BadParameter(problem or "", param_hint="--address-space")
            err.print(problem, markup=False, style="red")

    def ranges(self, *, asks: bool) -> list[IPv4Network]:
        """Public ranges that reach the API server; a placeholder where a protected stack has none."""
        from physical_ai.settings.new_stack import api_placeholder

        needed = self.proposal.protect and not self.proposal.has_ranges
        if self.given_ranges or not needed:
            return self._ranges(self.given_ranges)
        if not asks:
            return [api_placeholder()]
        question = "public ranges that reach the API server (a placeholder will do until Azure)"
        while True:
            answer = typer.prompt(question, default=str(api_placeholder()), err=True)
            try:
                return self._ranges(answer.replace(",", " ").split())
            except typer.BadParameter as problem:
                err.print(problem.message, markup=False, style="red")

    @staticmethod
    def _ranges(texts: Sequence[str]) -> list[IPv4Network]:
        """Raises typer.BadParameter for what is no public range."""
        from physical_ai.settings.new_stack import is_placeholder

        try:
            blocks = [_network(text) for text in texts]
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--api-range") from None
        for block in blocks:
            if block.is_private and not is_placeholder(block):
                problem = f"{block} is not public: the API server sees callers by their public address"
                raise typer.BadParameter(problem, param_hint="--api-range")
        return blocks


def _zone_names(text: str) -> tuple[str, ...]:
    return tuple(zone for zone in text.replace(" ", "").split(",") if zone)


def _by_pool(assignments: Sequence[str], proposal: Proposal, option: str) -> Mapping[str, str]:
    from physical_ai.catalog import nearest

    found: dict[str, str] = {}
    known = [pool.name for pool in proposal.pools]
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"'{text}' is not POOL=VALUE", param_hint=option)
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean '{near}'? " if near else ""
            problem = f"the layers have no pool '{name}'; {hint}There are: {', '.join(known)}"
            raise typer.BadParameter(problem, param_hint=option)
        found[name] = value.strip()
    return found


def _problem(pool: PoolProposal, choice: Choice, region: str) -> str | None:
    """What makes a choice impossible, with what to write instead; None for nothing."""
    from physical_ai.settings import DriverSource
    from physical_ai.settings.new_stack import refusals

    if choice.size is None:
        return None if pool.has_gpu else f"every cluster has a pool {pool.name}; it needs a size"
    sources = [source.value for source in DriverSource]
    if choice.driver is not None and choice.driver not in sources:
        return f"'{choice.driver}' is no driver source: {', '.join(sources)}"
    # An OS disk that does not fit is made a managed one.
    errors = [v for v in refusals(pool, choice, region) if v.is_error and not v.where.startswith("osDisk")]
    return "; ".join(f"{each.problem} {each.fix or ''}".strip() for each in errors) or None


def _space_problem(space: IPv4Network, proposal: Proposal) -> str | None:
    from physical_ai.settings.new_stack import space_problem

    return space_problem(space, proposal)


def _network(text: str) -> IPv4Network:
    """Raises ValueError, in words."""
    try:
        return IPv4Network(text)
    except ValueError as error:
        raise ValueError(f"'{text}' is no IPv4 range: {error}") from None
