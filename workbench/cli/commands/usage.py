"""The `usage` command: GPU-hours by workflow, from a Prometheus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.console import doing, err, print_json, print_text
from workbench.cli.exit_codes import FAILED
from workbench.cli.options import DEFAULT_STACK, Json, Stack
from workbench.cli.recorded import From, opened

Address = Annotated[
    str | None,
    typer.Option(
        "--prometheus",
        metavar="URL",
        help="Where the stack's metrics can be queried. Default: the simulated stack's, or else http://127.0.0.1:9090.",
    ),
]
Since = Annotated[str, typer.Option("--since", metavar="TIME", help="How far back, such as 12h, 7d or 4w.")]
Picture = Annotated[
    Path | None, typer.Option("--picture", metavar="FILE", help="Also draw a bar for each workflow, as FILE.svg.")
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Also write use, waits and losses by team and queue: FILE.html with a text beside it, or FILE.eml.",
    ),
]
Csv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")]


def usage(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    prometheus: Address = None,
    since: Since = "7d",
    picture: Picture = None,
    report: Report = None,
    csv: Csv = False,
    from_: From = None,
    json: Json = False,
) -> None:
    """Show the GPU-hours that each workflow requested, held and used, with their list price.

    A Pod without a workflow has a row of its own. PROMETHEUS_TOKEN is sent as a bearer token, which Azure needs.
    """
    from physical_ai.settings import load
    from physical_ai.telemetry.usage import queries
    from physical_ai.telemetry.usage import usage as rows_of
    from workbench.cli.output.usage import COLUMNS, as_csv, print_usage, row
    from workbench.cli.output.usage_picture import NoPicture, write_picture
    from workbench.cli.prometheus import DEFAULT, PrometheusFailed, ask, simulated_address
    from workbench.cli.usage_report import queries_of, write
    from workbench.costs.usage import gpu_hour_prices
    from workbench.recordings.questions import SPANS

    try:
        asked = queries(since) if report is None else queries_of(since)
    except ValueError as problem:
        raise typer.BadParameter(f"{problem}.", param_hint="--since") from None
    recorded = None if from_ is None else opened(from_, stack, prometheus=prometheus)
    stack = recorded.stack if recorded else stack
    settings = (recorded.loaded() if recorded else load(stack)).settings
    prices = gpu_hour_prices(settings)
    if recorded is not None and since not in SPANS:
        raise typer.BadParameter(f"a recording has {', '.join(SPANS)}", param_hint="--since")
    try:
        address = prometheus or simulated_address(stack) or DEFAULT
        with doing(f"reading {from_ or address}"):
            results = recorded.ask(asked) if recorded else ask(address, asked)
            found = rows_of(results, prices)
    except PrometheusFailed as problem:
        err.print(str(problem), markup=False, highlight=False)
        raise typer.Exit(FAILED) from None
    if report is not None:
        write(report, results, settings, since, recorded)
    if picture is not None:
        try:
            write_picture(found, since, picture)
        except NoPicture as problem:
            raise typer.BadParameter(f"{problem}.", param_hint="--picture") from None
    if json:
        print_json(
            {"stack": stack, "since": since, "usage": [dict(zip(COLUMNS, row(each), strict=True)) for each in found]}
        )
    elif csv:
        print_text(as_csv(found))
    else:
        print_usage(found, since)
