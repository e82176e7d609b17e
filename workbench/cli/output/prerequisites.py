"""Output of the prerequisites of a first deployment, as a document and for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from workbench.cli.console import err, out

if TYPE_CHECKING:
    from workbench.preflight.prerequisites import NotNeeded, Prerequisite

_PRESENT = {True: "[green]found[/]", False: "[yellow]not found[/]", None: ""}


def document(stack: str, needed: Sequence[Prerequisite], others: Sequence[NotNeeded]) -> dict[str, Any]:
    return {
        "stack": stack,
        "needed": [asdict(each) for each in needed],
        "notNeeded": [asdict(each) for each in others],
    }


def print_all(stack: str, needed: Sequence[Prerequisite], others: Sequence[NotNeeded]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("needed", overflow="fold", ratio=2)
    table.add_column("for, and how to get it", overflow="fold", ratio=3)
    table.add_column("here", no_wrap=True)
    for each in needed:
        how = f"\n[dim]{escape(each.get)}[/]" if each.get else ""
        mark = f"[bold]{each.topic}[/]"
        table.add_row(mark, escape(each.what), f"{escape(each.why)}{how}", _PRESENT[each.present])
    out.print(table)
    for other in others:
        out.print(f"[dim]not needed:[/] {escape(other.what)}: {escape(other.why)}")
    err.print(f"{stack}: {len(needed)} prerequisites; physai check {stack} compares them with Azure's answers")
