"""A step: `srun`, its options, and the command that takes its place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from physical_ai.osmo.sbatch import values
from physical_ai.osmo.sbatch.job import Job
from physical_ai.osmo.sbatch.report import Wrong

_CALL = re.compile(r"(?P<indent>\s*)srun(?P<rest>(?:\s|\\\n).*)?", re.DOTALL)
_ANYWHERE = re.compile(r"(?:^|[\s;&|(`])srun(?=\s|$)")
_OPTION = re.compile(r"(?:\s|\\\n)+(?P<option>-[^\s\\]+)")
_ARGUMENT = re.compile(r"(?:\s|\\\n)+(?P<value>[^\s\\]+)")
_NO_EFFECT = (
    "-u",
    "--unbuffered",
    "-l",
    "--label",
    "-K",
    "--kill-on-bad-exit",
    "--export=ALL",
    "--no-container-mount-home",
)
_LONG = {
    "-n": "--ntasks",
    "-N": "--nodes",
    "-c": "--cpus-per-task",
    "-G": "--gpus",
}


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
    """The step of a line, None for another one. Raises `Wrong` for one that can't be carried over."""
    bare = "\n".join(part for part in text.split("\n") if not part.lstrip().startswith("#"))
    if not _ANYWHERE.search(bare):
        return None
    call = _CALL.fullmatch(bare)
    rest = (call["rest"] or "") if call is not None else ""
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
        if option in _NO_EFFECT or option.startswith("--kill-on-bad-exit="):
            continue
        name, value = _named(option)
        if not value:
            argument = _ARGUMENT.match(rest)
            value, rest = (argument["value"], rest[argument.end() :]) if argument else ("", rest)
        if any(sign in value for sign in "\"'$`"):
            raise Wrong(f"srun {name}={value}: the value is not known before the script runs", "Write the value.")
        if name == "--container-image":
            image = values.image(value)
        elif not _same(name, value, job):
            raise Wrong(
                f"srun {name}={value} is not what the header asks for",
                "Write the option in the header; another size of step is a task of its own, with its own resource.",
            )
    return rest, image


def _named(option: str) -> tuple[str, str]:
    """The long name of an option, and its value where the word has it."""
    if option.startswith("--"):
        name, _, value = option.partition("=")
        return name, value
    return _LONG.get(option[:2], option[:2]), option[2:].removeprefix("=")


def _same(name: str, value: str, job: Job) -> bool:
    """Whether an option repeats what the header says."""
    expected = {
        "--nodes": str(job.nodes),
        "--ntasks": str(job.nodes * job.processes),
        "--ntasks-per-node": str(job.processes),
        "--cpus-per-task": str(job.cpus_per_process),
        "--gpus-per-node": str(job.gpus),
        "--gres": f"gpu:{job.gpus}",
        "--gpus": str(job.gpus * job.nodes),
    }
    return value == expected.get(name)
