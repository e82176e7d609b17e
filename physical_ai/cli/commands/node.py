"""The commands of one node: `node replace`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from physical_ai.cli.console import err, print_json, print_text
from physical_ai.cli.exit_codes import BAD_INPUT, FAILED
from physical_ai.cli.groups import CommandGroup
from physical_ai.cli.options import DEFAULT_STACK, Context, Json, Kubeconfig, Prometheus, Stack

if TYPE_CHECKING:
    from physical_ai.health.replacement.record import Record
    from physical_ai.health.replacement.steps import World

app = typer.Typer(
    cls=CommandGroup, no_args_is_help=True, help="Repair a GPU node: evidence, drain, machine, acceptance."
)

Node = Annotated[str, typer.Argument(metavar="NODE", help="The GPU node.")]
Deadline = Annotated[
    str, typer.Option("--deadline", metavar="TIME", help="How long to wait for running work, such as 90m or 2h.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the steps without performing them.")]
Reboot = Annotated[
    bool | None,
    typer.Option("--reboot/--replace", help="Restart the machine, or delete it; by default as its Xids advise."),
]
Report = Annotated[bool, typer.Option("--report/--no-report", help="Send the report to Azure as a step.")]
Cancel = Annotated[bool, typer.Option("--cancel", help="Cancel the node's repair, and uncordon the node if possible.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not prompt for confirmation.")]
TIME = re.compile(r"(\d+)([mhd])")
UNITS = {"m": 60, "h": 3600, "d": 86400}


@app.command()
def replace(  # noqa: PLR0917 - each is an option
    node: Node,
    stack: Stack = DEFAULT_STACK,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    prometheus: Prometheus = None,
    deadline: Deadline = "2h",
    dry_run: DryRun = False,
    reboot: Reboot = None,
    report: Report = True,
    cancel: Cancel = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Replace a GPU node: evidence, cordon, drain, report, delete its machine, await the new one, accept it, uncordon.

    Running work is not interrupted: the drain waits, up to --deadline. Run the same command again to resume.
    """
    from physical_ai.health.arm import NoAnswer, Refused
    from physical_ai.health.replacement.run import unfinished
    from physical_ai.health.replacement.steps import Stopped
    from physical_ai.readiness import Unreachable, Unusable

    wait = _duration(deadline)
    try:
        world = _world(stack, kubeconfig, context, prometheus, report=report)
        record = unfinished(world.cluster, node)
        if cancel:
            document = _canceled(record, world, node)
        elif dry_run:
            document = _planned(record, world, (node, wait, reboot))
        else:
            document = _repaired(record, world, (node, wait, reboot, yes))
    except Stopped as end:
        err.print(str(end), markup=False, style="red")
        raise typer.Exit(FAILED) from None
    except (Unreachable, Unusable, NoAnswer, Refused) as problem:
        err.print(f"{problem}\nRun the same command again to resume.", markup=False, style="red")
        raise typer.Exit(FAILED) from None
    if json:
        print_json({"stack": stack, **document})


def _duration(text: str) -> timedelta:
    found = TIME.fullmatch(text)
    if found is None:
        raise typer.BadParameter("write minutes, hours or days, such as 90m, 2h or 1d", param_hint="--deadline")
    return timedelta(seconds=int(found[1]) * UNITS[found[2]])


