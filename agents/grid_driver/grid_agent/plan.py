"""The input and result of a decision, and their messages. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from grid_agent.facts import GATE_LABELS, PAUSED, HostFacts, NodeFacts, Pod, Process
from grid_agent.faults import Fault, serving
from grid_agent.memory import Memory
from grid_agent.steps import State, Step
from grid_agent.wanted import Target, Wanted

STATE_OF = {
    Step.GATE: State.GATING,
    Step.EVICT: State.DRAINING,
    Step.DELETE_OPERAND: State.KICKING,
    Step.CLEAN: State.CLEANING,
    Step.UNLOAD: State.CLEANING,
    Step.REMOVE: State.REMOVING,
    Step.FETCH: State.FETCHING,
    Step.CONFIGURE: State.CONFIGURING,
    Step.INSTALL: State.INSTALLING,
    Step.LOAD: State.VERIFYING,
    Step.PERSIST: State.READY,
    Step.MARK_LEGACY: State.UNGATING,
    Step.UNGATE: State.UNGATING,
}
"""The state in which each step is done. WAIT keeps the state it waits in."""

DOING = {
    Step.GATE: "closing the gate for the GPU Operator's Pods, for",
    Step.CLEAN: "removing traces of earlier deployments for",
    Step.UNLOAD: "unloading kernel modules for",
    Step.REMOVE: "removing the driver on the host, to install",
    Step.FETCH: "downloading the installer of",
    Step.CONFIGURE: "writing the module options of",
    Step.INSTALL: "building and installing",
    Step.LOAD: "loading and checking",
    Step.MARK_LEGACY: "creating the seed deployment's marker and bind mount for",
    Step.UNGATE: "opening the gate for the GPU Operator's Pods with",
}
DISRUPTIVE = frozenset({Step.UNLOAD, Step.REMOVE, Step.INSTALL})
"""Steps that end every Pod with a GPU."""


@dataclass(frozen=True)
class Plan:
    """The next step, those after it, and a sentence for users."""

    state: State
    reason: str
    """CamelCase word for the condition."""
    sentence: str
    steps: tuple[Step, ...]
    """The first is performed now; the rest follow if it succeeds."""
    target: Target
    """The build the steps are about: the one in the settings, or the previous one while it is restored."""
    pod: Pod | None = None
    """The Pod that EVICT or DELETE_OPERAND is about."""
    why: str = ""
    """The fault that the step is for."""
    give_up: str = ""
    """Why the build in the settings is given up in favour of the previous one."""
    restarts: bool = False
    """The step removes files that running operands were started with."""
    proven: bool = False
    """The target passes every check on this host."""

    @property
    def step(self) -> Step:
        return self.steps[0] if self.steps else Step.WAIT


@dataclass(frozen=True)
class Case:
    """The input of a decision, with what follows from it directly."""

    host: HostFacts
    node: NodeFacts | None
    wanted: Wanted
    memory: Memory
    now: float
    target: Target
    found: tuple[Fault, ...]

    @property
    def serving(self) -> bool:
        """A build that this agent verified on this node works for Pods, whichever it is."""
        return serving(self.host, self.memory.verified)

    @property
    def gate_closed(self) -> bool:
        """No operand is admitted to the node, because of this agent or anything else."""
        return self.node is not None and not closing_labels(self.node)

    @property
    def gate_ours(self) -> bool:
        return self.node is not None and bool(opening_labels(self.node))

    @property
    def holders(self) -> tuple[str, ...]:
        """What keeps the driver from being unloaded: modules of others, and processes.

        Without those of the operator's Pods, which end behind a closed gate, and of Pods that request GPUs, which the
        upgrade policy is about.
        """
        processes = (str(each) for each in self._strangers)
        return (*(f"module {name}" for name in self.host.kernel_users), *processes)

    @property
    def _strangers(self) -> tuple[Process, ...]:
        pods = (*self.node.operands, *(self.node.gpu_pods or ())) if self.node else ()
        known = {pod.uid for pod in pods}
        return tuple(each for each in self.host.gpu_processes if each.pod not in known)

    @property
    def holders_are_ending(self) -> bool:
        """The gate was closed a moment ago, and all holders are processes of Pods: those that end because of it."""
        lately = self.now - self.memory.gated_at < self.wanted.timings.pods_seconds
        pods_only = not self.host.kernel_users and all(each.pod for each in self._strangers)
        return self.gate_ours and lately and pods_only

    def plan(self, state: State, reason: str, sentence: str, *steps: Step, pod: Pod | None = None) -> Plan:
        why = self.found[0].sentence if self.found else ""
        return Plan(state, reason, sentence, steps or (Step.WAIT,), self.target, pod, why)


def target_of(wanted: Wanted, memory: Memory) -> Target:
    """The build to install: the one in the settings, or the previous one once that was given up."""
    return (memory.previous if memory.rolled_back else None) or wanted.target


def closing_labels(node: NodeFacts) -> dict[str, str]:
    """Labels that close the gate. An operand that is disabled by other means keeps its label."""
    return {label: PAUSED for label in GATE_LABELS if node.labels.get(label, "") in ("", "true")}


def opening_labels(node: NodeFacts) -> dict[str, str]:
    """Labels that open the gate: those that have the gate's value."""
    return {label: "true" for label in GATE_LABELS if node.labels.get(label) == PAUSED}


def names(items: tuple[str, ...]) -> str:
    return ", ".join(items[:3]) + (f" and {len(items) - 3} more" if len(items) > 3 else "")


def pod_names(pods: tuple[Pod, ...]) -> tuple[str, ...]:
    return tuple(f"{pod.namespace}/{pod.name}" for pod in pods)


def word(step: Step) -> str:
    """`mark-legacy` -> `MarkLegacy`."""
    return "".join(part.capitalize() for part in step.value.split("-"))
