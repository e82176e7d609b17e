"""The longest path against every path of small graphs, and what edges and longer steps do to it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.cases import in_one_test
from workbench.first_gpu.model import Step, longest

SEEDS = range(150)


def graph(seed: int) -> list[Step]:
    """Up to eight steps; each waits for some of the earlier ones. Some take no time."""
    chance = random.Random(seed)  # noqa: S311 - graphs, and no secrets
    steps: list[Step] = []
    for number in range(chance.randint(1, 8)):
        low = chance.choice([0, 0, 1, 2.5, 7])
        needs = tuple(each.key for each in steps if chance.random() < 0.4)
        steps.append(Step(str(number), "", (low, low + chance.choice([0, 1, 4])), needs=needs))
    return steps


def every_path(steps: Sequence[Step], last: str) -> list[list[Step]]:
    """Each chain of steps that ends with `last`, found by following every edge."""
    by_key = {each.key: each for each in steps}
    ends = [chain for need in by_key[last].needs for chain in every_path(steps, need)] or [[]]
    return [[*chain, by_key[last]] for chain in ends]


@in_one_test("seed", SEEDS)
def test_the_longest_path_is_the_longest_of_all(seed: int) -> None:
    steps = graph(seed)
    last = steps[-1].key
    found, chains = longest(steps, last), every_path(steps, last)
    for case in (0, 1):
        assert found.minutes[case] == max(sum(each.minutes[case] for each in chain) for chain in chains)
    assert list(found.slow) in chains
    assert sum(each.minutes[1] for each in found.slow) == found.minutes[1]


@in_one_test("seed", SEEDS)
def test_one_more_edge_never_shortens_the_path(seed: int) -> None:
    steps = graph(seed)
    before = longest(steps, steps[-1].key).minutes
    for at, step in enumerate(steps):
        for other in steps[:at]:
            more = [*steps[:at], replace(step, needs=(*step.needs, other.key)), *steps[at + 1 :]]
            after = longest(more, steps[-1].key).minutes
            assert after[0] >= before[0]
            assert after[1] >= before[1]


@in_one_test("seed", SEEDS)
def test_a_longer_step_never_shortens_the_path_and_lengthens_it_by_no_more(seed: int) -> None:
    steps = graph(seed)
    before = longest(steps, steps[-1].key).minutes
    for at, step in enumerate(steps):
        slower = [*steps[:at], replace(step, minutes=(step.minutes[0], step.minutes[1] + 3)), *steps[at + 1 :]]
        after = longest(slower, steps[-1].key).minutes
        assert before[1] <= after[1] <= before[1] + 3
        assert after[0] == before[0]


def test_what_the_last_step_does_not_wait_for_does_not_count() -> None:
    steps = [Step("vpn", "", (20, 45)), Step("cluster", "", (5, 15)), Step("pod", "", (0, 1), needs=("cluster",))]
    assert longest(steps, "pod").minutes == (5, 16)


def test_steps_that_wait_for_each_other_are_an_error() -> None:
    with pytest.raises(ValueError, match="wait for each other"):
        longest([Step("a", "", (1, 1), needs=("b",)), Step("b", "", (1, 1), needs=("a",))], "a")


def test_a_last_step_that_takes_no_time_still_ends_the_path() -> None:
    steps = [Step("a", "", (5, 5)), Step("b", "", (0, 0), needs=("a",)), Step("c", "", (0, 0), needs=("b",))]
    assert [each.key for each in longest(steps, "c").slow] == ["a", "b", "c"]
