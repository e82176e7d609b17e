"""The options of `sbatch`: which are converted, which have no effect there, and what to write instead of the others.

Names and forms: `man sbatch`, Slurm 25.11; `container-*` are those of NVIDIA's Pyxis (README of NVIDIA/pyxis).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["value", "flag", "optional"]
Outcome = Literal["carried", "no effect", "refused"]


@dataclass(frozen=True)
class Option:
    """An option of `sbatch`, and what becomes of it."""

    name: str
    outcome: Outcome
    advice: str = ""
    """What takes its place; a sentence."""
    short: str = ""
    form: Form = "value"


_WHOLE_NODE = "Ask for the CPUs, memory and GPUs of a whole node: `physai osmo platforms` lists them."
_PLACE = "Name the platform by --partition; KAI chooses the node."
_HOLD = "Submit the workflow when it shall start."
_BIND = "Delete it: a task sees the GPUs and CPUs that it asked for, and no others."
_POOL = "Delete it, and submit to the OSMO pool of the account: osmo workflow submit --pool."
_LOG = "OSMO keeps the output of each task: osmo workflow logs."
_SAY = "OSMO shows the state of a workflow: osmo workflow query."
_PER_NODE = "Write --nodes and --ntasks-per-node."
_ID = "Delete it: workflows run under the account of their Pods."
_FILES = "Put the files into the image, or name them as inputs or files of the task in the workflow."

_EVERY = (
    Option("cpus-per-gpu", "carried"),
    Option("cpus-per-task", "carried", short="c"),
    Option("export", "carried"),
    Option("gpus", "carried", short="G"),
    Option("gpus-per-node", "carried"),
    Option("gpus-per-task", "carried"),
    Option("gres", "carried"),
    Option("job-name", "carried", short="J"),
    Option("mem", "carried"),
    Option("mem-per-cpu", "carried"),
    Option("mem-per-gpu", "carried"),
    Option("nodes", "carried", short="N"),
    Option("ntasks", "carried", short="n"),
    Option("ntasks-per-node", "carried"),
    Option("partition", "carried", short="p"),
    Option("requeue", "carried", form="flag"),
    Option("time", "carried", short="t"),
    Option("tmp", "carried"),
    Option("container-image", "carried"),
    Option("comment", "no effect", "Write it as a comment of the workflow."),
    Option("error", "no effect", _LOG, "e"),
    Option("ignore-pbs", "no effect", form="flag"),
    Option("mail-type", "no effect", _SAY),
    Option("mail-user", "no effect", _SAY),
    Option("no-container-mount-home", "no effect", form="flag"),
    Option("no-requeue", "no effect", form="flag"),
    Option("open-mode", "no effect", _LOG),
    Option("output", "no effect", _LOG, "o"),
    Option("parsable", "no effect", form="flag"),
    Option("quiet", "no effect", short="Q", form="flag"),
    Option("verbose", "no effect", short="v", form="flag"),
    Option("account", "refused", _POOL, "A"),
    Option(
        "array",
        "refused",
        "Submit the workflow once for each index, with the index as a variable: osmo workflow submit --set index=1.",
        "a",
    ),
    Option("batch", "refused", _PLACE),
    Option("bb", "refused", _FILES),
    Option("bbf", "refused", _FILES),
    Option("begin", "refused", _HOLD, "b"),
    Option("chdir", "refused", "Write cd into the script. " + _FILES, "D"),
    Option("clusters", "refused", "Name the stack: physai lint --stack.", "M"),
    Option("constraint", "refused", _PLACE, "C"),
    Option("container", "refused", "Name an image by --container-image, or physai lint --image."),
    Option("container-mounts", "refused", _FILES),
    Option("container-name", "refused", "Name an image by --container-image."),
    Option("container-workdir", "refused", "Write cd into the script."),
    Option("container-writable", "refused", "Delete it: a container's file system is writable.", form="flag"),
    Option("contiguous", "refused", _PLACE, form="flag"),
    Option("core-spec", "refused", _BIND, "S"),
    Option("cpu-freq", "refused", "Delete it: Azure sets the clock."),
    Option("deadline", "refused", "Set timeout.queue_timeout in the workflow."),
    Option(
        "dependency",
        "refused",
        "Write both jobs as tasks of one workflow: a task with `inputs: [{task: NAME}]` waits for it.",
        "d",
    ),
    Option("distribution", "refused", _PLACE, "m"),
    Option(
        "exclude", "refused", "Write nodesExcluded in the workflow's resource, with names of Kubernetes nodes.", "x"
    ),
    Option("exclusive", "refused", _WHOLE_NODE, form="optional"),
    Option("export-file", "refused", "Write the variables as --export=NAME=VALUE."),
    Option("get-user-env", "refused", "Write the variables as --export=NAME=VALUE.", form="optional"),
    Option("gid", "refused", _ID),
    Option("gpu-bind", "refused", _BIND),
    Option("gpu-freq", "refused", "Delete it: the GPU Operator and Azure decide on clocks."),
    Option("gpus-per-socket", "refused", "Write --gpus-per-node."),
    Option("gres-flags", "refused", _BIND),
    Option("hold", "refused", _HOLD, "H", "flag"),
    Option("input", "refused", "Read the file in the script. " + _FILES, "i"),
    Option("kill-on-invalid-dep", "refused", "Delete it, with --dependency."),
    Option("licenses", "refused", "Delete it: OSMO counts no licenses.", "L"),
    Option("mem-bind", "refused", _BIND),
    Option("mincpus", "refused", "Write --cpus-per-task."),
    Option("network", "refused", "Delete it: the pool decides on the network."),
    Option("nice", "refused", "Set the priority when you submit: osmo workflow submit --priority.", form="optional"),
    Option("no-kill", "refused", "Delete it: a workflow whose node fails is run again or ends.", "k", "optional"),
    Option("nodefile", "refused", _PLACE, "F"),
    Option("nodelist", "refused", _PLACE, "w"),
    Option("ntasks-per-core", "refused", _PER_NODE),
    Option("ntasks-per-gpu", "refused", _PER_NODE),
    Option("ntasks-per-socket", "refused", _PER_NODE),
    Option("overcommit", "refused", "Write --cpus-per-task with what a process needs.", "O", "flag"),
    Option("oversubscribe", "refused", "Choose a platform whose GPUs are shared.", "s", "optional"),
    Option("prefer", "refused", _PLACE),
    Option("priority", "refused", "Set it when you submit: osmo workflow submit --priority."),
    Option("qos", "refused", "Set the priority when you submit: osmo workflow submit --priority.", "q"),
    Option("reboot", "refused", "Delete it: physai node replace repairs nodes.", form="flag"),
    Option("reservation", "refused", "Delete it: quotas of OSMO's pools reserve GPUs."),
    Option("segment", "refused", "Write topology in the workflow's resource."),
    Option(
        "signal",
        "refused",
        "Delete it: a task gets SIGTERM first, and has osmo.platforms.<pool>.checkpointSeconds to write a checkpoint.",
    ),
    Option("spread-job", "refused", _PLACE, form="flag"),
    Option("switches", "refused", "Write topology in the workflow's resource."),
    Option("time-min", "refused", "Write --time."),
    Option("tres-per-task", "refused", "Write --gpus-per-task and --cpus-per-task."),
    Option("uid", "refused", _ID),
    Option("wait", "refused", "Delete it, and wait for the workflow: osmo workflow query.", "W", "flag"),
    Option("wckey", "refused", "Delete it, or write it as a label of the workflow."),
    Option("wrap", "refused", "Write the command into the script."),
)
BY_NAME = {option.name: option for option in _EVERY}
BY_SHORT = {option.short: option for option in _EVERY if option.short}
