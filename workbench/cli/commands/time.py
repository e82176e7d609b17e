"""The `time` command: the duration of a first deployment on Azure, and the steps that determine it."""

from __future__ import annotations

from workbench.cli.console import out, print_json
from workbench.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack


def time(stack: Stack = DEFAULT_STACK, file: Files = None, set_: Assignments = None, json: Json = False) -> None:
    """Estimate how long the first deployment of a stack takes on Azure.

    The program runs without the Pulumi engine. Each resource starts when its dependencies exist, and takes the
    time that the catalogue has for its type. The result is a fast and a slow case, and what determines the slow one.
    """
    from rich.markup import escape
    from rich.table import Table

    from workbench.cli.deployment_time import deployment_time, document, table_rows
    from workbench.cli.policy_pack import read_declared

    _, declared = read_declared(stack, file, set_, preview=False)
    data = document(deployment_time(stack, declared))
    if json:
        print_json(data)
        return
    fast, slow = data["minutes"]
    out.print(f"[bold]{stack}[/]: {fast:.0f} to {slow:.0f} minutes for {data['steps']} steps, an estimate")
    compared = data["reference"]
    out.print(f"{compared['minutes'][0]:g} to {compared['minutes'][1]:g} minutes: {escape(compared['what'])}")
    out.print(f"  {escape(compared['source'])}", style="dim")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("what the slow case waits for", "minutes", "takes", "source"):
        table.add_column(column, no_wrap=column != "source")
    for row in table_rows(data):
        table.add_row(*map(escape, row))
    out.print(table)
