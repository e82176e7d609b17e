"""The job that a script's header describes, with the resources of each of its nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from workbench.osmo.names import NAME
from workbench.osmo.sbatch import values
from workbench.osmo.sbatch.header import Directive
from workbench.osmo.sbatch.options import Option
from workbench.osmo.sbatch.report import OPTION, VALUE, Report, Wrong

_Value = TypeVar("_Value")
MOST_NODES, MOST_PROCESSES = 1000, 1024
"""Largest number of nodes of a job, and of processes on a node. Each node becomes a task."""
_GPU_OPTIONS = ("gpus", "gpus-per-node", "gpus-per-task", "gres")


@dataclass(frozen=True)
class Job:
    """A Slurm job, in the terms of the conversion. CPUs, GPUs, memory and storage are the amounts on one node."""

    name: str
    nodes: int = 1
    processes: int = 1
    """Number of processes that srun starts on each node."""
    cpus: int | None = None
    """Number of CPUs that the job gets on each node; None for the platform's default."""
    cpus_per_process: int | None = None
    gpus: int = 0
    gpu_type: str = ""
    memory: int | None = None
    """Memory of a node in MiB."""
    storage: int | None = None
    """Local storage of a node in MiB."""
    seconds: int | None = None
    partition: str = ""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    image: str | None = None
    requeue: bool = False
    gpus_per_process: int = 0
    """GPUs that each process sees; 0 if each sees all GPUs of its node."""
    is_exclusive: bool = False
    """True if the job's nodes are not shared with other jobs."""
    has_all_memory: bool = False
    """True if the job asks for all memory of its nodes, without an amount."""
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    """Line number of each option in the script, by the option's long name."""

    def line(self, *names: str) -> int:
        """Line number of the first option in `names` that the script contains; 1 if the script contains none."""
        return next((self.lines[name] for name in names if name in self.lines), 1)


def job_of(directives: tuple[Directive, ...], default_name: str, report: Report, *, has_platform: bool = False) -> Job:
    """The job that a script's header describes. An option that cannot be converted is reported, and is missing in the
    job.

    Args:
        default_name: Name of the job if the header has none.
        has_platform: True if the user names the platform, so that the header's node requirements do not matter.
    """
    given: dict[str, Directive] = {}
    for each in directives:
        outcome = each.option.outcome_of(each.value, has_platform=has_platform)
        if outcome == "refused":
            report.refuse(OPTION, each.line, f"--{each.option.name} can't be converted", each.option.advice)
        elif outcome == "no effect":
            if each.option.advice:
                report.note(each.line, f"--{each.option.name} has no counterpart", _why(each.option))
        else:
            given[each.option.name] = each
    return _Reader(given, report).job(default_name)


def _why(option: Option) -> str:
    """Reason why `option` has no effect in an OSMO task and is left out, for a message."""
    if option.outcome == "no effect":
        return option.advice
    return "The platform is named on the command line." if option.of_platform else "This value changes nothing here."


