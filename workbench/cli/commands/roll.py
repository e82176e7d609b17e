"""The `roll` command: a new driver or operand for the nodes of a pool, in place, one node at a time."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from workbench.cli.acceptance_levels import AcceptanceLevel
from workbench.cli.console import err, print_json
from workbench.cli.exit_codes import BAD_INPUT, DONE, FAILED, FINDINGS, INTERRUPTED
from workbench.cli.move_options import Level, check_names, seconds
from workbench.cli.options import Assignments, Context, Files, Json, Kubeconfig, Stack
from workbench.cli.roll_options import (
    Back,
    Budget,
    DryRun,
    MaxWait,
    PoolArgument,
    RestartServices,
    Retry,
    Status,
    Within,
    Yes,
)

if TYPE_CHECKING:
    from workbench.cli.rolls import Run, World
    from workbench.rolls.deciding import Step
    from workbench.rolls.planning import Plan

FAILING = ("left", "stopped")
"""Outcomes after which somebody has to do something."""


@dataclass(frozen=True)
class _Mode:
    within: str
    budget: float | None
    restart_services: bool
    level: AcceptanceLevel
    dry_run: bool
    yes: bool
    json: bool

    @property
    def limits(self) -> str:
        after = (
            "then it stops" if self.budget is None else f"then work ends that loses at most {self.budget:g} GPU-hours"
        )
        return f"work has {self.within} to end, {after}; proof: acceptance at level {self.level}"


def roll(  # noqa: PLR0917 - each is an option
    stack: Stack,
    pool: PoolArgument,
    within: Within = "3d",
    budget: Budget = None,
    max_wait: MaxWait = None,
    restart_services: RestartServices = False,
    level: Level = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    back: Back = False,
    retry: Retry = False,
    status: Status = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Give the nodes of a GPU pool another driver in place, one node at a time, and end no work.

    Run it before the deployment of the driver: the nodes then keep theirs until their turn. Run it again after the
    deployment: each node takes no new Pods, its work ends, it gets the driver, and acceptance proves it.
    """
    from physical_ai.readiness import Unreachable, Unusable
    from workbench.cli.state_folder import Busy, StateFolder, folder_of
    from workbench.health.acceptance.jobs import Stopped
    from workbench.moves.request import Refused

    check_names(stack, pool)
    if back and retry:
        raise typer.BadParameter("--retry goes on with the upgrade, and --back gives it up", param_hint="--back")
    mode = _Mode(within, budget, restart_services, level or "quick", dry_run, yes, json)
    command = f"physai roll {stack} {pool}{f' --kubeconfig {kubeconfig}' if kubeconfig else ''}"
    try:
        world = _world(stack, kubeconfig, context, (file, set_))
        run = _run(world, pool, mode, max_wait, back=back, retry=retry)
        if status:
            _show(run, as_json=json)
            return
        folder = StateFolder(folder_of("roll", f"{stack}-{pool}", simulated=world.simulated))
        with folder.held():
            code = _rolled(run, mode, command)
    except Refused as refused:
        for each in refused.problems:
            err.print(each, markup=False, style="red", soft_wrap=True)
        if json:
            print_json({"stack": stack, "pool": pool, "refused": list(refused.problems)})
        raise typer.Exit(BAD_INPUT) from None
    except Busy:
        err.print(f"another physai roll is at work on {pool} of {stack}; wait for it, or end it", style="red")
        raise typer.Exit(FAILED) from None
    except (Unreachable, Unusable) as problem:
        err.print(f"the cluster does not answer: {problem}\nto go on: {command}", markup=False, style="red")
        raise typer.Exit(FAILED) from None
    except (KeyboardInterrupt, Stopped):
        err.print(f"interrupted; to go on: {command}", markup=False)
        raise typer.Exit(INTERRUPTED) from None
    if code:
        raise typer.Exit(code)


def _world(
    stack: str,
    kubeconfig: Path | None,
    context: str | None,
    additions: tuple[list[Path] | None, list[str] | None],
) -> World:
    from workbench.cli.cluster_gates import changing_access
    from workbench.cli.deployed_settings import settings_of_simulation
    from workbench.cli.loaded_stack import read_loaded
    from workbench.cli.rolls import World

    wanted = read_loaded(stack, *additions)
    deployed = settings_of_simulation(stack) if kubeconfig is None else None
    settings = deployed.settings if deployed is not None else wanted.settings
    _, send = changing_access(stack, kubeconfig, settings, context)
    return World(send, settings, wanted, simulated=kubeconfig is None)


