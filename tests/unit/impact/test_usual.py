"""Work that a stack's pools usually have."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import pytest

from physical_ai.settings import load
from physical_ai.settings.models.usual_load import UsualLoad
from workbench.impact.pools import PoolFacts
from workbench.impact.usual import usual_nodes, usual_work

NOW = datetime.datetime(2026, 11, 28, tzinfo=datetime.UTC)
FACTS = {"h100gpu": PoolFacts("h100gpu", 1, 2, "H100", "operator"), "cpu": PoolFacts("cpu", 1)}


def pools(**changes: Any) -> Any:
    settings = load("dev-westus2").settings
    given = UsualLoad.model_validate({"nodes": 4, "taskHours": 6, **changes})
    return {"h100gpu": settings.pools["h100gpu"].model_copy(update={"usual_load": given})}


@pytest.mark.parametrize(
    ("load", "workflows", "pods"),
    [({}, 8, 8), ({"busy": 0.5}, 4, 4), ({"taskGpus": 4}, 2, 4), ({"taskGpus": 3}, 2, 4), ({"busy": 0}, 0, 0)],
)
def test_busy_gpus_are_held_by_workflows_and_gangs(load: dict[str, Any], workflows: int, pods: int) -> None:
    work = usual_work(pools(**load), FACTS, NOW)
    assert (len({each.owner for each in work}), len(work)) == (workflows, pods)
    assert sum(each.gpus for each in work) == workflows * load.get("taskGpus", 1)


def test_each_is_in_the_middle_of_its_run() -> None:
    work = usual_work(pools(checkpointMinutes=30), FACTS, NOW)[0]
    assert work.lost_hours(NOW) == (0, 0.5)
    assert usual_work(pools(), FACTS, NOW)[0].lost_hours(NOW) == (3, 3)


def test_a_pool_that_is_new_or_says_nothing_has_no_work() -> None:
    assert usual_work(pools(), {}, NOW) == []
    assert usual_work(load("dev-westus2").settings.pools, FACTS, NOW) == []


def test_the_usual_number_of_nodes_replaces_that_of_the_simulation() -> None:
    assert usual_nodes(pools(), FACTS) == {**FACTS, "h100gpu": replace(FACTS["h100gpu"], nodes=4)}
