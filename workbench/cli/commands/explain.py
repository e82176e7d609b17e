"""The `explain` command: the effective settings, and the file that each value comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from workbench.cli.console import out, print_json, print_warnings
from workbench.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack

if TYPE_CHECKING:
    from physical_ai.settings import Settings

SettingPath = Annotated[str | None, typer.Argument(help="Only this setting and those below it, such as pools.h100gpu.")]


def explain(
    stack: Stack = DEFAULT_STACK,
    path: SettingPath = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Show the effective settings of a stack, and the file that each value comes from."""
    from workbench.cli.loaded_stack import read_loaded

    _check_order(stack, path)
    loaded = read_loaded(stack, file, set_)
    print_warnings(loaded.warnings)
    rows = loaded.explain(path)
    if json:
        settings = [{"path": row.path, "value": row.value, "origin": row.origin} for row in rows]
        print_json({"stack": stack, "settings": settings})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", no_wrap=True)
    for row in rows:
        origin = f"[dim]{row.origin}[/]" if row.origin == "default" else escape(row.origin)
        table.add_row(escape(row.path), escape(_text(row.value)), origin)
    out.print(table)
    if (rows and rows[0].path.startswith("monitoring")) or path is None:
        for line in _series(loaded.settings):
            out.print(line)
    if rows and rows[0].path.startswith("health"):
        for line in _out_of_service(loaded.settings):
            out.print(line)


def _check_order(stack: str, path: str | None) -> None:
    """Raises typer.BadParameter if the first argument is a setting: the stack's name has to come before the setting."""
    from physical_ai.settings import existing
    from physical_ai.settings.layers.shape import tree
    from physical_ai.settings.layers.stack_file import PREFIX

    known, setting = existing(), stack.removeprefix(PREFIX)
    if stack in known or (path not in known and re.split(r"[.\[/]", setting)[0] not in tree().fields):
        return
    problem = f"'{stack}' is not a stack, and the stack comes before the setting"
    problem += f". Write: physai explain {path if path in known else DEFAULT_STACK} {setting}"
    raise typer.BadParameter(problem, param_hint="STACK")


def _out_of_service(settings: Settings) -> Iterator[str]:
    """Lines of text that say, for each pool, how many nodes NVSentinel may cordon at the same time
    (`parts/nvsentinel/limits.yaml`).
    """
    from physical_ai.settings.facts.health import passthrough_pools, reaches

    acts = passthrough_pools(settings) if reaches(settings, "taint") else {}
    for name in settings.pools:
        yield f"nodes cordoned automatically: {name} {'at most 1 at a time' if name in acts else 'none'}"


def _series(settings: Settings) -> Iterator[str]:
    """Lines of text with the number of GPU metrics series, for each pool: of one GPU (or MIG instance, or share of a
    GPU), of one node, and of the pool at its maximum size.
    """
    from physical_ai.settings.facts.telemetry import series_per_pool

    for name, count in series_per_pool(settings).items():
        each, node = _range(count.least_each, count.most_each), _range(count.least, count.most)
        pool = count.most * settings.pools[name].scale.most
        yield f"series of GPUs: {name} {each} for each {count.unit}, {node} a node, at most {pool}"


def _range(least: int, most: int) -> str:
    return str(most) if least == most else f"{least} to {most}"


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
