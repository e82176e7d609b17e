"""The `gates` command: do the pools' nodes offer their GPUs, and if not, which gate is closed and what opens it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.console import doing, err, print_json
from workbench.cli.exit_codes import FAILED
from workbench.cli.options import DEFAULT_STACK, Assignments, Context, Files, Json, Kubeconfig, Prometheus, Stack
from workbench.cli.recorded import From, opened

if TYPE_CHECKING:
    import datetime

    from physical_ai.readiness import Report
    from workbench.cli.cluster_gates import ClusterTarget
    from workbench.cli.prometheus_signs import Signals


Wait = Annotated[bool, typer.Option("--wait", help="Wait until all gates are open, up to a deployment's timeout.")]


def gates(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    wait: Wait = False,
    file: Files = None,
    set_: Assignments = None,
    prometheus: Prometheus = None,
    from_: From = None,
    json: Json = False,
) -> None:
    """Show which gates keep GPUs from a stack's nodes, and why; exit with 1 when one is closed, or cannot be judged."""
    import asyncio
    import os

    from physical_ai.readiness import Unreachable, Unusable, read_reports
    from physical_ai.readiness import wait as wait_until_open
    from physical_ai.readiness.waiting import bound_seconds
    from workbench.cli.cluster_gates import cluster_of
    from workbench.cli.loaded_stack import read_loaded
    from workbench.cli.output.gates import print_reports
    from workbench.cli.prometheus_signs import read_signals

    recorded = None
    if from_ is not None:
        recorded = opened(from_, stack, kubeconfig=kubeconfig, context=context, wait=wait, prometheus=prometheus)
        stack = recorded.stack
    loaded = recorded.loaded(file, set_) if recorded else read_loaded(stack, file, set_)
    settings = loaded.settings
    target = recorded.target(loaded) if recorded else cluster_of(stack, kubeconfig, settings, context)
    environment = os.environ if kubeconfig else _simulated_environment()
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
            problem, reports = "", _read(target)
    except (Unreachable, Unusable) as failure:
        problem, reports = str(failure), ()
    signals = recorded.signals() if recorded else read_signals(stack, kubeconfig, prometheus)
    beside = list(signals.unread)
    if any(report.closed for report in reports) and not problem:
        with doing(f"reading the causes in {target.name}"):
            reports, unread = _with_findings(target, reports, stack, signals, recorded.now if recorded else None)
        beside += unread
    if problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED)
    is_open = not any(report.closed for report in reports)
    refused = list(dict.fromkeys(each for report in reports for each in report.unread))
    if json:
        pools = {report.pool: report.document() for report in reports}
        document = {"stack": stack, "cluster": target.name, "open": is_open, "pools": pools}
        print_json({**document, "unread": list(dict.fromkeys([*refused, *beside]))})
    else:
        print_reports(reports)
        for each in refused if is_open else beside:
            err.print(f"not read: {each}", markup=False, style="yellow", soft_wrap=True)
    if not is_open or refused:
        raise typer.Exit(FAILED)


def _read(target: ClusterTarget) -> tuple[Report, ...]:
    from physical_ai.readiness import read_reports

    with doing(f"reading {target.name}"):
        return read_reports(target.get, target.expected)


def _with_findings(
    target: ClusterTarget,
    reports: Sequence[Report],
    stack: str,
    signals: Signals,
    now: datetime.datetime | None,
) -> tuple[tuple[Report, ...], Sequence[str]]:
    """The reports, with causes that `physai why` finds added to the closed gates; and texts about evidence that could
    not be read.
    """
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.expected import is_existing
    from physical_ai.readiness.reader import Missing
    from physical_ai.readiness.workloads import Workloads, node_workloads
    from physical_ai.readiness.workloads.gate_fixes import with_findings

    existing = is_existing(target.expected)
    try:
        given = node_workloads(target.get, stack, existing=existing, now=now)
    except (Missing, Unreachable, Unusable) as problem:
        given = Workloads(stack=stack, existing=existing, unread=(f"what else is known of the nodes ({problem})",))
    return with_findings(reports, replace(given, alerts=signals.alerts, xids=signals.xids)), given.unread


def _print_progress(line: str) -> None:
    err.print(line, markup=False, style="dim")


def _simulated_environment() -> Mapping[str, str]:
    """Environment variables of this process, and in addition those variables with the times of a simulation that this
    process does not set.
    """
    import os

    from simulator.session import SIMULATED

    return {**SIMULATED, **os.environ}
