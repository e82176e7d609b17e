"""The `first` command: the first contact of a stack with a real subscription, in stages that can be stopped."""

from __future__ import annotations

import datetime
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from workbench.cli.console import err, print_json
from workbench.cli.exit_codes import BAD_INPUT, FAILED, FINDINGS, INTERRUPTED
from workbench.cli.options import DEFAULT_STACK, Json, Stack

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from workbench.cli.first_contact import Figures, Folder
    from workbench.first_contact.judging import Answer
    from workbench.first_contact.progress import Progress
    from workbench.first_contact.stages import Stage as FirstStage
    from workbench.first_contact.stages import Subject

Simulated = Annotated[
    bool, typer.Option("--simulated", help="Rehearse it in the simulator: the stages that only Azure has are left out.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show every stage, and run nothing.")]
From = Annotated[str | None, typer.Option("--from", metavar="STAGE", help="Go back to this stage, and run it again.")]
Until = Annotated[str | None, typer.Option("--until", metavar="STAGE", help="Stop after this stage.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a stage that creates or runs something.")]
Ending = Literal["passed", "failed", "declined"]


def first(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    simulated: Simulated = False,
    dry_run: DryRun = False,
    from_: From = None,
    until: Until = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Bring a stack to a real subscription for the first time, stage by stage, from the login to a finished workflow.

    Before each stage it says what the stage does, with which command, how long it takes, what it costs and the way
    back. It stops at the first failure; the same command goes on there. State and evidence are in the user's folder.
    """
    from workbench.cli.first_contact import Folder, figures
    from workbench.cli.first_contact import subject as subject_of
    from workbench.cli.output.first import document, print_end, print_stage
    from workbench.cli.requested_stack import read_stack
    from workbench.cli.state_folder import Busy
    from workbench.first_contact.progress import Unreadable, following
    from workbench.first_contact.stages import stages

    requested, every = read_stack(stack), stages()
    settings = requested.loaded.settings
    _refuse_existing(stack, settings)
    for option, name in (("--from", from_), ("--until", until)):
        if name is not None and name not in {each.name for each in every}:
            known = ", ".join(each.name for each in every)
            raise typer.BadParameter(f"there is no stage '{name}'. Stages: {known}", param_hint=option)
    folder = Folder.of(stack, simulated=simulated)
    subject = subject_of(settings, folder, simulated=simulated)
    try:
        progress = _progress(folder, settings, simulated=simulated, back=from_)
        priced = figures(requested)
        if json:
            print_json(document(progress, every, subject, priced))
            return
        if dry_run:
            for number, each in enumerate(every, start=1):
                print_stage(number, each, subject, priced)
            return
        with folder.held():
            ending, progress = _run_all(progress, subject, folder, priced, (from_, until, yes))
    except Unreadable as problem:
        fix = f"Remove {folder.state}, to begin again; what was created stays, and the stages find it."
        err.print(f"{folder.state}: {problem}\n  {fix}", markup=False, style="red", soft_wrap=True)
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        err.print(f"interrupted; to go on: physai first {stack}{' --simulated' if simulated else ''}", markup=False)
        raise typer.Exit(INTERRUPTED) from None
    except Busy:
        err.print(f"another physai first is at work on {stack}; wait for it, or end it", style="red", markup=False)
        raise typer.Exit(FAILED) from None
    print_end(progress, subject, following(progress, every))
    if ending == "declined":
        err.print("answered with no: nothing of this stage was run", style="yellow")
        raise typer.Exit(FAILED)
    if ending == "failed":
        raise typer.Exit(FINDINGS)


def _refuse_existing(stack: str, settings: Settings) -> None:
    from physical_ai.settings.facts.created import creates_cluster

    if settings.record or not creates_cluster(settings):
        what = "records the past" if settings.record else "is installed in a cluster that exists"
        raise typer.BadParameter(f"{stack} {what}, and nothing of it is created on Azure", param_hint="STACK")


def _progress(folder: Folder, settings: Settings, *, simulated: bool, back: str | None) -> Progress:
    """The saved progress from which the command continues. Raises Unreadable."""
    from workbench.cli.first_contact import digest
    from workbench.first_contact.progress import Progress, back_to
    from workbench.first_contact.stages import stages

    now = digest(settings)
    found = folder.read(settings.stack, now, simulated=simulated)
    if found.entries and found.settings != now:
        err.print("the settings have changed since the last stage: every stage is run again", style="yellow")
        found = Progress(settings.stack, simulated, now)
    return back_to(found, stages(), back) if back is not None else found


def _run_all(
    progress: Progress, subject: Subject, folder: Folder, figures: Figures, choices: tuple[str | None, str | None, bool]
) -> tuple[Ending, Progress]:
    """Runs the stages that are not done, in order, up to the chosen stage or the first failure. Returns the reason for
    the end, and the progress.
    """
    from workbench.cli.output.first import print_result, print_stage
    from workbench.first_contact.progress import is_done
    from workbench.first_contact.stages import stages

    back, until, yes = choices
    for number, stage in enumerate(stages(), start=1):
        if not is_done(progress, stage):
            again = stage.name in (back, *progress.entries)
            print_stage(number, stage, subject, figures, again=again)
            if stage.changes and not yes and not _confirmed("run it?"):
                return "declined", progress
            progress = _run_stage(progress, stage, number, subject, folder, yes=yes, again=again)
            print_result(stage, progress)
            if not is_done(progress, stage):
                return "failed", progress
        if stage.name == until:
            break
    return "passed", progress


def _run_stage(
    progress: Progress, stage: FirstStage, number: int, subject: Subject, folder: Folder, *, yes: bool, again: bool
) -> Progress:
    """Runs one stage, and returns the progress with the stage's result. The progress is saved before and after the
    stage.
    """
    from workbench.cli.first_contact import KUBECONFIG, digest, run
    from workbench.cli.requested_stack import read_stack
    from workbench.first_contact.judging import Result, judge
    from workbench.first_contact.progress import begun, ended
    from workbench.first_contact.stages import commands, left_out

    if reason := left_out(stage, subject):
        progress = ended(progress, stage, Result("left-out", (reason,)), when=_now(), settings=progress.settings)
        folder.save(progress)
        return progress
    words = commands(stage, subject, again=again)
    progress = begun(progress, stage, _now(), [shlex.join(each) for each in words])
    folder.save(progress)
    answers: list[Answer] = []
    files: list[Path] = []
    for each in words:
        files.append(folder.evidence(number, stage.name))
        answers.append(run(each, files[-1]))
        if stage.keeps and answers[-1].code == 0:
            folder.keep(KUBECONFIG, answers[-1].output)
    result = judge(stage, subject, answers)
    if result.status == "passed" and stage.asks and not subject.simulated and not yes and not _confirmed(stage.asks):
        result = Result("failed", (f"answered with no: {stage.asks}",))
    settings = digest(read_stack(subject.stack).loaded.settings)  # the command may have written to the stack file
    names = [file.name for file in files]
    progress = ended(progress, stage, result, when=_now(), settings=settings, evidence=names)
    folder.save(progress)
    return progress


def _confirmed(question: str) -> bool:
    """Asks a question, and returns True if the user agrees. Raises typer.BadParameter if there is no terminal."""
    if not sys.stdin.isatty():
        raise typer.BadParameter("there is no terminal for questions; --yes answers them", param_hint="--yes")
    return typer.confirm(f"   {question}", default=False)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
