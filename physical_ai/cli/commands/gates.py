"""The `gates` command: do the pools' nodes offer their GPUs, and if not, which gate is closed and what opens it?"""

from __future__ import annotations

from typing import Annotated

import typer

from physical_ai.cli.console import err, print_json
from physical_ai.cli.exit_codes import FAILED
from physical_ai.cli.options import DEFAULT_STACK, Assignments, Context, Files, Json, Kubeconfig, Stack

Wait = Annotated[bool, typer.Option("--wait", help="Wait until all gates are open, up to a deployment's timeout.")]


def gates(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    wait: Wait = False,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Show which gates keep GPUs from a stack's nodes, and why; exit with 1 when one is closed."""
    import asyncio
    import os

    from physical_ai.cli.cluster_gates import cluster_of
    from physical_ai.cli.output.gates import print_reports
    from physical_ai.cli.requested_stack import read_stack
    from physical_ai.readiness import Unreachable, Unusable, read_reports
    from physical_ai.readiness import wait as wait_until_open
    from physical_ai.readiness.waiting import bound_seconds
    from physical_ai.simulator.session import SIMULATED

    settings = read_stack(stack, file, set_).loaded.settings
    target = cluster_of(stack, kubeconfig, settings, context)
    environment = os.environ if kubeconfig else {**SIMULATED, **os.environ}
    try:
        bound = bound_seconds(settings.gpu_operator.gate.timeout_minutes, environment) if wait else 0.0
    except ValueError as problem:
        raise typer.BadParameter(str(problem)) from None
    try:
        if wait:
            outcome = asyncio.run(
                wait_until_open(lambda: read_reports(target.get, target.expected), bound, _print_progress)
            )
            problem, reports = outcome.problem, outcome.reports
        else:
            problem, reports = "", read_reports(target.get, target.expected)
    except (Unreachable, Unusable) as failure:
        problem, reports = str(failure), ()
    if problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED)
    is_open = not any(report.closed for report in reports)
    if json:
        pools = {report.pool: report.document() for report in reports}
        print_json({"stack": stack, "cluster": target.name, "open": is_open, "pools": pools})
    else:
        print_reports(reports)
    if not is_open:
        raise typer.Exit(FAILED)


def _print_progress(line: str) -> None:
    err.print(line, markup=False, style="dim")