def _world(stack: str, kubeconfig: Any, context: str | None, prometheus: str | None, *, report: bool) -> World:
    from physical_ai.cli.azure_access import azure_arm
    from physical_ai.cli.cluster_gates import changing_access
    from physical_ai.cli.node_evidence import closed_gates
    from physical_ai.cli.prometheus_signs import read_signals
    from physical_ai.health.evidence.markdown import document
    from physical_ai.health.evidence.read import read_node_evidence
    from physical_ai.health.evidence.report import NotReportable, body, send, subscription_of
    from physical_ai.health.replacement.cluster import RepairCluster
    from physical_ai.health.replacement.machines import Machines
    from physical_ai.health.replacement.steps import World
    from physical_ai.readiness import expected_pools
    from physical_ai.settings import load
    from physical_ai.settings.facts.naming import Names

    settings = load(stack).settings
    _, access = changing_access(stack, kubeconfig, settings, context)
    cluster, arm = RepairCluster(access), azure_arm(stack, real=kubeconfig is not None)

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        return access("GET", path, parameters)

    def gather(wanted: str) -> Mapping[str, Any]:
        gates, refused = closed_gates(get, expected_pools(settings))
        signals = read_signals(stack, kubeconfig, prometheus)
        unread = (*signals.unread, *refused)
        evidence = read_node_evidence(get, wanted, *signals.of(wanted), gates=gates, stack=stack, unread=unread)
        try:
            prepared = body(evidence)
        except NotReportable as problem:
            return {**document(evidence), "report": None, "reportProblem": str(problem)}
        return {**document(evidence), "report": prepared}

    def send_report(record: Record, evidence: Mapping[str, Any]) -> str:
        if not evidence.get("report") or evidence.get("advice") == "none":
            err.print(f"report: none is sent: {evidence.get('reportProblem') or 'no fault of the machine is known'}")
            return ""
        name = f"physai-{record.name}"[:90]
        send(arm, subscription_of(record.provider_id), name, evidence["report"])
        return name

    def accept(wanted: str) -> str:
        return _accept(access, settings, wanted)

    subscription = _subscription(get)
    names = Names(settings.stack)
    group = f"/subscriptions/{subscription}/resourceGroups/{names.resource_group}"
    return World(
        cluster=cluster,
        machines=Machines(arm, f"{group}/providers/Microsoft.ContainerService/managedClusters/{names.cluster}"),
        expected={each.pool: each.resources for each in expected_pools(settings)},
        gather=gather,
        report=send_report if report else None,
        accept=accept,
        now=lambda: datetime.now(UTC),
    )


def _subscription(get: Callable[[str, Mapping[str, str]], Any]) -> str:
    """The subscription of the cluster, from the provider id of any of its nodes."""
    from physical_ai.health.evidence.report import subscription_of
    from physical_ai.kubernetes.objects import at

    nodes = get("/api/v1/nodes", {})["items"]
    return next(filter(None, (subscription_of(str(at(each, "spec.providerID", ""))) for each in nodes)), "")


def _accept(access: Any, settings: Any, wanted: str) -> str:
    """Why a node does not pass the level quick; empty where it does."""
    from physical_ai.health.acceptance.choosing import NoNodes, choose
    from physical_ai.health.acceptance.jobs import Stopped
    from physical_ai.health.acceptance.running import Acceptance

    def progress(node: str, check: str, doing: str) -> None:
        err.print(f"{node} {check}: {doing}", markup=False, style="dim")

    try:
        targets = choose(
            access("GET", "/api/v1/nodes", {})["items"], list(settings.pools), pool=None, node=wanted, new=False
        )
        (result,) = Acceptance(access, settings, "quick", progress).run(targets)
    except (NoNodes, Stopped) as problem:
        return str(problem) or "the acceptance was interrupted"
    bad = [f"{each.check}: {each.message}" for each in result.checks if each.verdict not in ("passed", "skipped")]
    return "" if result.passed else "; ".join(bad) or "no check ran"


def _repaired(record: Record | None, world: World, wanted: tuple[str, timedelta, bool | None, bool]) -> dict[str, Any]:
    """Goes on with a repair, or begins one."""
    from physical_ai.health.replacement.record import document
    from physical_ai.health.replacement.run import repair

    node, wait, reboot, yes = wanted
    if record is None:
        record = _new(world, node, wait, reboot)
        err.print("\n".join(_plan(record, world, "would")), markup=False)
        reported = " and report it to Azure" if world.report else ""
        question = f"{record.reason} {record.action.capitalize()} {node} of pool {record.pool}{reported}?"
        if not yes and not typer.confirm(question, default=False, err=True):
            raise typer.Abort
        record = world.cluster.begin(record)
    else:
        err.print(f"continuing the repair of {record.node} at the step {record.step}", markup=False)
        record = _extended(record, world, wait)
    ended = repair(record, world, lambda line: err.print(line, markup=False, style="dim"), time.sleep)
    err.print(ended.outcome, markup=False, style="green")
    return document(ended)


