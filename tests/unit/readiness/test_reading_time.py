"""The time of a reading where the clock of the machine that reads is not the cluster's."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from physical_ai.readiness.workloads.clock import longer, reading_time

OWN = datetime.datetime(2026, 11, 27, 12, 0, tzinfo=datetime.UTC)


def node(heartbeat: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": heartbeat}]}}


@pytest.mark.parametrize(
    ("nodes", "events"),
    [
        ([node("2026-11-27T13:00:00Z")], []),
        ([], [{"lastTimestamp": "2026-11-27T13:00:00Z"}]),
        ([], [{"series": {"lastObservedTime": "2026-11-27T13:00:00.000000Z"}}]),
    ],
)
def test_a_clock_that_is_behind_makes_no_long_wait_a_new_one(nodes: list[Any], events: list[Any]) -> None:
    now = reading_time(OWN, nodes, events)
    assert now == "2026-11-27T13:00:00Z"
    assert longer("2026-11-27T12:10:00Z", now, 1800)


@pytest.mark.parametrize("heartbeat", ["2026-11-27T11:58:00Z", "", "yesterday"])
def test_otherwise_it_is_the_time_of_the_machine_that_reads(heartbeat: str) -> None:
    assert reading_time(OWN, [node(heartbeat), {}], [{}]) == "2026-11-27T12:00:00Z"
