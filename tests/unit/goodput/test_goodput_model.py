"""The closed formula of useful GPU time: limits that can be counted by hand, and the best interval."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.goodput.cron import hours_between
from workbench.goodput.model import Fleet, best_interval, rework, share, with_checkpoints, young

QUIET = Fleet(
    nodes=10, gpus=8, jobs=10, job_gpus=8, task_hours=10, checkpoint=1.0, stall=0.1, faults=0, crashes=0, evictions=0,
    detection=0.2, restart=0.3, start=0.5, repair=5, away=2,
)  # fmt: skip


def test_without_faults_only_starts_and_checkpoints_cost_time() -> None:
    """Ten hours of work, half an hour of start, and nine checkpoints of six minutes: the end keeps the result."""
    found = share(QUIET)
    assert found.useful == pytest.approx(10 / (10 + 0.5 + 9 * 0.1))
    assert found.starts == pytest.approx(0.5 / 11.4)
    assert found.checkpoints == pytest.approx(0.9 / 11.4)
    assert found.faults == found.repairs == 0


def test_a_rare_fault_costs_half_an_interval_and_the_way_back() -> None:
    """One crash in 100,000 hours: half an interval with its checkpoint, detection and restart."""
    found = share(replace(QUIET, crashes=1e-5, start=0, task_hours=1000))
    assert found.crashes == pytest.approx(1e-5 * (1.1 / 2 + 0.2 + 0.3), rel=0.1)
    assert rework(replace(QUIET, crashes=1e-5)) == pytest.approx(1.1 / 2, rel=0.01)


def test_the_rework_is_a_job_without_checkpoints() -> None:
    assert rework(replace(QUIET, checkpoint=None, stall=0, crashes=1e-6)) == pytest.approx(5, rel=0.01)


def test_nodes_in_repair_cost_the_jobs_that_they_had() -> None:
    """Each node is there for 2/3 of the time, and every job needs one of them."""
    found = share(replace(QUIET, faults=0.1, repair=5, found=1.0))
    assert found.repairs == pytest.approx(1 / 3)
    spare = share(replace(QUIET, nodes=20, faults=0.1, repair=5, found=1.0))
    assert spare.repairs < 0.06
    assert spare.not_wanted == 0.5


def test_a_gang_waits_for_its_last_node() -> None:
    """Two nodes are there together for (1/2)² of the time."""
    gang = replace(QUIET, nodes=2, jobs=1, job_gpus=16, evictions=0.5, away=2, found=1.0)
    assert share(gang).capacity == pytest.approx(3 / 4)


def test_what_is_never_finished_is_not_useful() -> None:
    found = share(replace(QUIET, checkpoint=None, task_hours=1000, evictions=1.0, away=0))
    assert found.useful == 0
    assert found.evictions == pytest.approx(1)


@given(
    nodes=st.integers(1, 300), gpus=st.sampled_from([1, 2, 8]), size=st.integers(1, 64),
    hours=st.floats(0.1, 500), every=st.one_of(st.none(), st.floats(0.05, 20)),
    faults=st.floats(0, 0.05), crashes=st.floats(0, 0.05), evictions=st.floats(0, 0.3),
    lasting=st.floats(0, 50), found=st.floats(0, 1),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_the_shares_add_up_to_one(  # noqa: PLR0917 - each is drawn
    nodes: int, gpus: int, size: int, hours: float, every: float | None, faults: float, crashes: float,
    evictions: float, lasting: float, found: float,
) -> None:  # fmt: skip
    most = nodes * (gpus // size) if size <= gpus else nodes // -(-size // gpus)
    fleet = Fleet(nodes, gpus, most, size, hours, every, 0.01, faults, crashes, evictions, 0.1, 0.2, 0.1, lasting,
                  lasting, found)  # fmt: skip
    share_ = share(fleet)
    assert share_.useful + share_.not_wanted + sum(share_.losses.values()) == pytest.approx(1, abs=1e-6)
    assert min(share_.useful, *share_.losses.values()) >= -1e-9


@pytest.mark.parametrize("crashes", [1e-4, 1e-3, 1e-2])
def test_the_best_interval_is_youngs_where_interruptions_are_rare(crashes: float) -> None:
    fleet = replace(QUIET, crashes=crashes, stall=0.01, task_hours=1000)
    best = best_interval(fleet)
    assert best == pytest.approx(young(fleet), rel=0.08)
    useful = share(with_checkpoints(fleet, best)).useful
    assert useful > share(with_checkpoints(fleet, best * 2)).useful
    assert useful > share(with_checkpoints(fleet, best / 2)).useful


def test_without_interruptions_no_interval_is_best() -> None:
    assert young(QUIET) == math.inf


@pytest.mark.parametrize(
    ("schedule", "hours"),
    [("0 3 * * *", 24), ("*/30 * * * *", 0.5), ("0 1-5/2 * * *", 8), ("0 0 * * 7", 168), ("0 0 30 2 *", math.inf)],
)
def test_the_time_between_runs_of_a_schedule(schedule: str, hours: float) -> None:
    assert hours_between(schedule) == pytest.approx(hours)
