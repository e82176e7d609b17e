"""Options of `srun`: those without effect, those that repeat the header, and those that cannot be converted.

Names and forms: `man srun` and `src/common/slurm_opt.c` of SchedMD/slurm.
"""

from __future__ import annotations

import re

from workbench.osmo.sbatch import values
from workbench.osmo.sbatch.job import Job
from workbench.osmo.sbatch.options import option_of
from workbench.osmo.sbatch.report import Wrong, quoted

FLAGS = (
    "--contiguous",
    "--container-readonly",
    "--container-remap-root",
    "--container-writable",
    "--disable-status",
    "--exact",
    "--exclusive",
    "--kill-on-bad-exit",
    "--label",
    "--no-container-mount-home",
    "--no-container-remap-root",
    "--no-kill",
    "--overcommit",
    "--overlap",
    "--preserve-env",
    "--quiet",
    "--spread-job",
    "--unbuffered",
    "--use-min-nodes",
    "--verbose",
    "--whole",
)
"""Options that do not change the work of a task. They have no value, or a value after `=`."""
DROPPED = (
    "--account",
    "--accel-bind",
    "--acctg-freq",
    "--comment",
    "--cpu-bind",
    "--cpu-freq",
    "--cpu_bind",
    "--deadline",
    "--error",
    "--gpu-freq",
    "--gres-flags",
    "--hint",
    "--job-name",
    "--mail-type",
    "--mail-user",
    "--mem-bind",
    "--msg-timeout",
    "--ntasks-per-core",
    "--ntasks-per-socket",
    "--open-mode",
    "--output",
    "--priority",
    "--profile",
    "--propagate",
    "--qos",
    "--reservation",
    "--slurmd-debug",
    "--switches",
    "--threads",
    "--threads-per-core",
    "--wait",
    "--wckey",
)
"""Options with a value that do not change the work of a task: a task sees only the GPUs and CPUs that it asked for, and
OSMO keeps its output.
"""
_OPTIONAL = ("--gres-flags", "--propagate")
_LONG = {
    "-A": "--account",
    "-D": "--chdir",
    "-E": "--preserve-env",
    "-G": "--gpus",
    "-I": "--immediate",
    "-J": "--job-name",
    "-K": "--kill-on-bad-exit",
    "-L": "--licenses",
    "-N": "--nodes",
    "-O": "--overcommit",
    "-Q": "--quiet",
    "-T": "--threads",
    "-W": "--wait",
    "-X": "--disable-status",
    "-c": "--cpus-per-task",
    "-e": "--error",
    "-i": "--input",
    "-k": "--no-kill",
    "-l": "--label",
    "-m": "--distribution",
    "-n": "--ntasks",
    "-o": "--output",
    "-p": "--partition",
    "-q": "--qos",
    "-t": "--time",
    "-u": "--unbuffered",
    "-v": "--verbose",
    "-w": "--nodelist",
    "-x": "--exclude",
}
_MPI = ("pmi2", "pmix", "pmix_v2", "pmix_v3", "pmix_v4", "pmix_v5", "cray_shasta")
_VARIABLES = re.compile(r"\$\{?(?P<name>SLURM_[A-Z_]+)\}?")


def named(option: str) -> tuple[str, str | None]:
    """The long name of an option, and its value if the value is in the same word."""
    if option.startswith("--"):
        name, equals, value = option.partition("=")
        return name, value if equals else None
    name = _LONG.get(option[:2], option[:2])
    # Flags of one letter may stand together: -lu.
    if name in FLAGS:
        return name, None
    return name, option[2:].removeprefix("=") or None


def takes_value(name: str) -> bool:
    """True if the option's value may be the next word."""
    if name in FLAGS or name in _OPTIONAL:
        return False
    known = option_of(name.removeprefix("--"))
    return (
        name in DROPPED
        or name in ("--mpi", "--het-group", "--jobid", "--immediate")
        or (known is not None and known.form == "value")
    )


def repeats_header(name: str, value: str, job: Job) -> bool:
    """True for an option of srun that repeats the header, or does not change the step."""
    if variable := _VARIABLES.fullmatch(value.strip('"')):
        return _same_variable(name, variable["name"], job)
    in_header = name.removeprefix("--") in job.lines
    if name == "--gres":
        return values.gres(value) in (("", job.gpus), (job.gpu_type, job.gpus))
    without_effect = {
        "--distribution": value.partition(":")[0] in ("block", "*"),
        "--export": value == "ALL",
        "--gpu-bind": job.processes == 1 or value == "none",
        "--mem": in_header or value == "0",
        "--mem-per-cpu": in_header,
        "--mem-per-gpu": in_header,
        "--mpi": value.lower() not in _MPI,
        "--partition": in_header,
        "--time": in_header,
        "--tres-bind": job.processes == 1 or value == "none",
    }
    return without_effect.get(name, value == _expected(job).get(name))


def _expected(job: Job) -> dict[str, str]:
    return {
        "--nodes": str(job.nodes),
        "--ntasks": str(job.nodes * job.processes),
        "--ntasks-per-node": str(job.processes),
        "--tasks-per-node": str(job.processes),
        "--cpus-per-task": str(job.cpus_per_process),
        "--gpus-per-node": str(job.gpus),
        "--gpus-per-task": str(job.gpus // job.processes),
        "--gpus": str(job.gpus * job.nodes),
    }


def _same_variable(name: str, variable: str, job: Job) -> bool:
    """True if `variable` is the Slurm variable that holds the header's value of the option `name`."""
    known = {
        "--jobid": ("SLURM_JOB_ID", "SLURM_JOBID"),
        "--nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
        "--ntasks": ("SLURM_NTASKS", "SLURM_NPROCS", *(("SLURM_NNODES",) if job.processes == 1 else ())),
        "--ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
        "--cpus-per-task": ("SLURM_CPUS_PER_TASK",),
        "--gpus-per-node": ("SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"),
    }
    return variable in known.get(name, ())


def refusal(name: str, value: str) -> Wrong:
    """Error that explains why an option that differs from the header can't be converted."""
    known = option_of(name.removeprefix("--"))
    shown = quoted(f"srun {name}={value}" if value else f"srun {name}")
    if name == "--het-group":
        fix = "Convert each part alone, and write the parts as tasks of one group, each with its own resource."
        return Wrong("a step of a heterogeneous job has parts of different resources", fix)
    if name == "--mpi":
        fix = "Delete it where the program starts without MPI, as torchrun's do; or use MPI's operator for Kubernetes."
        return Wrong(f"tasks have no {quoted(value)}, by which processes of MPI find each other", fix)
    if name == "--export":
        return Wrong(f"{shown} gives the step other variables", "Write them before srun: NAME=VALUE srun …")
    if known is not None and known.outcome == "refused":
        return Wrong(f"{shown} can't be converted", known.advice)
    if known is None and name not in ("--jobid",):
        fix = "Delete it where it changes nothing that the step does, or write what it does into the script."
        return Wrong(f"{shown} is not an option of srun that can be converted", fix)
    return Wrong(
        f"{shown} is not what the header asks for",
        "Write the option in the header; another size of step is a task of its own, with its own resource.",
    )
