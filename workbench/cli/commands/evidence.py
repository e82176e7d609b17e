"""The `evidence` command: everything known about a GPU node and its machine, ready for a report to Azure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.console import doing, err, print_json, print_text
from workbench.cli.exit_codes import BAD_INPUT, FAILED
from workbench.cli.options import (
    DEFAULT_STACK,
    DEPLOYER_NAME,
    As,
    Assignments,
    Context,
    Files,
    Json,
    Kubeconfig,
    Prometheus,
    Stack,
)

if TYPE_CHECKING:
    from workbench.health.evidence.node_evidence import NodeEvidence

Node = Annotated[str, typer.Argument(metavar="NODE", help="A GPU node, also one that has left the cluster.")]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="Also write it to this file, as Markdown.")
]
Report = Annotated[bool, typer.Option("--report", help="Send the report to Azure, after a confirmation prompt.")]
General = Annotated[
    bool,
    typer.Option("--general", help="Use the category that needs no admission to Guest Health Reporting."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not prompt for confirmation.")]


def evidence(  # noqa: PLR0917 - each is an option
    node: Node,
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    prometheus: Prometheus = None,
    markdown: Markdown = None,
    report: Report = False,
    general: General = False,
    yes: Yes = False,
    as_: As = DEPLOYER_NAME,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Print the evidence about a GPU node: machine, Xids with advice, checks, alerts, events, and what runs there.

    With --report, send it to Azure. The report names the machine and its GPU, and nothing about its workloads.
    """
    from workbench.cli.cluster_gates import cluster_of
    from workbench.cli.deployed_settings import deployed_settings
    from workbench.cli.node_evidence import node_evidence
    from workbench.cli.prometheus_signs import read_signals
    from workbench.health.evidence import markdown as shown
    from workbench.health.evidence.report import NotReportable, body

    settings = deployed_settings(stack, kubeconfig, file, set_)
    target = cluster_of(stack, kubeconfig, settings, context)
    with doing(f"reading {target.name}"):
        evidence = node_evidence(target, node, read_signals(stack, kubeconfig, prometheus), stack)
    try:
        prepared, problem = body(evidence, general=general), ""
    except NotReportable as missing:
        prepared, problem = None, str(missing)
    text = shown.markdown(evidence)
    if markdown is not None:
        _write(markdown, text)
    if json:
        print_json({"stack": stack, **shown.document(evidence), "report": prepared, "reportProblem": problem or None})
    else:
        print_text(text)
    if report:
        if prepared is None:
            err.print(problem, markup=False, style="red")
            raise typer.Exit(BAD_INPUT)
        _send(evidence, prepared, stack, (kubeconfig is not None, as_), yes=yes)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise typer.BadParameter(str(problem), param_hint="--markdown") from None


def _send(evidence: NodeEvidence, prepared: dict[str, Any], stack: str, azure: tuple[bool, str], *, yes: bool) -> None:
    import json as json_format

    from physical_ai.nested import at
    from workbench.cli.azure_access import azure_arm
    from workbench.cli.run_options import principal_named
    from workbench.health.arm import NoAnswer, Refused
    from workbench.health.evidence.report import name_of, send, subscription_of

    real, principal = azure
    err.print(json_format.dumps(prepared, indent=2), markup=False)
    if not evidence.has_fault:
        err.print("The evidence does not indicate a fault of this machine.", style="yellow")
    if not yes and not typer.confirm("send this report to Azure?", default=False, err=True):
        err.print("not sent")
        return
    subscription = subscription_of(str(at(prepared, "properties.impactedResourceId")))
    name = name_of(evidence, evidence.now.replace(":", "")[:15])
    try:
        sent = send(azure_arm(stack, real=real, principal=principal_named(principal)), subscription, name, prepared)
    except (Refused, NoAnswer) as problem:
        err.print(str(problem), markup=False, style="red")
        err.print(
            "The role Impact Reporter on the subscription is needed, the resource provider Microsoft.Impact, and for"
            " categories Resource.Hpc.* that Azure has admitted the subscription to Guest Health Reporting; without"
            " that, add --general.",
            markup=False,
        )
        raise typer.Exit(FAILED) from None
    err.print(f"sent as {name}" if sent else f"Azure has this report already: {name}", markup=False)
