"""The simulation of a year against the formula, and its continuation from a file."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.goodput.model import Fleet, share
from workbench.goodput.simulation import Year
from workbench.goodput.simulation.state_file import BadState, StateFile

DAY = 24.0
PER_DAY = 1 / 1000 / DAY
THOUSAND = Fleet(
    nodes=125, gpus=8, jobs=7, job_gpus=128, task_hours=240, checkpoint=1.0, stall=0.002, faults=5 * PER_DAY,
    crashes=0.83 * PER_DAY, evictions=0, detection=0.17, restart=0.18, start=0.07, repair=2.2, away=0,
)  # fmt: skip
"""1,000 GPUs with gangs of 16 nodes, and 13 spare nodes."""
FLEETS = {
    "gangs with spare nodes": (THOUSAND, 365),
    "one gang on nearly all nodes, slow repairs": (
        replace(THOUSAND, jobs=1, job_gpus=960, task_hours=2000, checkpoint=3.0, stall=0.04, faults=24 * PER_DAY,
                crashes=5 * PER_DAY, detection=0.5, repair=24),
        2000,
    ),
    "Spot machines with five spare": (
        replace(THOUSAND, jobs=120, job_gpus=8, task_hours=24, checkpoint=0.5, evictions=0.025, away=1.0), 20,
    ),
    "single GPUs without checkpoints on Spot": (
        replace(THOUSAND, nodes=200, gpus=2, jobs=380, job_gpus=1, task_hours=6, checkpoint=None, stall=0,
                evictions=0.02, away=2.0), 30,
    ),
    "small pool without a spare node": (
        replace(THOUSAND, nodes=16, jobs=2, job_gpus=64, task_hours=100, checkpoint=1.0, stall=0.01,
                faults=12 * PER_DAY, found=0.3, repair=24), 4000,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FLEETS)
def test_prediction_and_simulation_agree(name: str) -> None:
    fleet, days = FLEETS[name]
    year = Year(fleet, seed=7, hours=days * DAY)
    assert year.run()
    expected = share(fleet)
    assert year.spread < 0.02
    assert year.useful == pytest.approx(expected.useful, abs=3 * year.spread + 0.002)
    scale = fleet.job_gpus / (fleet.nodes * fleet.gpus * year.hours)
    waiting = year.totals.hours["waiting"] * scale
    assert waiting == pytest.approx(expected.repairs + expected.capacity, abs=4 * year.spread + 0.003)
    again = (year.totals.hours[each] for each in ("rework", "detection", "restarts"))
    interrupted = expected.faults + expected.crashes + expected.evictions
    assert sum(again) * scale == pytest.approx(interrupted, abs=3 * year.spread + 0.003, rel=0.1)


def test_another_fleet_does_not_agree() -> None:
    """The comparison above is one that can fail: twice the faults are seen."""
    fleet, days = FLEETS["one gang on nearly all nodes, slow repairs"]
    year = Year(fleet, seed=7, hours=days * DAY)
    year.run()
    assert abs(share(replace(fleet, faults=fleet.faults * 2)).useful - year.useful) > 5 * year.spread


def test_the_hours_of_the_jobs_add_up() -> None:
    for fleet, days in (FLEETS["small pool without a spare node"], FLEETS["Spot machines with five spare"]):
        year = Year(fleet, seed=3, hours=min(days, 60) * DAY)
        year.run()
        assert sum(year.totals.hours.values()) == pytest.approx(fleet.jobs * year.hours, rel=1e-3)


def test_a_year_of_a_thousand_gpus_takes_seconds() -> None:
    before = time.process_time()
    year = Year(THOUSAND, seed=1)
    assert year.run()
    assert time.process_time() - before < 30
    assert year.totals.events["fault"] > 100


def test_a_continued_simulation_ends_as_an_uninterrupted_one(tmp_path: Path) -> None:
    fleet = FLEETS["Spot machines with five spare"][0]
    whole = Year(fleet, seed=5, hours=10 * DAY)
    whole.run()
    file, pieces, ended = tmp_path / "state.json", 0, False
    while not ended:
        state = StateFile(file)
        year = state.year("h100gpu", fleet, 5, 10 * DAY)
        ended = year.run(500)
        state.keep("h100gpu", year)
        pieces += 1
    assert pieces > 2
    last = StateFile(file).year("h100gpu", fleet, 5, 10 * DAY)
    assert last.document() == json.loads(json.dumps(whole.document()))
    assert last.ended


def test_the_seed_decides_the_events() -> None:
    fleet = FLEETS["small pool without a spare node"][0]
    first, same, other = (Year(fleet, seed, 200 * DAY) for seed in (1, 1, 2))
    for year in (first, same, other):
        year.run()
    assert first.document() == same.document()
    assert first.useful != other.useful


def test_a_state_of_another_simulation_is_refused(tmp_path: Path) -> None:
    state = StateFile(tmp_path / "state.json")
    state.keep("h100gpu", Year(THOUSAND, 1, DAY))
    again = StateFile(tmp_path / "state.json")
    assert again.year("h100gpu", THOUSAND, 1, DAY).hours == DAY
    assert again.year("a10gpu", THOUSAND, 2, DAY).now == 0
    for fleet, seed, hours in ((THOUSAND, 2, DAY), (THOUSAND, 1, 2 * DAY), (replace(THOUSAND, nodes=9), 1, DAY)):
        with pytest.raises(BadState, match="other rates, load, seed or days; name another file"):
            again.year("h100gpu", fleet, seed, hours)


@pytest.mark.parametrize(
    "text", ["", "no json", "[]", '{"version": 9, "pools": {}}', '{"version": 1, "pools": []}', "[" * 100_000]
)
def test_a_file_that_is_no_state_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text(text)
    with pytest.raises(BadState, match="no state of a simulation"):
        StateFile(file)


def test_a_broken_state_of_a_pool_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    for given in ({}, [], {"fleet": 3}, {**Year(THOUSAND, 1, DAY).document(), "random": [3, [1], None]}):
        file.write_text(json.dumps({"version": 1, "pools": {"h100gpu": given}}))
        with pytest.raises(BadState, match="h100gpu cannot be read"):
            StateFile(file).year("h100gpu", THOUSAND, 1, DAY)


def test_a_state_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    state = StateFile(tmp_path / "absent" / "state.json")
    with pytest.raises(BadState, match="a folder that exists"):
        state.keep("h100gpu", Year(THOUSAND, 1, DAY))
