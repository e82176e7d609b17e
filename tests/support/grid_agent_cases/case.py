"""One decision of the GRID agent: a situation, and the decision that has to follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from grid_agent.decide import decide
from grid_agent.facts import (
    GATE_LABELS,
    PAUSED,
    HostFacts,
    Job,
    Module,
    NodeFacts,
    Pod,
    Smi,
)
from grid_agent.memory import Failure, Memory
from grid_agent.plan import Plan
from grid_agent.steps import State, Step
from grid_agent.wanted import Wanted
from tests.support.grid_agent_fake import NEW, OLD, SHA, installed, loaded, wanted

NOW = 1_000_000.0
OPEN = NodeFacts("node-1", dict.fromkeys(GATE_LABELS, "true"))
CLOSED = NodeFacts("node-1", dict.fromkeys(GATE_LABELS, PAUSED))
FRESH = HostFacts()
CACHED = replace(FRESH, cached=(SHA[NEW],))
OURS = Memory(verified=wanted(OLD).target, driver_since=NOW - 3600, gated_at=NOW - 30)
"""Memory of an agent that has verified the old build on this host."""
POD = Pod("training", "job-1", "u", gpus=1)


@dataclass(frozen=True)
class Case:
    """Situation, and the decision that has to follow from it."""

    name: str
    state: State
    reason: str
    step: Step
    says: str = ""
    host: HostFacts = FRESH
    node: NodeFacts | None = CLOSED
    wanted: Wanted = field(default_factory=wanted)
    memory: Memory = field(default_factory=lambda: Memory(gated_at=NOW - 30))

    def plan(self) -> Plan:
        return decide(self.host, self.node, self.wanted, self.memory, NOW)


def failing(step: Step, sentence: str, *, final: bool = False, **changes: object) -> Memory:
    failure = Failure(2, 2, sentence, NOW + 60, final, final)
    return replace(Memory(gated_at=NOW - 30), failures={step.value: failure}, **changes)  # type: ignore[arg-type]


def working(**changes: object) -> HostFacts:
    return replace(installed(), **changes)  # type: ignore[arg-type]


def smi(**changes: object) -> Smi:
    return replace(installed().smi, **changes)  # type: ignore[arg-type]


def without(name: str) -> Mapping[str, Module]:
    return {module: each for module, each in loaded(NEW).items() if module != name}


def job(step: Step) -> Job:
    return Job(f"{step.value}-1", step, wanted().target, "running", started=NOW - 90)
