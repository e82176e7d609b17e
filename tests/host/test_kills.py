"""The agent dies at every step of a clean install, and another one finishes it."""

from __future__ import annotations

import signal
from collections import Counter
from functools import cache

import pytest

from tests.host.harness import Harness
from tests.host.installers import NEW

PARTS = 32
"""Shares of the steps; `make test` has the first."""
UNIT = "physical-ai-grid-driver.service"


@cache
def steps_of_a_clean_install() -> tuple[str, ...]:
    """Everything that an undisturbed agent changes on the node, and each kind of call, first and last: `step#n`."""
    harness = Harness()
    try:
        harness.begin()
        harness.wait_ready()
        host, calls = (
            harness.node.steps(),
            [f"api:{call}" for call in harness.cluster.requests if not call.startswith("GET")],
        )
    finally:
        harness.close()
    counts: Counter[str] = Counter()
    numbered: list[str] = []
    for step in host:
        counts[step] += 1
        numbered.append(f"{step}#{counts[step]}")
    for call, times in Counter(calls).items():
        if "/pods/" not in call:  # which pod is restarted first is a matter of names
            numbered += [f"{call}#1", f"{call}#{times - 1 or 1}"]
    return tuple(dict.fromkeys(numbered))


def _kill_at(harness: Harness, step: str) -> None:
    """Start the agent and kill its pod the moment it reaches the step."""
    name, number = step.split("#")
    call = name.removeprefix("api:") if name.startswith("api:") else ""
    if call:
        harness.cluster.hold = (call, int(number))
    else:
        harness.node.hold(name, int(number))
    pod = harness.start()
    harness.wait(f"it reaches {step}", lambda: harness.cluster.held.is_set() if call else harness.node.held(name))
    pod.end(signal.SIGKILL)
    harness.cluster.release()
    harness.node.release(name)


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.deep) for part in range(1, PARTS))])
def test_killed_once_at_each_step_of_a_clean_install(harness: Harness, part: int) -> None:
    del harness  # the fixture only says whether nodes can be made here
    for step in steps_of_a_clean_install()[part::PARTS]:
        one = Harness()
        try:
            one.boot()
            _kill_at(one, step)
            one.check_host()
            one.check_driver()
            one.start()
            one.wait(
                f"ready after SIGKILL at {step}", lambda harness=one: harness.ready() and harness.operator.settled()
            )
            assert one.serves(NEW), f"after SIGKILL at {step}\n{one.state_report()}"
            one.check_host()
        finally:
            one.close()


@pytest.mark.deep  # in `make test`: a part of the kills above, and builds that go on below
def test_asked_to_stop_at_each_step_of_one_install_after_the_other(harness: Harness) -> None:
    """No agent lives for longer than one step; together they install the driver, and build it once."""
    harness.boot()
    held: list[str] = []
    harness.node.hold_next(held)
    pod = harness.start()
    while True:
        harness.wait("the agent reaches another step, or is done", lambda: harness.node.held_next() or harness.ready())
        reached = harness.node.held_next()
        if not reached:
            break
        held = reached
        pod.end(signal.SIGTERM, within=0.2)
        harness.check_driver()
        harness.node.hold_next(held)
        pod = harness.start()
    harness.node.hold_next(None)
    harness.wait("the driver serves", lambda: harness.ready() and harness.operator.settled() and harness.serves(NEW))
    harness.check_host()
    assert len(held) > 12, held
    assert len(harness.node.executed()) == 1, "the build was run again"


def test_a_build_continues_while_the_agent_is_away(harness: Harness) -> None:
    harness.boot()
    harness.node.hold("installer:build")
    pod = harness.start()
    harness.wait("the build runs", lambda: harness.node.held("installer:build"))
    pod.end(signal.SIGKILL)
    harness.node.release("installer:build")
    harness.wait("the unit ends by itself", lambda: harness.node.run("systemctl", "is-active", UNIT).returncode != 0)
    harness.start()
    harness.wait_ready()
    assert len(harness.node.executed()) == 1, "the build was run again"


@pytest.mark.deep  # in `make test`: the build above
def test_an_agent_that_comes_back_finds_the_build_and_starts_no_other(harness: Harness) -> None:
    harness.boot()
    harness.node.hold("installer:build")
    harness.start()
    harness.wait("the build runs", lambda: harness.node.held("installer:build"))
    for how in (signal.SIGTERM, signal.SIGKILL):
        harness.pods[-1].end(how)
        harness.start()
        harness.wait("the agent sees the build", lambda: harness.memory.get("state") == "installing")
    assert harness.node.held("installer:build")
    harness.node.release("installer:build")
    harness.wait_ready()
    assert len(harness.node.executed()) == 1


def test_asked_to_stop_it_exits_at_once_with_zero(harness: Harness) -> None:
    pod = harness.begin()
    harness.wait_ready()
    assert pod.end(signal.SIGTERM) == 0


def test_of_two_agents_only_one_works(harness: Harness) -> None:
    harness.boot()
    first, second = harness.start("--listen", "127.0.0.1:9401"), harness.start("--listen", "127.0.0.1:9402")
    harness.wait_ready()
    codes = {first.code(), second.code()}
    harness.wait("one gives way", lambda: {first.code(), second.code()} in ({None, 3}, {None}))
    assert len(harness.node.executed()) == 1, codes
    harness.check_host()


@pytest.mark.deep  # in `make test`: two agents above, and the kills at the top
def test_the_second_agent_takes_over_when_the_first_dies(harness: Harness) -> None:
    harness.boot()
    harness.node.hold("installer:build")
    first = harness.start()
    harness.wait("the build runs", lambda: harness.node.held("installer:build"))
    second = harness.start("--listen", "127.0.0.1:9402")
    first.end(signal.SIGKILL)
    harness.node.release("installer:build")
    if second.code() is not None:
        harness.start()  # the kubelet starts it again
    harness.wait_ready()
    assert len(harness.node.executed()) == 1
