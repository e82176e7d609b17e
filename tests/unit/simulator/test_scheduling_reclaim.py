"""Nodes that KAI's model takes from Pods of a queue that is due nothing, for work of another queue."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.kubernetes.fit import Offer
from simulator.scheduling.kai.decision import Round, decide
from simulator.scheduling.kai.jobs import jobs_of
from simulator.scheduling.kai.queues import queues_of
from tests.support.scheduling import gang, kai_pod, node, queue

NOTHING = {"quota": 0, "overQuotaWeight": 0}
QUEUES = [queue("leaf"), queue("warm", gpu=NOTHING, cpu=NOTHING, memory=NOTHING)]
CLASSES = [{"metadata": {"name": "warm"}, "value": -10}]
NODES = [node("a", gpus=1), node("b", gpus=1)]


def warm(name: str, on: str = "", **spec: Any) -> dict[str, Any]:
    made = kai_pod(name, gpus=1, cpu="10m", on=on, priorityClassName="warm", **spec)
    made["metadata"]["labels"] = {"kai.scheduler/queue": "warm"}
    return made


def work(name: str, group: str = "", **given: Any) -> dict[str, Any]:
    made = kai_pod(name, group, gpus=1, **given)
    made["metadata"]["labels"] = {"kai.scheduler/queue": "leaf"}
    return made


def decided(pods: list[dict[str, Any]], *groups: dict[str, Any], nodes: list[dict[str, Any]] = NODES) -> Round:
    offers = [Offer.of(each, pods) for each in nodes]
    return decide(jobs_of(pods, groups, CLASSES), queues_of(QUEUES), offers)


def test_work_takes_the_node_of_one_pod_that_keeps_it_ready_and_no_more() -> None:
    found = decided([warm("hold-a", "a"), warm("hold-b", "b"), work("train")])
    assert len(found.evictions) == 1
    assert (found.bindings, found.refusals) == ({}, {})


def test_work_takes_a_free_node_first() -> None:
    found = decided([warm("hold-a", "a"), work("train")])
    assert found.evictions == {}
    assert [host for _, host in found.bindings.values()] == ["b"]


def test_a_gang_takes_all_the_nodes_that_it_needs_or_none() -> None:
    pods = [warm("hold-a", "a"), warm("hold-b", "b"), *(work(f"train-{number}", "train") for number in range(2))]
    assert set(decided(pods, gang("train", 2)).evictions) == {"uid-hold-a", "uid-hold-b"}
    assert decided([*pods, work("train-2", "train")], gang("train", 3)).evictions == {}


def test_a_second_job_does_not_take_the_node_that_the_first_one_waits_for() -> None:
    found = decided([warm("hold-a", "a"), work("one"), work("two")], nodes=NODES[:1])
    assert len(found.evictions) == 1
    assert len(found.refusals) == 1


def test_pods_that_keep_nodes_ready_take_nothing_from_each_other() -> None:
    found = decided([warm("hold-a", "a"), warm("next")], nodes=NODES[:1])
    assert found.evictions == {}
    assert set(found.refusals) == {"uid-next"}


@pytest.mark.parametrize("own", [{"priorityClassName": "high"}, {"labels": {"kai.scheduler/queue": "leaf"}}])
def test_work_and_what_cannot_be_preempted_keep_their_node(own: dict[str, Any]) -> None:
    held = warm("hold-a", "a")
    held["metadata"]["labels"] = own.get("labels", held["metadata"]["labels"])
    held["spec"]["priorityClassName"] = own.get("priorityClassName", "warm")
    classes = [*CLASSES, {"metadata": {"name": "high"}, "value": 100}]
    pods = [held, work("train")]
    found = decide(jobs_of(pods, [], classes), queues_of(QUEUES), [Offer.of(NODES[0], pods)])
    assert found.evictions == {}
