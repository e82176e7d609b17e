"""Output of acceptance results as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from workbench.cli.console import out

if TYPE_CHECKING:
    from workbench.health.acceptance.record import NodeResult

STYLES = {"passed": "green", "failed": "red", "no-verdict": "yellow", "skipped": "dim"}


def print_results(results: Sequence[NodeResult], fixes: Mapping[str, Sequence[str]]) -> None:
    """Prints, for each node, a table of its checks and the repairs that it needs; then a line with the number of passed
    nodes.
    """
    for result in results:
        title = (
            f"{result.node}, pool {result.pool}, level {result.level}: {'passed' if result.passed else 'not passed'}"
        )
        out.print(title, markup=False, style="bold green" if result.passed else "bold red")
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for each in result.checks:
            table.add_row(each.check, f"[{STYLES[each.verdict]}]{each.verdict}[/]", _escaped(each.message))
        out.print(table)
        for fix in fixes[result.node]:
            out.print(f"  do: {fix}", markup=False, soft_wrap=True)
    passed = sum(result.passed for result in results)
    out.print(f"{passed} of {len(results)} {'node' if len(results) == 1 else 'nodes'} passed", markup=False)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
