"""Conversion of a script's commands: the features of Slurm that they use, and the script that a task runs instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.osmo.sbatch import dependence, line_checks, unseen, values
from workbench.osmo.sbatch.head_address import with_address
from workbench.osmo.sbatch.job import Job
from workbench.osmo.sbatch.reading import Code
from workbench.osmo.sbatch.report import SCRIPT, Report, Wrong, quoted
from workbench.osmo.sbatch.starter import starter_of
from workbench.osmo.sbatch.step import Step, hidden, refused_srun, step_of
from workbench.osmo.sbatch.variables import RANKS, VARIABLE
from workbench.osmo.shell import Command, Unreadable

_AFTER = ("echo", "printf", "date", "exit", "wait", "true", ":", "set", "unset")
"""Commands that are allowed after a step on several nodes. `sbatch` would run them once, and each node's task runs
them, but this does no harm.
"""


@dataclass(frozen=True)
class Commands:
    """A converted script: the text that a task runs, the Slurm variables that the text needs, and an image if a step
    names one.
    """

    text: str
    variables: frozenset[str]
    """Slurm variables that the script reads, or that a step's program may read."""
    image: str | None
    """Image that a step names; None if no step names one."""


def commands_of(body: Sequence[tuple[int, str]], job: Job, report: Report) -> Commands:
    """The script that a task runs. Reports, by line, everything that a task cannot do."""
    # The numbers of nodes and processes of a refused header may be wrong.
    knows_layout = not report.refused
    line_checks.check_templates(body, report)
    try:
        code = with_address(body, report)
    except Unreadable as error:
        before = "\n".join(line for _, line in body)[: error.offset].count("\n")
        number = body[min(before, len(body) - 1)][0] if body else 1
        report.refuse(SCRIPT, number, f"the script can't be read: {error.problem}", "bash -n FILE checks a script.")
        return Commands("", frozenset(), None)
    steps, tried = _steps(code, job, report)
    line_checks.check(code, job, report)
    unseen.check(code, job.environment, report)
    if knows_layout:
        _check_steps(steps, tried, code, job, report)
    return _commands(code, steps, job, report)


def _steps(code: Code, job: Job, report: Report) -> tuple[list[Step], int]:
    """The steps that can be converted, and the number of all steps. Reports each step that cannot be converted."""
    found: list[Step] = []
    tried = 0
    for command in code.commands:
        try:
            if command.words and command.words[0].raw == "srun":
                tried += 1
                found.append(step_of(command, code, job))
            elif (text := hidden(command)) is not None:
                tried += 1
                raise refused_srun(command, text)
        except Wrong as wrong:
            report.refuse(SCRIPT, code.line(command.start), wrong.problem, wrong.fix)
    return found, tried


def _commands(code: Code, steps: Sequence[Step], job: Job, report: Report) -> Commands:
    pieces: list[str] = []
    at = 0
    for step in steps:
        pieces += [code.text[at : step.start], step.replacement]
        at = step.end
    text = "".join([*pieces, code.text[at:]]).strip("\n")
    bare = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
    names = frozenset(VARIABLE.findall(bare))
    if any(not _numbers_itself(step) for step in steps) and (job.nodes > 1 or job.processes > 1):
        names |= RANKS
    starter = starter_of(job) if any(step.starts_processes for step in steps) else ""
    images = sorted({step.image for step in steps if step.image})
    if len({*images, *([job.image] if job.image else [])}) > 1:
        report.refuse(SCRIPT, steps[-1].line, "the steps use several images", "Write one task of a workflow for each.")
    return Commands(f"#!/bin/bash\n{starter}{text}\n", names, images[0] if images else None)


def _numbers_itself(step: Step) -> bool:
    """True for a step that runs torchrun, which sets the ranks of the processes that it starts."""
    words = [word.raw for word in step.command.words]
    return not step.starts_processes and any(
        word == "torchrun" or word.startswith("torch.distributed.") for word in words
    )


def _check_steps(steps: Sequence[Step], tried: int, code: Code, job: Job, report: Report) -> None:
    """Reports parts of a script for several nodes that have another result in OSMO than in Slurm, because in OSMO the
    task of each node runs the whole script.
    """
    if job.nodes == 1:
        return
    if not tried:
        problem = "sbatch runs the script on the first node only, and it starts nothing elsewhere"
        fix = "Write --nodes=1, or start the program by srun."
        report.refuse(SCRIPT, job.line("nodes", "ntasks"), problem, fix)
        return
    for use in dependence.uses(code, job.environment):
        report.refuse(
            SCRIPT,
            code.line(use.offset),
            f"{quoted(use.what)} depends on {use.why}: sbatch evaluates it on the first node, a task on each",
            "Write what is the same on each node: $MASTER_ADDR, a fixed port or number; or let the step evaluate it:"
            " srun bash -c '…'.",
        )
    if len(steps) > 1:
        fix = "Write one task, or group of tasks, for each step."
        report.refuse(SCRIPT, steps[1].line, "steps of several nodes wait for each other, which tasks don't", fix)
    elif steps:
        _check_around(steps[0], code, job, report)


def _check_around(step: Step, code: Code, job: Job, report: Report) -> None:
    pipeline = step.command.after in ("|", "|&")
    before: list[Command] = []
    is_after = False
    for command in code.commands:
        if command is step.command:
            is_after = True
        elif not is_after:
            before.append(command)
        elif pipeline:
            pipeline = command.after in ("|", "|&")
        elif command.name not in _AFTER or command.redirections or command.in_function:
            fix = "End the script with srun: what follows may be a task with `inputs: [{task: NAME}]`."
            problem = "sbatch runs this once, after the step on all nodes has ended"
            report.refuse(SCRIPT, code.line(command.start), problem, fix)
            return
    runs = [command for command in before if command.kind == "simple" and not command.in_function]
    if runs:
        problem = f"the lines before srun run on each of the {job.nodes} nodes: each has its file system"
        report.note(code.line(runs[0].start), problem)


def image_of(job: Job, commands: Commands, chosen: str | None) -> str | None:
    """Image of the tasks: the user's choice, else the image in the script's header, else the image of a step; None if
    nobody names an image.
    """
    return values.image(chosen) if chosen is not None else job.image or commands.image
