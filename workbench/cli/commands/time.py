"""The `time` command: the duration of a first deployment, the time to the first GPU, and the steps that determine
both."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from workbench.cli.console import err, out, print_json
from workbench.cli.exit_codes import BAD_INPUT, FINDINGS
from workbench.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack
from workbench.cli.recorded import From

PoolOption = Annotated[str | None, typer.Option("--pool", metavar="POOL", help="Only this GPU pool.")]


def time(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    pool: PoolOption = None,
    from_: From = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Estimate how long the first deployment of a stack takes on Azure, and how long a Pod waits for a GPU.

    The program runs without the Pulumi engine. Each resource starts when its dependencies exist, and takes the
    time that the catalogue has for its type, or that --from shows of the stack's own cluster. The result is a fast and
    a slow case, and what determines the slow one. Exit code 3: also the fast case is above the budget (timeToFirstGpu).
    """
    from physical_ai.findings import Severity, any_at_least
    from workbench.cli.deployment_time import deployment_time, document
    from workbench.cli.first_gpu import first_gpu, measured_in
    from workbench.cli.output.first_gpu import print_first_gpu
    from workbench.cli.policy_pack import read_declared
    from workbench.first_gpu.judging import findings
    from workbench.first_gpu.report import document as first_gpu_document
    from workbench.first_gpu.report import only

    measured = measured_in(from_, stack)
    requested, declared = read_declared(stack, file, set_, preview=False)
    settings = requested.loaded.settings
    times = first_gpu(settings, declared, measured)
    if pool is not None:
        if pool not in {each.pool.name for each in times.pools}:
            known = ", ".join(each.pool.name for each in times.pools) or "none"
            err.print(f"--pool {pool}: {stack} has no such GPU pool; it has {known}", markup=False, style="red")
            raise typer.Exit(BAD_INPUT)
        times = only(times, pool)
    judged = findings(times, settings.time_to_first_gpu)
    data: dict[str, Any] = document(deployment_time(stack, declared))
    first: dict[str, Any] = first_gpu_document(times)
    if json:
        rows = [{**each.document(), "setting": each.where} for each in judged]
        print_json({**data, "firstGpu": {**first, "findings": rows}})
    else:
        if pool is None:
            _print_deployment(stack, data)
        print_first_gpu(first)
        for each in judged:
            style = {Severity.ERROR: "red", Severity.WARNING: "yellow"}.get(each.severity, "green")
            out.print(f"{each.severity.value}: {each.problem} {each.fix or ''}".rstrip(), markup=False, style=style,
                      soft_wrap=True)  # fmt: skip
    if any_at_least(judged, Severity.ERROR):
        raise typer.Exit(FINDINGS)


def _print_deployment(stack: str, data: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from workbench.cli.deployment_time import table_rows

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
