"""The commands `why` and `doctor`, which diagnose a cluster: why one thing does not work, and everything that does not
work. They change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.console import doing, err, print_json
from workbench.cli.exit_codes import BAD_INPUT, FAILED, FINDINGS
from workbench.cli.options import DEFAULT_STACK, Assignments, Context, Files, Json, Kubeconfig, Prometheus, Stack
from workbench.cli.recorded import From, opened

if TYPE_CHECKING:
    import datetime

    from physical_ai.readiness.workloads import Workloads
    from physical_ai.settings import Loaded, Settings
    from workbench.cli.cluster_gates import ClusterTarget
    from workbench.cli.prometheus_signs import Signals

OF_PLATFORM = ("node", "pool", "workflow", "release")
"""Kinds of subjects that depend on all parts of the platform. If a part could not be read, such a subject may fail to
work although no cause was found. Other subjects, such as a running Pod or a completed Job, certainly work if no cause
was found.
"""
Subject = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A pool, a node, a workflow, a Pod, a Job or Deployment (also as NAMESPACE/NAME), a queue; also one that"
        " has left.",
    ),
]

Azure = Annotated[
    bool,
    typer.Option(
        "--azure", help="With --kubeconfig: also read the state of the node pools from Azure (needs a login)."
    ),
]
Osmo = Annotated[
    Path | None,
    typer.Option(
        "--osmo",
        metavar="FILE",
        help="With --kubeconfig: OSMO's status of the workflow (osmo workflow query NAME --format-type json).",
    ),
]


def why(  # noqa: PLR0917 - each is an option
    wanted: Subject,
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    file: Files = None,
    set_: Assignments = None,
    azure: Azure = False,
    osmo: Osmo = None,
    prometheus: Prometheus = None,
    from_: From = None,
    json: Json = False,
) -> None:
    """Explain why a Pod, Job, workflow, node or pool does not work: the first cause, its evidence and the fix; exit
    with 3 if an action is needed.

    The search covers every layer: OSMO's groups, queues and pools, the autoscaler, the node, and the container. Changes
    nothing.
    """
    from physical_ai.readiness.platform.read import RECORDS
    from physical_ai.readiness.workloads import UnknownSubject, explain
    from workbench.cli.output.why import print_explanations

    given = _given(from_, stack, (kubeconfig, context), file, set_, prometheus, azure=azure, osmo=osmo, wanted=wanted)
    stack = given.stack
    try:
        title, causes = explain(wanted, given)
    except UnknownSubject as unknown:
        nearest = f" Did you mean {', '.join(unknown.nearest)}?" if unknown.nearest else ""
        err.print(
            f"the cluster has no pool, node, workflow, Pod, Job or Deployment named {wanted}, and no event or record of"
            f" one that has left.{nearest}{_unread(given)}",
            markup=False,
            style="red",
        )
        raise typer.Exit(BAD_INPUT) from None
    needed = any(each.needs_action for each in causes)
    if json:
        print_json({
            "stack": stack, "subject": title, "actionNeeded": needed,
            "causes": [each.document() for each in causes], "unread": list(given.unread),
        })  # fmt: skip
    else:
        print_explanations(title, causes, given.unread)
    if needed:
        raise typer.Exit(FINDINGS)
    if title.partition(" ")[0] in OF_PLATFORM and given.refused:
        raise typer.Exit(FAILED)
    if any(not each.startswith(RECORDS) for each in given.refused):
        raise typer.Exit(FAILED)


def _unread(given: Workloads) -> str:
    return f" Not read: {'; '.join(given.unread)}." if given.unread else ""


def doctor(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    file: Files = None,
    set_: Assignments = None,
    azure: Azure = False,
    prometheus: Prometheus = None,
    from_: From = None,
    json: Json = False,
) -> None:
    """List everything that does not work in the cluster, grouped by cause; exit with 3 if an action is needed.

    Causes that need an action come first, and among them those that affect the most objects. The exit status is 1 if no
    action is known to be needed, but a part of the cluster could not be read. Changes nothing.
    """
    from physical_ai.readiness.workloads import doctor as findings_of
    from workbench.cli.output.why import print_findings

    given = _given(from_, stack, (kubeconfig, context), file, set_, prometheus, azure=azure)
    stack = given.stack
    findings = findings_of(given)
    needed = any(each.first.needs_action for each in findings)
    if json:
        print_json({
            "stack": stack, "actionNeeded": needed,
            "findings": [each.document() for each in findings], "unread": list(given.unread),
        })  # fmt: skip
    else:
        print_findings(findings, given.unread)
    if needed:
        raise typer.Exit(FINDINGS)
    if given.refused:
        raise typer.Exit(FAILED)


def _given(  # noqa: PLR0917 - each is an option
    from_: Path | None,
    stack: str,
    access: tuple[Path | None, str | None],
    file: list[Path] | None,
    set_: list[str] | None,
    prometheus: str | None,
    *,
    azure: bool = False,
    osmo: Path | None = None,
    wanted: str = "",
) -> Workloads:
    """Input of the diagnosis. The options select its source: a recording, a real cluster, or the simulated cluster."""
    from workbench.cli.cluster_gates import cluster_of
    from workbench.cli.loaded_stack import read_loaded
    from workbench.cli.prometheus_signs import read_signals

    kubeconfig, context = access
    if from_ is not None:
        others = {"kubeconfig": kubeconfig, "context": context, "azure": azure, "osmo": osmo, "prometheus": prometheus}
        recorded = opened(from_, stack, **others)
        loaded = recorded.loaded(file, set_)
        beside = {"azure": recorded.azure_pools(), "workflows": recorded.workflows or ()}
        own = recorded.recording.simulated
        with doing(f"reading {from_}"):
            return _read(loaded, recorded.target(loaded), recorded.signals, beside, wanted, own=own, now=recorded.now)
    if (azure or osmo) and not kubeconfig:
        raise typer.BadParameter("the simulated ones are always read", param_hint="--azure" if azure else "--osmo")
    loaded = read_loaded(stack, file, set_)
    settings = loaded.settings
    with doing("asking Azure" if azure else f"reading the simulation of {stack}"):
        beside: dict[str, Any] = (
            _beside_a_real_cluster(settings, azure=azure, osmo=osmo) if kubeconfig else _beside_a_simulated_one(stack)
        )
        target = cluster_of(stack, kubeconfig, settings, context)
    signals = partial(read_signals, stack, kubeconfig, prometheus)
    with doing(f"reading {target.name}"):
        return _read(loaded, target, signals, beside, wanted, own=kubeconfig is None)


def _read(
    loaded: Loaded,
    target: ClusterTarget,
    signals_of: Callable[[], Signals],
    beside: Mapping[str, Any],
    wanted: str,
    *,
    own: bool,
    now: datetime.datetime | None = None,
) -> Workloads:
    """Input of the diagnosis, read from a cluster.

    Args:
        signals_of: Function that reads alerts and Xids from a Prometheus.
        beside: Inputs from other sources, such as node pools in Azure.
        wanted: Subject that the user asks about; empty for all.
        own: True for a simulated cluster.
        now: Time to which the data belongs, by default this machine's.
    """
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.platform.parts import installed
    from physical_ai.readiness.platform.read import read_platform
    from physical_ai.readiness.workloads import declared_pools, read_workloads
    from physical_ai.settings.facts.osmo_access import control_plane_url

    settings = loaded.settings
    try:
        stack = str(settings.stack)
        found = read_workloads(target.get, target.expected, declared_pools(settings), stack, wanted, now=now)
        unread = list(found.unread)
        known = {**found.owners, **({} if found.queues is None else {"Queue": found.queues})}
        # In the simulator there is an OSMO control plane even if the settings name none.
        agents = control_plane_url(settings) is not None or (own and settings.osmo.installs_backend)
        platform = read_platform(target.get, installed(settings, loaded.plan, agents=agents), known, unread)
        found = replace(found, platform=platform, unread=tuple(dict.fromkeys(unread)))
        signals = signals_of()
        beside = {**beside, "alerts": signals.alerts, "xids": signals.xids, "unread": (*found.unread, *signals.unread)}
        beside = {**beside, "refused": found.unread}
        return replace(found, has_agents=agents, **beside)
    except (Unreachable, Unusable) as problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None


def _beside_a_simulated_one(stack: str) -> dict[str, Any]:
    from workbench.cli.diagnosis_sources import simulated_pools, simulated_workflows
    from workbench.cli.simulated_stack import simulation_of

    simulation = simulation_of(stack)
    if not simulation.exists:
        return {}
    return {"azure": simulated_pools(simulation), "workflows": simulated_workflows(simulation)}


def _beside_a_real_cluster(settings: Settings, *, azure: bool, osmo: Path | None) -> dict[str, Any]:
    from workbench.cli.azure_login import subscription_of_login
    from workbench.cli.diagnosis_sources import azure_pools, described_workflow
    from workbench.preflight import Unanswered
    from workbench.preflight.login import NoLogin, logged_in

    found: dict[str, Any] = {"workflows": described_workflow(osmo)} if osmo else {}
    if azure:
        try:
            get = logged_in()
            found["azure"] = azure_pools(get, subscription_of_login(get), settings)
        except (NoLogin, Unanswered) as problem:
            err.print(f"Azure is left out: {problem}", markup=False, style="yellow")
    return found
