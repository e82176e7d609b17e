"""File of the report of `physai usage`: its queries, the guarantees of the queues, and the time of its figures."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from physical_ai.telemetry.usage_report import report_queries, usage_report
from workbench.cli.console import err
from workbench.cli.output.usage_report import NoReport, write_report

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from physical_ai.telemetry.usage import Sample
    from workbench.cli.recorded import Recorded


def queries_of(since: str) -> dict[str, str]:
    """Queries of a report, which include those of the table. Raises ValueError for a wrong time range."""
    return report_queries(since)


def write(
    file: Path,
    results: Mapping[str, Sequence[Sample]],
    settings: Settings,
    since: str,
    recorded: Recorded | None,
) -> None:
    """Writes the report. Its figures are of the recording's time, or of now.

    Raises:
        typer.BadParameter: the file cannot be written.
    """
    from workbench.costs.usage import gpu_hour_prices

    at = recorded.now if recorded else datetime.datetime.now(datetime.UTC)
    found = usage_report(results, gpu_hour_prices(settings), guarantees(settings), since)
    try:
        files = write_report(found, str(settings.stack), at.strftime("%Y-%m-%d %H:%M UTC"), file)
    except NoReport as problem:
        raise typer.BadParameter(f"{problem}.", param_hint="--report") from None
    err.print(f"wrote {' and '.join(map(str, files))}", markup=False)


def guarantees(settings: Settings) -> dict[str, int]:
    """GPUs that the settings guarantee to KAI's queues, by the queue's name; -1 for a queue that may use all."""
    from physical_ai.catalog.osmo import WORKFLOWS_NAMESPACE
    from physical_ai.planning.osmo_platforms import pools
    from workbench.osmo.pods.objects import queue_name

    return {
        queue_name(WORKFLOWS_NAMESPACE, name): int(pool["resources"]["gpu"]["guarantee"])
        for name, pool in pools(settings).items()
        if "resources" in pool
    }
