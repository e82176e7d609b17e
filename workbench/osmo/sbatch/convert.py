"""Conversion of a script to a workflow with one task for each node. Each task runs the script, with the Slurm variables
that the script reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from physical_ai.findings import Finding
from workbench.osmo.sbatch import header, values
from workbench.osmo.sbatch.job import Job, job_of
from workbench.osmo.sbatch.platform import Platform, choose
from workbench.osmo.sbatch.report import SCRIPT, VALUE, Report, Wrong
from workbench.osmo.sbatch.script import Commands, commands_of, image_of
from workbench.osmo.sbatch.variables import MASTER, used, values_of
from workbench.osmo.sbatch.whole_node import with_whole_nodes

LARGEST = 1024 * 1024
"""Largest number of characters of a script. OSMO keeps a script in a Secret, which Kubernetes limits to 1 MiB."""
FILE = "/srv/job.sh"
CAPABILITIES = {"NVIDIA_DRIVER_CAPABILITIES": "all"}
_KILLED = "137,3001"
"""Exit codes of a container that was ended by SIGKILL, and of a task whose Pod was evicted, for example with its node
(NVIDIA/OSMO 6.3.1, FAILED_BACKEND_ERROR in src/utils/job/task.py).
"""
_SIGNS = ("{{", "{%", "{#")
_RAW = ("{% raw %}", "{% endraw %}")


@dataclass(frozen=True)
class Converted:
    """Result of converting a script: the workflow and the findings."""

    workflow: Mapping[str, Any] | None
    """The workflow as data; None if something cannot be converted."""
    findings: Sequence[Finding]


def convert(
    text: str, file: str, known: Sequence[Platform], *, platform: str | None = None, image: str | None = None
) -> Converted:
    """The workflow for a script. If something prevents the conversion, no workflow, but findings about every obstacle.

    Args:
        file: Name of the script, shown in findings. A job without a name gets a name made from it.
        known: Platforms that a job can run on.
        platform: Platform to use instead of the script's partition.
        image: Image to use instead of one that the script names.
    """
    report = Report(file)
    if len(text) > LARGEST:
        problem = f"the script is larger than {LARGEST >> 20} MiB, the most that a file of a task can be"
        report.refuse(SCRIPT, 1, problem, "Put it into the image, and call it.")
        return Converted(None, report.in_order())
    script = header.read(text, report)
    job = job_of(script.directives, PurePath(file).stem, report, has_platform=platform is not None)
    _check_texts(job, report)
    is_refused = report.refused
    # Lines are checked in any case, so that all errors are reported at once.
    commands = commands_of(script.body, job, report)
    if is_refused:
        return Converted(None, report.in_order())
    chosen = _platform(job, known, platform, report)
    named = _image(job, commands, image, report)
    if chosen is not None:
        job = with_whole_nodes(job, chosen, report)
    if report.refused or chosen is None or named is None:
        return Converted(None, report.in_order())
    workflow = _workflow(job, commands, chosen.name, named, script.shell_options)
    return Converted({"workflow": workflow}, report.in_order())


def _check_texts(job: Job, report: Report) -> None:
    """Reports values in the script's header that OSMO would take for template expressions."""
    texts = {"partition": [job.partition], "container-image": [job.image or ""], "export": [*job.environment.values()]}
    for name, values_ in texts.items():
        if any(sign in value for value in values_ for sign in _SIGNS):
            problem = f"--{name}: OSMO reads {{{{, {{% and {{# as its template"
            report.refuse(VALUE, job.line(name), problem, "Write a value without them.")


def _platform(job: Job, known: Sequence[Platform], chosen: str | None, report: Report) -> Platform | None:
    line = job.line("partition", "gres", "gpus", "gpus-per-node", "gpus-per-task")
    try:
        has_gpu = None if job.is_exclusive and not job.gpus else job.gpus > 0
        choice = choose(known, chosen, job.partition, job.gpu_type, has_gpu=has_gpu)
    except Wrong as wrong:
        report.refuse(VALUE, line, wrong.problem, wrong.fix)
        return None
    if choice.remark is not None:
        report.note(line, choice.remark)
    return next(each for each in known if each.name == choice.name)


def _image(job: Job, commands: Commands, chosen: str | None, report: Report) -> str | None:
    try:
        found = image_of(job, commands, chosen)
    except Wrong as wrong:
        report.refuse(SCRIPT, 1, wrong.problem.replace("container-image", "image"), wrong.fix)
        return None
    if found is None:
        fix = "Write --image REGISTRY/NAME:TAG, or #SBATCH --container-image=REGISTRY#NAME:TAG."
        report.refuse(SCRIPT, 1, "a task runs in a container, and nothing names its image", fix)
    return found


def _workflow(job: Job, commands: Commands, platform: str, image: str, shell_options: Sequence[str]) -> dict[str, Any]:
    resource: dict[str, Any] = {"platform": platform}
    if job.gpus:
        resource["gpu"] = job.gpus
    if job.cpus is not None:
        resource["cpu"] = job.cpus
    if job.memory is not None:
        resource["memory"] = values.amount(job.memory)
    if job.storage is not None:
        resource["storage"] = values.amount(job.storage)
    found: dict[str, Any] = {"name": job.name}
    if job.seconds is not None:
        found["timeout"] = {"exec_timeout": values.duration(job.seconds)}
    found["resources"] = {"default": resource}
    command = ["bash", *shell_options, FILE]
    tasks = [_task(job, commands, {"image": image, "command": command}, node) for node in range(job.nodes)]
    if len(tasks) == 1:
        return {**found, "tasks": tasks}
    # srun fails where one of its processes does.
    return {**found, "groups": [{"name": "nodes", "ignoreNonleadStatus": False, "tasks": tasks}]}


def _task(job: Job, commands: Commands, container: Mapping[str, Any], node: int) -> dict[str, Any]:
    environment = {
        **(CAPABILITIES if job.gpus else {}),
        **used(commands.variables, values_of(job, job.name, node)),
        **job.environment,
    }
    if job.nodes > 1 or re.search(rf"\b{MASTER}\b", commands.text):
        environment.setdefault(MASTER, f"{{{{host:{_name(job, 0)}}}}}")
    found: dict[str, Any] = {"name": _name(job, node)}
    if job.nodes > 1:
        found["lead"] = node == 0
    found |= container
    if environment:
        found["environment"] = environment
    if job.requeue:
        found["exitActions"] = {"RESCHEDULE": _KILLED}
    # `${#name}` would start a comment of Jinja, with which OSMO renders the file.
    contents = commands.text.join(_RAW) if "{#" in commands.text else commands.text
    return {**found, "files": [{"path": FILE, "contents": contents}]}


def _name(job: Job, node: int) -> str:
    return "job" if job.nodes == 1 else f"node-{node}"
