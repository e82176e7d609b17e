"""The commands of a script: what of Slurm they use, and the script that a task runs in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from physical_ai.osmo.sbatch import values
from physical_ai.osmo.sbatch.job import Job
from physical_ai.osmo.sbatch.report import SCRIPT, Report, Wrong
from physical_ai.osmo.sbatch.step import Step, step_of
from physical_ai.osmo.sbatch.variables import VARIABLE, advice

_SLURM_PROGRAMS = {
    "salloc": "Write the commands into the script: the task has its resources.",
    "sacct": "osmo workflow query shows finished workflows.",
    "sattach": "osmo workflow exec opens a shell in a task.",
    "sbatch": "Write both jobs as tasks of one workflow: `inputs: [{task: NAME}]` waits for a task.",
    "sbcast": "Put the files into the image, or name them as inputs of the task.",
    "scancel": "The task ends with its script: exit 1.",
    "scontrol": "The address of the first node is in MASTER_ADDR: delete the line where it computes that.",
    "sinfo": "physai status and kubectl get nodes show the nodes.",
    "squeue": "osmo workflow list shows workflows.",
    "sstat": "The stack's dashboards show what a task uses.",
}
_MODULES = ("module", "ml", "spack")
_LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "orterun")
_WORD = re.compile(
    r"(?:^|[;&|(`'\"{])\s*(?:(?:do|elif|else|env|exec|if|nohup|then|time|until|while|!)\s+)*"
    r"(?:[A-Za-z_]\w*=[^\s(`]*\s+)*(?P<word>[A-Za-z_][\w.-]*)"
)
"""What is run: at the start of a command, of a substitution, or of a quoted one, behind assignments."""
_SHARED = re.compile(
    r"(?:^|[\s=:\"'(])(?P<path>(?:~|\$\{?(?:HOME|SCRATCH|WORK)\b\}?|/(?:home|scratch|lustre|gpfs|beegfs|nfs))/[\w./$@{}-]*)"
)
_OWN_FILE = re.compile(r"(?:^|\s)(?P<file>\./[\w./-]+|[A-Za-z_][\w./-]*\.(?:py|sh|jl|R|m))(?=\s|$|[;&|)])")
_FILES = "Put it into the image, or name it as inputs or files of the task in the workflow."
_ARITHMETIC = re.compile(r"\$\(\([^)]*SLURM_JOB_?ID")

_STARTER = """\
# Starts the processes of this node, as srun would.
srun() {{
  local number started=() status=0
  for ((number = 0; number < {processes}; number++)); do
    SLURM_LOCALID=$number SLURM_PROCID=$((SLURM_NODEID * {processes} + number)) "$@" &
    started+=($!)
  done
  for number in "${{started[@]}}"; do wait "$number" || status=$?; done
  return "$status"
}}
"""


@dataclass(frozen=True)
class Commands:
    """What a task runs."""

    text: str
    variables: frozenset[str]
    """Variables of Slurm's that the script reads."""
    image: str | None
    """Named by a step."""


def commands_of(body: Sequence[tuple[int, str]], job: Job, report: Report) -> Commands:
    """The script of a task. Refuses, by line, what nothing takes the place of."""
    # Of a header that is refused, the numbers of nodes and processes may be wrong.
    knows_layout = not report.refused
    found: list[Step] = []
    lines: list[tuple[int, str]] = []
    for number, line in _logical(body):
        step = None
        try:
            step = step_of(line, number, job)
        except Wrong as wrong:
            report.refuse(SCRIPT, number, wrong.problem, wrong.fix)
        if step is not None:
            found.append(step)
        lines.append((number, step.rewritten if step is not None else line))
        _check(line, number, job, report)
    _note_files(lines, report)
    if knows_layout:
        _check_steps(found, lines, job, report)
    text = "\n".join(line for _, line in lines).strip("\n")
    names = frozenset(VARIABLE.findall("\n".join(line for _, line in lines if not _is_comment(line))))
    starts = any(step.starts_processes for step in found)
    if starts:
        names |= {"SLURM_NODEID"}
    starter = _STARTER.format(processes=job.processes) if starts else ""
    images = sorted({step.image for step in found if step.image})
    if len({*images, *([job.image] if job.image else [])}) > 1:
        report.refuse(SCRIPT, found[-1].line, "the steps use several images", "Write one task of a workflow for each.")
    return Commands(f"#!/bin/bash\n{starter}{text}\n", names, images[0] if images else None)