def _run(world: World, pool: str, mode: _Mode, max_wait: str | None, *, back: bool, retry: bool) -> Run:
    from workbench.cli.rolls import LEAST_MINUTES, Run
    from workbench.moves.progress import Limits
    from workbench.rolls.deciding import Patience
    from workbench.rolls.planning import check_pool

    check_pool(world.settings, pool)
    minutes = max(world.settings.gpu_operator.gate.timeout_minutes, LEAST_MINUTES)
    limits = Limits(seconds(mode.within, "--within") or 0, mode.budget, mode.restart_services)
    patience = Patience(limits, minutes * 60)
    return Run(world, pool, patience, mode.level, back, retry, seconds(max_wait, "--max-wait"))


def _show(run: Run, *, as_json: bool) -> None:
    from workbench.cli.output.roll import document, print_status

    view, stack = run.world.view(run.pool), str(run.world.settings.stack)
    if as_json:
        print_json(document(stack, run.pool, view, None))
    else:
        print_status(stack, run.pool, view)


def _rolled(run: Run, mode: _Mode, command: str) -> int:
    """Begins or continues an upgrade. Returns the exit code."""
    from workbench.cli.output.roll import Progress, document
    from workbench.cli.rolls import advance

    if not run.back and (code := _begun(run, mode)) is not None:
        return code
    step = advance(run, Progress().show)
    if mode.json:
        print_json(document(str(run.world.settings.stack), run.pool, run.world.view(run.pool), step))
    if hint := _hint(step, command, back=run.back):
        err.print(hint, markup=False, soft_wrap=True)
    return FINDINGS if step.outcome in FAILING else DONE


def _begun(run: Run, mode: _Mode) -> int | None:
    """Shows the plan, and asks. Returns the exit code if the command ends with the plan; None if it goes on."""
    from workbench.cli.output.roll import plan_document, print_plan
    from workbench.moves.request import Refused

    plan, stack = _plan(run, mode), str(run.world.settings.stack)
    if mode.dry_run and mode.json:
        print_json(plan_document(stack, run.pool, plan))
    elif not mode.json:
        print_plan(stack, run.pool, plan, mode.limits)
    if mode.dry_run:
        return FINDINGS if plan.problems else DONE
    is_new = not any(each.phase for each in plan.rows)
    if plan.problems and is_new:
        raise Refused(*plan.problems)
    if plan.has_nothing_to_do:
        fix = "change driver.version in the stack file, or name it with --set, and run this before the deployment"
        err.print(f"nothing to do: every node of {run.pool} has the driver of the stack's files; {fix}", markup=False)
        if mode.json:
            print_json(plan_document(stack, run.pool, plan))
        return DONE
    if is_new and not mode.yes and not _confirmed(f"begin with {run.pool}?"):
        raise typer.Abort
    return None


def _plan(run: Run, mode: _Mode) -> Plan:
    from workbench.rolls.planning import plan_of

    view, world = run.world.view(run.pool), run.world
    return plan_of(view, world.settings, run.pool, world.changes(run.pool), restart_services=mode.restart_services)


def _confirmed(question: str) -> bool:
    """Asks a question, and returns True if the user agrees. Raises typer.BadParameter if there is no terminal."""
    if not sys.stdin.isatty():
        raise typer.BadParameter("there is no terminal for questions; --yes answers them", param_hint="--yes")
    return typer.confirm(question, default=False, err=True)


def _hint(step: Step, command: str, *, back: bool) -> str:
    """Text on what to do next; empty if there is nothing."""
    match step.outcome:
        case "held":
            return f"deploy the new driver, then run: {command}; the way back: {command} --back"
        case "waiting":
            return f"to go on: {command}{' --back' if back else ''}"
        case "stopped" if not back:
            return (
                f"to go on: {command}, with a longer --within, a --budget, or --retry; the way back: {command} --back"
            )
        case "left":
            return f"then run again: {command}"
        case _:
            return ""
