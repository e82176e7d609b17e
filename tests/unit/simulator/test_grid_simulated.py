"""The agent's decisions, loaded from a ConfigMap, on a simulated host: from nothing to a verified driver, and on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from grid_agent.facts import GATE_LABELS
from grid_agent.steps import State
from physical_ai.planning.agents import files, key
from physical_ai.planning.grid_objects import AGENT, FILES_MAP
from simulator.cluster.names import HOST_DRIVER, HOST_MODULES
from simulator.gpu.live.grid_host import SimulatedHost
from simulator.gpu.live.grid_program import Condition, Pod, Program, ProgramFault, files_of, load
from simulator.gpu.names import LEGACY_MOUNT
from simulator.gpu.node_state import MARKER, Host, NodeState
from tests.support.gpu_hardware import rtx_pro_6000

FILES = files(AGENT)
WANTED = {"version": "595.91.07", "sha256": "a" * 64, "urls": ["https://mirror.example/driver.run"]}


@dataclass
class Api:
    """One node's API server."""

    program: Program
    labels: dict[str, str] = field(default_factory=lambda: dict.fromkeys(GATE_LABELS, "true"))
    conditions: list[Condition] = field(default_factory=list[Condition])

    def observe(self) -> object:
        return self.program.facts.NodeFacts("rtx-0", labels=dict(self.labels))

    def label(self, labels: Mapping[str, str]) -> None:
        self.labels |= labels

    def delete(self, pod: Pod) -> None:
        raise AssertionError("there is no pod")

    def evict(self, pod: Pod) -> None:
        raise AssertionError("there is no pod")

    def report(self, condition: Condition) -> None:
        self.conditions.append(condition)

    def event(self, kind: str, reason: str, message: str) -> None:
        pass


class Place:
    """A node, its agent, and model time."""

    def __init__(self, **hardware: Any) -> None:
        self.program = load(FILES)
        self.api, self.memory, self.now = Api(self.program), self.program.fresh_memory(), 1_000_000.0
        self.node = NodeState("v26.7.0", replace(rtx_pro_6000(), **hardware))
        self.annotations: dict[str, str | None] = {}
        self.host = SimulatedHost(self.annotate, self.program)
        self.boots = 0
        self.states: list[str] = []

    def annotate(self, key: str, value: str | None) -> None:
        self.annotations[key] = value
        host = Host(
            driver=self.annotations.get(HOST_DRIVER) or "", bind_mount=self.annotations.get(LEGACY_MOUNT) == "true"
        )
        self.node = replace(self.node, host=host, files=frozenset({MARKER} if host.bind_mount else ()))

    def run(self, seconds: float = 3600, **changes: Any) -> str:
        """Lets the agent work for so long, or until it is ready or blocked."""
        end = self.now + seconds
        wanted = self.program.wanted_from({**WANTED, **changes})
        while self.now < end:
            self.host.look(self.node, "6.8.0-1041-azure", str(self.boots), self.now)
            self.memory = self.program.advance(self.memory, self.host, self.api, wanted, self.now)
            if not self.states or self.states[-1] != self.state:
                self.states.append(self.state)
            if self.state in (State.READY, State.BLOCKED):
                break
            self.now += 5
        return self.state

    @property
    def state(self) -> str:
        return self.memory.state.value

    def restart(self, text: Mapping[str, str]) -> None:
        """Another version of the agent, in these files, takes over."""
        before, self.program = self.program, load(text)
        document = json.loads(json.dumps(before.to_document(self.memory)))
        self.memory = self.program.remembered(document)
        self.host.program = self.api.program = self.program


def test_a_fresh_node_gets_its_driver_behind_a_closed_gate() -> None:
    place = Place()
    closed_while_installing: list[bool] = []
    end = place.now + 3600
    while place.now < end and place.run(seconds=5) != State.READY:
        if place.state == State.INSTALLING:
            closed_while_installing.append(all(value != "true" for value in place.api.labels.values()))
    assert place.state == State.READY, place.memory.sentence
    assert closed_while_installing
    assert all(closed_while_installing), "an operand could have started beside a build"
    assert place.annotations[HOST_DRIVER] == "595.91.07"
    assert set(place.api.labels.values()) == {"true"}
    assert place.api.conditions[-1].status == "True"


def test_a_driver_that_was_removed_is_installed_again() -> None:
    place = Place()
    assert place.run() == State.READY
    place.annotate(HOST_DRIVER, None)
    place.states.clear()
    assert place.run(seconds=1) != State.READY
    assert place.run() == State.READY
    assert place.annotations[HOST_DRIVER] == "595.91.07"


