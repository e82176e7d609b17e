"""The `explain` command: effective settings, and the layer of each."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from physical_ai.cli.console import out, print_json, print_warnings
from physical_ai.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack

SettingPath = Annotated[str | None, typer.Argument(help="Only this setting and those below it, as pools.h100gpu.")]


def explain(
    stack: Stack = DEFAULT_STACK,
    path: SettingPath = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Show the effective settings of a stack, and the file that each value comes from."""
    from physical_ai.cli.requested_stack import read_stack

    loaded = read_stack(stack, file, set_).loaded
    print_warnings(loaded.warnings)
    rows = loaded.explain(path)
    if json:
        print_json([{"path": row.path, "value": row.value, "origin": row.origin} for row in rows])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", no_wrap=True)
    for row in rows:
        origin = f"[dim]{row.origin}[/]" if row.origin == "default" else escape(row.origin)
        table.add_row(escape(row.path), escape(_text(row.value)), origin)
    out.print(table)


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
