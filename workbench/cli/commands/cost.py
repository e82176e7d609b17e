"""The `cost` command: costs of a stack per hour and month, from the catalogue's prices."""

from __future__ import annotations

import datetime
from typing import Annotated

import typer

from workbench.cli.console import err, print_json
from workbench.cli.options import DEFAULT_STACK, Assignments, Files, Json, SpotFactor, Stack

ChangeOption = Annotated[
    bool, typer.Option("--change", help="Also show the difference that -f and --set make to the committed stack.")
]


def cost(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    spot_factor: SpotFactor = None,
    change: ChangeOption = False,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Estimate what a stack costs, for each pool and in total, per hour and month.

    Each figure is given for the minimum, the requested and the maximum number of nodes of the autoscaler.
    """
    from physical_ai.settings import load
    from workbench.cli.loaded_stack import read_loaded
    from workbench.cli.output.cost import priced, print_change, print_estimate
    from workbench.costs import change as difference
    from workbench.costs.document import change_document, document

    found = priced(read_loaded(stack, file, set_).settings, spot_factor)
    changed = difference(priced(load(stack).settings, spot_factor), found) if change else None
    today = datetime.datetime.now(datetime.UTC).date()
    if json:
        print_json(document(found, today) | ({"change": change_document(changed)} if changed else {}))
        return
    print_estimate(found)
    if changed is not None:
        print_change(changed)
    if change and not file and not set_:
        err.print("note: --change compares what -f and --set make of the stack, and none is given", style="yellow")
    if found.is_stale(today):
        err.print(f"warning: these prices are {found.days_old(today)} days old", style="yellow")
