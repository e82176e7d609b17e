"""Random sequences of work, kills, cordons, failures, deployments and changes of mind: no work is ended."""

from __future__ import annotations

import random

import pytest

from simulator.gpu.names import UPGRADE_SKIP
from tests.support.rolled_pool import Killed, Place, go, pool

STEPS = 40


def act(chance: random.Random, place: Place, step: int) -> None:
    names = sorted(place.nodes)
    match chance.randrange(12):
        case 0 | 1:
            place.schedule(f"task-{step}")
        case 2 | 3 if place.working:
            del place.pods[chance.choice(place.working)]
        case 4:
            node = place.nodes[chance.choice(names)]
            is_ours = "physical-ai/roll" in node["metadata"]["annotations"] and "held" not in str(node["metadata"])
            if not is_ours:
                node["spec"] = {} if node["spec"] else {"unschedulable": True}
                place.change(node)
        case 5 if all(each == "held" for each in place.phases().values()) and set(place.phases()) == set(names):
            place.deploy(operand=chance.random() < 0.3)
        case 6:
            place.broken = {chance.choice(names)} if chance.random() < 0.3 else set()
        case 7:
            place.unproved = {chance.choice(names)} if chance.random() < 0.3 else set()
        case 8 if chance.random() < 0.3:
            go(place, back=True, max_wait=0.0)
        case _:
            place.left = chance.choice([10**6, chance.randrange(8)])
            try:
                go(place, max_wait=chance.choice([0.0, 600.0]), within=1e9, retry=chance.random() < 0.2)
            except Killed:
                pass
            finally:
                place.left = 10**6
    place.operator()


@pytest.mark.parametrize(
    "seed", [pytest.param(each, marks=pytest.mark.deep) if each >= 20 else each for each in range(200)]
)
def test_no_work_is_ended_whatever_happens(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a repeatable sequence, no secret
    place = pool(chance.randint(1, 4))
    started: set[str] = set()
    for step in range(STEPS):
        before = set(place.working)
        act(chance, place, step)
        started |= set(place.working) - before
        assert place.lost == [], step
        assert place.opened == [], step
        turns = [each for each in place.phases().values() if each not in ("held", "failed")]
        assert len(turns) <= 1
    finish(place)


def finish(place: Place) -> None:
    """The end of every sequence: work ends, nobody else cordons a node, and drivers and GPUs work."""
    place.broken, place.unproved = set(), set()
    for name in place.working:
        del place.pods[name]
    for node in place.nodes.values():
        if "physical-ai/roll" not in node["metadata"]["annotations"]:
            node["spec"] = {}
    outcome = ""
    for _ in range(10):
        for node in place.nodes.values():
            if '"held"' in str(node["metadata"]["annotations"]):
                node["spec"] = {}
        outcome = go(place, retry=True).outcome
        if outcome in ("done", "held"):
            break
    newest = f"r{place.revision}"
    assert set(place.drivers().values()) == {newest}, outcome
    go(place, back=True)
    assert place.phases() == {}
    assert not any(UPGRADE_SKIP in each["metadata"]["labels"] for each in place.nodes.values())
    assert not any(each["spec"].get("unschedulable") for each in place.nodes.values())
    assert place.lost == []
