"""Output of `gates` for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from workbench.cli.console import out

if TYPE_CHECKING:
    from physical_ai.readiness import Report


def print_reports(reports: Sequence[Report]) -> None:
    """Prints a row for each pool, and every closed gate with its cause and fix."""
    from physical_ai.readiness import text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("pool", "driver", "nodes", "GPUs", "gates"):
        table.add_column(column, no_wrap=True)
    states = {"ready": "[green]open[/]", "waiting": "[red]closed[/]", "empty": "no nodes; nothing to wait for"}
    for report in reports:
        gpus = text.gpu_counts(report) if report.nodes else ""
        table.add_row(report.pool, report.driver_source, str(report.nodes), escape(gpus), states[report.state])
    out.print(table)
    for line in text.details(reports):
        out.print(line, markup=False, soft_wrap=True)
