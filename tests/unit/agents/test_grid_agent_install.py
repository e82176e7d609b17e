"""The GRID agent on a fresh node, against a host and a cluster in memory: the way to a driver, and failures on it."""

from __future__ import annotations

from dataclasses import replace

from grid_agent.facts import (
    GATE_LABELS,
    PAUSED,
    ClusterError,
)
from grid_agent.memory import Memory
from grid_agent.steps import State, Step
from tests.support.grid_agent_fake import NEW, FakeNode, installed, wanted


def test_a_fresh_node_gets_the_driver_and_its_operands() -> None:
    fake = FakeNode()
    fake.run(State.READY)
    assert fake.serves(NEW)
    assert not fake.gated
    assert fake.done == [
        Step.GATE,
        Step.FETCH,
        Step.CONFIGURE,
        Step.INSTALL,
        Step.CONFIGURE,
        Step.LOAD,
        Step.UNGATE,
    ]
    assert fake.conditions[-1].status == "True"


def test_nothing_is_done_on_a_node_that_is_right() -> None:
    fake = FakeNode(facts=installed())
    fake.run(State.READY)
    fake.run_for(3600)
    assert fake.done == []
    assert fake.deleted == []
    assert len(fake.events) == 1


def test_operands_that_came_before_the_driver_are_started_anew() -> None:
    fake = FakeNode(labels={})
    fake.run_until("Fetch")
    fake.labels = dict.fromkeys(GATE_LABELS, "true")  # the operator strips labels and sets its own
    fake.tick()
    fake.run(State.READY)
    fake.run_for(300)
    assert fake.serves(NEW)


def test_a_first_install_that_never_succeeds_stops_behind_a_closed_gate() -> None:
    fake = FakeNode()
    fake.fail[Step.INSTALL] = [(30, "no compiler")] * 9
    fake.run(State.BLOCKED)
    assert fake.memory.reason == "InstallFailed"
    assert fake.gated
    assert fake.events[-1][0] == "Warning"
    assert "No GPU Pod can start" in fake.memory.sentence


def test_downloads_are_tried_forever_with_growing_pauses() -> None:
    fake = FakeNode()
    fake.fail[Step.FETCH] = [(10, "connection refused")] * 12
    fake.run_until("FetchFailed")
    assert "connection refused" in fake.memory.sentence
    assert fake.gated
    fake.run(State.READY)
    assert fake.serves(NEW)
    assert fake.done.count(Step.FETCH) == 13


def test_a_transient_unit_that_vanished_counts_as_an_attempt() -> None:
    fake = FakeNode()
    fake.run_until("Install")
    fake.tick()
    fake.reboot(half_install=True)
    fake.run(State.READY)
    assert fake.serves(NEW)
    assert fake.memory.failed == {"install": 1}
    assert Step.REMOVE in fake.done


def test_an_install_that_changed_nothing_is_a_failure() -> None:
    fake = FakeNode()
    fake.after[Step.INSTALL] = lambda facts: replace(
        facts, on_disk=None, library="", smi=replace(facts.smi, found=False)
    )
    fake.run(State.BLOCKED)
    assert fake.memory.reason == "InstallFailed"
    assert "did not help" in fake.memory.sentence


def test_a_memory_that_is_lost_costs_nothing_but_time() -> None:
    fake = FakeNode()
    ticks = 0
    while fake.memory.state is not State.READY:
        fake.tick()
        fake.memory = Memory()
        fake.tick()
        ticks += 1
        assert ticks < 200
    assert fake.serves(NEW)
    assert fake.done.count(Step.INSTALL) == 1


def test_a_machine_that_dies_while_loading_does_not_do_so_forever() -> None:
    fake = FakeNode()
    deaths = 0
    for _ in range(2000):
        fake.tick()
        if fake.done and fake.done[-1] is Step.LOAD and "nvidia" in fake.facts.loaded:
            deaths += 1
            fake.memory = replace(fake.memory, begun="load", done="")  # what was saved before it
            fake.reboot()
            fake.done.append(Step.WAIT)
        if fake.memory.state is State.BLOCKED:
            break
    assert fake.memory.state is State.BLOCKED
    assert deaths == 3
    assert "restarted" in fake.memory.sentence


def test_a_module_in_use_is_asked_for_again_and_again_with_the_node_blocked_meanwhile() -> None:
    fake = FakeNode()
    fake.facts = replace(fake.facts, nouveau=True)
    fake.fail[Step.UNLOAD] = [(0, "module nouveau is in use")] * 8
    fake.run(State.BLOCKED)
    assert "nouveau is in use" in fake.memory.sentence
    assert Step.INSTALL not in fake.done
    fake.run(State.READY)
    assert fake.serves(NEW)


def test_a_parameter_that_the_driver_does_not_take_is_retried_with_pauses_on_a_new_node() -> None:
    fake = FakeNode(wanted=wanted(module_parameters={"nvidia": {"NVreg_EnableMSI": "7"}}))
    fake.after[Step.LOAD] = lambda facts: replace(facts, parameters={"nvidia": {"NVreg_EnableMSI": "1"}})
    fake.run(State.BLOCKED)
    before = fake.done.count(Step.UNLOAD)
    fake.run_for(3600)
    assert fake.done.count(Step.UNLOAD) - before <= 5
    assert fake.gated


def test_nothing_is_changed_while_the_api_server_is_silent() -> None:
    fake = FakeNode(api=ClusterError("unreachable", "connection refused"))
    fake.run_for(600)
    assert fake.done == []
    assert fake.memory.reason == "ApiUnreachable"
    assert "connection refused" in fake.memory.sentence
    fake.api = None
    fake.run(State.READY)
    assert fake.serves(NEW)


def test_a_forbidden_request_is_named() -> None:
    fake = FakeNode(api=ClusterError("forbidden", "the API server refused GET /api/v1/nodes/node-1 (403): nope"))
    fake.run_for(60)
    assert fake.memory.reason == "ApiForbidden"
    assert "403" in fake.memory.sentence


def test_the_gate_is_reported_from_other_peoples_labels() -> None:
    fake = FakeNode()
    dcgm = "nvidia.com/gpu.deploy.dcgm"
    fake.labels[dcgm] = "false"
    fake.run_until("Fetch")
    assert fake.labels[dcgm] == "false"
    assert {value for label, value in fake.labels.items() if label != dcgm} == {PAUSED}
    fake.run(State.READY)
    assert fake.labels[dcgm] == "false"
