"""The commands about one node: `node replace`."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.acceptance_levels import LEVELS, AcceptanceLevel
from workbench.cli.console import err, print_json, print_text
from workbench.cli.exit_codes import BAD_INPUT, FAILED
from workbench.cli.groups import CommandGroup
from workbench.cli.options import DEFAULT_STACK, Assignments, Context, Files, Json, Kubeconfig, Prometheus, Stack

if TYPE_CHECKING:
    from workbench.health.replacement.record import Record
    from workbench.health.replacement.world import World

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
    typer.Option("--reboot/--replace", help="Restart the machine, or delete it; by default as its faults advise."),
]
Level = Annotated[
    AcceptanceLevel | None,
    typer.Option("--level", help="Level of acceptance before the node takes work; at least what its fault asks for."),
]
Report = Annotated[bool, typer.Option("--report/--no-report", help="Send the report to Azure as a step.")]
Cancel = Annotated[bool, typer.Option("--cancel", help="Cancel the node's repair, and uncordon the node if possible.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not prompt for confirmation.")]
TIME = re.compile(r"(\d{1,6})([mhd])")
UNITS = {"m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Wanted:
    """Options of `node replace` that describe the wanted repair."""

    node: str
    wait: timedelta
    reboot: bool | None
    level: AcceptanceLevel | None
    yes: bool = False


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
    level: Level = None,
    report: Report = True,
    cancel: Cancel = False,
    yes: Yes = False,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Repair a GPU node: evidence, cordon, drain, report, restart or replace its machine, accept it, uncordon.

    Running work is not interrupted: the drain waits, up to --deadline. Run the same command again to resume. If the
    machine is not Azure's, the command waits until you have restarted it.
    """
    from physical_ai.readiness import Unreachable, Unusable
    from workbench.health.arm import NoAnswer, Refused
    from workbench.health.replacement.record import Unreadable
    from workbench.health.replacement.run import unfinished
    from workbench.health.replacement.world import Stopped

    wanted = Wanted(node, _duration(deadline), reboot, level, yes)
    try:
        world = _world(stack, (kubeconfig, context, prometheus), file, set_, report=report)
        record = unfinished(world.cluster, node)
        if cancel:
            document = _canceled(record, world, node)
        elif dry_run:
            document = _planned(record, world, wanted)
        else:
            document = _repaired(record, world, wanted)
    except (Stopped, Unreadable) as end:
        err.print(str(end), markup=False, style="red")
        if json:
            print_json({"stack": stack, "node": node, "stopped": str(end)})
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


def _world(
    stack: str,
    where: tuple[Path | None, str | None, str | None],
    files: Sequence[Path] | None,
    assignments: Sequence[str] | None,
    *,
    report: bool,
) -> World:
    from workbench.cli.cluster_gates import changing_access
    from workbench.cli.deployed_settings import deployed_settings, other_settings
    from workbench.cli.repair_world import RepairSources, repair_world

    kubeconfig, context, prometheus = where
    settings = deployed_settings(stack, kubeconfig, files, assignments)
    _, access = changing_access(stack, kubeconfig, settings, context)
    for line in other_settings(access("GET", "/api/v1/nodes", {})["items"], settings):
        err.print(line, markup=False, style="yellow")
    return repair_world(RepairSources(stack, settings, kubeconfig, prometheus, access), report=report)


def _repaired(record: Record | None, world: World, wanted: Wanted) -> dict[str, Any]:
    """Continues a repair, or begins a new one if `record` is None. Returns the record as data."""
    from workbench.health.replacement.record import document
    from workbench.health.replacement.run import begin, repair

    if record is None:
        record = _new(world, wanted)
        err.print("\n".join(_plan(record, world, "would")), markup=False)
        reported = " and report it to Azure" if world.report else ""
        question = f"{record.reason} {record.action.capitalize()} {record.node} of pool {record.pool}{reported}?"
        if not wanted.yes and not typer.confirm(question, default=False, err=True):
            raise typer.Abort
        record = begin(record, world)
    else:
        err.print(f"continuing the repair of {record.node} at the step {record.step}", markup=False)
        record = _extended(record, world, wanted)
    ended = repair(record, world, lambda line: err.print(line, markup=False, style="dim"), time.sleep)
    err.print(ended.outcome, markup=False, style="green")
    return document(ended)


def _extended(record: Record, world: World, wanted: Wanted) -> Record:
    """The record of a repair that is continued: with a new deadline for the drain and, if the user asks for it, a
    higher acceptance level.
    """
    from workbench.health.replacement.run import keep_record

    deadline = (world.now() + wanted.wait).replace(microsecond=0)
    record = changed(record, deadline=deadline, level=_level(record.level, wanted.level, "the repair began with"))
    keep_record(record, world)
    return record


def _level(least: AcceptanceLevel, wanted: AcceptanceLevel | None, why: str) -> AcceptanceLevel:
    """Acceptance level for the repaired node: `wanted`, or `least` if `wanted` is None. Ends the command if `wanted` is
    lower than `least`.
    """
    if wanted is None or LEVELS.index(wanted) >= LEVELS.index(least):
        return wanted or least
    raise typer.BadParameter(f"{why} the level {least}, which {wanted} is below", param_hint="--level")


