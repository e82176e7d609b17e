"""Facts and settings -> what to do next, and why. Pure: no clock, no files, no network."""

from __future__ import annotations

from dataclasses import dataclass

from grid_agent.facts import HostFacts, NodeFacts, Pod, State, Step
from grid_agent.memory import Memory
from grid_agent.wanted import Target, Wanted


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

    @property
    def step(self) -> Step:
        return self.steps[0] if self.steps else Step.WAIT


def decide(host: HostFacts, node: NodeFacts | None, wanted: Wanted, memory: Memory, now: float) -> Plan:
    """What to do with this host now. `node` is None while the API server can't be asked.

    `now` is in seconds since the epoch, of the same clock as the memory's times and the pods' `begun`.
    """
    raise NotImplementedError