def test_another_version_replaces_the_installed_one() -> None:
    place = Place()
    assert place.run() == State.READY
    newer: dict[str, Any] = {"version": "596.10.01", "sha256": "b" * 64}
    place.run(seconds=5, **newer)
    assert place.run(**newer) == State.READY, place.memory.sentence
    assert place.annotations[HOST_DRIVER] == "596.10.01"


@pytest.mark.parametrize(("wanted", "shown"), [("proprietary", "proprietary"), ("open", None)])
def test_the_node_says_which_modules_were_installed(wanted: str, shown: str | None) -> None:
    place = Place()
    place.run(moduleType=wanted)
    assert place.state == State.READY, place.memory.sentence
    assert place.annotations[HOST_MODULES] == shown


def test_an_agent_without_memory_finds_a_driver_that_works() -> None:
    place = Place()
    assert place.run() == State.READY
    place.memory, before = place.program.fresh_memory(), place.now
    assert place.run() == State.READY
    assert place.now - before < 60, "a working driver was installed anew"


def test_secure_boot_is_reported() -> None:
    place = Place(secure_boot=True)
    assert place.run() == State.BLOCKED
    assert "Secure Boot" in place.memory.sentence


def test_an_unknown_checksum_is_reported_before_a_download() -> None:
    place = Place()
    assert place.run(sha256="") == State.BLOCKED
    assert "sha256" in place.memory.sentence
    assert State.FETCHING not in place.states


def test_legacy_markers_are_created_when_wanted_and_removed_otherwise() -> None:
    place = Place()
    assert place.run(legacyValidationMarkers=True) == State.READY
    assert place.annotations[LEGACY_MOUNT] == "true"
    place.run(seconds=5)
    assert place.run() == State.READY
    assert place.annotations[LEGACY_MOUNT] is None


def pod_of(*paths: str) -> dict[str, Any]:
    items = [{"key": key(path), "path": path} for path in paths]
    volumes = [{"name": "agent", "configMap": {"name": FILES_MAP, "items": items}}, {"name": "other"}]
    return {"metadata": {"name": "agent-1", "namespace": "gpu-operator"}, "spec": {"volumes": volumes}}


def config_map(text: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    return {FILES_MAP: {"metadata": {"name": FILES_MAP}, "data": {key(path): each for path, each in text.items()}}}


def test_the_files_are_those_that_the_pod_mounts() -> None:
    assert files_of(pod_of(*FILES), config_map(FILES)) == FILES


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({}, 'configmap "gpu-grid-driver-agent" not found'),
        (
            config_map({"grid_agent/plan.py": ""}),
            "configmap gpu-operator/gpu-grid-driver-agent references non-existent config key: grid_agent.decide.py",
        ),
    ],
)
def test_what_the_kubelet_cannot_mount_is_named(held: dict[str, Any], said: str) -> None:
    with pytest.raises(ProgramFault) as fault:
        files_of(pod_of("grid_agent/decide.py"), held)
    assert str(fault.value) == said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"grid_agent/decide.py": "def decide(:"},
            "not start: SyntaxError: invalid syntax (decide.py, line 1)",
        ),
        ({"grid_agent/decide.py": "import sys\n"}, "cannot import name 'decide' from 'grid_agent.decide'"),
        ({"grid_agent/decide.py": None}, "ModuleNotFoundError: No module named 'grid_agent.decide'"),
        ({"grid_agent/facts.py": "raise SystemExit(1)"}, "SystemExit: 1"),
        (dict.fromkeys(FILES, None), "ModuleNotFoundError: No module named 'grid_agent'"),
    ],
)
def test_files_that_are_no_program_are_reported(change: Mapping[str, str | None], said: str) -> None:
    text = {path: each for path, each in {**FILES, **change}.items() if each is not None}
    for _ in range(2):
        with pytest.raises(ProgramFault) as fault:
            load(text)
        assert said in str(fault.value)


def test_each_version_runs_its_own_code() -> None:
    other = {**FILES, "grid_agent/memory.py": FILES["grid_agent/memory.py"].replace("State.REMOVED)", ")")}
    assert load(FILES) is load(dict(FILES))
    removed = {"format": 1, "state": "removed"}
    assert [load(each).from_document(removed).is_done for each in (FILES, other)] == [True, False]


def test_a_new_version_continues_where_the_old_one_stopped() -> None:
    place = Place()
    while place.run(seconds=5) != State.INSTALLING:
        pass
    place.restart({**FILES, "grid_agent/plan.py": FILES["grid_agent/plan.py"] + "\n# newer\n"})
    assert place.run() == State.READY, place.memory.sentence
    assert place.states.count(State.INSTALLING) == 1


def test_a_memory_of_an_unknown_format_is_dropped() -> None:
    program = load(FILES)
    assert program.remembered({"format": 99}) == program.fresh_memory() == program.remembered(None)
