"""Table of the options of `sbatch`: options that are converted, options without effect, and options that are refused,
with the advice to the user.

Names and forms: `src/common/slurm_opt.c` of SchedMD/slurm (2026-08-20, and 25.11) and `man sbatch`; `container-*` are
options of NVIDIA's Pyxis (README of NVIDIA/pyxis).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["value", "flag", "optional"]
Outcome = Literal["carried", "no effect", "refused"]


@dataclass(frozen=True)
class Option:
    """An option of `sbatch`, and the outcome of its conversion."""

    name: str
    outcome: Outcome
    advice: str = ""
    """Sentence that says what to write instead of the option, or why nothing is needed."""
    short: str = ""
    form: Form = "value"
    harmless: tuple[str, ...] = ()
    """Values with which the option changes nothing, although the option is otherwise refused. Of a value with a `:`,
    only the part before the `:` is compared.
    """
    of_platform: bool = False
    """True for an option that chooses nodes. It has no effect if the user names a platform."""

    def outcome_of(self, value: str, *, has_platform: bool = False) -> Outcome:
        """Outcome of converting the option with this value: `no effect` if the value is harmless, or if the option
        chooses nodes and `has_platform` is True; the option's own outcome in all other cases.
        """
        settled = value.lower().partition(":")[0] in self.harmless or (self.of_platform and has_platform)
        return "no effect" if self.outcome == "refused" and settled else self.outcome


_PLACE = "Name the platform by --partition; KAI chooses the node."
_NODES = "KAI chooses the nodes; `topology` in the workflow's resource keeps tasks together."
_HOLD = "Submit the workflow when it should start."
_BIND = "Delete it: a task sees the GPUs and CPUs that it asked for, and no others."
_BOUND = "A task has the GPUs and CPUs that it asked for, and no others."
_POOL = "OSMO counts GPUs by its pools: osmo workflow submit --pool."
_PRIORITY = "The priority is set when you submit: osmo workflow submit --priority."
_LOG = "OSMO keeps the output of each task: osmo workflow logs."
_SAY = "OSMO shows the state of a workflow: osmo workflow query."
_PER_NODE = "Write --nodes and --ntasks-per-node."
_ID = "Delete it: workflows run under the account of their Pods."
_FILES = "Put the files into the image, or name them as inputs or files of the task in the workflow."
_THREADS = "A CPU of a task is a hardware thread, as Kubernetes counts them: ask for two where a process needs a core."
_METRICS = "The stack's dashboards show what a task uses."
_WRITABLE = "A container's file system is writable, and goes with the task."
_ROOT = "A task's processes have the user of the image."
_COMMENT = "Nothing reads it; write it as a comment of the workflow."
_VARIABLES = "Write the variables as --export=NAME=VALUE."
_NOT_RUN = "Delete it: with it, sbatch runs nothing."
_CARRIED = (
    Option("cpus-per-gpu", "carried"),
    Option("cpus-per-task", "carried", short="c"),
    Option("exclusive", "carried", form="optional"),
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
)
_WITHOUT_EFFECT = (
    Option("account", "no effect", _POOL, "A"),
    Option("acctg-freq", "no effect", _METRICS),
    Option("comment", "no effect", _COMMENT),
    Option("container-mount-home", "no effect", "A task has no home that is shared.", form="flag"),
    Option("container-readonly", "no effect", _WRITABLE, form="flag"),
    Option("container-remap-root", "no effect", _ROOT, form="flag"),
    Option("container-writable", "no effect", _WRITABLE, form="flag"),
    Option("contiguous", "no effect", _NODES, form="flag"),
    Option("core-spec", "no effect", _BOUND, "S"),
    Option("cpu-freq", "no effect", "Azure sets the clock."),
    Option("delay-boot", "no effect", _NODES),
    Option("error", "no effect", _LOG, "e"),
    Option("extra", "no effect", _COMMENT),
    Option("gpu-freq", "no effect", "The GPU Operator and Azure decide on clocks."),
    Option("hint", "no effect", _THREADS),
    Option("ignore-pbs", "no effect", form="flag"),
    Option("mail-type", "no effect", _SAY),
    Option("mail-user", "no effect", _SAY),
    Option("mcs-label", "no effect", _COMMENT),
    Option("mem-bind", "no effect", _BOUND),
    Option("nice", "no effect", _PRIORITY, form="optional"),
    Option("no-container-mount-home", "no effect", form="flag"),
    Option("no-container-remap-root", "no effect", _ROOT, form="flag"),
    Option("no-kill", "no effect", "A workflow whose node fails is run again, or ends.", "k", "optional"),
    Option("no-requeue", "no effect", form="flag"),
    Option("ntasks-per-core", "no effect", _BOUND),
    Option("ntasks-per-socket", "no effect", _BOUND),
    Option("oom-kill-step", "no effect", "A task that needs more memory than it asked for ends.", form="optional"),
    Option("open-mode", "no effect", _LOG),
    Option("output", "no effect", _LOG, "o"),
    Option("overcommit", "no effect", "The processes of a task share its CPUs.", "O", "flag"),
    Option(
        "oversubscribe",
        "no effect",
        "Tasks share a node in any case, and no GPU unless a platform is shared.",
        "s",
        "optional",
    ),
    Option("parsable", "no effect", form="flag"),
    Option("priority", "no effect", _PRIORITY),
    Option("profile", "no effect", _METRICS),
    Option("propagate", "no effect", "A container has the limits of its node's runtime.", form="optional"),
    Option("qos", "no effect", _PRIORITY, "q"),
    Option("quiet", "no effect", short="Q", form="flag"),
    Option("reservation", "no effect", "Quotas of OSMO's pools reserve GPUs."),
    Option("segment", "no effect", _NODES),
    Option("spread-job", "no effect", _NODES, form="flag"),
    Option("stepmgr", "no effect", form="flag"),
    Option("switches", "no effect", _NODES),
    Option("thread-spec", "no effect", _BOUND),
    Option("threads-per-core", "no effect", _THREADS),
    Option("time-min", "no effect", "The workflow's exec_timeout is --time."),
    Option("use-min-nodes", "no effect", _NODES, form="flag"),
    Option("verbose", "no effect", short="v", form="flag"),
    Option("wait", "no effect", "Wait for the workflow: osmo workflow query.", "W", "flag"),
    Option("wait-all-nodes", "no effect", "The tasks of a group start together."),
    Option("wckey", "no effect", _COMMENT),
)
_REFUSED = (
    Option(
        "array",
        "refused",
        "Submit the workflow once for each index, with the index as a variable: osmo workflow submit --set index=1.",
        "a",
    ),
    Option("autocomplete", "refused", _NOT_RUN),
    Option("batch", "refused", _PLACE, of_platform=True),
    Option("bb", "refused", _FILES),
    Option("bbf", "refused", _FILES),
    Option("begin", "refused", _HOLD, "b"),
    Option("chdir", "refused", "Write cd into the script. " + _FILES, "D"),
    Option("cluster-constraint", "refused", "Name the stack: physai lint --stack."),
    Option("clusters", "refused", "Name the stack: physai lint --stack.", "M"),
    Option(
        "constraint",
        "refused",
        "Name the platform by --partition, or by physai lint --platform.",
        "C",
        of_platform=True,
    ),
    Option("container", "refused", "Name an image by --container-image, or physai lint --image."),
    Option("container-entrypoint", "refused", "Write the entry point's command into the script.", form="flag"),
    Option("container-env", "refused", _VARIABLES),
    Option("container-id", "refused", "Name an image by --container-image."),
    Option("container-mounts", "refused", _FILES),
    Option("container-name", "refused", "Name an image by --container-image."),
    Option("container-save", "refused", "Push the image to a registry by another workflow."),
    Option("container-workdir", "refused", "Write cd into the script."),
    Option("cores-per-socket", "refused", _PLACE, of_platform=True),
    Option("deadline", "refused", "Set timeout.queue_timeout in the workflow."),
    Option(
        "dependency",
        "refused",
        "Write both jobs as tasks of one workflow: a task with `inputs: [{task: NAME}]` waits for it.",
        "d",
    ),
    Option("distribution", "refused", "Delete it: processes are numbered node by node.", "m", harmless=("block", "*")),
    Option(
        "exclude", "refused", "Write nodesExcluded in the workflow's resource, with names of Kubernetes nodes.", "x"
    ),
    Option("export-file", "refused", _VARIABLES),
    Option("external", "refused", _NOT_RUN, form="flag"),
    Option("extra-node-info", "refused", _PLACE, "B", of_platform=True),
    Option("get-user-env", "refused", _VARIABLES, form="optional"),
    Option("gid", "refused", _ID),
    Option("gpu-bind", "refused", _BIND, harmless=("none",)),
    Option("gpus-per-socket", "refused", "Write --gpus-per-node."),
    Option(
        "gres-flags", "refused", _BIND, harmless=("enforce-binding", "disable-binding", "multiple-tasks-per-sharing")
    ),
    Option("help", "refused", _NOT_RUN, "h", "flag"),
    Option("hold", "refused", _HOLD, "H", "flag"),
    Option("input", "refused", "Read the file in the script. " + _FILES, "i"),
    Option("kill-on-invalid-dep", "refused", "Delete it, with --dependency."),
    Option("licenses", "refused", "Delete it: OSMO counts no licenses.", "L"),
    Option("mem-update", "refused", "Write --mem."),
    Option("mincpus", "refused", "Write --cpus-per-task."),
    Option("network", "refused", "Delete it: the pool decides on the network."),
    Option("nodefile", "refused", _PLACE, "F"),
    Option("nodelist", "refused", _PLACE, "w"),
    Option("ntasks-per-gpu", "refused", _PER_NODE),
    Option("ntasks-per-tres", "refused", _PER_NODE),
    Option("prefer", "refused", _PLACE, of_platform=True),
    Option("reboot", "refused", "Delete it: physai node replace repairs nodes.", form="flag"),
    Option("resv-ports", "refused", "Use a fixed port: each Pod has its address.", form="optional"),
    Option(
        "signal",
        "refused",
        "Delete it: a task gets SIGTERM first, and has osmo.platforms.<pool>.checkpointSeconds to write a checkpoint.",
    ),
    Option("sockets-per-node", "refused", _PLACE, of_platform=True),
    Option("test-only", "refused", _NOT_RUN, form="flag"),
    Option("tres-bind", "refused", _BIND),
    Option("tres-per-task", "refused", "Write --gpus-per-task and --cpus-per-task."),
    Option("uid", "refused", _ID),
    Option("usage", "refused", _NOT_RUN, form="flag"),
    Option("version", "refused", _NOT_RUN, "V", "flag"),
    Option("wrap", "refused", "Write the command into the script."),
)
BY_NAME = {option.name: option for option in (*_CARRIED, *_WITHOUT_EFFECT, *_REFUSED)}
BY_SHORT = {option.short: option for option in BY_NAME.values() if option.short}
ALIASES = {"tasks-per-node": "ntasks-per-node", "cluster": "clusters"}
"""The usual long name of an `sbatch` option, by its second long name in `slurm_opt.c`."""


def option_of(name: str) -> Option | None:
    """The option with this long name; None if `sbatch` has none."""
    return BY_NAME.get(ALIASES.get(name, name))
