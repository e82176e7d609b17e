"""A decision's givens, its result, and the words for both. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from grid_agent.facts import GATE_LABELS, PAUSED, HostFacts, NodeFacts, Pod
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
    Step.MARK_LEGACY: State.UNGATING,
    Step.UNGATE: State.UNGATING,
}
"""The state in which each step is done. WAIT keeps the state it waits in."""

DOING = {
    Step.GATE: "holding the GPU Operator's pods off this node for",
    Step.CLEAN: "clearing away marks of earlier deployments for",
    Step.UNLOAD: "unloading kernel modules for",
    Step.REMOVE: "removing what is on the host in favour of",
    Step.FETCH: "downloading the installer of",
    Step.CONFIGURE: "writing the module options of",
    Step.INSTALL: "building and installing",
    Step.LOAD: "loading and checking",
    Step.MARK_LEGACY: "setting marker and bind mount of the seed deployment for",
    Step.UNGATE: "letting the GPU Operator's pods onto this node with",
}
DISRUPTIVE = frozenset({Step.UNLOAD, Step.REMOVE, Step.INSTALL})
"""Steps that no pod with a GPU would survive."""


@dataclass(frozen=True)
class Plan:
    """The next step, those that are to follow, and a sentence for people."""

    state: State
    reason: str
    """CamelCase word for the condition."""
    sentence: str
    steps: tuple[Step, ...]
    """The first is performed now; the rest is what comes if all goes well."""
    target: Target
    """The build the steps are about: the wanted one, or the old one while it is put back."""
    pod: Pod | None = None
    """Whom EVICT or DELETE_OPERAND means."""
    why: str = ""
    """What is wrong with the host that the step is to cure."""
    give_up: str = ""
    """Why the wanted build is given up in favour of the one before; the machine remembers it."""
    restarts: bool = False
    """The step takes something away that running operands were started with."""
    proven: bool = False
    """The target passes every check on this host."""

    @property
    def step(self) -> Step:
        return self.steps[0] if self.steps else Step.WAIT


@dataclass(frozen=True)
class Case:
    """One decision's givens, with what follows from them directly."""

    host: HostFacts
    node: NodeFacts | None
    wanted: Wanted
    memory: Memory
    now: float
    target: Target
    found: tuple[Fault, ...]

    @property
    def serving(self) -> bool:
        """A build that this agent proved on this node works for pods, whichever it is."""
        return serving(self.host, self.memory.verified)

    @property
    def gate_shut(self) -> bool:
        """No operand is let onto the node, by us or by somebody else."""
        return self.node is not None and not shut_labels(self.node)

    @property
    def gate_ours(self) -> bool:
        return self.node is not None and bool(open_labels(self.node))

    def plan(self, state: State, reason: str, sentence: str, *steps: Step, pod: Pod | None = None) -> Plan:
        why = self.found[0].sentence if self.found else ""
        return Plan(state, reason, sentence, steps or (Step.WAIT,), self.target, pod, why)


def target_of(wanted: Wanted, memory: Memory) -> Target:
    """The build to have: the wanted one, or the one before it once the wanted one was given up."""
    return (memory.previous if memory.rolled_back else None) or wanted.target


def shut_labels(node: NodeFacts) -> dict[str, str]:
    """Labels to set so that the gate is shut. What somebody else switched off stays theirs."""
    return {label: PAUSED for label in GATE_LABELS if node.labels.get(label, "") in ("", "true")}


def open_labels(node: NodeFacts) -> dict[str, str]:
    """Labels to set so that the gate is open: those that carry the gate's value."""
    return {label: "true" for label in GATE_LABELS if node.labels.get(label) == PAUSED}


def names(items: tuple[str, ...]) -> str:
    return ", ".join(items[:3]) + (f" and {len(items) - 3} more" if len(items) > 3 else "")


def pod_names(pods: tuple[Pod, ...]) -> tuple[str, ...]:
    return tuple(f"{pod.namespace}/{pod.name}" for pod in pods)


def word(step: Step) -> str:
    """`mark-legacy` -> `MarkLegacy`."""
    return "".join(part.capitalize() for part in step.value.split("-"))
