"""Output of all committed stacks side by side, and of the differences between two of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from workbench.cli.console import out, print_figures
from workbench.cli.output.cost import priced, span

if TYPE_CHECKING:
    from physical_ai.settings import Loaded
    from physical_ai.settings.compare import Difference
    from workbench.costs import Estimate


def row(loaded: Loaded, spot_factor: float | None) -> tuple[dict[str, Any], Estimate]:
    """JSON data about a stack, and the stack's estimated cost."""
    from physical_ai.settings import Pool
    from physical_ai.settings.compare import own_settings
    from physical_ai.settings.facts.created import region_of
    from physical_ai.settings.facts.pools import gpus_per_node, node_pools
    from workbench.costs.document import money

    settings = loaded.settings
    cost = priced(settings, spot_factor)
    pools: list[dict[str, Any]] = [
        {
            "name": name,
            "size": pool.sku,
            "driverSource": pool.driver.source.value if isinstance(pool, Pool) else None,
            "priority": cost.pool(name).priority,
            "gpusPerNode": gpus_per_node(pool),
            "nodes": {
                "min": cost.pool(name).nodes.minimum,
                "asked": cost.pool(name).nodes.initial,
                "max": cost.pool(name).nodes.maximum,
            },
        }
        for name, pool in node_pools(settings).items()
    ]
    document: dict[str, Any] = {
        "name": settings.stack,
        "environment": settings.environment,
        "region": region_of(settings),
        "profile": settings.profile,
        "kubernetes": settings.cluster.kubernetes_version,
        "gpuOperator": settings.gpu_operator.version,
        "pools": pools,
        "hourly": money(cost.hourly),
        "monthly": money(cost.monthly),
        "unpriced": [pool.name for pool in cost.unpriced],
        "spotAtRegular": [pool.name for pool in cost.spot_at_regular],
        "own": [{"path": each.path, "value": each.value, "layers": each.below} for each in own_settings(loaded)],
    }
    return document, cost


def print_rows(rows: Sequence[tuple[dict[str, Any], Estimate]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("stack", "GPU Operator", "pool", "size", "driver", "priority"):
        table.add_column(column, no_wrap=True)
    for column in ("nodes", "monthly"):
        table.add_column(column, justify="right", no_wrap=True)
    for document, cost in rows:
        head = [document["name"], document["gpuOperator"]]
        for pool in document["pools"]:
            priced = cost.pool(pool["name"])
            cells = [pool["name"], pool["size"], pool["driverSource"] or "", pool["priority"], span(priced.nodes, 0)]
            table.add_row(
                *map(escape, head), *cells, f"{priced.monthly.initial:,.0f}" if priced.monthly else "no price"
            )
            head = [""] * len(head)
        label = "priced" if cost.unpriced else "total"
        table.add_row(*[""] * 6, label, f"[bold]{cost.monthly.initial:,.0f}[/]")
    print_figures(table)
    out.print("[dim]nodes: minimum / requested / maximum. monthly: USD, estimated for the requested nodes[/]")
    out.print("\n[bold]settings of each stack file that differ from its layers[/]")
    own = Table(box=None, pad_edge=False, header_style="bold")
    own.add_column("stack", no_wrap=True)
    own.add_column("setting", no_wrap=True)
    own.add_column("value", overflow="fold")
    own.add_column("in the layers", overflow="fold")
    for document, _ in rows:
        name = document["name"]
        for each in document["own"]:
            value = "(removed)" if each["value"] is None else text(each["value"])
            own.add_row(name, escape(each["path"]), escape(value), escape(text(each["layers"])))
            name = ""
    out.print(own)


def difference_rows(found: Sequence[Difference]) -> list[dict[str, Any]]:
    """JSON data about each setting in which two stacks differ: its path, both values, and the files that set them."""
    return [
        {
            "path": each.path,
            "a": each.a.value if each.a else None,
            "b": each.b.value if each.b else None,
            "originA": each.a.origin if each.a else None,
            "originB": each.b.origin if each.b else None,
        }
        for each in found
    ]


def print_differences(first: str, second: str, found: Sequence[Difference]) -> None:
    """Prints differences for people, with the file that each value comes from."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting", no_wrap=True)
    for column in (first, second):
        table.add_column(column, overflow="fold")
        table.add_column("from", style="dim", no_wrap=True)
    for each in found:
        cells = [cell for row in (each.a, each.b) for cell in _cells(row.value if row else None, row)]
        table.add_row(escape(each.path), *cells)
    out.print(table)


def _cells(value: Any, row: Any) -> tuple[str, str]:
    return escape(text(value)), escape(row.origin.removeprefix("stacks/")) if row else ""


def text(value: Any) -> str:
    """A setting's value as in a file, on one line; a dash if it is not set."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