def _extended(record: Record, world: World, wait: timedelta) -> Record:
    """The drain's time begins anew with each run."""
    from dataclasses import replace as changed

    record = changed(record, deadline=world.now() + wait)
    world.cluster.save(record)
    return record


def _new(world: World, node: str, wait: timedelta, reboot: bool | None) -> Record:
    """A repair that may begin, with the action that the node's evidence advises. Ends the command for no such node."""
    from physical_ai.cli.node_evidence import no_fault
    from physical_ai.health.replacement.run import action_of, new_record

    found = world.cluster.node(node)
    if found is None:
        past = [each for each in world.cluster.records() if node in (each.node, each.new_node)]
        hint = f" Its repair has ended: {past[-1].outcome}." if past else ""
        err.print(f"the cluster has no node {node}.{hint}", markup=False, style="red")
        raise typer.Exit(BAD_INPUT)
    known = world.gather(node)
    advice, causes = str(known["advice"]), [each for each in known["findings"] if each["remedy"]]
    if causes:
        because = f"{causes[0]['cause']}: {causes[0]['reason'].rstrip('.')}; the advice is {advice}."
        return new_record(found, action_of(advice, reboot=reboot), because, world, wait)
    if reboot is None:
        no_fault(node, known["findings"], known["unread"])
    because = "requested; nothing that is known of the machine speaks for a restart or another machine."
    return new_record(found, action_of(advice, reboot=reboot), because, world, wait)


def _planned(record: Record | None, world: World, wanted: tuple[str, timedelta, bool | None]) -> dict[str, Any]:
    """What would be done; nothing is written."""
    from physical_ai.health.replacement.drain import load_of
    from physical_ai.health.replacement.record import document

    node, wait, reboot = wanted
    begun = record is not None
    record = record or _new(world, node, wait, reboot)
    load = load_of(world.cluster.pods(record.node))
    print_text("\n".join(_plan(record, world, "would continue with" if begun else "would")) + "\n")
    return {
        **document(record),
        "dryRun": True,
        "evicted": [list(each) for each in load.evicted],
        "awaited": [list(each) for each in load.awaited],
    }


def _plan(record: Record, world: World, doing: str) -> list[str]:
    """The remaining steps, as text."""
    from physical_ai.health.replacement.drain import load_of
    from physical_ai.health.replacement.record import Step

    load = load_of(world.cluster.pods(record.node))
    lines = [f"{doing} {record.action} {record.node}: {record.reason}"]
    for step in list(Step)[list(Step).index(record.step) : -1]:
        lines.append(f"  {step}: {_meaning(step, record, world)}")
        if step is Step.DRAIN:
            lines += [f"    evict {namespace}/{pod}" for namespace, pod in load.evicted]
            lines += [f"    wait for {namespace}/{pod}: {reason}" for namespace, pod, reason in load.awaited]
    return lines


def _meaning(step: str, record: Record, world: World) -> str:
    removed = "restart the machine" if record.action == "reboot" else "delete the machine through AKS"
    count = "nothing, for a restart" if record.action == "reboot" else "bring the pool back to its count or minimum"
    reported = "send the report to Azure, if a fault of the machine is known" if world.report else "nothing is sent"
    meanings = {
        "evidence": "save the evidence about the node in the cluster",
        "cordon": "no new Pods",
        "drain": f"evict Pods that can start elsewhere, wait for the others until {record.deadline:%Y-%m-%d %H:%M} UTC",
        "report": reported,
        "remove": removed,
        "restore": count,
        "await": "wait for the node with its GPUs, cordoned",
        "accept": "the level quick of acceptance",
        "uncordon": "the node takes work",
    }
    return meanings[step]


def _canceled(record: Record | None, world: World, node: str) -> dict[str, Any]:
    from physical_ai.health.replacement.record import document
    from physical_ai.health.replacement.run import cancel

    if record is None:
        err.print(f"{node} is not in repair", markup=False, style="red")
        raise typer.Exit(BAD_INPUT)
    ended = cancel(record, world)
    err.print(ended.outcome, markup=False)
    return document(ended)
