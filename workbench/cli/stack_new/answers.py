"""Choices for a new stack: from the options of `stack new`, or from the user's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

import typer

from workbench.cli.console import err

if TYPE_CHECKING:
    from physical_ai.settings.new_stack import Choice, PoolProposal, Proposal

NONE = "none"
"""Answer, in place of a VM size, that leaves the pool out of the new stack."""


class Choices:
    """Choices for a new stack: options of the command line and, for all other choices, answers of the user."""

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
        self.space_option = space
        self.range_options = ranges

    def choice(self, pool: PoolProposal, *, interactive: bool) -> Choice:
        """The choice of size, driver and zones for a pool. Raises typer.BadParameter for an impossible option."""
        from physical_ai.settings.new_stack import choose

        region, region_zones = self.proposal.name.region, self.proposal.region_zones
        default = choose(pool, region, region_zones)
        size = self.sizes.get(pool.name)
        if size is None and interactive and pool.has_gpu:
            return self._ask(pool, default)
        choice = self._combine(pool, default, size)
        if problem := _problem(pool, choice, region):
            hint = "--zones" if pool.name in self.zones else "--driver" if pool.name in self.drivers else "--size"
            raise typer.BadParameter(f"{pool.name}: {problem}", param_hint=hint)
        return choice

    def _ask(self, pool: PoolProposal, default: Choice) -> Choice:
        from workbench.cli.stack_new.summary import offer

        err.print(offer(pool, self.proposal.name.region))
        while True:
            answer = typer.prompt(f"size of {pool.name} (or {NONE})", default=default.size or NONE, err=True)
            choice = self._combine(pool, default, answer.strip())
            problem = _problem(pool, choice, self.proposal.name.region)
            if problem is None and choice.size and pool.name not in self.zones:
                choice = self._ask_zones(pool, choice)
                problem = _problem(pool, choice, self.proposal.name.region)
            if problem is None:
                return choice
            err.print(problem, markup=False, style="red")

    def _ask_zones(self, pool: PoolProposal, choice: Choice) -> Choice:
        """The choice with the zones that the user enters. For most GPU sizes, the available zones differ by
        subscription.
        """
        from physical_ai.catalog import region

        place = region(self.proposal.name.region)
        listing = place.sizes.get(choice.size or "")
        if not place.zones or (listing is not None and listing.zones == ()):
            return choice
        known = "differ by subscription" if listing is None or listing.zones is None else ", ".join(listing.zones)
        default = ",".join(pool.zones if choice.zones is None else choice.zones)
        question = f"zones of {pool.name}, as 1,2 (zones with this size: {known}; empty: Azure chooses)"
        answer = typer.prompt(question, default=default, show_default=bool(default), err=True)
        return replace(choice, zones=_zone_names(answer))

    def _combine(self, pool: PoolProposal, default: Choice, size: str | None) -> Choice:
        from physical_ai.settings.new_stack import Choice

        zones = self.zones.get(pool.name)
        chosen = default.size if size is None else None if size == NONE else size
        return Choice(
            chosen,
            self.drivers.get(pool.name),
            default.zones if zones is None else _zone_names(zones),
        )

    def space(self, *, interactive: bool) -> IPv4Network:
        """The address space of the stack's network. Raises typer.BadParameter for an impossible option."""
        while True:
            text = self.space_option or str(self.proposal.address_space)
            if interactive and self.space_option is None:
                text = typer.prompt("address space", default=text, err=True)
            try:
                found = _network(text)
                problem = _space_problem(found, self.proposal)
            except ValueError as error:
                found, problem = None, str(error)
            if found is not None and problem is None:
                return found
            if not interactive or self.space_option is not None:
                raise typer.BadParameter(problem or "", param_hint="--address-space")
            err.print(problem, markup=False, style="red")

    def ranges(self, *, interactive: bool) -> list[IPv4Network]:
        """Public address ranges that may reach the API server. If a protected stack has no range, and neither the
        options nor the user give one, the result is a placeholder.
        """
        from physical_ai.settings.new_stack import api_placeholder

        needed = self.proposal.protect and not self.proposal.has_ranges
        if self.range_options or not needed:
            return self._ranges(self.range_options)
        if not interactive:
            return [api_placeholder()]
        question = "public ranges that may reach the API server (the placeholder works until Azure)"
        while True:
            answer = typer.prompt(question, default=str(api_placeholder()), err=True)
            try:
                return self._ranges(answer.replace(",", " ").split())
            except typer.BadParameter as problem:
                err.print(problem.message, markup=False, style="red")

    @staticmethod
    def _ranges(texts: Sequence[str]) -> list[IPv4Network]:
        """The parsed address ranges. Raises typer.BadParameter for a range that is invalid or not public."""
        from physical_ai.settings.new_stack import is_placeholder

        try:
            blocks = [_network(text) for text in texts]
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--api-range") from None
        for block in blocks:
            if block.is_private and not is_placeholder(block):
                problem = f"{block} is not public. The API server sees the public address of its callers"
                raise typer.BadParameter(problem, param_hint="--api-range")
        return blocks


_KINDS = {"group": "Group", "user": "User", "pipeline": "ServicePrincipal"}


def named_deployers(texts: Sequence[str]) -> list[dict[str, str]]:
    """The entries of `access.deployers` from texts `ID` or `KIND=ID`.

    Raises typer.BadParameter for an unknown kind. The ids are checked when the stack is loaded.
    """
    found: list[dict[str, str]] = []
    for text in texts:
        kind, equals, own_id = text.rpartition("=")
        if equals and kind not in _KINDS:
            raise typer.BadParameter(f"'{kind}' is none of {', '.join(_KINDS)}", param_hint="--deployer")
        found.append({"principalId": own_id, "principalType": _KINDS[kind or "group"]})
    return found


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
            hint = f"Did you mean '{near}'? " if near else ""
            problem = f"the layers have no pool '{name}'. {hint}Pools: {', '.join(known)}"
            raise typer.BadParameter(problem, param_hint=option)
        found[name] = value.strip()
    return found


def _problem(pool: PoolProposal, choice: Choice, region: str) -> str | None:
    """Reason why a choice is impossible, and what to write instead; None if it is possible."""
    from physical_ai.settings import DriverSource
    from physical_ai.settings.new_stack import refusals

    if choice.size is None:
        return None if pool.has_gpu else f"every cluster has a pool {pool.name}, which needs a size"
    sources = [source.value for source in DriverSource]
    if choice.driver is not None and choice.driver not in sources:
        return f"'{choice.driver}' is not a driver source. Sources: {', '.join(sources)}"
    # An OS disk that does not fit becomes a managed disk.
    errors = [v for v in refusals(pool, choice, region) if v.is_error and not v.where.startswith("osDisk")]
    return "; ".join(f"{each.problem} {each.fix or ''}".strip() for each in errors) or None


def _space_problem(space: IPv4Network, proposal: Proposal) -> str | None:
    from physical_ai.settings.new_stack import space_problem

    return space_problem(space, proposal)


def _network(text: str) -> IPv4Network:
    """The parsed address range. Raises ValueError with a message for the user."""
    try:
        return IPv4Network(text)
    except ValueError as error:
        raise ValueError(f"'{text}' is not an IPv4 range: {error}") from None
