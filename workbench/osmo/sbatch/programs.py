"""Programs that fail or behave differently in a task, each with the advice on what to write instead."""

from __future__ import annotations

import re

SLURM = {
    "salloc": "Write the commands into the script: the task has its resources.",
    "sacct": "osmo workflow query shows finished workflows.",
    "sacctmgr": "Quotas of OSMO's pools take the place of accounts.",
    "sattach": "osmo workflow exec opens a shell in a task.",
    "sbatch": "Write both jobs as tasks of one workflow: `inputs: [{task: NAME}]` waits for a task.",
    "sbcast": "Put the files into the image, or name them as inputs of the task.",
    "scancel": "The task ends with its script: exit 1.",
    "scontrol": "The address of the first node is in MASTER_ADDR: delete the line where it computes that.",
    "scrontab": "Submit the workflow from a scheduled job.",
    "sdiag": "physai status shows the cluster.",
    "sgather": "Write results to {{output}} of the task, which OSMO uploads.",
    "sinfo": "physai status and kubectl get nodes show the nodes.",
    "sprio": "osmo workflow list shows workflows with their priority.",
    "squeue": "osmo workflow list shows workflows.",
    "sreport": "physai usage shows GPU-hours.",
    "sshare": "Quotas of OSMO's pools take the place of shares.",
    "sstat": "The stack's dashboards show what a task uses.",
    "strigger": "exitActions of a task say what follows from its end.",
}
MODULES = ("module", "ml", "spack")
LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "prun")
REMOTE = ("ssh", "pdsh", "clush", "dsh", "pssh", "parallel-ssh", "mpssh", "rsh", "xdsh")
CONTAINERS = (
    "apptainer",
    "buildah",
    "ch-run",
    "charliecloud",
    "ctr",
    "docker",
    "docker-compose",
    "enroot",
    "nerdctl",
    "nvidia-docker",
    "podman",
    "podman-hpc",
    "sarus",
    "shifter",
    "singularity",
    "udocker",
)
CONTAINER_ADVICE = "The task is a container already: name its image by --image, and write the command that runs in it."
CODE = ("bash", "sh", "dash", "zsh", "ksh", "su", "watch", "trap", "parallel", "xargs", "flock", "script")
"""Programs that run one or more of their arguments as shell code."""
WRAPPERS = frozenset(
    {
        *CODE,
        *("builtin", "catchsegv", "chrt", "command", "env", "exec", "gdb", "ionice", "ltrace", "nice", "nohup", "nsys"),
        *("ncu", "numactl", "perf", "setsid", "stdbuf", "strace", "sudo", "taskset", "timeout", "unbuffer", "valgrind"),
    }
)
"""Programs that run the command in their arguments."""
SAYING = ("echo", "printf", "logger", ":", "true", "false")
"""Commands that only print their arguments, or do nothing."""
LOOKING = ("which", "type", "hash", "whereis", "grep", "egrep", "pgrep", "pkill", "killall", "man", "ls", "cat", "rm")
"""Commands whose arguments are names of things to look for, not programs to run."""
SRUN = re.compile(r"(?<![\w.-])srun(?![\w.=-])|(?<=:-)srun\b")
"""Pattern of the command srun, at any place in a text."""
