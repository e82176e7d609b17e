"""The `compat` command: do the versions of a stack work together, and how long will they be supported?"""

from __future__ import annotations

import datetime
from typing import Annotated

import typer

from physical_ai.findings import Severity, any_at_least
from workbench.cli.console import print_json, print_warnings
from workbench.cli.exit_codes import FINDINGS
from workbench.cli.options import DEFAULT_STACK, Assignments, Files, Json, Least, Stack

Running = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="RELEASE", help="The GPU Operator release that runs now: check the upgrade from it."
    ),
]
At = Annotated[
    datetime.datetime | None,
    typer.Option("--at", metavar="DATE", formats=["%Y-%m-%d"], help="Support on this day instead of today."),
]


def compat(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    severity: Least = Severity.ERROR,
    running: Running = None,
    at: At = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Show whether a stack's versions work together, and how long each is supported.

    GPU Operator, Kubernetes, driver, container toolkit, containerd and node image.
    """
    from physical_ai.catalog import UnknownName, operator_release
    from physical_ai.settings.rules.compat import judge, of_charts
    from workbench.cli.loaded_stack import read_loaded
    from workbench.cli.output import compat as output

    try:
        operator_release(running) if running else None
    except UnknownName as problem:
        near = f" Did you mean '{problem.suggestion}'?" if problem.suggestion else ""
        raise typer.BadParameter(f"{problem}{near}", param_hint="--from") from None
    loaded = read_loaded(stack, file, set_)
    print_warnings(loaded.warnings)
    today = at.date() if at else datetime.datetime.now(datetime.UTC).date()
    findings = [*judge(loaded.settings, today, running), *of_charts(loaded)]
    document = output.document(loaded.settings, today, findings)
    if json:
        print_json(document)
    else:
        output.print_document(document)
    if any_at_least(findings, severity):
        raise typer.Exit(FINDINGS)