def _logical(body: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines with those that a backslash continues, under the number of the first."""
    start, kept = 0, ""
    for number, line in body:
        start = start if kept else number
        kept = f"{kept}\n{line}" if kept else line
        if line.endswith("\\") and not _is_comment(line):
            continue
        yield start, kept
        kept = ""
    if kept:
        yield start, kept


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _check(line: str, number: int, job: Job, report: Report) -> None:
    """What one line uses that a task does not have."""
    if "{{" in line or "{%" in line:
        report.refuse(
            SCRIPT, number, "OSMO reads {{ and {% as its template", "Put the script into the image, and call it."
        )
    if _is_comment(line):
        return
    words = [match["word"] for match in _WORD.finditer(line)]
    for word in words:
        if word in _SLURM_PROGRAMS:
            report.refuse(SCRIPT, number, f"a task has no {word}", _SLURM_PROGRAMS[word])
    if words[:1] and words[0] in _MODULES:
        report.refuse(SCRIPT, number, f"a container has no modules: {line.strip()}", "Choose an image that has them.")
    if job.nodes > 1 and any(word in _LAUNCHERS for word in words):
        fix = "Start the processes by torchrun, one on each node by srun; or use MPI's operator for Kubernetes."
        report.refuse(
            SCRIPT, number, "MPI starts processes on other nodes by SSH or Slurm, which tasks don't have", fix
        )
    for path in dict.fromkeys(match["path"] for match in _SHARED.finditer(line)):
        report.warn(SCRIPT, number, f"tasks share no file system: {path} is not there", _FILES)
    for name in dict.fromkeys(VARIABLE.findall(line)):
        if (fix := advice(name)) is not None:
            report.refuse(SCRIPT, number, f"a task has no {name}", fix)
    if _ARITHMETIC.search(line):
        report.refuse(
            SCRIPT, number, "OSMO's id of a workflow is no number", "Use a fixed port: each Pod has its address."
        )


def _note_files(lines: Sequence[tuple[int, str]], report: Report) -> None:
    """Files beside the script: sbatch runs it in their folder, and a task has the script alone."""
    noted: set[str] = set()
    for number, line in lines:
        for match in () if _is_comment(line) else _OWN_FILE.finditer(line):
            if match["file"] not in noted:
                noted.add(match["file"])
                report.note(number, f"{match['file']} has to be in the image's folder, or come with the task", _FILES)


def _check_steps(steps: Sequence[Step], lines: Sequence[tuple[int, str]], job: Job, report: Report) -> None:
    """Whether the tasks, each of which runs the whole script, do what the job does."""
    if job.nodes == 1:
        return
    nodes = job.line("nodes", "ntasks")
    if not steps:
        fix = "Write --nodes=1, or start the program by srun."
        report.refuse(
            SCRIPT, nodes, "sbatch runs the script on the first node only, and it starts nothing elsewhere", fix
        )
        return
    if len(steps) > 1:
        fix = "Write one task, or group of tasks, for each step."
        report.refuse(SCRIPT, steps[1].line, "steps of several nodes wait for each other, which tasks don't", fix)
        return
    (step,) = steps
    after = [number for number, line in lines if number > step.line and line.strip() and not _is_comment(line)]
    if after:
        fix = "End the script with srun: what follows may be a task with `inputs: [{task: NAME}]`."
        report.refuse(SCRIPT, after[0], "sbatch runs this once, after the step on all nodes has ended", fix)
    before = [number for number, line in lines if number < step.line and line.strip() and not _is_comment(line)]
    if before:
        report.note(before[0], f"the lines before srun run on each of the {job.nodes} nodes: each has its file system")


def image_of(job: Job, commands: Commands, chosen: str | None) -> str | None:
    """The image of the tasks: named by the user, the header, or a step."""
    return values.image(chosen) if chosen is not None else job.image or commands.image
