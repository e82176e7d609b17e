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
from tests.support.grid_agent_world import NEW, World, installed, wanted


def test_a_fresh_node_gets_the_driver_and_its_operands() -> None:
    world = World()
    world.run(State.READY)
    assert world.serves(NEW)
    assert not world.gated
    assert world.done == [
        Step.GATE,
        Step.FETCH,
        Step.CONFIGURE,
        Step.INSTALL,
        Step.CONFIGURE,
        Step.LOAD,
        Step.UNGATE,
    ]
    assert world.conditions[-1].status == "True"


def test_nothing_is_done_on_a_node_that_is_right() -> None:
    world = World(facts=installed())
    world.run(State.READY)
    world.stay(3600)
    assert world.done == []
    assert world.deleted == []
    assert len(world.events) == 1


def test_operands_that_came_before_the_driver_are_started_anew() -> None:
    world = World(labels={})
    world.run_until("Fetch")
    world.labels = dict.fromkeys(GATE_LABELS, "true")  # the operator strips labels and sets its own
    world.tick()
    world.run(State.READY)
    world.stay(300)
    assert world.serves(NEW)


def test_a_first_install_that_never_succeeds_stops_behind_a_closed_gate() -> None:
    world = World()
    world.fail[Step.INSTALL] = [(30, "no compiler")] * 9
    world.run(State.BLOCKED)
    assert world.memory.reason == "InstallFailed"
    assert world.gated
    assert world.events[-1][0] == "Warning"
    assert "No GPU Pod can start" in world.memory.sentence


def test_downloads_are_tried_forever_with_growing_pauses() -> None:
    world = World()
    world.fail[Step.FETCH] = [(10, "connection refused")] * 12
    world.run_until("FetchFailed")
    assert "connection refused" in world.memory.sentence
    assert world.gated
    world.run(State.READY)
    assert world.serves(NEW)
    assert world.done.count(Step.FETCH) == 13


def test_a_transient_unit_that_vanished_counts_as_an_attempt() -> None:
    world = World()
    world.run_until("Install")
    world.tick()
    world.reboot(half_install=True)
    world.run(State.READY)
    assert world.serves(NEW)
    assert world.memory.failed == {"install": 1}
    assert Step.REMOVE in world.done


def test_an_install_that_changed_nothing_is_a_failure() -> None:
    world = World()
    world.after[Step.INSTALL] = lambda facts: replace(
        facts, on_disk=None, library="", smi=replace(facts.smi, found=False)
    )
    world.run(State.BLOCKED)
    assert world.memory.reason == "InstallFailed"
    assert "did not help" in world.memory.sentence


def test_a_memory_that_is_lost_costs_nothing_but_time() -> None:
    world = World()
    ticks = 0
    while world.memory.state is not State.READY:
        world.tick()
        world.memory = Memory()
        world.tick()
        ticks += 1
        assert ticks < 200
    assert world.serves(NEW)
    assert world.done.count(Step.INSTALL) == 1


def test_a_machine_that_dies_while_loading_does_not_do_so_forever() -> None:
    world = World()
    deaths = 0
    for _ in range(2000):
        world.tick()
        if world.done and world.done[-1] is Step.LOAD and "nvidia" in world.facts.loaded:
            deaths += 1
            world.memory = replace(world.memory, begun="load", done="")  # what was saved before it
            world.reboot()
            world.done.append(Step.WAIT)
        if world.memory.state is State.BLOCKED:
            break
    assert world.memory.state is State.BLOCKED
    assert deaths == 3
    assert "restarted" in world.memory.sentence


def test_a_module_in_use_is_asked_for_again_and_again_with_the_node_blocked_meanwhile() -> None:
    world = World()
    world.facts = replace(world.facts, nouveau=True)
    world.fail[Step.UNLOAD] = [(0, "module nouveau is in use")] * 8
    world.run(State.BLOCKED)
    assert "nouveau is in use" in world.memory.sentence
    assert Step.INSTALL not in world.done
    world.run(State.READY)
    assert world.serves(NEW)


def test_a_parameter_that_the_driver_does_not_take_is_retried_with_pauses_on_a_new_node() -> None:
    world = World(wanted=wanted(module_parameters={"nvidia": {"NVreg_EnableMSI": "7"}}))
    world.after[Step.LOAD] = lambda facts: replace(facts, parameters={"nvidia": {"NVreg_EnableMSI": "1"}})
    world.run(State.BLOCKED)
    before = world.done.count(Step.UNLOAD)
    world.stay(3600)
    assert world.done.count(Step.UNLOAD) - before <= 5
    assert world.gated


def test_nothing_is_changed_while_the_api_server_is_silent() -> None:
    world = World(api=ClusterError("unreachable", "connection refused"))
    world.stay(600)
    assert world.done == []
    assert world.memory.reason == "ApiUnreachable"
    assert "connection refused" in world.memory.sentence
    world.api = None
    world.run(State.READY)
    assert world.serves(NEW)


def test_a_forbidden_request_is_named() -> None:
    world = World(api=ClusterError("forbidden", "the API server refused GET /api/v1/nodes/node-1 (403): nope"))
    world.stay(60)
    assert world.memory.reason == "ApiForbidden"
    assert "403" in world.memory.sentence


def test_the_gate_is_reported_from_other_peoples_labels() -> None:
    world = World()
    dcgm = "nvidia.com/gpu.deploy.dcgm"
    world.labels[dcgm] = "false"
    world.run_until("Fetch")
    assert world.labels[dcgm] == "false"
    assert {value for label, value in world.labels.items() if label != dcgm} == {PAUSED}
    world.run(State.READY)
    assert world.labels[dcgm] == "false"
