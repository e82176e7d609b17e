"""Output of expected useful GPU time: a paragraph and two tables for each pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from workbench.cli.console import err, out, print_figures

if TYPE_CHECKING:
    from workbench.goodput.changes import Worth
    from workbench.goodput.document import PoolResult
    from workbench.goodput.estimate import Estimate, Figure
    from workbench.goodput.pools import NotCounted
    from workbench.goodput.simulation import Year

CAUSES = {
    "faults": "faults of nodes: work since the last checkpoint, detection, restart",
    "crashes": "crashes of software: the same",
    "evictions": "evictions of Spot machines: the same",
    "repairs": "work waits for nodes in repair",
    "capacity": "work waits for evicted machines",
    "checkpoints": "checkpoints are written",
    "starts": "tasks start",
}
LEAST = 0.00005
"""Share of the GPU time below which a loss is left out of the table, if its interval ends below it, too."""


def print_results(
    stack: str, found: Sequence[PoolResult], without: Sequence[NotCounted], *, rates: bool = False
) -> None:
    for index, each in enumerate(found):
        if index:
            out.print()
        _print_pool(stack, each)
        if rates:
            _print_rates(each)
    for each in without:
        err.print(f"{each.pool} is not counted: {each.problem}", markup=False, style="yellow")


def _print_pool(stack: str, result: PoolResult) -> None:
    found = result.estimate
    pool = found.pool
    kind = "Spot " if pool.spot else ""
    work = f"{pool.jobs} × {pool.job_gpus} GPUs for {pool.task_hours:g} hours"
    out.print(
        f"[bold]{escape(stack)} {escape(pool.name)}[/]: {pool.nodes} {kind}nodes with {pool.gpus} {escape(pool.model)};"
        f" {work}"
    )
    out.print(
        f"useful: {_percent(found.of_wanted)} of the GPU time that work asks for, {_percent(found.useful)} of all"
    )
    ends = found.likely.ends
    out.print(
        f"a job is interrupted every {_hours(1 / ends) if ends else '–'}; checkpoint {_interval(pool.checkpoint)}, best"
        f" {_range(found.best.times(60), '.0f')} minutes (Young: {found.young * 60:.0f})"
    )
    if found.usd is not None:
        out.print(f"a useful GPU-hour costs {_range(found.usd, '.2f')} USD")
    if result.simulated is not None:
        out.print(_simulated(result.simulated, found))
    _print_losses(found)
    _print_worth(result.worth)
    if (lost := result.unwritten) is not None:
        out.print(f"if checkpoints are not written: {_signed(lost.points)} points of useful time")
    for note in result.notes:
        out.print(f"note: {note}", markup=False, style="dim", soft_wrap=True)
    if result.records is not None:
        days, repairs = result.records.machine_days, result.records.repairs
        out.print(f"records of the cluster: repairs in {days:.0f} machine-days: {repairs}", style="dim")
    believed = [name for name, rate in sorted(result.rates.items()) if not rate.read]
    if believed:
        out.print(f"without a source: {', '.join(believed)}; ranges and sources: --rates", style="dim")


def _print_losses(found: Estimate) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("GPU time goes to")
    for name in ("%", "from", "to", "GPU-hours a month"):
        table.add_column(name, justify="right", no_wrap=True)
    for cause, lost in found.losses.items():
        if lost.high >= LEAST:
            hours = f"{lost.value * found.gpu_hours:,.0f}"
            table.add_row(CAUSES[cause], *(f"{each * 100:.2f}" for each in (lost.value, lost.low, lost.high)), hours)
    if (idle := found.share.not_wanted) > 0:
        table.add_row("nothing: no work asks for it", f"{idle * 100:.2f}", "", "", f"{idle * found.gpu_hours:,.0f}")
    print_figures(table)


def _print_worth(worth: Sequence[Worth]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("a change, and its setting", overflow="fold")
    for name in ("useful GPU-hours a month", "from", "to", "USD a useful hour"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in worth:
        hours = (f"{value:+,.0f}" for value in (each.gpu_hours.value, each.gpu_hours.low, each.gpu_hours.high))
        table.add_row(f"{escape(each.change)} [dim]({escape(each.setting)})[/]", *hours,
                      "–" if each.usd is None else f"{each.usd.value:+.2f}")  # fmt: skip
    print_figures(table)


def _print_rates(result: PoolResult) -> None:
    for name, rate in sorted(result.rates.items()):
        ends = f"{rate.low:g} to {rate.high:g}" if rate.low < rate.high else "exact"
        out.print(f"{name}: {rate.likely:.4g} ({ends}) {rate.unit}; {rate.says}", markup=False, soft_wrap=True)
        believed = f"believed: {', '.join(rate.believed)}; " if rate.believed else ""
        out.print(f"  {believed}{rate.source} ({rate.date})", markup=False, style="dim", soft_wrap=True)


def _simulated(year: Year, found: Estimate) -> str:
    """Sentence about a simulation, beside the estimate for the same rates."""
    wide = 2 * year.spread
    return (
        f"simulated {year.hours / 24:.0f} days: useful {year.useful * 100:.2f} % of all"
        f" ({(year.useful - wide) * 100:.2f} to {(year.useful + wide) * 100:.2f}); the formula says"
        f" {found.useful.value * 100:.2f} %"
    )


def _percent(figure: Figure) -> str:
    return f"{figure.value * 100:.1f} % ({figure.low * 100:.1f} to {figure.high * 100:.1f})"


def _range(figure: Figure, form: str) -> str:
    return f"{figure.value:{form}} ({figure.low:{form}} to {figure.high:{form}})"


def _signed(figure: Figure) -> str:
    return f"{figure.value * 100:+.1f} ({figure.low * 100:+.1f} to {figure.high * 100:+.1f})"


def _interval(hours: float | None) -> str:
    return "none" if hours is None else f"every {hours * 60:g} minutes"


def _hours(hours: float) -> str:
    return f"{hours / 24:.0f} days" if hours >= 72 else f"{hours:.1f} hours"
