"""The `compat` command: do the versions of a stack work together, and how long will they be supported?"""

from __future__ import annotations

import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from physical_ai.cli.console import err, out, print_json
from physical_ai.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack

if TYPE_CHECKING:
    from physical_ai.settings import Settings

FINDINGS = 3
_STYLE = {"error": "red", "warning": "yellow", "info": "dim"}


class Least(StrEnum):
    """From which severity on a finding counts."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


Severity = Annotated[Least, typer.Option("--severity", help="Exit with 3 when a finding is as grave as this.")]
Running = Annotated[
    str | None, typer.Option("--from", metavar="RELEASE", help="GPU Operator release that runs now: judge the upgrade.")
]
At = Annotated[
    datetime.datetime | None, typer.Option("--at", formats=["%Y-%m-%d"], help="Judge support at this day, not today.")
]


def compat(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    severity: Severity = Least.ERROR,
    running: Running = None,
    at: At = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Judge a stack's versions: GPU Operator, Kubernetes, driver, toolkit, containerd, node image."""
    from physical_ai.catalog import UnknownName, operator_release
    from physical_ai.catalog.compat import reaches
    from physical_ai.cli import stack_input

    try:
        operator_release(running) if running else None
    except UnknownName as problem:
        near = f"  Did you mean '{problem.suggestion}'?" if problem.suggestion else ""
        raise typer.BadParameter(f"{problem}{near}", param_hint="--from") from None
    loaded = stack_input.read(stack, file or [], set_ or []).loaded
    for warning in loaded.warnings:
        err.print(str(warning), markup=False, style="yellow")
    today = at.date() if at else datetime.datetime.now(datetime.UTC).date()
    document = verdicts(loaded.settings, today, running)
    if json:
        print_json(document)
    else:
        _render(document)
    if any(reaches(row["severity"], severity.value) for row in document["verdicts"]):
        raise typer.Exit(FINDINGS)


def verdicts(settings: Settings, today: datetime.date, running: str | None = None) -> dict[str, Any]:
    """How a stack's versions go together, as data. `running` is the GPU Operator release to upgrade from."""
    from physical_ai.catalog import operator_release
    from physical_ai.catalog.compat import lifecycle
    from physical_ai.settings.rules.compat import gpu_stacks, judge

    release = operator_release(settings.gpu_operator.version)
    phase = lifecycle(release, today)
    pools: list[dict[str, Any]] = [
        {
            "name": name,
            "nodeImage": item.image.name,
            "containerd": item.containerd or item.image.containerd,
            "driverSource": settings.pools[name].driver.source.value,
            "driver": item.driver,
            "toolkit": item.toolkit or release.toolkit,
        }
        for name, item in gpu_stacks(settings).items()
    ]
    judged: list[dict[str, Any]] = [
        {
            "severity": item.severity,
            "rule": item.verdict.rule,
            "subject": item.verdict.subject,
            "path": item.path,
            "pools": list(item.pools),
            "message": item.verdict.message,
            "fix": item.verdict.fix,
            "source": item.verdict.source,
        }
        for item in judge(settings, today, running)
    ]
    return {
        "stack": settings.stack,
        "date": today.isoformat(),
        "operator": {"version": release.version, "lifecycle": phase.state, "since": phase.since},
        "kubernetes": settings.cluster.kubernetes_version,
        "pools": pools,
        "verdicts": judged,
    }


def _render(document: dict[str, Any]) -> None:
    operator = document["operator"]
    out.print(
        f"GPU Operator {operator['version']} ({operator['lifecycle']}), Kubernetes {document['kubernetes']},"
        f" on {document['date']}"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("pool", "node image", "containerd", "driver", "build", "toolkit"):
        table.add_column(column, no_wrap=True)
    for pool in document["pools"]:
        cells = ("name", "nodeImage", "containerd", "driverSource", "driver", "toolkit")
        table.add_row(*(escape(str(pool[cell] or "–")) for cell in cells))
    out.print(table)
    counts = {name: sum(row["severity"] == name for row in document["verdicts"]) for name in _STYLE}
    told = ", ".join(f"{count} {name}{'s' if count != 1 and name != 'info' else ''}" for name, count in counts.items())
    out.print(f"\n{len(document['pools'])} GPU pools judged: {told}")
    for row in document["verdicts"]:
        style = _STYLE[row["severity"]]
        pools = f" ({', '.join(row['pools'])})" if row["pools"] else ""
        out.print(f"\n[{style}]{row['severity']}[/] {row['rule']}: {escape(row['path'] + pools)}")
        out.print(f"  {escape(row['message'])}")
        if row["fix"]:
            out.print(f"  {escape(row['fix'])}")
        out.print(f"  [dim]{escape(row['source'])}[/]")
