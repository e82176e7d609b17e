"""Random sequences of faults, jobs and repairs: no step that happens by itself does harm, in any mode."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from parts.nvsentinel.names import FAULT_QUARANTINE, NODE_DRAINER
from physical_ai.settings.models.health import HealthMode
from tests.support.cases import in_one_test
from tests.support.health_cluster import Broken, Policy
from tests.support.health_table import parts, policy_of
from tests.support.health_world import HealthWorld
from workbench.health.replacement import run, steps
from workbench.health.replacement.record import Record, RepairStep
from workbench.health.replacement.steps import World

STEPS = 60
FEW, ALL = 10, 10_000
PARTS = [range(first, first + 500) for first in range(0, ALL, 500)]
"""Shares of all sequences, half a minute each for one mode: also on a busy machine each ends within a test's limit."""
Json = dict[str, Any]
MODES: tuple[HealthMode, ...] = ("detect", "taint", "drain")


def play(played: Policy, seeds: range, steps: int = STEPS) -> None:
    """Raises Broken with the seed of the first sequence that breaks an invariant."""
    for seed in seeds:
        try:
            HealthWorld(seed, played).run(steps)
        except Broken as broken:
            raise Broken(f"seed {seed}: {broken}") from None


@pytest.mark.parametrize("mode", MODES)
def test_no_sequence_breaks_an_invariant(mode: HealthMode) -> None:
    play(policy_of(*parts(mode)), range(FEW))


@pytest.mark.deep  # in `make test`: a few sequences above
@pytest.mark.parametrize("seeds", PARTS, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_none_of_ten_thousand_sequences_breaks_an_invariant(mode: HealthMode, seeds: range) -> None:
    play(policy_of(*parts(mode)), seeds)


def no_limits(values: Json, limits: list[Json]) -> None:
    del values
    limits.clear()


def without(name: str) -> Callable[[Json, list[Json]], None]:
    def broken(values: Json, limits: list[Json]) -> None:
        del values
        limits[:] = [each for each in limits if not each["metadata"]["name"].startswith(name)]

    return broken


def no_breaker(values: Json, limits: list[Json]) -> None:
    values[FAULT_QUARANTINE]["circuitBreaker"]["enabled"] = False
    without("nvsentinel-one-node")(values, limits)


def breaker_of_upstream(values: Json, limits: list[Json]) -> None:
    values[FAULT_QUARANTINE]["circuitBreaker"] |= {"percentage": 50, "maxNodes": 0, "duration": "5m"}
    without("nvsentinel-one-node")(values, limits)


def any_pool(values: Json, limits: list[Json]) -> None:
    for each in values[FAULT_QUARANTINE]["ruleSets"]:
        each["match"]["all"] = each["match"]["all"][:1]
    for each in limits:
        for variable in each["spec"].get("variables", ()):
            if variable["name"] == "pools":
                variable["expression"] = json.dumps(["h100gpu", "rtxprogpu"])


def drain_by_eviction(values: Json, limits: list[Json]) -> None:
    values[NODE_DRAINER]["userNamespaces"] = [{"name": "*", "mode": "Immediate"}]
    without("nvsentinel-no-eviction")(values, limits)


def drain_with_deadline(values: Json, limits: list[Json]) -> None:
    values[NODE_DRAINER] |= {
        "userNamespaces": [{"name": "*", "mode": "DeleteAfterTimeout"}],
        "deleteAfterTimeoutMinutes": 10,
    }
    without("nvsentinel-no-eviction")(values, limits)


def drain_in_taint(values: Json, limits: list[Json]) -> None:
    values["global"]["nodeDrainer"]["enabled"] = True
    values[NODE_DRAINER] = {"userNamespaces": [{"name": "*", "mode": "Immediate"}], "systemNamespaces": ""}
    without("nvsentinel-no-eviction")(values, limits)


MUTANTS: list[tuple[HealthMode, Callable[[Json, list[Json]], None], str]] = [
    ("taint", no_limits, ""),
    ("taint", no_breaker, "may be"),
    ("taint", breaker_of_upstream, "may be"),
    ("taint", without("nvsentinel-one-node"), "may be"),
    ("taint", without("nvsentinel-one-repair"), "in repair"),
    ("taint", without("nvsentinel-nodes"), "without acceptance"),
    ("taint", any_pool, "no pool with whole GPUs"),
    ("taint", drain_in_taint, "ends"),
    ("drain", drain_by_eviction, "running gang"),
    ("drain", drain_with_deadline, "running gang"),
]


@in_one_test(("mode", "mutant", "invariant"), MUTANTS)
def test_a_broken_policy_is_found(mode: HealthMode, mutant: Callable[[Json, list[Json]], None], invariant: str) -> None:
    values, limits = parts(mode)
    mutant(values, limits)
    with pytest.raises(Broken, match="seed ") as caught:
        play(policy_of(values, limits), range(2000))
    assert invariant in str(caught.value).splitlines()[0]


def skips_acceptance(patch: pytest.MonkeyPatch) -> None:
    def uncordon(record: Record, _: World) -> Record:
        return record.at(RepairStep.UNCORDON)

    patch.setitem(cast("dict[RepairStep, Any]", steps._STEPS), RepairStep.ACCEPT, uncordon)  # pyright: ignore[reportPrivateUsage]


def ignores_the_budget(patch: pytest.MonkeyPatch) -> None:
    def always(*_: Any) -> str:
        return ""

    patch.setattr(run, "budget_refusal", always)
    patch.setattr(run, "reserve", always)
    patch.setattr(run, "is_reserved", lambda *_: True)  # pyright: ignore[reportUnknownLambdaType]


def forgets_who_cordoned(patch: pytest.MonkeyPatch) -> None:
    def nothing(_: Any) -> dict[str, str]:
        return {}

    patch.setattr(run, "annotations_of", nothing)


@pytest.mark.parametrize(
    ("mutant", "invariant", "first"),
    [
        (skips_acceptance, "without acceptance", 0),
        (ignores_the_budget, "second repair", 0),
        (forgets_who_cordoned, "without acceptance", 350),
    ],
)
def test_a_broken_repair_is_found(
    mutant: Callable[[pytest.MonkeyPatch], None], invariant: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`first` saves seconds of sequences that are known to find nothing."""
    mutant(monkeypatch)
    with pytest.raises(Broken, match="seed ") as caught:
        play(policy_of(*parts("taint")), range(first, 2000))
    assert invariant in str(caught.value).splitlines()[0]


def test_a_seed_repeats_its_sequence() -> None:
    values, limits = parts("taint")
    no_limits(values, limits)
    stories: list[str] = []
    for _ in range(2):
        with pytest.raises(Broken) as caught:
            play(policy_of(values, limits), range(200))
        stories.append(str(caught.value))
    assert stories[0] == stories[1]
