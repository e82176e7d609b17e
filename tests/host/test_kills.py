"""The agent dies at every step of a clean install, and another one finishes it."""

from __future__ import annotations

import signal
from collections import Counter
from functools import cache

import pytest

from tests.host.installers import NEW
from tests.host.lab import Lab

PARTS = 4
UNIT = "physical-ai-grid-driver.service"


@cache
def steps_of_a_clean_install() -> tuple[str, ...]:
    """Everything that an undisturbed agent changes on the node, and each kind of call, first and last: `step#n`."""
    lab = Lab()
    try:
        lab.begin()
        lab.wait_ready()
        host, calls = lab.node.steps(), [f"api:{call}" for call in lab.cluster.requests if not call.startswith("GET")]
    finally:
        lab.close()
    counts: Counter[str] = Counter()
    numbered: list[str] = []
    for step in host:
        counts[step] += 1
        numbered.append(f"{step}#{counts[step]}")
    for call, times in Counter(calls).items():
        if "/pods/" not in call:  # which pod is restarted first is a matter of names
            numbered += [f"{call}#1", f"{call}#{times - 1 or 1}"]
    return tuple(dict.fromkeys(numbered))


def _kill_at(lab: Lab, step: str) -> None:
    """Start the agent and kill its pod the moment it reaches the step."""
    name, number = step.split("#")
    call = name.removeprefix("api:") if name.startswith("api:") else ""
    if call:
        lab.cluster.hold = (call, int(number))
    else:
        lab.node.hold(name, int(number))
    pod = lab.start()
    lab.wait(f"the agent reaches {step}", lambda: lab.cluster.held.is_set() if call else lab.node.held(name))
    pod.end(signal.SIGKILL)
    lab.cluster.release()
    lab.node.release(name)


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.deep) for part in range(1, PARTS))])
def test_killed_once_at_each_step_of_a_clean_install(lab: Lab, part: int) -> None:
    del lab  # the fixture only says whether nodes can be made here
    for step in steps_of_a_clean_install()[part::PARTS]:
        one = Lab()
        try:
            one.boot()
            _kill_at(one, step)
            one.check_host()
            one.check_driver()
            one.start()
            one.wait(f"ready after SIGKILL at {step}", lambda lab=one: lab.ready() and lab.around.settled())
            assert one.serves(NEW), f"after SIGKILL at {step}\n{one.story()}"
            one.check_host()
        finally:
            one.close()


def test_asked_to_stop_at_each_step_of_one_install_after_the_other(lab: Lab) -> None:
    """No agent lives for longer than one step; together they install the driver, and build it once."""
    lab.boot()
    held: list[str] = []
    lab.node.hold_next(held)
    pod = lab.start()
    while True:
        lab.wait("the agent reaches another step, or is done", lambda: lab.node.held_next() or lab.ready())
        reached = lab.node.held_next()
        if not reached:
            break
        held = reached
        pod.end(signal.SIGTERM, within=0.2)
        lab.check_driver()
        lab.node.hold_next(held)
        pod = lab.start()
    lab.node.hold_next(None)
    lab.wait("the driver serves", lambda: lab.ready() and lab.around.settled() and lab.serves(NEW))
    lab.check_host()
    assert len(held) > 12, held
    assert len(lab.node.executed()) == 1, "the build was run again"


def test_a_build_goes_on_while_the_agent_is_away(lab: Lab) -> None:
    lab.boot()
    lab.node.hold("installer:build")
    pod = lab.start()
    lab.wait("the build runs", lambda: lab.node.held("installer:build"))
    pod.end(signal.SIGKILL)
    lab.node.release("installer:build")
    lab.wait("the unit ends by itself", lambda: lab.node.run("systemctl", "is-active", UNIT).returncode != 0)
    lab.start()
    lab.wait_ready()
    assert len(lab.node.executed()) == 1, "the build was run again"


def test_an_agent_that_comes_back_finds_the_build_and_starts_no_other(lab: Lab) -> None:
    lab.boot()
    lab.node.hold("installer:build")
    lab.start()
    lab.wait("the build runs", lambda: lab.node.held("installer:build"))
    for how in (signal.SIGTERM, signal.SIGKILL):
        lab.pods[-1].end(how)
        lab.start()
        lab.wait("the agent sees the build", lambda: lab.memory.get("state") == "installing")
    assert lab.node.held("installer:build")
    lab.node.release("installer:build")
    lab.wait_ready()
    assert len(lab.node.executed()) == 1


def test_asked_to_stop_it_stops_at_once_and_says_zero(lab: Lab) -> None:
    pod = lab.begin()
    lab.wait_ready()
    assert pod.end(signal.SIGTERM) == 0


def test_of_two_agents_one_works(lab: Lab) -> None:
    lab.boot()
    first, second = lab.start("--listen", "127.0.0.1:9401"), lab.start("--listen", "127.0.0.1:9402")
    lab.wait_ready()
    codes = {first.code(), second.code()}
    lab.wait("one gives way", lambda: {first.code(), second.code()} in ({None, 3}, {None}))
    assert len(lab.node.executed()) == 1, codes
    lab.check_host()


def test_the_second_agent_takes_over_when_the_first_dies(lab: Lab) -> None:
    lab.boot()
    lab.node.hold("installer:build")
    first = lab.start()
    lab.wait("the build runs", lambda: lab.node.held("installer:build"))
    second = lab.start("--listen", "127.0.0.1:9402")
    first.end(signal.SIGKILL)
    lab.node.release("installer:build")
    if second.code() is not None:
        lab.start()  # the kubelet starts it anew
    lab.wait_ready()
    assert len(lab.node.executed()) == 1
