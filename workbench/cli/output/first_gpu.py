"""Output of `time` about the first GPU: totals of each pool, the longest path of the slowest pool, and what shortens
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from workbench.cli.console import out
from workbench.first_gpu.judging import TITLES

SHORT = 0.5
"""Minutes up to which a step is left out of the table."""
MOST_GAINS = 3
KNOWN = {"measured": "measured: ", "published": "", "estimate": "ours: "}
Document = Mapping[str, Any]


def print_first_gpu(data: Document) -> None:
    """Prints the document that `workbench.first_gpu.report.document` returns, with the path of the pool that takes
    longest for each kind.
    """
    pools: Sequence[Document] = data["pools"]
    if not pools:
        out.print("No pool has GPU nodes.")
        return
    for kind, title in TITLES.items():
        timed = [each for each in pools if each[kind]]
        if timed:
            slowest = max(timed, key=lambda each: each[kind]["minutes"][1])
            out.print(f"\n[bold]{title}[/]: {span(data[kind])} minutes; slowest pool {escape(slowest['pool'])}")
            out.print(_steps(slowest[kind]["steps"]))
            _print_gains(slowest[kind]["gains"])
    out.print("\n[bold]Pools, by the installer of their driver[/]")
    out.print(_pools(pools))


def span(minutes: Sequence[float]) -> str:
    """A range of minutes, such as `19 to 55`."""
    low, high = (f"{round(each):d}" for each in minutes)
    return low if low == high else f"{low} to {high}"


def _steps(steps: Sequence[Document]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("what the slow case waits for", "minutes", "takes", "source"):
        table.add_column(column, no_wrap=column in ("minutes", "takes"))
    for each in steps:
        if each["minutes"][1] > SHORT:
            low, high = each["minutes"]
            takes, at = f"{low:g}–{high:g}", f"{each['start']:.0f}–{each['end']:.0f}"
            table.add_row(escape(each["title"]), at, takes, escape(KNOWN[each["known"]] + each["source"]))
    return table


def _print_gains(gains: Sequence[Document]) -> None:
    for each in [row for row in gains if row["advice"]][:MOST_GAINS]:
        out.print(f"  {each['minutes']:g} minutes of {escape(each['step'])}: {escape(each['advice'])}", soft_wrap=True)


def _pools(pools: Sequence[Document]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("pool", "driver", "first Pod", "one more node"):
        table.add_column(column, no_wrap=True)
    for pool in pools:
        for each in pool["drivers"]:
            name = f"{each['driver']}{'' if each['present'] else ' (instead)'}"
            first = span(each["deployment"]) if "deployment" in each else "the nodes are there"
            table.add_row(escape(pool["pool"]), name, first, span(each["node"]))
    return table
