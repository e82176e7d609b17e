"""Commands that diagnose a cluster: why one thing does not work, and all that does not. They change nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from physical_ai.cli.console import err, print_json
from physical_ai.cli.exit_codes import BAD_INPUT, FAILED, FINDINGS
from physical_ai.cli.options import DEFAULT_STACK, Assignments, Context, Files, Json, Kubeconfig, Stack

if TYPE_CHECKING:
    from physical_ai.readiness.workloads import Workloads
    from physical_ai.settings import Settings

Subject = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A pool, a node, a workflow or a Pod (also as NAMESPACE/NAME)."),
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
    json: Json = False,
) -> None:
    """Explain why a Pod, workflow, node or pool does not work: the first cause, its evidence and the fix.

    From OSMO, the group and its queue over the pools and the autoscaler to the node and the container. Changes nothing.
    """
    from physical_ai.cli.output.why import print_explanations
    from physical_ai.readiness.workloads import UnknownSubject, explain

    try:
        title, causes = explain(wanted, _read(stack, (kubeconfig, context), file, set_, azure=azure, osmo=osmo))
    except UnknownSubject as unknown:
        nearest = f" Did you mean {', '.join(unknown.nearest)}?" if unknown.nearest else ""
        err.print(
            f"the cluster has no pool, node, workflow or Pod named {wanted}, and no refusal of one in its events."
            f"{nearest}",
            markup=False,
            style="red",
        )
        raise typer.Exit(BAD_INPUT) from None
    if json:
        print_json({"stack": stack, "subject": title, "causes": [each.document() for each in causes]})
    else:
        print_explanations(title, causes)


def doctor(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    file: Files = None,
    set_: Assignments = None,
    azure: Azure = False,
    json: Json = False,
) -> None:
    """List everything that does not work in the cluster, grouped by cause; exit with 3 if an action is needed.

    Causes that need an action come first, then those that affect most. Changes nothing.
    """
    from physical_ai.cli.output.why import print_findings
    from physical_ai.readiness.workloads import doctor as findings_of

    findings = findings_of(_read(stack, (kubeconfig, context), file, set_, azure=azure))
    if json:
        print_json({"stack": stack, "findings": [each.document() for each in findings]})
    else:
        print_findings(findings)
    if any(not each.first.waits for each in findings):
        raise typer.Exit(FINDINGS)


def _read(
    stack: str,
    access: tuple[Path | None, str | None],
    file: list[Path] | None,
    set_: list[str] | None,
    *,
    azure: bool = False,
    osmo: Path | None = None,
) -> Workloads:
    from physical_ai.cli.cluster_gates import cluster_of
    from physical_ai.cli.requested_stack import read_stack
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.workloads import pool_plans, read_workloads
    from physical_ai.settings.facts.osmo_access import control_plane_url

    kubeconfig, context = access
    if (azure or osmo) and not kubeconfig:
        raise typer.BadParameter("the simulated ones are always read", param_hint="--azure" if azure else "--osmo")
    settings = read_stack(stack, file, set_).loaded.settings
    beside = _beside_a_real_cluster(settings, azure=azure, osmo=osmo) if kubeconfig else _beside_a_simulated_one(stack)
    target = cluster_of(stack, kubeconfig, settings, context)
    try:
        found = read_workloads(target.get, target.expected, pool_plans(settings), stack)
        return replace(found, has_agents=control_plane_url(settings) is not None, **beside)
    except (Unreachable, Unusable) as problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None


def _beside_a_simulated_one(stack: str) -> dict[str, Any]:
    from physical_ai.cli.diagnosis_sources import simulated_pools, simulated_workflows
    from physical_ai.cli.simulated_stack import simulation_of

    simulation = simulation_of(stack)
    if not simulation.exists:
        return {}
    return {"azure": simulated_pools(simulation), "workflows": simulated_workflows(simulation)}


def _beside_a_real_cluster(settings: Settings, *, azure: bool, osmo: Path | None) -> dict[str, Any]:
    from physical_ai.cli.azure_login import subscription_of_login
    from physical_ai.cli.diagnosis_sources import azure_pools, described_workflow
    from physical_ai.preflight import Unanswered
    from physical_ai.preflight.login import NoLogin, logged_in

    found: dict[str, Any] = {"workflows": described_workflow(osmo)} if osmo else {}
    if azure:
        try:
            get = logged_in()
            found["azure"] = azure_pools(get, subscription_of_login(get), settings)
        except (NoLogin, Unanswered) as problem:
            err.print(f"Azure is left out: {problem}", markup=False, style="yellow")
    return found
