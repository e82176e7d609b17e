"""Output of GPU-hours as a table, and as comma-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from workbench.cli.console import out, print_figures

if TYPE_CHECKING:
    from physical_ai.telemetry.usage import Usage

COLUMNS = ("namespace", "workflow", "pod", "queue", "pool", "asked", "held", "busy", "idle", "usd", "idleUsd")
_FIELDS = {"idleUsd": "idle_usd"}


def row(usage: Usage) -> tuple[str | float | None, ...]:
    """Values of COLUMNS for the GPU-hours of one workflow or Pod. Hours and dollars have two decimals."""
    values = (getattr(usage, _FIELDS.get(name, name)) for name in COLUMNS)
    return tuple(round(value, 2) if isinstance(value, float) else value for value in values)


def as_csv(found: Sequence[Usage]) -> str:
    """GPU-hours as comma-separated values, with a header line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row(each) for each in found)
    return text.getvalue()


def print_usage(found: Sequence[Usage], since: str) -> None:
    if not found:
        out.print(f"no GPU-hours are recorded in the last {since}")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("namespace", "workflow or Pod", "queue", "pool"):
        table.add_column(name, overflow="fold")
    for name in ("asked", "held", "busy", "idle", "USD", "of it idle"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in found:
        hours = [f"{value:.1f}" for value in (each.asked, each.held, each.busy, each.idle)]
        usd = ["–" if value is None else f"{value:.2f}" for value in (each.usd, each.idle_usd)]
        table.add_row(*map(escape, (each.namespace, each.workflow or each.pod, each.queue, each.pool)), *hours, *usd)
    sums = [f"{sum(getattr(each, name) for each in found):.1f}" for name in ("asked", "held", "busy", "idle")]
    usd = [
        f"{sum(value or 0 for value in each):.2f}"
        for each in zip(*((row.usd, row.idle_usd) for row in found), strict=True)
    ]
    table.add_row("total", "", "", "", *sums, *usd, style="bold")
    print_figures(table)
    out.print(f"[dim]GPU-hours of the last {since}; idle: held and unused for half an hour and longer[/]")
