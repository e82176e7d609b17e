"""Gangs of which too few Pods run: KAI v0.17.0 evicts the rest after a minute."""

from __future__ import annotations

import time
from typing import Any, cast

import pytest

from simulator.clock import seconds_per_model_minute
from simulator.scheduling.kai.live import KaiScheduler
from simulator.scheduling.kai.stale import grace_seconds
from simulator.scheduling.view import View
from tests.support.scheduling import gang, kai_pod
from tests.unit.simulator.test_scheduling_kai_live import Cluster

MINUTE = seconds_per_model_minute()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def evicted(cluster: Cluster, clock: list[float], minutes: float = 1.1) -> list[str]:
    """Pods that are evicted within a time, beginning with the first round."""
    scheduler = KaiScheduler(cast("View", cluster))
    first = scheduler.round()
    assert cluster.deleted == []
    clock[0] += minutes * MINUTE
    scheduler.round()
    if cluster.deleted:
        assert first is not None, "nothing wakes the scheduler when the minute is over"
    return cluster.deleted


def member(name: str, **given: Any) -> dict[str, Any]:
    return kai_pod(name, "g", gpus=1, **given)


def test_what_is_left_of_a_gang_is_evicted_after_a_minute_and_says_why(clock: list[float]) -> None:
    cluster = Cluster([member("a", on="gpu-0")], [gang("g", 2)])
    assert evicted(cluster, clock, 0.9) == []
    assert evicted(cluster, clock) == ["a"]
    text = "Workload doesn't meet the minimum required number of pods (2), evicting remaining pod: work/a"
    assert cluster.events[-1] == ("kai-scheduler", "Normal", "Evict", text)
    assert cluster.conditions["DisruptionTarget"] == ("True", "PreemptionByScheduler")


@pytest.mark.parametrize(
    ("pods", "least", "more"),
    [
        ([member("a", on="gpu-0")], 1, {}),
        ([member("a", on="gpu-0"), member("b", on="gpu-1")], 2, {}),
        ([member("a", on="gpu-0"), {**member("b"), "status": {"phase": "Succeeded"}}], 2, {}),
        ([member("a", on="gpu-0")], 2, {"stalenessGracePeriod": "-1s"}),
        ([member("a", on="gpu-0")], 2, {"stalenessGracePeriod": "5m"}),
    ],
    ids=["alone", "whole", "one has succeeded", "never", "later"],
)
def test_others_run_on(clock: list[float], pods: list[dict[str, Any]], least: int, more: dict[str, Any]) -> None:
    assert evicted(Cluster(pods, [gang("g", least, **more)]), clock) == []


def test_the_schedulers_own_argument_counts_for_groups_that_name_no_time(clock: list[float]) -> None:
    never = ["--default-staleness-grace-period=-1s"]
    pods = [member("a", on="gpu-0")]
    assert evicted(Cluster(pods, [gang("g", 2)], arguments=never), clock) == []
    assert evicted(Cluster(pods, [gang("g", 2, stalenessGracePeriod="1m")], arguments=never), clock) == ["a"]


def test_a_gang_that_is_whole_again_in_time_starts_its_minute_anew(clock: list[float]) -> None:
    cluster = Cluster([member("a", on="gpu-0")], [gang("g", 2)])
    scheduler = KaiScheduler(cast("View", cluster))
    for pods in ([member("a", on="gpu-0")], [member("a", on="gpu-0"), member("b", on="gpu-1")]):
        cluster.pods = pods
        scheduler.round()
        clock[0] += 0.6 * MINUTE
    cluster.pods = [member("a", on="gpu-0")]
    scheduler.round()
    clock[0] += 0.6 * MINUTE
    scheduler.round()
    assert cluster.deleted == []


@pytest.mark.parametrize(
    ("given", "seconds"), [("", 60), ("30s", 30), ("1h1m", 3660), ("soon", 60), ("500ms", 0.5), ("-1s", None)]
)
def test_the_time_of_a_group(given: str, seconds: float | None) -> None:
    assert grace_seconds({"spec": {"stalenessGracePeriod": given}}) == seconds
