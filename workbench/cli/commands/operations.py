"""Commands on a deployed stack: refresh, down, cancel."""

from __future__ import annotations

from typing import Annotated

import typer

from workbench.cli.console import err, out, print_json
from workbench.cli.exit_codes import FINDINGS
from workbench.cli.options import (
    DEFAULT_STACK,
    DEPLOYER_NAME,
    As,
    Assignments,
    ContinueOnError,
    Excludes,
    ExpectNoChanges,
    Files,
    Json,
    NoRecovery,
    Refresh,
    RunProgram,
    Stack,
    TargetDependents,
    Targets,
)
from workbench.cli.replaying import Replayed, end
from workbench.cli.run_options import run_options

Discard = Annotated[
    bool, typer.Option("--discard", help="Remove the simulation without a destroy: for a protected or broken stack.")
]


def refresh(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    expect_no_changes: ExpectNoChanges = False,
    target: Targets = None,
    target_dependents: TargetDependents = False,
    exclude: Excludes = None,
    run_program: RunProgram = False,
    as_: As = DEPLOYER_NAME,
    json: Json = False,
) -> None:
    """Read every resource of the simulated stack, and record in the state what differs from it.

    Nothing is changed in Azure or in the cluster. The next `up` changes resources back to what the program declares.
    """
    from simulator.errors import ChangesFound
    from workbench.cli.preview import change_list
    from workbench.cli.preview.read_back import significant_drift
    from workbench.cli.progress import Progress
    from workbench.cli.requested_stack import read_stack
    from workbench.cli.simulated_stack import simulation_of

    simulation = simulation_of(stack)
    options = run_options(
        as_,
        target,
        exclude,
        target_dependents=target_dependents,
        expect_no_changes=expect_no_changes,
        run_program=run_program,
    )
    given = read_stack(stack).input if run_program else None
    unexpected = False
    with Progress() as progress:
        try:
            simulation.refresh(progress, options, given)
        except ChangesFound:
            unexpected = bool(significant_drift(progress.run))
    if json:
        print_json({"stack": stack, "drift": change_list.drift(progress.run), "seconds": progress.seconds})
    else:
        out.print(change_list.render_drift(progress.run))
    if unexpected:
        raise typer.Exit(FINDINGS)


def down(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    discard: Discard = False,
    refresh: Refresh = False,
    target: Targets = None,
    target_dependents: TargetDependents = False,
    continue_on_error: ContinueOnError = False,
    run_program: RunProgram = False,
    file: Files = None,
    set_: Assignments = None,
    as_: As = DEPLOYER_NAME,
    no_recovery: NoRecovery = False,
    from_: Replayed = None,
    json: Json = False,
) -> None:
    """Destroy the simulated stack, and remove its processes and files.

    With --target, only these resources are destroyed, and the simulation keeps running. --file and --set are for
    --run-program.
    """
    from workbench.cli.preview.change_list import done
    from workbench.cli.progress import Progress
    from workbench.cli.requested_stack import read_stack
    from workbench.cli.simulated_stack import simulation_of

    if from_ is not None:
        end(from_, stack)
        return
    if (file or set_) and not run_program:
        raise typer.BadParameter("settings are read by the program, so add --run-program", param_hint="--set / --file")
    simulation = simulation_of(stack)
    options = run_options(
        as_,
        target,
        target_dependents=target_dependents,
        continue_on_error=continue_on_error,
        refresh=refresh,
        run_program=run_program,
        recover=not no_recovery,
    )
    given = read_stack(stack, file, set_).input if run_program else None
    existed = simulation.exists
    with Progress() as progress:
        if discard:
            simulation.discard()
        else:
            simulation.down(progress, options, given)
    changes = dict(progress.run.counts())
    if json:
        print_json({"stack": stack, "existed": existed, "changes": changes, "seconds": progress.seconds})
    elif not existed:
        err.print(f"{stack} is not simulated; nothing to do")
    else:
        seconds = sum(progress.seconds.values())
        err.print(f"[bold green]down[/] {'discarded' if discard else done(changes)} in {seconds:.0f} s")


def cancel(stack: Stack = DEFAULT_STACK, json: Json = False) -> None:
    """Stop a run on the simulated stack, or remove the lock of a killed run.

    A running operation stops as after Ctrl-C: the steps that it has started are completed and recorded. Without
    a run and a lock there is nothing to cancel, and the exit code is 1.
    """
    from workbench.cli.progress import Progress
    from workbench.cli.simulated_stack import simulation_of

    with Progress() as progress:
        done = simulation_of(stack).cancel(progress)
    if json:
        print_json({"stack": stack, "done": done})
    else:
        err.print(f"[bold green]cancel[/] {done}")
