"""The `move` command: another VM size, disk, zone, node image or driver for a pool, without losing work."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from workbench.cli.acceptance_levels import AcceptanceLevel
from workbench.cli.console import err, out, print_json
from workbench.cli.exit_codes import BAD_INPUT, DONE, FAILED, FINDINGS, INTERRUPTED
from workbench.cli.move_options import (
    AcceptChanges,
    Back,
    Budget,
    Deployed,
    DryRun,
    Forward,
    Level,
    MaxWait,
    Name,
    PoolArgument,
    RestartServices,
    Simulated,
    Status,
    To,
    Within,
    Yes,
    check_names,
    seconds,
    words_of,
)
from workbench.cli.options import Assignments, Context, Files, Json, Kubeconfig, Stack

if TYPE_CHECKING:
    from workbench.cli.moves import Folder, Run, World
    from workbench.moves.progress import Progress

DAYS = 3
"""Days that old work may take if the command line says nothing: the longest time of a workflow (osmo.timeouts)."""


@dataclass(frozen=True)
class Wanted:
    """Options that describe the wanted move."""

    pool: str
    to: dict[str, str]
    name: str | None
    within: float | None
    budget: float | None
    restart_services: bool | None
    level: AcceptanceLevel | None


def move(  # noqa: PLR0917 - each is an option
    stack: Stack,
    pool: PoolArgument,
    to: To = None,
    name: Name = None,
    within: Within = None,
    budget: Budget = None,
    max_wait: MaxWait = None,
    restart_services: RestartServices = None,
    level: Level = None,
    simulated: Simulated = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    back: Back = False,
    forward: Forward = False,
    status: Status = False,
    dry_run: DryRun = False,
    deployed: Deployed = False,
    accept_changes: AcceptChanges = False,
    yes: Yes = False,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Move a GPU pool's work to a second pool with other settings, stage by stage, and lose none of it.

    Each change is a change of the stack file, for review: the command writes it, and goes on after its deployment. With
    --simulated it deploys to the simulator. The same command continues; --back returns.
    """
    from physical_ai.readiness import Unreachable, Unusable
    from workbench.cli.moves import Folder
    from workbench.cli.state_folder import Busy
    from workbench.moves.progress import Unreadable
    from workbench.moves.request import Refused, requested

    check_names(stack, pool)
    folder = Folder.of(f"{stack}-{pool}", simulated=simulated)
    command = f"physai move {stack} {pool}{' --simulated' if simulated else ''}{' --back' if back else ''}"
    try:
        wanted = Wanted(pool, requested(to or ()), name, seconds(within, "--within"), budget, restart_services, level)
        world = _world(stack, folder, kubeconfig, context, words_of(file, set_), simulated=simulated)
        if status:
            _show(world, pool, as_json=json)
            return
        with folder.held():
            code = _moved(
                world,
                wanted,
                _Mode(back, forward, dry_run, accept_changes, yes, json, command),
                _run(world, max_wait, deployed=deployed),
            )
    except Refused as refused:
        for each in refused.problems:
            err.print(each, markup=False, style="red", soft_wrap=True)
        if json:
            print_json({"stack": stack, "pool": pool, "refused": list(refused.problems)})
        raise typer.Exit(BAD_INPUT) from None
    except Unreadable as problem:
        fix = f"Remove {folder.state}, to begin again; what was created stays, and cordoned nodes stay cordoned."
        err.print(f"{folder.state}: {problem}\n  {fix}", markup=False, style="red", soft_wrap=True)
        raise typer.Exit(BAD_INPUT) from None
    except Busy:
        err.print(
            f"another physai move is at work on {pool} of {stack}; wait for it, or end it", style="red", markup=False
        )
        raise typer.Exit(FAILED) from None
    except (Unreachable, Unusable) as problem:
        err.print(f"the cluster cannot be read: {problem}\nto go on: {command}", markup=False, style="red")
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        err.print(f"interrupted; to go on: {command}", markup=False)
        raise typer.Exit(INTERRUPTED) from None
    if code:
        raise typer.Exit(code)


@dataclass(frozen=True)
class _Mode:
    back: bool
    forward: bool
    dry_run: bool
    accept_changes: bool
    yes: bool
    json: bool
    command: str


def _world(
    stack: str,
    folder: Folder,
    kubeconfig: Path | None,
    context: str | None,
    extra: tuple[str, ...],
    *,
    simulated: bool,
) -> World:
    from workbench.cli.moves import World

    if simulated and kubeconfig is not None:
        raise typer.BadParameter("--simulated uses the simulated cluster", param_hint="--kubeconfig")
    if not simulated and extra:
        raise typer.BadParameter("a move changes the stack file; -f and --set are for --simulated", param_hint="--set")
    return World(stack, simulated, folder, kubeconfig, context, extra)


def _run(world: World, max_wait: str | None, *, deployed: bool) -> Run:
    from workbench.cli.moves import Run

    return Run(world, seconds(max_wait, "--max-wait"), deployed)


def _show(world: World, pool: str, *, as_json: bool) -> None:
    from workbench.cli.output.move import document, print_status

    read = (world.stack, pool)
    found = world.folder.read(*read, simulated=world.simulated) or world.folder.last(*read, simulated=world.simulated)
    if as_json:
        print_json(document(found) if found else {"stack": world.stack, "pool": pool, "stage": None, "stages": []})
    elif found is None:
        out.print(f"no move of {pool} of {world.stack} has begun", markup=False)
    else:
        print_status(found)


