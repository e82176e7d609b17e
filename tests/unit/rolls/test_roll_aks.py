"""Plan of an upgrade of Kubernetes or node images by AKS: quota for surges, Pods that stay, work that ends, windows."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from physical_ai.findings import Finding, Severity
from physical_ai.settings import Overlay, Settings, load
from physical_ai.settings.models.cluster import Window
from physical_ai.subscription.answers import Usage
from workbench.impact import Work
from workbench.rolls.aks import drains, next_start, surges, windows

NOW = datetime.datetime(2026, 12, 2, 12, tzinfo=datetime.UTC)  # a Wednesday
SURGE: dict[str, Any] = {
    "pools": {"h100gpu": {"priority": "Regular", "upgrade": {"maxSurge": "1", "maxUnavailable": "0"}}}
}
FAMILY = "standardNCadsH100v5Family"


def settings(data: dict[str, Any] | None = None) -> Settings:
    return load("dev-westus2", [Overlay("--set", data or {})]).settings


def of(found: Iterable[Finding], where: str) -> list[tuple[Severity, str, str]]:
    return [(each.severity, each.problem, each.fix or "") for each in found if each.where == where]


def test_pools_without_a_surge_need_nothing_and_a_surge_needs_the_quota_of_its_family() -> None:
    (spot,) = of(surges(settings(), None), "h100gpu")
    assert spot[0] is Severity.OK
    assert "Spot" in spot[1]
    (unknown,) = of(surges(settings(SURGE), None), "h100gpu")
    assert unknown[0] is Severity.UNKNOWN
    (short,) = of(surges(settings(SURGE), {FAMILY: Usage(used=40, limit=60)}), "h100gpu")
    assert short[0] is Severity.WARNING
    assert "adds 1 × Standard_NC40ads_H100_v5 for a time, 40 vCPU" in short[1]
    assert "20 are free: the upgrade fails" in short[1]
    assert 'maxSurge: "0"' in short[2]
    (none,) = of(surges(settings(SURGE), {}), "h100gpu")
    assert "0 are free" in none[1]
    (enough,) = of(surges(settings(SURGE), {FAMILY.upper(): Usage(used=0, limit=40)}), "h100gpu")
    assert enough[0] is Severity.OK


def test_budgets_and_work_on_a_pool_are_named_with_what_to_do() -> None:
    began = NOW - datetime.timedelta(hours=3)
    train = Work("team", "train", "workflow train-1", node="n0", pool="h100gpu", gpus=2, started=began)
    serve = Work("team", "serve-0", "Deployment team/serve", controller="ReplicaSet", node="n0", pool="h100gpu")
    kept = replace(serve, budget="team/keep")
    ended, budget = (
        of(drains(settings(), [train, serve], NOW), "h100gpu"),
        of(drains(settings(), [kept], NOW), "h100gpu"),
    )
    assert [each[0] for each in (*ended, *budget)] == [Severity.WARNING, Severity.WARNING]
    assert ended[0][1] == "a drain ends workflow train-1: 6 GPU-hours since start or last checkpoint."
    assert "--to nodeImage=newest" in ended[0][2]
    assert budget[0][1].startswith(
        "budget team/keep lets no Pod go at present: Deployment team/serve. AKS waits 60 min"
    )
    (idle,) = of(drains(settings(), [serve], NOW), "h100gpu")
    assert idle[0] is Severity.OK


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({"day": "Saturday", "startHour": 2}, "2026-12-05T02:00:00+00:00"),
        ({"day": "Wednesday", "startHour": 10}, "2026-12-02T10:00:00+00:00"),
        ({"day": "Wednesday", "startHour": 8}, "2026-12-09T08:00:00+00:00"),
        ({"day": "Tuesday", "startHour": 22, "durationHours": 24}, "2026-12-01T22:00:00+00:00"),
        ({"day": "Wednesday", "startHour": 22, "utcOffset": "+09:30"}, "2026-12-02T22:00:00+09:30"),
        ({"day": "Monday", "week": "First", "startHour": 1}, "2026-12-07T01:00:00+00:00"),
        ({"day": "Tuesday", "week": "First", "startHour": 1}, "2027-01-05T01:00:00+00:00"),
        ({"day": "Thursday", "week": "Last", "startHour": 1}, "2026-12-31T01:00:00+00:00"),
    ],
)
def test_the_next_window_is_found_also_one_that_is_open(window: dict[str, object], expected: str) -> None:
    assert next_start(Window.model_validate(window), NOW).isoformat() == expected


def test_windows_are_about_what_aks_begins_by_itself() -> None:
    found = list(windows(settings(), NOW))
    assert any("begins with the deployment" in each.problem for each in found)
    assert {each.where for each in found} == {"Kubernetes", "node images"}
