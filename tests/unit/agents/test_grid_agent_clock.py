"""The GRID agent's clock, and a host's clock that is set back."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from grid_agent.facts import (
    Pod,
)
from grid_agent.main import Clock
from grid_agent.memory import Memory
from grid_agent.steps import State, Step
from grid_agent.transitions import clamped, dated
from grid_agent.wanted import Timings
from tests.support.grid_agent_fake import DEVICE_PLUGIN, NEW, FakeNode, installed, wanted

DAY = 86400.0


def test_the_agents_clock_advances_when_the_hosts_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time
    clock = Clock()
    before = clock.now()
    monkeypatch.setattr(time, "time", lambda: real() - DAY)
    assert 0 <= clock.now() - before < 60
    assert clock.skew == pytest.approx(-DAY, abs=60)


def test_times_of_the_future_are_no_reason_to_wait() -> None:
    now = 1_000_000.0
    fake = FakeNode(facts=installed("580.105.08"), wanted=wanted())
    fake.fail[Step.FETCH] = [(10, "connection refused")]
    fake.now = now + DAY
    fake.run_until("FetchFailed")
    fake.now = now
    memory = clamped(fake.memory, Timings(), now)
    assert memory.failures["fetch"].retry_at <= now + Timings().retry_max_seconds
    assert max(memory.since, memory.gated_at, memory.checked_at, memory.reported_at, memory.looked_at) <= now
    fake.run(State.READY)
    assert fake.now - now < 3600


def test_operands_are_restarted_once_when_the_clock_was_set_back() -> None:
    """Kubelet dates new Pods a day before the driver was verified, for as long as the agent's process lives."""
    fake = FakeNode(facts=installed(), wanted=wanted())
    fake.run(State.READY)
    fake.memory = replace(fake.memory, changed=True)
    fake.run_for(60)
    fake.deleted.clear()
    operate = fake._operate  # pyright: ignore[reportPrivateUsage]

    def a_day_ago() -> None:
        known = dict(fake.operands)
        operate()
        for app, pod in fake.operands.items():
            if app not in known and pod.begun is not None:
                fake.operands[app] = replace(pod, begun=pod.begun - DAY)

    fake._operate = a_day_ago  # type: ignore[method-assign]  # pyright: ignore[reportPrivateUsage]
    fake.operands.clear()
    fake.run_for(3600)
    assert len(fake.deleted) <= 3
    assert fake.serves(NEW)


def test_a_pod_keeps_its_date_and_a_restart_of_its_containers_changes_it() -> None:
    fake = FakeNode()
    now = fake.now
    pod = Pod("gpu-operator", "p", "u", DEVICE_PLUGIN, begun=now + DAY)
    fake.operands = {DEVICE_PLUGIN: pod}
    memory, node = dated(Memory(), fake.observe(), now)
    assert node.operands[0].begun == now
    memory, node = dated(memory, fake.observe(), now + 600)
    assert node.operands[0].begun == now
    fake.operands = {DEVICE_PLUGIN: replace(pod, begun=now + 900)}
    memory, node = dated(memory, fake.observe(), now + 1000)
    assert node.operands[0].begun == now + 900
    fake.operands = {}
    memory, node = dated(memory, fake.observe(), now + 1001)
    assert memory.starts == {}


def test_a_pod_keeps_its_date_however_exactly_the_clocks_are_compared() -> None:
    fake = FakeNode()
    now, memory = fake.now, Memory()
    for look in range(5):
        fake.operands = {DEVICE_PLUGIN: Pod("gpu-operator", "p", "u", DEVICE_PLUGIN, begun=now - look * 3e-6)}
        memory, node = dated(memory, fake.observe(), now + look * 100)
        assert node.operands[0].begun == now
