"""An upgrade node by node beside the GPU Operator's model: no work is ended, and no node works unproved."""

from __future__ import annotations

import datetime

import pytest

from simulator.gpu.names import UPGRADE_SKIP, UPGRADE_STATE
from tests.support.rolled_pool import DRIVER, OPERAND, Killed, Place, go, pool
from workbench.rolls.marks import mark_of

NEW, OLD = "r2", "r1"


def held(count: int = 3) -> Place:
    """A pool whose nodes are held before the deployment, with the new driver deployed."""
    place = pool(count)
    assert go(place).outcome == "held"
    assert place.phases() == dict.fromkeys(place.nodes, "held")
    place.deploy()
    for _ in range(5):
        place.operator()
    assert set(place.drivers().values()) == {OLD}, "a held node was upgraded"
    return place


def cordoned(place: Place) -> set[str]:
    return {name for name, each in place.nodes.items() if each["spec"].get("unschedulable")}


def is_over(place: Place) -> bool:
    states = {each["metadata"]["labels"].get(UPGRADE_STATE) for each in place.nodes.values()}
    marks = any(UPGRADE_SKIP in each["metadata"]["labels"] for each in place.nodes.values())
    assert place.opened == [], "the operator has given a node work that nobody has proved"
    return set(place.drivers().values()) == {NEW} and states == {"upgrade-done"} and not marks and not place.phases()


def test_each_node_waits_for_its_work_and_is_proved_before_it_gets_more() -> None:
    place = held()
    place.work("train", "n1")
    step = go(place, max_wait=3000.0)
    assert (step.outcome, step.node) == ("waiting", "n1")
    assert "Pod team/train" in step.says
    assert place.drivers() == {"n0": NEW, "n1": OLD, "n2": NEW}, "nodes without work come first"
    assert cordoned(place) == {"n1"}
    assert place.working == ["train"]
    del place.pods["train"]
    assert go(place).outcome == "done"
    assert is_over(place)
    assert cordoned(place) == set()
    assert place.proved == {(name, 2) for name in place.nodes}


def test_it_is_killed_at_every_write_and_ends_in_the_same_place() -> None:
    place = held()
    before = place.left
    assert go(place).outcome == "done"
    writes = before - place.left
    assert writes >= 12
    for kill in range(writes):
        place = held()
        place.left = kill
        with pytest.raises(Killed):
            go(place)
        for _ in range(kill % 4):
            place.operator()
        place.left = 10**6
        assert go(place).outcome == "done", kill
        assert is_over(place), kill
        assert cordoned(place) == set()
        assert {name for name, _ in place.proved} == set(place.nodes)


def test_a_kill_while_nodes_are_held_leaves_none_behind_that_the_operator_would_take() -> None:
    place = pool()
    place.left = 1
    with pytest.raises(Killed):
        go(place)
    place.left = 10**6
    assert go(place).outcome == "held"
    assert place.phases() == dict.fromkeys(place.nodes, "held")


def test_work_that_does_not_end_within_its_time_stops_it_and_nothing_is_ended() -> None:
    place = held()
    for name in place.nodes:
        place.work(f"endless-{name}", name)
    step = go(place, within=1800, max_wait=1e6)
    assert step.outcome == "stopped"
    assert "no --budget allows it" in step.says
    assert set(place.drivers().values()) == {OLD}
    assert len(place.working) == 3
    again = go(place, within=1e6, max_wait=100.0)
    assert again.outcome == "waiting", "more time goes on"


def test_a_budget_ends_what_loses_little_after_the_time_is_over() -> None:
    place = held()
    place.work("endless", "n0")
    place.now += datetime.timedelta(hours=1)
    assert go(place, within=1800, budget=0.5, max_wait=1e6).outcome == "stopped"
    assert place.working == ["endless"]
    assert go(place, within=1800, budget=50).outcome == "done"
    assert place.working == []
    assert is_over(place)


def test_services_are_started_again_elsewhere_only_if_the_user_says_so() -> None:
    place = held()
    for name in place.nodes:
        place.work(f"web-{name}", name, kind="ReplicaSet")
    assert go(place, within=1800, max_wait=600.0).outcome == "waiting"
    assert go(place, restart_services=True).outcome == "done"


def test_a_node_that_somebody_else_has_cordoned_is_left_alone() -> None:
    place = held()
    place.nodes["n0"]["spec"]["unschedulable"] = True
    step = go(place)
    assert step.outcome == "left"
    assert "n0 (somebody else has cordoned it)" in step.says
    assert place.drivers() == {"n0": OLD, "n1": NEW, "n2": NEW}
    for _ in range(5):
        place.operator()
    assert place.drivers()["n0"] == OLD, "the operator has upgraded a node that somebody else has cordoned"
    assert cordoned(place) == {"n0"}
    del place.nodes["n0"]["spec"]["unschedulable"]
    assert go(place).outcome == "done"
    assert is_over(place)


def test_a_node_that_somebody_else_excludes_keeps_its_label_and_its_driver() -> None:
    place = pool()
    place.nodes["n2"]["metadata"]["labels"][UPGRADE_SKIP] = "true"
    go(place)
    place.deploy()
    step = go(place)
    assert step.outcome == "left"
    assert "n2 (somebody else excludes it from upgrades)" in step.says
    assert place.nodes["n2"]["metadata"]["labels"][UPGRADE_SKIP] == "true"
    assert place.drivers()["n2"] == OLD


