"""Output of a stack's cost, and of the difference in cost that a change makes, for people. `workbench.costs.document`
returns the same figures as data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Table

from workbench.cli.console import out, print_figures

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from workbench.costs import Change, Estimate, NodePrice, PoolCost, Span

_MARKS = {"regular": " ", "spot-factor": "×", "spot-at-regular": "*", "max-price": "≤"}


def priced(settings: Settings, spot_factor: float | None) -> Estimate:
    """Estimated cost of a stack. Raises typer.BadParameter for a Spot factor out of range."""
    from workbench.costs import estimate

    try:
        return estimate(settings, spot_factor)
    except ValueError as problem:
        raise typer.BadParameter(f"{problem}. Write for example 0.4", param_hint="--spot-factor") from None


def print_estimate(found: Estimate) -> None:
    from workbench.costs import HOURS_A_MONTH

    dates = ", ".join(f"{each.date} ({escape(each.source)})" for each in found.lists)
    place = "on a cluster that exists already" if found.region is None else f"in {found.region}"
    out.print(f"[bold]{found.stack}[/] {place}: an estimate, not a quote. USD; a month is {HOURS_A_MONTH} hours")
    if found.region is None:
        out.print("none of its nodes is rented from Azure: no list price applies")
    else:
        none = "the catalogue has no price for any of its sizes in this region"
        out.print(f"list prices of {dates}" if dates else none)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("pool", "size", "priority"):
        table.add_column(column, no_wrap=True)
    for column in ("nodes", "per node hour", "hourly", "monthly"):
        table.add_column(column, justify="right", no_wrap=True)
    for pool in found.pools:
        node = _price(pool.price) if pool.price else "no price  "
        sums = [span(pool.hourly, 2), span(pool.monthly, 0)] if pool.price else ["–", "–"]
        table.add_row(pool.name, pool.size, pool.priority, span(pool.nodes, 0), node, *sums)
    label = "priced" if found.unpriced else "total"
    table.add_row(label, "", "", "", "", span(found.hourly, 2), span(found.monthly, 0), style="bold")
    print_figures(table)
    out.print("[dim]three figures: for the minimum / requested / maximum number of nodes[/]")
    if found.services:
        _print_services(found)
    for line in notes(found):
        out.print(escape(line), soft_wrap=True)


def _print_services(found: Estimate) -> None:
    """Prints the monthly cost of each service besides the nodes, as a range, and the sum of nodes and services."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("besides the nodes", no_wrap=True)
    for column in ("monthly, at least", "at most"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("basis", "prices of"):
        table.add_column(column, no_wrap=True)
    for each in found.services:
        table.add_row(each.what, span(each.low, 0), span(each.high, 0), each.price.basis, str(each.price.date))
    low, high = found.with_services
    label = "nodes that have a price, and these" if found.unpriced else "nodes and these"
    table.add_row(label, span(low, 0), span(high, 0), style="bold")
    out.print("")
    print_figures(table)
    out.print("[dim]listed: the low figure is a list price. estimate: no source has the price. Sources: --json[/]")


def print_change(found: Change) -> None:
    if not found.pools:
        out.print("\nno pool changes its cost")
        _print_service_change(found)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("pool", "change"):
        table.add_column(column, no_wrap=True)
    for column in ("per hour", "per month"):
        table.add_column(column, justify="right", no_wrap=True)
    for pool in found.pools:
        before, after = (each.size if each else "" for each in (pool.before, pool.after))
        how = pool.kind if before == after or not before or not after else f"{before} → {after}"
        table.add_row(pool.name, how, signed(pool.hourly, 2), signed(pool.monthly, 0))
    table.add_row("priced" if found.unpriced else "total", "", signed(found.hourly, 2), signed(found.monthly, 0))
    out.print("")
    print_figures(table)
    if found.unpriced:
        out.print(f"without a price, not in the total: {', '.join(pool.name for pool in found.unpriced)}")
    _print_service_change(found)


def _print_service_change(found: Change) -> None:
    low, high = (signed(each, 0) for each in found.services)
    if (low, high) != ("0", "0"):
        out.print(f"besides the nodes, per month: {low}" + (f" at least, {high} at most" if low != high else ""))


def signed(of: Span | None, digits: int) -> str:
    """Text of cost differences in the format of `span`, each with a sign: `+6.98`, `-6.98`, `0`. `no price` if `of` is
    None.
    """
    if of is None:
        return "no price"
    figures = [
        f"{value:+,.{digits}f}" if round(value, digits) else "0" for value in (of.minimum, of.initial, of.maximum)
    ]
    return figures[0] if len(set(figures)) == 1 else " / ".join(figures)


def _price(price: NodePrice) -> str:
    return f"{price.usd_per_hour:,.3f} {_MARKS[price.basis.value]}"


def span(of: Span | None, digits: int) -> str:
    """Amounts as text: `minimum / requested / maximum`, or one figure if all are equal."""
    if of is None:
        return "–"
    figures = [f"{value:,.{digits}f}" for value in (of.minimum, of.initial, of.maximum)]
    return figures[0] if len(set(figures)) == 1 else " / ".join(figures)


def _without_work(pool: PoolCost) -> str:
    machines = "1 machine is" if pool.without_work == 1 else f"{pool.without_work} machines are"
    usd = f", USD {pool.without_work * pool.price.usd_per_hour:,.2f} an hour" if pool.price else ""
    return f"{pool.name}: {machines} reserved or kept ready, and billed while nothing runs{usd}"


def notes(found: Estimate) -> list[str]:
    """Lines of text that explain the signs in the table and list the costs that the total leaves out."""
    lines = [_without_work(pool) for pool in found.pools if pool.without_work]
    if found.spot_at_regular:
        lines.append("* Spot, at the regular price: estimate with --spot-factor PART and the share that Azure shows")
    bases = {pool.price.basis.value for pool in found.pools if pool.price}
    if "spot-factor" in bases:
        lines.append(f"× Spot, at {found.spot_factor:g} of the regular price")
    if "max-price" in bases:
        lines.append("≤ Spot, at the limit of spot.maxPrice")
    if found.unpriced and found.region is not None:
        named = ", ".join(f"{pool.name} ({pool.size})" for pool in found.unpriced)
        where = "physical_ai/catalog/data/prices.yaml, nor added with `physai sizes --add`"
        lines.append(f"no price in {where}, so not in the total: {named}")
    why = "" if found.region is None else ", because it depends on use or no price has a source"
    lines.append(f"not counted{why}: " + "; ".join(each.what for each in found.not_counted))
    return lines
