"""The GRID agent's process: its own failures, and what its probes and metrics show."""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from grid_agent import main, metrics
from grid_agent.api import Api
from grid_agent.facts import (
    ClusterError,
    HostFacts,
)
from grid_agent.main import Agent
from grid_agent.memory import Memory
from grid_agent.metrics import DEAD_FAULTS, Board
from grid_agent.steps import State
from grid_agent.store import Store
from grid_agent.wanted import Wanted
from tests.support.grid_agent_fake import NEW, FakeNode, installed, wanted


class Host:
    """A host in memory, with what the loop sets on the real one."""

    def __init__(self, fake: FakeNode) -> None:
        self.fake, self.smi_age = fake, 0.0
        self.trouble: Exception | None = None

    def inspect(self, wanted: Any) -> HostFacts:
        if self.trouble:
            raise self.trouble
        return self.fake.inspect(wanted)

    def perform(self, *arguments: Any) -> None:
        self.fake.perform(*arguments)


class Cluster:
    def __init__(self, fake: FakeNode) -> None:
        self.fake, self.seconds, self.skew = fake, 0.0, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fake, name)

    def pool(self) -> str:
        return ""


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    """The loop around a node whose driver works."""
    fake = FakeNode(facts=installed(), wanted=wanted())
    settings = tmp_path / "wanted.json"
    settings.write_text(json.dumps({"version": NEW, "sha256": "a" * 64, "urls": ["https://mirror.example/grid.run"]}))
    store = Store(str(tmp_path))
    store.folder.mkdir(parents=True)
    host: Any = Host(fake)
    cluster: Any = Cluster(fake)
    options = argparse.Namespace(wanted=settings)
    return Agent(options, host, store, cluster, Board(), wanted(), threading.Event())


def probes(agent: Agent) -> tuple[int, int]:
    return agent.board.answer("/readyz")[0], agent.board.answer("/healthz")[0]


def fake_of(agent: Agent) -> FakeNode:
    cluster: Any = agent.api
    return cluster.fake


TROUBLES = [RuntimeError("broken"), TypeError("NoneType"), OSError(5, "Input/output error", "/sys/module")]


@pytest.mark.parametrize("trouble", TROUBLES, ids=["bug", "kind", "host"])
def test_an_agent_that_fails_at_every_step_is_not_ready_and_then_dead(agent: Agent, trouble: Exception) -> None:
    host: Any = agent.host
    memory = agent.step(Memory())
    assert memory.state is State.READY
    assert probes(agent) == (200, 200)
    host.trouble = trouble
    memory = agent.step(memory)
    assert probes(agent) == (503, 200)
    assert "grid_driver_ready 0" in agent.board.answer("/metrics")[1]
    condition = fake_of(agent).conditions[-1]
    assert (condition.status, condition.reason) == (
        "False",
        "HostFault" if isinstance(trouble, OSError) else "AgentFault",
    )
    assert str(trouble.args[-1]) in condition.message
    for _ in range(DEAD_FAULTS):
        memory = agent.step(memory)
    assert probes(agent) == (503, 503)
    assert len([event for event in fake_of(agent).events if event[0] == "Warning"]) == 1
    host.trouble = None
    memory = agent.step(memory)
    assert probes(agent) == (200, 200)
    assert fake_of(agent).conditions[-1].status == "True"


def test_an_agent_that_hangs_is_not_ready_and_then_dead(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.step(Memory())
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + 400)
    assert probes(agent) == (503, 200)
    assert "grid_driver_ready 0" in agent.board.answer("/metrics")[1]
    monkeypatch.setattr(time, "monotonic", lambda: real() + 1000)
    assert probes(agent) == (503, 503)


def test_a_state_that_can_not_be_saved_is_reported_once_and_not_taken_back(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = agent.step(Memory())
    reported = len(fake_of(agent).conditions)

    def full(memory: Memory) -> None:
        raise OSError(28, "No space left on device", "memory.json")

    monkeypatch.setattr(agent.store, "save", full)
    for _ in range(DEAD_FAULTS):
        memory = agent.step(memory)
    assert [each.status for each in fake_of(agent).conditions[reported:]] == ["False"]
    assert "No space left" in memory.sentence
    assert probes(agent) == (503, 503)


def test_an_api_server_that_is_silent_is_no_fault_of_the_agent(agent: Agent) -> None:
    memory = agent.step(Memory())
    fake_of(agent).api = ClusterError("unreachable", "connection refused")
    for _ in range(DEAD_FAULTS + 1):
        memory = agent.step(memory)
    assert memory.faults == 0
    assert probes(agent) == (200, 200)


def test_a_host_that_can_not_be_written_at_the_start_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Any] = []

    def prepare(store: Store) -> None:
        raise OSError(30, "Read-only file system", "/var/lib/physical-ai")

    monkeypatch.setattr(Store, "prepare", prepare)
    monkeypatch.setattr(Api, "report", lambda _, condition: reported.append(condition))
    monkeypatch.setattr(Api, "event", lambda *_: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("NODE_NAME", "rtx-0")
    settings = tmp_path / "wanted.json"
    settings.write_text(json.dumps({"version": NEW}))
    assert main.main(["--wanted", str(settings), "--api", "http://127.0.0.1:9"]) == main.UNSAFE
    (condition,) = reported
    assert (condition.status, condition.reason) == ("False", "HostFault")
    assert "Read-only file system" in condition.message


def test_metrics_are_in_the_text_format() -> None:
    memory = Memory(
        state=State.BLOCKED,
        reason="InstallFailed",
        gated_at=5.0,
        attempts={"install": 3},
        failed={"install": 3},
        seen={"licence": "unlicensed", "installed": "", "kernel": 'a"b\\c'},
    )
    lines = metrics.render(memory, Wanted(NEW)).splitlines()
    assert 'grid_driver_state{state="blocked"} 1' in lines
    assert 'grid_driver_state{state="ready"} 0' in lines
    assert "grid_driver_gate_closed 1" in lines
    assert 'grid_driver_step_failures_total{step="install"} 3' in lines
    assert any('kernel="a\\"b\\\\c"' in line for line in lines)
    named = [line.split("{")[0].split(" ")[0] for line in lines if not line.startswith("#")]
    typed = [line.split(" ")[2] for line in lines if line.startswith("# TYPE")]
    assert set(named) <= set(typed)
    assert len(typed) == len(set(typed))
