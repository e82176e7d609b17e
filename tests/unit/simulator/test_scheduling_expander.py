"""The autoscaler's choice among pools that could grow: by priorities, as a ConfigMap has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from simulator.scheduling.autoscaler.expander import CONFIG_MAP, InvalidPriorities, choice
from simulator.scheduling.autoscaler.growth import Group, scale_up
from simulator.scheduling.autoscaler.template import template
from tests.support.azure_fakes import Azure
from tests.support.scheduling import GPU_TAINT, pod, unschedulable
from tests.unit.simulator.test_scheduling_autoscaler import grown, scaled

PRIORITY = {"expander": "priority"}
SPOT_FIRST = {"data": {"priorities": "50: ['^aks-h100gpu-']\n10: ['.*']\n"}}
TRAINING = [unschedulable(pod(f"train-{number}", gpus=1)) for number in range(2)]


@pytest.fixture
def groups(tmp_path: Path) -> list[Group]:
    """Two pools whose nodes would take the same Pods. The second could take more of them."""
    azure = Azure(tmp_path / "azure.json")
    azure.platform()
    found = [scaled(azure, maxCount=1), scaled(azure, "h100gpu2", nodeTaints=[GPU_TAINT])]
    return [Group(pool, template(pool, (), ())) for pool in found]


def test_by_itself_the_pool_grows_that_helps_most(groups: list[Group]) -> None:
    assert grown(scale_up(TRAINING, [], groups, choice({}, None))) == ("h100gpu2", 2)


def test_the_highest_number_wins_and_the_whole_name_of_the_pool_counts(groups: list[Group]) -> None:
    assert grown(scale_up(TRAINING, [], groups, choice(PRIORITY, SPOT_FIRST))) == ("h100gpu", 1)
    second = {"data": {"priorities": "10: ['.*']\n50: ['^aks-h100gpu2-']\n"}}
    assert grown(scale_up(TRAINING, [], groups, choice(PRIORITY, second))) == ("h100gpu2", 2)


def test_a_pool_that_azure_has_just_refused_leaves_its_place_to_the_next(groups: list[Group]) -> None:
    refused = [replace(groups[0], in_backoff=True), groups[1]]
    assert grown(scale_up(TRAINING, [], refused, choice(PRIORITY, SPOT_FIRST))) == ("h100gpu2", 2)


def test_a_pool_without_a_line_grows_only_where_no_other_can(groups: list[Group]) -> None:
    only = {"data": {"priorities": "50: ['^aks-h100gpu-']\n"}}
    assert grown(scale_up(TRAINING, [], groups, choice(PRIORITY, only))) == ("h100gpu", 1)
    assert grown(scale_up(TRAINING, [], groups[1:], choice(PRIORITY, only))) == ("h100gpu2", 2)


@pytest.mark.parametrize(
    ("config_map", "problem"),
    [
        (None, f"{CONFIG_MAP} not found"),
        ({}, "is empty"),
        ({"data": {"other": "50: ['.*']"}}, "is empty"),
        ({"data": {"priorities": "50: ["}}, "Can't parse YAML"),
        ({"data": {"priorities": "'50': ['.*']"}}, "a number with a list"),
        ({"data": {"priorities": "50: '.*'"}}, "a number with a list"),
        ({"data": {"priorities": "50: ['(']"}}, "Can't compile regexp"),
    ],
)
def test_what_it_cannot_read_it_does_not_use(config_map: dict[str, object] | None, problem: str) -> None:
    with pytest.raises(InvalidPriorities, match=problem.replace("(", r"\(")):
        choice(PRIORITY, config_map)
    assert choice({}, config_map) is not None


def test_where_none_may_grow_none_does_and_no_pod_is_told_a_reason(groups: list[Group]) -> None:
    found = scale_up(TRAINING, [], groups, lambda _: None)
    assert (found.growth, found.refused) == (None, ())