def test_the_second_node_fails_and_the_third_keeps_its_driver() -> None:
    place = held()
    place.broken = {"n1"}
    step = go(place, max_wait=1e6)
    assert (step.outcome, step.node) == ("stopped", "n1")
    assert place.phases() == {"n1": "failed", "n2": "held"}
    assert place.drivers() == {"n0": NEW, "n1": NEW, "n2": OLD}
    assert cordoned(place) == {"n1"}
    assert go(place).outcome == "stopped", "another run changes nothing"
    place.broken = set()
    place.operator()
    assert go(place, retry=True).outcome == "done"
    assert is_over(place)


def test_a_node_that_does_not_pass_acceptance_gets_no_work() -> None:
    place = held()
    place.unproved = {"n0"}
    step = go(place)
    assert step.outcome == "stopped"
    assert "vector-add: no device" in step.says
    assert cordoned(place) == {"n0"}
    assert place.drivers() == {"n0": NEW, "n1": OLD, "n2": OLD}
    place.unproved = set()
    assert go(place).outcome == "stopped"
    assert go(place, retry=True).outcome == "done"


def test_another_driver_after_a_failure_is_another_attempt() -> None:
    place = held()
    place.broken = {"n0"}
    assert go(place, max_wait=1e6).outcome == "stopped"
    place.broken = set()
    place.deploy()
    assert go(place).outcome == "done"
    assert set(place.drivers().values()) == {"r3"}


def test_the_operators_own_upgrade_is_taken_over_and_the_node_that_it_works_on_is_waited_for() -> None:
    place = pool(4)
    place.work("train", "n3")
    place.deploy()
    for _ in range(3):
        place.operator()
    begun = [name for name, each in place.nodes.items() if each["spec"].get("unschedulable")]
    assert len(begun) == 1
    step = go(place, max_wait=0.0)
    assert step.outcome == "waiting"
    assert "without this command" in step.says
    assert set(place.phases()) == set(place.nodes) - set(begun)
    step = go(place, max_wait=1e5, within=1e6)
    assert place.working == ["train"]
    del place.pods["train"]
    assert go(place).outcome == "done"
    assert is_over(place)


def test_a_failure_before_the_command_is_named_and_nothing_else_begins() -> None:
    place = pool()
    place.broken = {"n0"}
    place.deploy()
    for _ in range(20):
        place.operator()
    assert place.nodes["n0"]["metadata"]["labels"][UPGRADE_STATE] == "upgrade-failed"
    step = go(place)
    assert step.outcome == "stopped"
    assert "n0: the driver's upgrade failed before this command" in step.says
    assert place.drivers()["n1"] == OLD
    assert set(place.phases()) == {"n1", "n2"}


def test_the_way_back_before_the_deployment_leaves_no_trace() -> None:
    place = pool()
    go(place)
    assert go(place, back=True).outcome == "done"
    assert place.phases() == {}
    assert not any(UPGRADE_SKIP in each["metadata"]["labels"] for each in place.nodes.values())
    place.deploy()
    for _ in range(60):
        place.operator()
    assert set(place.drivers().values()) == {NEW}, "the operator does as it always does"


def test_the_way_back_frees_the_node_whose_turn_it_is_and_waits_for_the_former_driver() -> None:
    place = held()
    for name in place.nodes:
        place.work(f"train-{name}", name)
    go(place, max_wait=0.0)
    assert len(cordoned(place)) == 1
    step = go(place, back=True)
    assert step.outcome == "stopped"
    assert "deploy the former driver first" in step.says
    assert cordoned(place) == set()
    for _ in range(5):
        place.operator()
    assert set(place.drivers().values()) == {OLD}
    place.revision = 1
    assert go(place, back=True).outcome == "done"
    for _ in range(5):
        place.operator()
    assert len(place.working) == 3
    assert cordoned(place) == set()
    states = {each["metadata"]["labels"][UPGRADE_STATE] for each in place.nodes.values()}
    assert states == {"upgrade-done"}, "a state that was left would make the operator upgrade the node"


def test_operands_that_wait_for_their_deletion_get_their_turn_with_the_node() -> None:
    place = pool()
    place.work("train", "n0")
    place.deploy(operand=True)
    step = go(place, max_wait=600.0)
    assert (step.outcome, step.node) == ("waiting", "n0")
    hashes = {
        name: place.pods[f"{OPERAND}-{name}"]["metadata"]["labels"]["controller-revision-hash"] for name in place.nodes
    }
    assert hashes == {"n0": OLD, "n1": NEW, "n2": NEW}
    del place.pods["train"]
    assert go(place).outcome == "done"
    assert set(place.drivers().values()) == {OLD}


def test_a_node_that_goes_and_one_that_joins_meanwhile_hold_nothing_up() -> None:
    place = held()
    place.work("train", "n0")
    place.work("train-1", "n1")
    place.work("train-2", "n2")
    go(place, max_wait=0.0)
    (turn,) = cordoned(place)
    del place.nodes[turn]
    place.pods = {name: each for name, each in place.pods.items() if each["spec"]["nodeName"] != turn}
    place.join("n9")
    for name in place.working:
        del place.pods[name]
    assert go(place).outcome == "done"
    assert is_over(place)
    assert ("n9", 2) not in place.proved


def test_a_change_by_somebody_else_between_look_and_write_is_looked_at_again() -> None:
    place = held(1)

    def changed() -> None:
        place.change(place.nodes["n0"])
        place.before = lambda: None

    place.before = changed
    assert go(place).outcome == "done"
    assert is_over(place)


def test_a_damaged_annotation_stops_it_and_says_so() -> None:
    place = held()
    place.nodes["n1"]["metadata"]["annotations"]["physical-ai/roll"] = "{"
    mark = mark_of(place.nodes["n1"])
    assert mark is not None
    assert mark.phase == "failed"
    step = go(place)
    assert step.outcome == "done", "its driver is older than the deployed one: it is tried again"
    assert f"{DRIVER}-n1" in place.pods
