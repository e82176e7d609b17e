"""Commands about the telemetry of a simulated stack: alerts, dashboards, and the faults that cause alerts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.console import doing, err, out, print_json
from workbench.cli.exit_codes import FAILED
from workbench.cli.groups import CommandGroup
from workbench.cli.options import DEFAULT_STACK, Json, Stack
from workbench.cli.recorded import From, opened

fault_app = typer.Typer(
    cls=CommandGroup, no_args_is_help=True, help="Inject faults into simulated GPU nodes, and heal them."
)

FaultName = Annotated[str, typer.Argument(metavar="FAULT", help="The fault, as `physai fault list` names it.")]
AnyFault = Annotated[str, typer.Argument(metavar="FAULT", help="The fault to heal; all if omitted.")]
Node = Annotated[str, typer.Option("--node", metavar="NAME", help="The node; by default one that can have the fault.")]
OfNode = Annotated[str, typer.Option("--node", metavar="NAME", help="Only on this node.")]
Gpu = Annotated[int, typer.Option("--gpu", metavar="NUMBER", help="The GPU of the node, from 0.")]
Output = Annotated[Path, typer.Option("--output", metavar="DIR", help="The folder for the pages.")]
Minutes = Annotated[int, typer.Option("--minutes", min=1, help="How many minutes of model time to draw.")]
InStack = Annotated[str, typer.Option("--stack", help="The simulated stack.")]


def alerts(stack: Stack = DEFAULT_STACK, from_: From = None, json: Json = False) -> None:
    """List the alerts of the simulated stack: severity, what to do, runbook, and the simulated time since the fault.

    `physai up --telemetry` starts the Prometheus and the Alertmanager that this command reads.
    """
    from physical_ai.settings import load
    from workbench.cli.alert_findings import with_findings
    from workbench.cli.cluster_gates import simulated_cluster
    from workbench.cli.output.alerts import render
    from workbench.cli.prometheus import PrometheusFailed
    from workbench.cli.simulated_stack import running_simulation
    from workbench.cli.simulated_telemetry import alert_documents

    if from_ is not None:
        recorded = opened(from_, stack)
        stack = recorded.stack
        try:
            found, unread = with_findings(
                recorded.alert_documents(), stack, lambda: recorded.target(recorded.loaded()), recorded.now
            )
        except PrometheusFailed as problem:
            err.print(str(problem), markup=False, style="red", soft_wrap=True)
            raise typer.Exit(FAILED) from None
    else:
        with doing(f"reading the alerts of {stack}"):
            documents = alert_documents(running_simulation(stack))
            found, unread = with_findings(documents, stack, lambda: simulated_cluster(stack, load(stack).settings))
    if json:
        print_json({"stack": stack, "alerts": found, "unread": list(unread)})
        return
    out.print(render(found))
    for each in unread:
        err.print(f"not read: {each}", markup=False, style="yellow", soft_wrap=True)


def dashboards(
    stack: Stack = DEFAULT_STACK, output: Output = Path("dashboards"), minutes: Minutes = 60, json: Json = False
) -> None:
    """Draw the stack's dashboards, from its simulated Prometheus, as pages for a browser, in light and dark."""
    from physical_ai.settings import load
    from physical_ai.settings.facts.telemetry import rule_parameters
    from physical_ai.telemetry.dashboards.of_stack import of_stack
    from simulator.metrics.reading import Reader
    from workbench.cli.dashboard_pages import draw
    from workbench.cli.simulated_stack import running_simulation

    telemetry = running_simulation(stack).telemetry
    shown = of_stack(rule_parameters(load(stack).settings))
    drawn = draw(shown, Reader(telemetry), telemetry.clock(), output, minutes)
    if json:
        documents = [{"page": str(each.file), "panelsWithoutData": list(each.empty)} for each in drawn]
        print_json({"stack": stack, "dashboards": documents})
        return
    for each in drawn:
        missing = f"; no data: {', '.join(each.empty)}" if each.empty else ""
        out.print(f"{each.file}{missing}", soft_wrap=True)


@fault_app.command("list")
def list_(json: Json = False) -> None:
    """List the faults: what happens, on which nodes, and which alerts and conditions follow."""
    from simulator.faults import faults
    from workbench.cli.output.alerts import table
    from workbench.cli.simulated_telemetry import fault_row

    rows = [fault_row(each) for each in faults().values()]
    if json:
        print_json({"faults": rows})
    else:
        columns = {
            "fault": "fault",
            "of a": "where",
            "driver": "drivers",
            "needs": "needs",
            "what happens": "summary",
            "alerts": "alerts",
            "conditions": "conditions",
        }
        out.print(table(rows, columns))


@fault_app.command()
def inject(fault: FaultName, node: Node = "", gpu: Gpu = 0, stack: InStack = DEFAULT_STACK, json: Json = False) -> None:
    """Inject a fault into a GPU node of the simulated stack. It remains until it is healed."""
    from workbench.cli.output.alerts import injected_text
    from workbench.cli.simulated_telemetry import fault_document, injector

    _check_name(fault)
    document = fault_document(*injector(stack).inject(fault, node, gpu)[:2])
    if json:
        print_json({"stack": stack, **document})
    else:
        out.print(injected_text(document))


@fault_app.command()
def heal(fault: AnyFault = "", node: OfNode = "", stack: InStack = DEFAULT_STACK, json: Json = False) -> None:
    """Heal faults: the node then works as after a repair, and its device plugin is started again.

    A GPU whose fault does not end with the job counts as reset or replaced. Then the Pod of the node's DCGM
    exporter also starts again, as after a restart of the machine, and DCGM reports no earlier Xid.
    """
    from workbench.cli.output.alerts import healed_text
    from workbench.cli.simulated_telemetry import healed_document, injector

    if fault:
        _check_name(fault)
    documents = [healed_document(*each[:2]) for each in injector(stack).heal(fault, node)]
    if json:
        print_json({"stack": stack, "healed": documents})
    else:
        out.print(healed_text(documents))


@fault_app.command("status")
def fault_status(stack: InStack = DEFAULT_STACK, json: Json = False) -> None:
    """List the faults that nodes of the simulated stack have."""
    from workbench.cli.output.alerts import NO_FAULTS, table
    from workbench.cli.simulated_telemetry import fault_documents

    documents = fault_documents(stack)
    if json:
        print_json({"stack": stack, "faults": documents})
    else:
        columns = {"fault": "fault", "node": "node", "GPU": "gpu", "what happened": "summary", "alerts": "alerts"}
        out.print(table(documents, columns) if documents else NO_FAULTS)


def _check_name(fault: str) -> None:
    """Raises typer.BadParameter for an unknown fault. It is called before the command looks for a cluster."""
    from simulator.faults import UnknownFault
    from simulator.faults import fault as known

    try:
        known(fault)
    except UnknownFault as problem:
        raise typer.BadParameter(str(problem), param_hint="FAULT") from None
