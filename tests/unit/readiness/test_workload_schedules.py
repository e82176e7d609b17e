"""CronJobs: one that is suspended, blocked, refused, late, or whose runs fail, has its cause."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from physical_ai.readiness.workloads import doctor, explain
from physical_ai.readiness.workloads.cron import NotASchedule, parsed, zone_of
from tests.support import workload_objects as make
from tests.support.cases import in_one_test
from tests.support.workload_objects import Scene
from tests.unit.readiness.test_workload_owners import ended, job

OWN = {"kind": "CronJob", "name": "nightly", "uid": "uid-c", "controller": True}
DAILY, LAST = "0 2 * * *", "2026-11-22T02:00:00Z"
"""The scenes are at 12:00 on the 22nd."""


def cron(last: str = LAST, done: str = LAST, *, active: Any = (), **spec: Any) -> dict[str, Any]:
    times = {"lastScheduleTime": last, "lastSuccessfulTime": done, "active": [{"name": each} for each in active]}
    return {
        "metadata": {
            "name": "nightly",
            "namespace": make.WHERE,
            "uid": "uid-c",
            "creationTimestamp": "2026-11-01T00:00:00Z",
        },
        "spec": {"schedule": DAILY, "concurrencyPolicy": "Allow", **spec},
        "status": {key: value for key, value in times.items() if value},
    }


def scene(item: dict[str, Any], *jobs: dict[str, Any], events: Any = ()) -> Scene:
    return Scene(more={"owners": {"CronJob": [item], "Job": jobs}, "events": list(events)})


def says(reason: str, message: str) -> dict[str, Any]:
    return make.event(cron(), reason, message, "CronJob")


def run(name: str, created: str, **more: Any) -> dict[str, Any]:
    found = job(name, **more)
    return {**found, "metadata": {**found["metadata"], "creationTimestamp": created, "ownerReferences": [OWN]}}


BEFORE = "2026-11-20T02:00:00Z"
CASES: dict[str, Scene] = {
    "cronjob-suspended": scene(cron(BEFORE, suspend=True)),
    "cronjob-blocked": scene(
        cron(BEFORE, active=["nightly-1"], concurrencyPolicy="Forbid"),
        run("nightly-1", BEFORE, status={"active": 1, "ready": 1}),
    ),
    "cronjob-time-zone": scene(
        cron(BEFORE, timeZone="Mars/Base"),
        events=[says("UnknownTimeZone", 'invalid timeZone: "Mars/Base": unknown time zone Mars/Base')],
    ),
    "cronjob-schedule": scene(
        cron("", "", schedule="TZ=UTC 0 2 * * *"), events=[says("UnparseableSchedule", 'unparseable schedule: "x" : y')]
    ),
    "cronjob-never": scene(cron("", "", schedule="59 23 31 2 *")),
    "cronjob-refused": scene(
        cron(BEFORE), events=[says("FailedCreate", "Error creating job: jobs.batch is forbidden: exceeded quota: jobs")]
    ),
    "cronjob-missed": scene(
        cron(BEFORE, startingDeadlineSeconds=5),
        events=[says("MissSchedule", "Missed scheduled time to start a job: Sun, 22 Nov 2026 02:00:00 +0000")],
    ),
    "cronjob-late": scene(cron(BEFORE)),
    "cronjob-failed": scene(cron(LAST, BEFORE)),
}


@in_one_test("cause", CASES)
def test_a_cron_job_has_its_cause(cause: str) -> None:
    given = CASES[cause].workloads()
    title, [found] = explain(f"{make.WHERE}/nightly", given)
    assert title == f"cronjob {make.WHERE}/nightly"
    assert found.cause == cause
    assert found.needs_action
    assert "kubectl -n" in found.fix
    assert "?" not in found.reason + found.fix
    # Somebody has suspended it.
    assert [each.first.cause for each in doctor(given)] == ([] if cause == "cronjob-suspended" else [cause])


@pytest.mark.parametrize(
    "item",
    [
        cron(),
        cron(schedule="0 12 * * *", last="2026-11-21T12:00:00Z", done="2026-11-21T12:00:00Z"),
        cron(schedule="*/30 * * * *", last="2026-11-22T12:00:00Z", done="2026-11-22T12:00:00Z"),
        cron("", "", schedule="0 2 29 2 *"),
        cron("2026-11-22T01:00:00Z", "2026-11-22T01:00:00Z", timeZone="Europe/Berlin"),
        cron(LAST, "2026-11-22T02:30:00Z"),
        cron(LAST, BEFORE, active=["nightly-1"]),
        cron("", "", schedule="@every 1h"),
    ],
)
def test_a_cron_job_in_order_has_none(item: dict[str, Any]) -> None:
    given = scene(item).workloads()
    assert explain("nightly", given)[1] == []
    assert doctor(given) == []


def test_a_new_cron_job_is_not_late() -> None:
    item = cron("", "")
    item["metadata"]["creationTimestamp"] = "2026-11-22T09:00:00Z"
    assert doctor(scene(item).workloads()) == []


def test_a_cron_job_has_the_cause_of_its_last_job() -> None:
    failed = ended("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    good = run("nightly-1", BEFORE, conditions=ended("Complete"), status={"succeeded": 1})
    bad = run("nightly-2", LAST, conditions=failed)
    _, [found] = explain("nightly", scene(cron(LAST, BEFORE), good, bad).workloads())
    assert (found.cause, found.subject) == ("job-backoff", f"job {make.WHERE}/nightly-2")
    well = scene(cron(), run("nightly-0", BEFORE, conditions=failed), good).workloads()
    assert explain("nightly", well)[1] == []


def test_an_event_of_a_cron_job_that_had_its_name_before_is_not_its_own() -> None:
    event = says("FailedCreate", "Error creating job: exceeded quota")
    event["involvedObject"]["uid"] = "another"
    _, [found] = explain("nightly", scene(cron(BEFORE), events=[event]).workloads())
    assert found.cause == "cronjob-late"


NOON = datetime.datetime(2026, 11, 22, 12, 0, 30, tzinfo=datetime.UTC)  # a Sunday
LASTS = {
    "* * * * *": "2026-11-22T12:00:00",
    "*/7 3-5 * * *": "2026-11-22T05:56:00",
    "30 6-16/4 * * 1-5": "2026-11-20T14:30:00",
    "0 0 1 * MON": "2026-11-16T00:00:00",
    "0 0 13 * *": "2026-11-13T00:00:00",
    "15,45 12 * jan-oct ?": "2026-10-31T12:45:00",
    "0 9 1 1 *": "2026-01-01T09:00:00",
    "0 3 29 2 *": "2024-02-29T03:00:00",
    "@weekly": "2026-11-22T00:00:00",
    "@Hourly": "2026-11-22T12:00:00",
}


@in_one_test("schedule", LASTS)
def test_the_last_time_of_a_schedule(schedule: str) -> None:
    found = parsed(schedule).last(NOON, datetime.UTC)
    assert found is not None
    assert found.isoformat() == f"{LASTS[schedule]}+00:00"


def test_a_time_zone_counts_and_an_hour_that_it_leaves_out_does_not_come() -> None:
    berlin = zone_of("Europe/Berlin")
    assert berlin is not None
    found = parsed("30 2 * * *").last(datetime.datetime(2026, 3, 29, 12, tzinfo=datetime.UTC), berlin)
    assert found is not None
    assert found.isoformat() == "2026-03-28T01:30:00+00:00"
    assert zone_of("Mars/Base") is None
    assert zone_of("../etc/passwd") is None


@pytest.mark.parametrize("text", ["", "@every 5m", "60 * * * *", "* * * *", "1-0 * * * *", "*/0 * * * *", "a * * * *"])
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(NotASchedule):
        parsed(text)
