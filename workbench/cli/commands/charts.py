"""The `charts` commands: list the pinned charts, and download them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from workbench.cli.console import out, print_json
from workbench.cli.groups import CommandGroup
from workbench.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack

if TYPE_CHECKING:
    from physical_ai.catalog.charts import Chart

app = typer.Typer(cls=CommandGroup, help="The pinned Helm charts: list them, or download those of a stack.")


@app.callback(invoke_without_command=True)
def charts(context: typer.Context, json: Json = False) -> None:
    """List the pinned charts: repository, checksum, and whether the cache has a verified copy."""
    if context.invoked_subcommand is not None:
        return
    from physical_ai.catalog.charts import pinned_charts
    from physical_ai.repository import user_folder
    from simulator.charts import modelled

    rows: list[dict[str, Any]] = [
        {**_row(chart), "model": chart.version in modelled().get(chart.name, ())} for chart in pinned_charts().values()
    ]
    if json:
        print_json({"charts": rows})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("chart", "version", "sha256", "known from", "cache", "model", "repository"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        cache = {None: "–", True: "verified", False: "wrong"}[row["verified"]]
        cells: list[str] = [row["name"], row["version"], (row["sha256"] or "–")[:12], row["sha256From"] or "–", cache]
        table.add_row(*cells, "yes" if row["model"] else "–", row["repository"])
    out.print(table)
    out.print(f"\ncache: {escape(str(user_folder() / 'charts'))}", soft_wrap=True)
    out.print("The simulator uses a chart in the cache, or else its model, and refuses a chart that has neither.")


Locked = Annotated[
    bool, typer.Option("--locked", help="Fail for a chart whose checksum is not known, instead of recording it.")
]


@app.command()
def pull(
    stack: Stack = DEFAULT_STACK,
    locked: Locked = False,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Download a stack's charts to the cache and verify them. The first download of a chart records its checksum."""
    from physical_ai.catalog.chart_archives import LOCK, PINS
    from physical_ai.settings.layers.stack_file import require_project
    from simulator.home import Home
    from simulator.tools import HELM, toolbox
    from workbench.cli.chart_download import pull as download
    from workbench.cli.loaded_stack import read_loaded

    require_project()
    loaded = read_loaded(stack, file, set_)
    helm = toolbox(Home.of_user().tools, families=(HELM,)).path("helm")
    pulled = [download(chart, helm, locked=locked) for chart in loaded.plan.charts]
    if json:
        rows = [{**_row(item.chart), "outcome": item.outcome} for item in pulled]
        print_json({"stack": stack, "source": loaded.settings.charts.source, "charts": rows})
        return
    for item in pulled:
        title = f"{item.chart.name} {item.chart.version}"
        out.print(f"{title}  {item.outcome}  sha256 {item.sha256}", soft_wrap=True)
        out.print(f"  {escape(str(item.path))}", soft_wrap=True)
        if item.outcome == "recorded":
            out.print(f"  No checksum was known. This one is now in {LOCK.parent.name}/{LOCK.name}: commit it.")
            out.print(f"  When another source confirms it, it can be pinned in {PINS}:", soft_wrap=True)
            out.print(escape(f"    - {{version: {item.chart.version}, sha256: {item.sha256}, …}}"), soft_wrap=True)


def _row(chart: Chart) -> dict[str, Any]:
    """Facts about a pinned chart and its archive in the cache, as JSON data."""
    from physical_ai.catalog.chart_archives import cached_chart, expected_sha256, sha256_of

    path, expected = cached_chart(chart), expected_sha256(chart)
    is_cached = path.exists()
    return {
        "name": chart.name,
        "version": chart.version,
        "repository": chart.repository,
        "sha256": expected,
        "sha256From": "catalogue" if chart.sha256 else "lock" if expected else None,
        "path": str(path) if is_cached else None,
        "verified": sha256_of(path) == expected if is_cached else None,
        "source": chart.source,
        "date": chart.date.isoformat(),
    }
