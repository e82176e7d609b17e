"""The real agent's machine on a simulated host: from nothing to a proven driver, and back after whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from grid_agent.facts import GATE_LABELS, Condition, NodeFacts, Pod
from grid_agent.machine import advance
from grid_agent.memory import Memory
from grid_agent.steps import State
from grid_agent.wanted import Wanted
from physical_ai.simulator.cluster.names import HOST_DRIVER
from physical_ai.simulator.gpu.hardware import rtx_pro_6000
from physical_ai.simulator.gpu.live.grid_host import SimulatedHost
from physical_ai.simulator.gpu.names import LEGACY_MOUNT
from physical_ai.simulator.gpu.node_state import MARKER, Host, NodeState

PARAMETERS = {"nvidia_uvm": {"uvm_disable_hmm": "1"}}
WANTED = Wanted("595.91.07", "a" * 64, urls=("https://mirror.example/driver.run",), module_parameters=PARAMETERS)


@dataclass
class Api:
    """One node's API server."""

    labels: dict[str, str] = field(default_factory=lambda: dict.fromkeys(GATE_LABELS, "true"))
    conditions: list[Condition] = field(default_factory=list[Condition])

    def observe(self) -> NodeFacts:
        return NodeFacts("rtx-0", labels=dict(self.labels))

    def label(self, labels: Mapping[str, str]) -> None:
        self.labels |= labels

    def delete(self, pod: Pod) -> None:
        raise AssertionError("there is no pod")

    def evict(self, pod: Pod) -> None:
        raise AssertionError("there is no pod")

    def report(self, condition: Condition) -> None:
        self.conditions.append(condition)

    def event(self, kind: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        pass


class Place:
    """A node, its agent, and model time."""

    def __init__(self, **hardware: Any) -> None:
        self.api, self.memory, self.now = Api(), Memory(), 1_000_000.0
        self.node = NodeState("v26.7.0", replace(rtx_pro_6000(), **hardware))
        self.annotations: dict[str, str | None] = {}
        self.host = SimulatedHost(self.annotate)
        self.boots = 0
        self.states: list[State] = []

    def annotate(self, key: str, value: str | None) -> None:
        self.annotations[key] = value
        host = Host(
            driver=self.annotations.get(HOST_DRIVER) or "", bind_mount=self.annotations.get(LEGACY_MOUNT) == "true"
        )
        self.node = replace(self.node, host=host, files=frozenset({MARKER} if host.bind_mount else ()))

    def run(self, wanted: Wanted = WANTED, seconds: float = 3600) -> State:
        """Lets the agent work for so long, or until it is ready or blocked."""
        end = self.now + seconds
        while self.now < end:
            self.host.look(self.node, "6.8.0-1041-azure", str(self.boots), self.now)
            self.memory = advance(self.memory, self.host, self.api, wanted, self.now)
            if not self.states or self.states[-1] is not self.memory.state:
                self.states.append(self.memory.state)
            if self.memory.state in (State.READY, State.BLOCKED):
                break
            self.now += 5
        return self.memory.state


def test_a_fresh_node_gets_its_driver_with_the_gate_shut_meanwhile() -> None:
    place = Place()
    shut_while_installing: list[bool] = []
    end = place.now + 3600
    while place.now < end and place.run(seconds=5) is not State.READY:
        if place.memory.state is State.INSTALLING:
            shut_while_installing.append(all(value != "true" for value in place.api.labels.values()))
    assert place.memory.state is State.READY, place.memory.sentence
    assert shut_while_installing
    assert all(shut_while_installing), "an operand could have started beside a build"
    assert place.annotations[HOST_DRIVER] == "595.91.07"
    assert set(place.api.labels.values()) == {"true"}
    assert place.api.conditions[-1].status == "True"


def test_a_driver_that_somebody_removed_comes_back() -> None:
    place = Place()
    assert place.run() is State.READY
    place.annotate(HOST_DRIVER, None)
    place.states.clear()
    assert place.run(seconds=1) is not State.READY
    assert place.run() is State.READY
    assert place.annotations[HOST_DRIVER] == "595.91.07"


def test_another_version_replaces_the_one_there_is() -> None:
    place = Place()
    assert place.run() is State.READY
    newer = replace(WANTED, version="596.10.01", sha256="b" * 64)
    place.run(newer, seconds=5)
    assert place.run(newer) is State.READY, place.memory.sentence
    assert place.annotations[HOST_DRIVER] == "596.10.01"


def test_an_agent_without_memory_finds_a_driver_that_works() -> None:
    place = Place()
    assert place.run() is State.READY
    place.memory, before = Memory(), place.now
    assert place.run() is State.READY
    assert place.now - before < 60, "a working driver was installed anew"


def test_secure_boot_ends_in_words() -> None:
    place = Place(secure_boot=True)
    assert place.run() is State.BLOCKED
    assert "Secure Boot" in place.memory.sentence


def test_an_unknown_checksum_ends_in_words_before_anything_is_fetched() -> None:
    place = Place()
    assert place.run(replace(WANTED, sha256="")) is State.BLOCKED
    assert "sha256" in place.memory.sentence
    assert State.FETCHING not in place.states


def test_the_seeds_markers_are_made_when_asked_for_and_cleaned_when_not() -> None:
    place = Place()
    assert place.run(replace(WANTED, legacy_validation_markers=True)) is State.READY
    assert place.annotations[LEGACY_MOUNT] == "true"
    place.run(seconds=5)
    assert place.run() is State.READY
    assert place.annotations[LEGACY_MOUNT] is None
