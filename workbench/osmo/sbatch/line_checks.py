"""Checks of a script's single commands for things that a task does not have, such as Slurm's programs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.osmo.sbatch import identity
from workbench.osmo.sbatch.job import Job
from workbench.osmo.sbatch.programs import (
    CONTAINER_ADVICE,
    CONTAINERS,
    LAUNCHERS,
    MODULES,
    REMOTE,
    SLURM,
    WRAPPERS,
)
from workbench.osmo.sbatch.reading import Code, Found
from workbench.osmo.sbatch.report import SCRIPT, Report, quoted
from workbench.osmo.sbatch.variables import VARIABLE, advice
from workbench.osmo.shell import Command

_SHARED = re.compile(
    r"(?:^|[\s=:\"'(])(?P<path>(?:~|\$\{?(?:HOME|SCRATCH|WORK)\b\}?|/(?:home|scratch|lustre|gpfs|beegfs|nfs|fsx))/[\w./$@{}-]*)"
)
_OWN_FILE = re.compile(r"(?:^|\s)(?P<file>\./[\w./-]+|[A-Za-z_][\w./-]*\.(?:py|sh|jl|R|m))(?=\s|$|[;&|)])")
_FILES = "Put it into the image, or name it as inputs or files of the task in the workflow."
_COUNTS = ("-n", "-np", "--np", "-N", "--n", "-c", "--map-by", "-ppn", "-host", "--host")


def check_templates(body: Sequence[tuple[int, str]], report: Report) -> None:
    """Reports lines, comments included, that OSMO would take for template expressions."""
    for number, line in body:
        if "{{" in line or "{%" in line:
            report.refuse(
                SCRIPT, number, "OSMO reads {{ and {% as its template", "Put the script into the image, and call it."
            )


def check(code: Code, job: Job, report: Report) -> None:
    """Reports everything in a script's commands that does not work in an OSMO task, such as Slurm's programs."""
    for found in code.every:
        _check_programs(found, job, report)
    for command in code.commands:
        _check_variables(command, code, report)
    for offset, what in identity.computed(code):
        report.refuse(
            SCRIPT,
            code.line(offset),
            f"OSMO's id of a workflow is not a number, and {quoted(what)} computes with it",
            "Use a fixed port or number: each Pod has its address.",
        )
    _note_files(code, report)


def _programs(command: Command) -> list[str]:
    """Names of the programs that a command may run: the command's own program and, if this program starts another one,
    as `timeout` does, every further word of the command.
    """
    names = [command.name]
    if command.name in WRAPPERS or command.name == "srun":
        if command.name == "command" and any(word.raw in ("-v", "-V") for word in command.words[1:2]):
            return []
        names += [(word.value or "").rpartition("/")[2] for word in command.words[1:]]
    return names


def _check_programs(found: Found, job: Job, report: Report) -> None:
    command, line = found.command, found.line
    if command.kind != "simple":
        return
    names = _programs(command)
    for name in names:
        if name in SLURM:
            report.refuse(SCRIPT, line, f"a task has no {name}", SLURM[name])
        elif name in CONTAINERS:
            report.refuse(SCRIPT, line, f"a task has no {name}", CONTAINER_ADVICE)
    if command.name in MODULES and len(command.words) > 1:
        shown = " ".join(word.raw for word in command.words)
        report.refuse(SCRIPT, line, f"a container has no modules: {quoted(shown)}", "Choose an image that has them.")
    if any(name in REMOTE for name in names) and job.nodes > 1:
        fix = "Start the program by srun: it runs in the task of each node."
        report.refuse(SCRIPT, line, f"{command.name} reaches no other node: tasks have no SSH between them", fix)
    launcher = next((name for name in names if name in LAUNCHERS), None)
    if launcher is None:
        return
    if job.nodes > 1:
        fix = "Start the processes by torchrun, one on each node by srun; or use MPI's operator for Kubernetes."
        report.refuse(SCRIPT, line, "MPI starts processes on other nodes by SSH or Slurm, which tasks don't have", fix)
    elif job.processes > 1 and not any(word.raw.startswith(_COUNTS) for word in command.words):
        problem = f"{launcher} has the number of processes from Slurm, which a task has not"
        report.refuse(SCRIPT, line, problem, f"{launcher} -n {job.processes} …")


def _check_variables(command: Command, code: Code, report: Report) -> None:
    """Reports each Slurm variable that a command reads and that a task cannot have. Quoted texts are searched, too,
    because the shell of a step would expand them.
    """
    line = code.line(command.start)
    set_here = {assignment.name for assignment in command.assignments}
    texts = [word.raw for word in command.words]
    texts += [word.raw for assignment in command.assignments for word in assignment.words]
    texts += [each.text or each.word.raw for each in command.redirections]
    texts += [each.text for each in command.loose]
    read = dict.fromkeys(name for text in texts for name in _read(text))
    for name in read:
        if name not in set_here and name not in code.assigned and (fix := advice(name)) is not None:
            report.refuse(SCRIPT, line, f"a task has no {name}", fix)


_WITH_DEFAULT = re.compile(r"\$\{(?:SLURM|SBATCH)_[A-Z0-9_]*(?:ARRAY|HET)[A-Z0-9_]*:?[-+]")


def _read(text: str) -> list[str]:
    """Names of the variables that a text reads.

    A variable of a job array is left out if the text has a default for it, since a job without an array uses this
    default.
    """
    return VARIABLE.findall(_WITH_DEFAULT.sub("", text))


def _note_files(code: Code, report: Report) -> None:
    """Reports paths of files that a task does not have: files on a shared file system, and files in the script's
    folder.
    """
    noted: set[str] = set()
    for command in code.commands:
        line = code.line(command.start)
        text = code.text[command.start : command.end]
        for path in dict.fromkeys(match["path"] for match in _SHARED.finditer(text)):
            report.warn(SCRIPT, line, f"tasks share no file system: {quoted(path)} is not there", _FILES)
        for match in _OWN_FILE.finditer(text):
            if match["file"] not in noted:
                noted.add(match["file"])
                report.note(
                    line, f"{quoted(match['file'])} has to be in the image's folder, or come with the task", _FILES
                )
