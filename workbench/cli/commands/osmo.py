"""The `osmo` commands: a stack's platforms, and its values for OSMO's control plane."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from workbench.cli.console import err, out, print_foreign_json, print_json, print_warnings
from workbench.cli.groups import CommandGroup
from workbench.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack

app = typer.Typer(
    cls=CommandGroup,
    help="NVIDIA OSMO: platforms of a stack, and the configuration of its service.",
    no_args_is_help=True,
)
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file instead of stdout.")
]


@app.command()
def values(
    stack: Stack = DEFAULT_STACK,
    output: Output = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Print values for OSMO's chart `service`: platforms, templates and validations. They follow from the pools of the
    stack, and of other stacks that its control plane serves.
    """
    from physical_ai.planning.osmo_service import as_yaml, chart_values

    loaded = _loaded(stack, file, set_)
    if json:
        print_foreign_json(chart_values(loaded.settings, loaded.served))
        return
    text = as_yaml(loaded.settings, loaded.served)
    if output is None:
        print(text, end="")
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{output}: {error.strerror}", param_hint="--output") from None
    err.print(f"wrote {output}", markup=False)


@app.command()
def platforms(stack: Stack = DEFAULT_STACK, file: Files = None, set_: Assignments = None, json: Json = False) -> None:
    """List the platforms for workflows, and the most that one task can request on each."""
    from physical_ai.planning.osmo_platforms import default_variables
    from physical_ai.settings.facts.osmo import platforms as facts_of

    rows: list[dict[str, Any]] = [
        {
            "name": item.name,
            "pool": item.pool,
            "resource": item.resource,
            "gpus": item.most,
            "cpu": item.room.cpus,
            "memory": f"{item.room.memory_gib}Gi",
            "storage": f"{item.room.storage_gib}Gi",
            "defaults": default_variables(item),
        }
        for item in facts_of(_settings(stack, file, set_))
    ]
    if json:
        print_json({"platforms": rows})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("platform", "pool", "GPUs", "cpu", "memory", "storage", "default"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        defaults = row["defaults"]
        default = f"{defaults['USER_CPU']} cpu, {defaults['USER_MEMORY']}, {defaults['USER_STORAGE']} disk"
        gpus = f"{row['gpus']} {row['resource']}" if row["resource"] else "–"
        table.add_row(row["name"], row["pool"], gpus, str(row["cpu"]), row["memory"], row["storage"], default)
    out.print(table)


def _settings(stack: str, files: list[Path] | None, assignments: list[str] | None) -> Any:
    return _loaded(stack, files, assignments).settings


def _loaded(stack: str, files: list[Path] | None, assignments: list[str] | None) -> Any:
    from workbench.cli.loaded_stack import read_loaded

    loaded = read_loaded(stack, files, assignments)
    print_warnings(loaded.warnings)
    return loaded