@dataclass
class _Reader:
    given: Mapping[str, Directive]
    report: Report

    def job(self, default_name: str) -> Job:
        nodes, processes = self._layout()
        gpu_type, gpus = self._gpus(nodes, processes)
        per_process, cpus = self._cpus(processes, gpus)
        found, inherited = self._of("export", values.variables, ({}, False))
        if inherited and found:
            self.report.note(self.given["export"].line, "variables of the shell that calls sbatch are not converted")
        return Job(
            name=self._name(default_name),
            nodes=nodes,
            processes=processes,
            cpus=cpus,
            cpus_per_process=per_process,
            gpus=gpus,
            gpu_type=gpu_type,
            memory=self._memory(cpus, gpus),
            storage=self._of("tmp", lambda text: values.memory(text, "tmp"), None),
            seconds=self._of("time", values.seconds, None),
            partition=self.given["partition"].value if "partition" in self.given else "",
            environment=found,
            image=self._of("container-image", values.image, None),
            requeue="requeue" in self.given,
            gpus_per_process=gpus // processes if "gpus-per-task" in self.given and processes > 1 else 0,
            is_exclusive="exclusive" in self.given,
            has_all_memory=self._all_memory,
            lines={name: each.line for name, each in self.given.items()},
        )

    def _of(self, name: str, read: Callable[[str], _Value], default: _Value) -> _Value:
        directive = self.given.get(name)
        if directive is None:
            return default
        try:
            return read(directive.value)
        except Wrong as wrong:
            self.report.refuse(VALUE, directive.line, wrong.problem, wrong.fix)
            return default

    @property
    def _all_memory(self) -> bool:
        return "mem" in self.given and re.fullmatch(r"0+[KMGT]?", self.given["mem"].value, re.IGNORECASE) is not None

    def _count(self, name: str) -> int | None:
        return self._of(name, lambda text: values.count(text, name), None)

    def _refuse(self, name: str, problem: str, fix: str) -> None:
        self.report.refuse(VALUE, self.given[name].line, problem, fix)

    def _name(self, default: str) -> str:
        given = self.given["job-name"].value if "job-name" in self.given else default
        if re.match(NAME, given):
            return given
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", given).strip("-_") or "job"
        name = name if name[0].isalpha() else f"job-{name}"
        line = self.given["job-name"].line if "job-name" in self.given else 1
        self.report.note(line, f"'{given}' is not a name of a workflow: it becomes '{name}'")
        return name

    def _layout(self) -> tuple[int, int]:
        """Number of nodes, and number of processes on each node."""
        nodes, total, each = (self._count(name) for name in ("nodes", "ntasks", "ntasks-per-node"))
        for name, number, most in (
            ("nodes", nodes, MOST_NODES),
            ("ntasks-per-node", each, MOST_PROCESSES),
            ("ntasks", total, MOST_PROCESSES * 8),
        ):
            if number is not None and number > most:
                self._refuse(name, f"--{name}={number} is more than {most}", f"At most {most}.")
                return 1, 1
        if total is None or (nodes is None and total == 1):
            return nodes or 1, each or 1
        return self._of_total(total, nodes, each)

    def _of_total(self, total: int, nodes: int | None, each: int | None) -> tuple[int, int]:
        """Number of nodes, and number of processes on each node, from the total number of processes."""
        if nodes is None and each is not None and total % each == 0:
            return total // each, each
        if nodes is None:
            fix = f"Write the nodes too: --nodes=1 --ntasks-per-node={total}, for example."
            self._refuse("ntasks", f"--ntasks={total} leaves the number of nodes open", fix)
            return 1, 1
        if total % nodes or (each is not None and each * nodes != total):
            fix = "Write --nodes and --ntasks-per-node, without --ntasks."
            self._refuse("ntasks", f"--ntasks={total} is not the same number of processes on each node", fix)
            return nodes, 1
        return nodes, total // nodes

    def _gpus(self, nodes: int, processes: int) -> tuple[str, int]:
        """Type of the GPUs, and their number on each node."""
        found: dict[str, tuple[str, int]] = {}
        for name in _GPU_OPTIONS:
            kind, number = self._of(
                name, values.gres if name == "gres" else lambda text, name=name: values.gpus(text, name), ("", 0)
            )
            if not number:
                continue
            if name == "gpus" and number % nodes:
                self._refuse(
                    name, f"--gpus={number} is not the same number on each of {nodes} nodes", "--gpus-per-node=N"
                )
                continue
            factor = processes if name == "gpus-per-task" else 1
            found[name] = (kind, number // nodes if name == "gpus" else number * factor)
        if len(set(found.values())) > 1:
            *_, last = found
            self._refuse(last, f"{', '.join(f'--{name}' for name in found)} differ", "Write --gpus-per-node only.")
        return next(iter(found.values()), ("", 0))

    def _cpus(self, processes: int, gpus: int) -> tuple[int | None, int | None]:
        """Number of CPUs for each process, and for each node. Each is None if the header does not give it."""
        each, of_gpu = self._count("cpus-per-task"), self._count("cpus-per-gpu")
        if each is not None and of_gpu is not None:
            self._refuse("cpus-per-gpu", "--cpus-per-task and --cpus-per-gpu exclude each other", "Write one of them.")
        if of_gpu is not None and not gpus:
            self._refuse("cpus-per-gpu", "--cpus-per-gpu without GPUs", "--cpus-per-task=N")
        if each is not None:
            return each, each * processes
        return None, of_gpu * gpus if of_gpu is not None else None

    def _memory(self, cpus: int | None, gpus: int) -> int | None:
        """Memory of each node in MiB; None if the header does not give it."""
        parts = {"mem": 1, "mem-per-cpu": cpus, "mem-per-gpu": gpus or None}
        options = [name for name in parts if name in self.given and not (name == "mem" and self._all_memory)]
        if len(options) > 1:
            self._refuse(
                options[1], f"{' and '.join(f'--{name}' for name in options)} exclude each other", "Write --mem."
            )
        for name in options:
            number = self._of(name, lambda text, name=name: values.memory(text, name), None)
            if parts[name] is None:
                self._refuse(name, f"--{name} without a number of {name.rpartition('-')[2]}s", "--mem=AMOUNT")
            elif number is not None:
                return number * (parts[name] or 1)
        return None
