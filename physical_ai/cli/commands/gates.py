"""The `gates` command: do the pools' nodes offer their GPUs, and if not, which gate is shut and what opens it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from physical_ai.cli.console import err, out, print_json
from physical_ai.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack

if TYPE_CHECKING:
    from physical_ai.readiness import Expected, Get, Report
    from physical_ai.settings import Settings
    from physical_ai.simulator.kubernetes.client import Client
    from physical_ai.simulator.simulation import Simulation

Kubeconfig = Annotated[
    Path | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Look at this cluster, not at the simulated one of the stack."),
]
Wait = Annotated[bool, typer.Option("--wait", help="Look until all is open, as long as a deployment would.")]


@dataclass(frozen=True)
class _Target:
    """What to look at."""

    name: str
    get: Get
    expected: Sequence[Expected]


def gates(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    wait: Wait = False,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Show which gates keep GPUs from a stack's nodes, and why; exit with 1 when one is shut."""
    import asyncio
    import os

    from physical_ai.cli import stack_input
    from physical_ai.readiness import Unreachable, Unusable, look
    from physical_ai.readiness import wait as wait_
    from physical_ai.readiness.waiting import bound_seconds
    from physical_ai.simulator.simulation import SIMULATED

    settings = stack_input.read(stack, file or [], set_ or []).loaded.settings
    target = _real(kubeconfig, settings) if kubeconfig else _simulated(stack, settings)
    environment = os.environ if kubeconfig else {**SIMULATED, **os.environ}
    try:
        bound = bound_seconds(settings.gpu_operator.gate.timeout_minutes, environment) if wait else 0.0
    except ValueError as problem:
        raise typer.BadParameter(str(problem)) from None
    try:
        if wait:
            told = asyncio.run(wait_(lambda: look(target.get, target.expected), bound, _tell))
            problem, reports = told.problem, told.reports
        else:
            problem, reports = "", look(target.get, target.expected)
    except (Unreachable, Unusable) as failure:
        problem, reports = str(failure), ()
    if problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(1)
    is_open = not any(report.shut for report in reports)
    if json:
        pools = {report.pool: report.document() for report in reports}
        print_json({"stack": stack, "cluster": target.name, "open": is_open, "pools": pools})
    else:
        _render(reports)
    if not is_open:
        raise typer.Exit(1)


def _tell(line: str) -> None:
    err.print(line, markup=False, style="dim")


def _real(kubeconfig: Path, settings: Settings) -> _Target:
    """A cluster with the pools that the settings describe."""
    from physical_ai.readiness import expected_pools
    from physical_ai.readiness.client import connect

    try:
        text = kubeconfig.read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise typer.BadParameter(str(problem), param_hint="--kubeconfig") from None
    return _Target(str(kubeconfig), connect(text), expected_pools(settings))


def _simulated(stack: str, settings: Settings) -> _Target:
    """The simulated cluster with the pools of its last deployment; of the settings where none came to its end."""
    from physical_ai.readiness import expected_pools
    from physical_ai.simulator.errors import SimulationError
    from physical_ai.simulator.simulation import Simulation

    simulation = Simulation(stack)
    nothing = SimulationError(
        f"{stack} has no simulated cluster that runs; `physai up {stack}` makes one,"
        " and --kubeconfig FILE looks at a real one"
    )
    if not simulation.exists:
        raise nothing
    clusters = simulation.clusters()
    cluster = next((id for id in clusters.ids() if clusters.is_running(id)), None)
    if cluster is None:
        raise nothing
    expected = deployed(simulation) or expected_pools(settings)
    return _Target(f"simulated {stack}", reading(clusters.client(cluster)), expected)


def deployed(simulation: Simulation) -> Sequence[Expected]:
    """What the pools of the last deployment should offer; empty where none came far enough to say."""
    from physical_ai.readiness.expected import deployed_pools

    return deployed_pools(simulation.outputs().get("pools") or {})


def reading(client: Client) -> Get:
    """The simulator's own client, as the diagnosis reads it."""
    from physical_ai.readiness import reader
    from physical_ai.simulator.kubernetes.client import ApiError, Unreachable

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        try:
            return client.get(path, parameters)
        except ApiError as refusal:
            kind = reader.Missing if refusal.code == 404 or path.endswith("/log") else reader.Unreachable
            raise kind(str(refusal)) from None
        except Unreachable as problem:
            raise reader.Unreachable(str(problem)) from None

    return get


def _render(reports: Sequence[Report]) -> None:
    from physical_ai.readiness import text as telling

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("pool", "driver", "nodes", "GPUs", "gates"):
        table.add_column(column, no_wrap=True)
    states = {"ready": "[green]open[/]", "waiting": "[red]shut[/]", "empty": "no nodes; nothing to wait for"}
    for report in reports:
        gpus = telling.counted(report) if report.nodes else ""
        table.add_row(report.pool, report.driver_source, str(report.nodes), escape(gpus), states[report.state])
    out.print(table)
    for line in telling.story(reports):
        out.print(line, markup=False, soft_wrap=True)
