"""Conversion of jobs that ask for whole nodes by `--exclusive` or `--mem=0`."""

from __future__ import annotations

from dataclasses import replace

from workbench.osmo.sbatch import values
from workbench.osmo.sbatch.job import Job
from workbench.osmo.sbatch.platform import Platform
from workbench.osmo.sbatch.report import VALUE, Report

_LIST = "`physai osmo platforms` lists what a node has."


def with_whole_nodes(job: Job, platform: Platform, report: Report) -> Job:
    """The job with the CPUs, GPUs and memory of a whole node in place of `--exclusive` and `--mem=0`.

    A task that has all GPUs of a node keeps every other GPU task off the node. On a node without GPUs, a task that has
    all CPUs keeps every other task off the node.
    """
    if job.is_exclusive:
        job = _exclusive(job, platform, report)
    return _memory(job, platform, report) if job.has_all_memory else job


def _exclusive(job: Job, platform: Platform, report: Report) -> Job:
    line = job.line("exclusive")
    if platform.has_gpu and platform.gpus:
        return _all_gpus(job, platform.gpus, platform.name, report)
    if platform.has_gpu is False and platform.cpus:
        report.note(line, f"--exclusive: the task asks for the {platform.cpus} CPUs that a node has for it")
        return replace(job, cpus=platform.cpus)
    fix = f"Delete it, and ask for the CPUs, memory and GPUs of a whole node: {_LIST}"
    report.refuse(VALUE, line, f"--exclusive: it is not known what a node of {platform.name} has", fix)
    return job


def _all_gpus(job: Job, all_gpus: int, name: str, report: Report) -> Job:
    line = job.line("exclusive")
    if job.gpus in (0, all_gpus):
        verb = "asks for" if job.gpus else "gets"
        report.note(
            line, f"--exclusive: the task {verb} the {all_gpus} GPUs of a node, so no other task gets one there"
        )
        return replace(job, gpus=all_gpus)
    fix = f"Write --gres=gpu:{all_gpus}, or delete --exclusive: the node's other GPUs are then free for others."
    report.refuse(VALUE, line, f"--exclusive with {job.gpus} of the {all_gpus} GPUs of a node of {name}", fix)
    return job


def _memory(job: Job, platform: Platform, report: Report) -> Job:
    line = job.line("mem")
    has_node = job.is_exclusive or (job.gpus > 0 and job.gpus == platform.gpus)
    if not has_node or not platform.memory_gib:
        fix = f"Write the amount: {_LIST}"
        report.refuse(VALUE, line, "--mem=0 asks for a whole node", fix)
        return job
    mebibytes = platform.memory_gib * 1024
    report.note(line, f"--mem=0: the task asks for {values.amount(mebibytes)}, what a node has for one")
    return replace(job, memory=mebibytes)
