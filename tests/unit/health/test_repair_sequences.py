"""Random sequences around repairs: the budget holds, no faulty node works, nothing leaves a node that was returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.health_cluster import Broken
from tests.support.repair_sequences import Judged, Sequence
from workbench.health.replacement import machine_steps, proof, run, steps
from workbench.health.replacement.world import Standing

STEPS = 160
FEW, ALL = 60, 10_000
PARTS = [range(first, first + 500) for first in range(0, ALL, 500)]
"""Shares of all sequences: each ends within the limit of a test on a busy machine too."""


def play(seeds: range) -> int:
    """Repairs that came to their end. Raises Broken with the first seed that breaks an invariant."""
    ended = 0
    for seed in seeds:
        try:
            ended += Sequence(seed).run(STEPS)
        except Broken as broken:
            raise Broken(f"seed {seed}: {broken}") from None
    return ended


def test_no_sequence_breaks_an_invariant_and_repairs_come_to_their_end() -> None:
    assert play(range(FEW)) > FEW / 10


@pytest.mark.deep  # in `make test`: a few sequences above
@pytest.mark.parametrize("seeds", PARTS, ids=str)
def test_none_of_ten_thousand_sequences_breaks_an_invariant(seeds: range) -> None:
    assert play(seeds) > len(seeds) / 10


def nothing(*_: Any) -> str:
    return ""


def no_turn(patch: pytest.MonkeyPatch) -> None:
    for module in (run, steps):
        patch.setattr(module, "reserve", nothing)
        patch.setattr(module, "budget_refusal", nothing)
    patch.setattr(run, "is_reserved", lambda *_: True)  # pyright: ignore[reportUnknownLambdaType]


def no_look_before_an_act(patch: pytest.MonkeyPatch) -> None:
    for module in (steps, machine_steps, proof):
        patch.setattr(module, "check_held", nothing)


def no_look_at_alerts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Judged, "_standing", lambda *_: Standing())  # pyright: ignore[reportUnknownLambdaType]


@pytest.mark.parametrize(
    ("mutant", "invariant", "first"),
    [
        (no_turn, "nodes are out", 0),
        (no_look_before_an_act, "no repair's|after a person has returned it", 0),
        (no_look_at_alerts, "with a fault", 90),
    ],
)
def test_a_repair_without_one_of_its_limits_is_found(
    mutant: Callable[[pytest.MonkeyPatch], None], invariant: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`first` saves seconds of sequences that are known to find nothing."""
    mutant(monkeypatch)
    with pytest.raises(Broken, match=invariant):
        play(range(first, 2000))