def _moved(world: World, wanted: Wanted, mode: _Mode, run: Run) -> int:
    """Begins or continues a move. Returns the exit code."""
    from workbench.cli.move_run import advance
    from workbench.cli.output.move import document, print_end, print_stage
    from workbench.moves.request import Refused

    progress = world.folder.read(world.stack, wanted.pool, simulated=world.simulated)
    if progress is None:
        if mode.back:
            raise Refused(f"no move of {wanted.pool} of {world.stack} is under way")
        begun = _begun(world, wanted, mode)
        if isinstance(begun, int):
            return begun
        progress = begun
    else:
        progress = _continued(progress, wanted, mode)
    run = replace(run, world=replace(world, extra=progress.extra))
    if not _is_unchanged(run.world, progress):
        progress = _accepted(run.world, progress, mode)
    if mode.back and progress.written == "original":
        world.folder.close(progress)
        err.print("nothing was changed yet; the move is given up", markup=False, style="green")
        return DONE
    begun = progress
    progress = advance(run, progress, lambda stage: print_stage(stage, begun))
    if mode.json:
        print_json(document(progress))
    print_end(progress, mode.command)
    at = progress.following()
    failed = at is not None and at.name in progress.entries and progress.entries[at.name].outcome == "failed"
    return FINDINGS if failed else DONE


def _begun(world: World, wanted: Wanted, mode: _Mode) -> Progress | int:
    """The progress of a new move, after its plan. The exit code if only the plan is shown."""
    from workbench.cli.move_plan import make_plan
    from workbench.cli.output.move import plan_document, print_plan
    from workbench.moves.planning import Wish
    from workbench.moves.progress import Limits, Progress
    from workbench.moves.request import Refused

    if not wanted.to:
        raise Refused(
            f"name what the new pool has instead of {wanted.pool}'s settings, like --to sku=… or --to nodeImage=newest"
        )
    limits = Limits(wanted.within or DAYS * 86400, wanted.budget, bool(wanted.restart_services))
    plan = make_plan(world, Wish(wanted.pool, wanted.to, wanted.name), limits)
    if mode.dry_run and mode.json:
        print_json(plan_document(plan))
    elif not mode.json:
        print_plan(plan)
    if mode.dry_run:
        return FINDINGS if plan.problems else DONE
    if plan.problems:
        raise Refused(*plan.problems)
    if not mode.yes and not _confirmed(f"begin the move of {wanted.pool}?"):
        raise typer.Abort
    level = wanted.level or "quick"
    progress = Progress(plan.move, world.simulated, limits, plan.own, world.extra, level)
    world.folder.save(progress)
    return progress


def _confirmed(question: str) -> bool:
    """Asks a question, and returns True if the user agrees. Raises typer.BadParameter if there is no terminal."""
    if not sys.stdin.isatty():
        raise typer.BadParameter("there is no terminal for questions; --yes answers them", param_hint="--yes")
    return typer.confirm(question, default=False, err=True)


def _continued(progress: Progress, wanted: Wanted, mode: _Mode) -> Progress:
    """The progress of a move that is continued, with the limits that the command line names."""
    from workbench.moves.progress import same_request
    from workbench.moves.request import Refused

    if problem := same_request(progress, wanted.to, wanted.name):
        raise Refused(f"{problem}. Continue it without --to, or end it with --back")
    limits = progress.limits
    if wanted.within is not None:
        limits = replace(limits, within=wanted.within)
    if wanted.budget is not None:
        limits = replace(limits, budget=wanted.budget)
    if wanted.restart_services is not None:
        limits = replace(limits, restart_services=wanted.restart_services)
    progress = replace(progress, limits=limits, level=wanted.level or progress.level)
    if mode.back:
        return progress.turned()
    if progress.back and not mode.forward:
        raise Refused("this move is on its way back: go on with --back, or turn round with --forward")
    return progress.forward() if progress.back else progress


def _is_unchanged(world: World, progress: Progress) -> bool:
    """True if the stack's files have the settings of some stage of the move, and no other change of the two pools."""
    from workbench.cli.move_plan import STATES
    from workbench.moves.planning import other_change

    loaded = world.loaded()
    return any(not other_change(loaded, progress.move, state, progress.cap) for state in STATES)


def _accepted(world: World, progress: Progress, mode: _Mode) -> Progress:
    """The progress of a move whose old pool somebody has changed meanwhile, if the user accepts the change."""
    from workbench.moves.planning import other_change
    from workbench.moves.request import Refused

    state = "original" if progress.simulated else progress.written
    loaded = world.loaded()
    found = other_change(loaded, progress.move, state, progress.cap)
    if not mode.accept_changes:
        fix = "Undo it, or go on with --accept-changes, which leaves the new pool as planned; --back goes back with it"
        raise Refused(*found, fix)
    pools: dict[str, Any] = loaded.merged.data.get("pools") or {}
    before = pools.get(progress.move.old) or progress.move.before
    return replace(progress, move=replace(progress.move, before=before))