def _new(world: World, wanted: Wanted) -> Record:
    """The record of a new repair, with the action that the node's evidence advises.

    Ends the command if the node needs no repair, or if none may begin now.
    """
    from physical_ai.readiness.objects import pool_of
    from workbench.cli.node_evidence import no_fault
    from workbench.health.replacement.run import action_of, new_record

    node, reboot = wanted.node, wanted.reboot
    found = world.cluster.node(node)
    if found is None:
        past = [each for each in world.cluster.records() if node in (each.node, each.new_node)]
        hint = f" Its repair has ended: {past[-1].outcome}." if past else ""
        err.print(f"the cluster has no node {node}.{hint}", markup=False, style="red")
        raise typer.Exit(BAD_INPUT)
    known = world.gather(node)
    advice, causes = str(known["advice"]), [each for each in known["findings"] if each["remedy"]]
    if not causes and reboot is None:
        no_fault(node, known["findings"], known["unread"])
    for each in known["unread"]:
        err.print(f"not read: {each}", markup=False, style="yellow")
    least = _proof(causes, known["unread"], world.least.get(pool_of(found), "quick"))
    level = _level(least, wanted.level, "what is known of the node asks for")
    because = "requested; nothing that is known of the machine speaks for a restart or another machine."
    if causes:
        because = f"{causes[0]['cause']}: {causes[0]['reason'].rstrip('.')}; the advice is {advice}."
    return new_record(found, action_of(advice, reboot=reboot), because, world, wanted.wait, level)


def _proof(causes: Sequence[Mapping[str, Any]], unread: Sequence[str], least: AcceptanceLevel) -> AcceptanceLevel:
    """Acceptance level that the repaired node must pass: the highest of `least` and the levels that the node's faults
    require. If no fault is known and some evidence could not be read, the level is `full`.
    """
    from physical_ai.readiness.nodes.raw import most

    proofs: list[AcceptanceLevel] = [each["proof"] for each in causes if each["proof"]]
    unknown: list[AcceptanceLevel] = ["full"] if unread and not causes else []
    return most([*proofs, *unknown, least]) or least


def _planned(record: Record | None, world: World, wanted: Wanted) -> dict[str, Any]:
    """Prints the plan of a repair, and returns it as data. Writes nothing."""
    from workbench.health.replacement.drain import load_of
    from workbench.health.replacement.record import document

    begun = record is not None
    record = record or _new(world, wanted)
    load = load_of(world.cluster.pods(record.node))
    print_text("\n".join(_plan(record, world, "would continue with" if begun else "would")) + "\n")
    return {
        **document(record),
        "dryRun": True,
        "evicted": [list(each) for each in load.evicted],
        "awaited": [list(each) for each in load.awaited],
    }


def _plan(record: Record, world: World, doing: str) -> list[str]:
    """Lines of text about the repair and its remaining steps."""
    from workbench.health.replacement.drain import load_of
    from workbench.health.replacement.record import RepairStep

    load = load_of(world.cluster.pods(record.node))
    lines = [f"{doing} {record.action} {record.node}: {record.reason}"]
    for step in list(RepairStep)[list(RepairStep).index(record.step) : -1]:
        lines.append(f"  {step}: {_meaning(step, record, world)}")
        if step is RepairStep.DRAIN:
            lines += [f"    evict {namespace}/{pod}" for namespace, pod in load.evicted]
            lines += [f"    wait for {namespace}/{pod}: {reason}" for namespace, pod, reason in load.awaited]
    return lines


def _meaning(step: str, record: Record, world: World) -> str:
    from workbench.health.replacement.machine_steps import is_by_hand

    until = f"{record.deadline:%Y-%m-%d %H:%M} UTC"
    if is_by_hand(record):
        removed, count = f"wait until you have restarted or exchanged the machine, until {until}", "nothing"
    elif record.action == "reboot":
        removed, count = "restart the machine", "nothing, for a restart"
    else:
        removed, count = "delete the machine through AKS", "bring the pool back to its count or minimum"
    reported = "send the report to Azure, if a fault of the machine is known" if world.report else "nothing is sent"
    meanings = {
        "evidence": "save the evidence about the node in the cluster",
        "cordon": "no new Pods",
        "drain": f"evict Pods that can start elsewhere, wait for the others until {until}",
        "report": reported,
        "remove": removed,
        "restore": count,
        "await": "wait for the node with its GPUs, cordoned",
        "accept": f"the level {record.level} of acceptance, on all GPUs of the node",
        "uncordon": "the node takes work, once no alert, condition or gate speaks against it",
    }
    return meanings[step]


def _canceled(record: Record | None, world: World, node: str) -> dict[str, Any]:
    from workbench.health.replacement.record import document
    from workbench.health.replacement.run import cancel

    if record is None:
        err.print(f"{node} is not in repair", markup=False, style="red")
        raise typer.Exit(BAD_INPUT)
    ended = cancel(record, world)
    err.print(ended.outcome, markup=False)
    return document(ended)
