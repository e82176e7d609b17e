"""Commands that diagnose a cluster: why one thing does not work, and all that does not. They change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from physical_ai.cli.console import err, print_json
from physical_ai.cli.exit_codes import BAD_INPUT, FAILED, FINDINGS
from physical_ai.cli.options import DEFAULT_STACK, Assignments, Files, Json, Kubeconfig, Stack

if TYPE_CHECKING:
    from physical_ai.readiness.workloads import Workloads

Subject = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A pool, a node, a workflow or a Pod (also as NAMESPACE/NAME)."),
]


def why(  # noqa: PLR0917 - each is an option
    wanted: Subject,
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Say why a Pod, a workflow, a node or a pool does not work: the first cause, its evidence, and what to do.

    From the group and its queue over the pools and the autoscaler to the node and the container. Reads only.
    """
    from physical_ai.cli.output.why import print_explanations
    from physical_ai.readiness.workloads import UnknownSubject, explain

    try:
        title, causes = explain(wanted, _read(stack, kubeconfig, file, set_))
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


def doctor(
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """List all that does not work in the cluster, each cause once; exit with 3 if one needs an action.

    Causes that need an action come first, then those that stop most. Reads only.
    """
    from physical_ai.cli.output.why import print_findings
    from physical_ai.readiness.workloads import doctor as findings_of

    findings = findings_of(_read(stack, kubeconfig, file, set_))
    if json:
        print_json({"stack": stack, "findings": [each.document() for each in findings]})
    else:
        print_findings(findings)
    if any(not each.first.waits for each in findings):
        raise typer.Exit(FINDINGS)


def _read(stack: str, kubeconfig: Path | None, file: list[Path] | None, set_: list[str] | None) -> Workloads:
    from physical_ai.cli.cluster_gates import real_cluster, simulated_cluster
    from physical_ai.cli.requested_stack import read_stack
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.workloads import pool_plans, read_workloads

    settings = read_stack(stack, file, set_).loaded.settings
    target = real_cluster(kubeconfig, settings) if kubeconfig else simulated_cluster(stack, settings)
    try:
        return read_workloads(target.get, target.expected, pool_plans(settings), stack)
    except (Unreachable, Unusable) as problem:
        err.print(f"{target.name} cannot be read: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None
