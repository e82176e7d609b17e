"""Output of the stages of a first contact, as a document and for people."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from workbench.cli.console import err, out

if TYPE_CHECKING:
    from workbench.cli.first_contact import Figures
    from workbench.first_contact.progress import Progress
    from workbench.first_contact.stages import Stage, Subject


def document(progress: Progress, every: tuple[Stage, ...], subject: Subject, figures: Figures) -> dict[str, Any]:
    return {
        "stack": subject.stack,
        "simulated": subject.simulated,
        "folder": subject.folder,
        "stages": [_row(progress, each, subject, figures) for each in every],
    }


def _row(progress: Progress, stage: Stage, subject: Subject, figures: Figures) -> dict[str, Any]:
    from workbench.first_contact.stages import commands, left_out

    entry, reason = progress.entries.get(stage.name), left_out(stage, subject)
    return {
        "stage": stage.name,
        "state": entry.state if entry else None,
        "remarks": list(entry.remarks) if entry else [],
        "evidence": list(entry.evidence) if entry else [],
        "leftOut": reason,
        "commands": [] if reason else [shlex.join(words) for words in commands(stage, subject)],
        "minutes": list(figures.minutes(stage)),
        "usdPerHourAfter": round(figures.hourly(stage), 3),
        "wayBack": stage.back.format(stack=subject.stack),
    }


def print_stage(number: int, stage: Stage, subject: Subject, figures: Figures, *, again: bool = False) -> None:
    """Prints what a stage does, its commands, its duration, its cost, and the way back."""
    from workbench.first_contact.stages import commands, left_out

    out.print(f"[bold]{number:2} {stage.title}[/] ({stage.name})", highlight=False)
    if reason := left_out(stage, subject):
        out.print(f"   left out: {reason}", markup=False, soft_wrap=True)
        return
    out.print(f"   {stage.does}", markup=False, soft_wrap=True)
    for words in commands(stage, subject, again=again):
        out.print(f"   $ {shlex.join(words)}", markup=False, soft_wrap=True, style="cyan")
    fast, slow = figures.minutes(stage)
    more = "" if figures.complete else ", without the sizes that have no price"
    cost = f"afterwards about {figures.hourly(stage):.2f} USD an hour for nodes{more}"
    where = "" if subject.simulated else f"; {cost}" if stage.cost != "nothing" else "; it costs nothing"
    out.print(f"   {fast:g} to {slow:g} minutes{' on Azure' if subject.simulated else ''}{where}", style="dim")
    out.print(f"   back: {stage.back.format(stack=subject.stack)}", markup=False, style="dim", soft_wrap=True)


def print_result(stage: Stage, progress: Progress) -> None:
    entry = progress.entries[stage.name]
    style = {"passed": "green", "failed": "red"}.get(entry.state, "yellow")
    out.print(f"   [{style}]{entry.state}[/]")
    for each in entry.remarks:
        out.print(f"   {each}", markup=False, soft_wrap=True)


def print_end(progress: Progress, subject: Subject, at: Stage | None) -> None:
    """Prints the next stage, the command that continues, and the path of the evidence. `at`: the next stage; None if
    all are done.
    """
    command = f"physai first {subject.stack}{' --simulated' if subject.simulated else ''}"
    if at is None:
        err.print(f"{subject.stack}: every stage is done", style="green")
    else:
        state = progress.entries[at.name].state if at.name in progress.entries else "not begun"
        err.print(f"{subject.stack}: stage {at.name} is {state}; to go on with it: {command}", markup=False)
    err.print(f"evidence: {subject.folder}/evidence.md", markup=False, soft_wrap=True, highlight=False)
