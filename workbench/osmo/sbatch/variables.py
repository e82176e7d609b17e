"""Environment variables that Slurm sets for a job, and their values in an OSMO task."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.osmo.sbatch.job import Job

VARIABLE = re.compile(r"\b(?:SLURM|SBATCH|SLURMD)_[A-Z0-9_]+\b")
MASTER = "MASTER_ADDR"
RANKS = frozenset(
    {
        "SLURM_JOB_NUM_NODES",
        "SLURM_LOCALID",
        "SLURM_NNODES",
        "SLURM_NODEID",
        "SLURM_NPROCS",
        "SLURM_NTASKS",
        "SLURM_NTASKS_PER_NODE",
        "SLURM_PROCID",
    }
)
"""Variables from which the processes of a step know their ranks. A step's program may read them even if the script does
not.
"""
_LIST = (
    "SLURM_JOB_NODELIST",
    "SLURM_NODELIST",
    "SLURM_STEP_NODELIST",
    "SLURM_LAUNCH_NODE_IPADDR",
    "SLURM_SRUN_COMM_HOST",
)


def values_of(job: Job, name: str, node: int) -> dict[str, str]:
    """Values of all Slurm variables that a task can have, from the script's header and the number of the
    task's node.
    """
    found = {
        "SLURM_JOB_ID": "{{workflow_id}}",
        "SLURM_JOBID": "{{workflow_id}}",
        "SLURM_JOB_NAME": name,
        "SLURM_JOB_PARTITION": job.partition,
        "SLURM_NNODES": str(job.nodes),
        "SLURM_JOB_NUM_NODES": str(job.nodes),
        "SLURM_NODEID": str(node),
        "SLURM_NTASKS": str(job.nodes * job.processes),
        "SLURM_NPROCS": str(job.nodes * job.processes),
        "SLURM_NTASKS_PER_NODE": str(job.processes),
        "SLURM_GPUS": str(job.nodes * job.gpus),
        "SLURM_GPUS_PER_NODE": str(job.gpus),
        "SLURM_GPUS_ON_NODE": str(job.gpus),
        "SLURM_LOCALID": "0",
        "SLURM_PROCID": str(node * job.processes),
    }
    if job.cpus_per_process is not None:
        found["SLURM_CPUS_PER_TASK"] = str(job.cpus_per_process)
    if job.cpus is not None:
        found["SLURM_CPUS_ON_NODE"] = str(job.cpus)
    return found


_KNOWN = frozenset(values_of(Job("x", cpus=1, cpus_per_process=1), "x", 0))


def advice(name: str) -> str | None:
    """Advice for a Slurm variable that a task cannot have; None for a variable that it can have."""
    if name in _KNOWN:
        return None
    if name in _LIST:
        return f"Delete the line: {MASTER} is the address of the first node's task, where the script reads it."
    if "ARRAY" in name or "HET" in name:
        return "Give each workflow its value: osmo workflow submit --set index=1, and {{ index }} in the workflow."
    if name == "SLURMD_NODENAME":
        return "Write $(hostname): the name of the Pod. Other tasks reach the first one at $MASTER_ADDR."
    if name in ("SLURM_SUBMIT_DIR", "SLURM_TMPDIR"):
        return "Write a folder of the container, such as /tmp."
    return "Write its value, or delete the line."


def used(names: Iterable[str], values: dict[str, str]) -> dict[str, str]:
    """Entries of `values` whose variable the script reads. `names`: variables that the script reads."""
    return {name: values[name] for name in sorted(names) if name in values}
