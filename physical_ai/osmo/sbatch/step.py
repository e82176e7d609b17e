"""A step: `srun`, its options, and the command that takes its place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from physical_ai.osmo.sbatch import values
from physical_ai.osmo.sbatch.job import Job
from physical_ai.osmo.sbatch.options import BY_NAME
from physical_ai.osmo.sbatch.report import Wrong
from physical_ai.osmo.sbatch.variables import MASTER

_CALL = re.compile(r"(?P<indent>\s*)srun(?P<rest>(?:\s|\\\n).*)?", re.DOTALL)
_ANYWHERE = re.compile(r"(?:^|[\s;&|(`])srun(?=\s|$)")
_OPTION = re.compile(r"(?:\s|\\\n)+(?P<option>-[^\s\\]+)")
_ARGUMENT = re.compile(r"(?:\s|\\\n)+(?P<value>[^\s\\]+)")
_FLAGS = (
    "-u",
    "--unbuffered",
    "-l",
    "--label",
    "-K",
    "--kill-on-bad-exit",
    "-Q",
    "--quiet",
    "-v",
    "--verbose",
    "--exact",
    "--overlap",
    "--exclusive",
    "--export=ALL",
    "--no-container-mount-home",
)
"""Without effect on what a task does."""
_DROPPED = (
    "--accel-bind",
    "--cpu-bind",
    "--distribution",
    "--error",
    "--gpu-bind",
    "--hint",
    "--job-name",
    "--kill-on-bad-exit",
    "--mem-bind",
    "--open-mode",
    "--output",
    "--wait",
)
"""The same, with a value: a task sees the GPUs and CPUs that it asked for, and OSMO keeps its output."""
_LONG = {
    "-n": "--ntasks",
    "-N": "--nodes",
    "-c": "--cpus-per-task",
    "-G": "--gpus",
    "-e": "--error",
    "-J": "--job-name",
    "-m": "--distribution",
    "-o": "--output",
    "-p": "--partition",
    "-t": "--time",
    "-w": "--nodelist",
    "-W": "--wait",
    "-x": "--exclude",
}
_MPI = ("pmi2", "pmix", "cray_shasta")
_ADDRESS = re.compile(r"\$\(\s*srun\b[^)]*\b(?:hostname|ip)\b|`\s*srun\b[^`]*\b(?:hostname|ip)\b")


@dataclass(frozen=True)
class Step:
    """One `srun` of a script."""

    line: int
    rewritten: str
    """The line of the task's script."""
    starts_processes: bool
    """Whether it is still called srun: a function that starts the processes of a node."""
    image: str | None


def step_of(text: str, line: int, job: Job) -> Step | None:
    """The step of a line, None for another one. Raises `Wrong` for one that can't be converted."""
    bare = "\n".join(part for part in text.split("\n") if not part.lstrip().startswith("#"))
    if not _ANYWHERE.search(bare):
        return None
    call = _CALL.fullmatch(bare)
    rest = (call["rest"] or "") if call is not None else ""
    if call is None and _ADDRESS.search(bare):
        fix = f"Delete the line: {MASTER} is the address of the first node's task, where the script reads it."
        raise Wrong("srun asks for the address of a node", fix)
    if call is None or _ANYWHERE.search(rest):
        raise Wrong("srun is not at the start of the line", "Write srun first in a line of its own, with its command.")
    if rest.rstrip().endswith("&") and not rest.rstrip().endswith("&&"):
        raise Wrong("steps beside each other would share the task", "Write one task of a group for each step.")
    command, image = _options(rest, job)
    if not command.strip():
        raise Wrong("srun without a command", "srun COMMAND")
    starts = job.processes > 1
    return Step(line, f"{call['indent']}{'srun ' if starts else ''}{command.lstrip()}", starts, image)


def _options(rest: str, job: Job) -> tuple[str, str | None]:
    """The command after the options, and the image that they name."""
    image = None
    while match := _OPTION.match(rest):
        option, rest = match["option"], rest[match.end() :]
        if option in _FLAGS:
            continue
        name, value = _named(option)
        if not value:
            argument = _ARGUMENT.match(rest)
            value, rest = (argument["value"], rest[argument.end() :]) if argument else ("", rest)
        if name in _DROPPED:
            continue
        if any(sign in value for sign in "\"'$`"):
            raise Wrong(f"srun {name}={value}: the value is not known before the script runs", "Write the value.")
        if name == "--container-image":
            image = values.image(value)
        elif not _same(name, value, job):
            raise _refusal(name, value)
    return rest, image


def _refusal(name: str, value: str) -> Wrong:
    known = BY_NAME.get(name.removeprefix("--"))
    if name == "--het-group":
        fix = "Convert each part alone, and write the parts as tasks of one group, each with its own resource."
        return Wrong("a step of a heterogeneous job has parts of different resources", fix)
    if name == "--mpi":
        fix = "Delete it where the program starts without MPI, as torchrun's do; or use MPI's operator for Kubernetes."
        return Wrong(f"tasks have no {value}, by which processes of MPI find each other", fix)
    if known is not None and known.outcome == "refused":
        return Wrong(f"srun {name}={value} can't be converted", known.advice)
    return Wrong(
        f"srun {name}={value} is not what the header asks for",
        "Write the option in the header; another size of step is a task of its own, with its own resource.",
    )


def _named(option: str) -> tuple[str, str]:
    """The long name of an option, and its value where the word has it."""
    if option.startswith("--"):
        name, _, value = option.partition("=")
        return name, value
    return _LONG.get(option[:2], option[:2]), option[2:].removeprefix("=")


def _same(name: str, value: str, job: Job) -> bool:
    """Whether an option repeats what the header says."""
    if name == "--mpi":
        return value not in _MPI
    if name == "--gres":
        return values.gres(value) in (("", job.gpus), (job.gpu_type, job.gpus))
    if name in ("--partition", "--time"):
        return name.removeprefix("--") in job.lines
    expected = {
        "--nodes": str(job.nodes),
        "--ntasks": str(job.nodes * job.processes),
        "--ntasks-per-node": str(job.processes),
        "--cpus-per-task": str(job.cpus_per_process),
        "--gpus-per-node": str(job.gpus),
        "--gpus-per-task": str(job.gpus // job.processes),
        "--gpus": str(job.gpus * job.nodes),
    }
    return value == expected.get(name)
