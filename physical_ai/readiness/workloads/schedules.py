"""Explanations of CronJobs: why a CronJob starts no Job, or why its Jobs fail. Pure functions."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.objects import Json, at, name, namespace
from physical_ai.readiness.workloads.clock import longer, moment
from physical_ai.readiness.workloads.cron import NotASchedule, parsed, zone_of
from physical_ai.readiness.workloads.health import job_shortfall
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import Explanation

LATE = 300.0
"""Seconds after which a due Job should have been started."""
WARNINGS: Mapping[str, str] = {
    "UnknownTimeZone": "cronjob-time-zone",
    "UnParseableCronJobSchedule": "cronjob-schedule",
    "UnparseableSchedule": "cronjob-schedule",
    "InvalidSchedule": "cronjob-schedule",
    "FailedCreate": "cronjob-refused",
    "FailedGet": "cronjob-refused",
    "TooManyMissedTimes": "cronjob-missed",
    "MissSchedule": "cronjob-missed",
}
"""Causes by the reason of an event with which the CronJob controller reports that it starts no Job (kubernetes v1.36.3,
pkg/controller/cronjob).
"""
OfJob = Callable[[Mapping[str, Any]], Iterable[Explanation]]


def schedule_causes(item: Mapping[str, Any], index: Index, of_job: OfJob) -> Iterator[Explanation]:
    """Explanations of why a CronJob does not do its work: it is suspended, it starts no Job, or its last Job has a
    problem.
    """
    if at(item, "spec.suspend"):
        yield _explained(item, "cronjob-suspended", "spec.suspend: true", index)
        return
    yield from own_causes(item, index)
    jobs = _jobs(item, index)
    if jobs and job_shortfall(jobs[-1]):
        yield from of_job(jobs[-1])


def all_schedule_causes(index: Index) -> Iterator[Explanation]:
    """Explanations of CronJobs that do not do their work, without explanations that come from their existing Jobs.

    Suspended CronJobs are left out: `all_parts` reports suspended CronJobs of the platform, and other CronJobs are
    suspended on purpose.
    """
    for item in index.given.owners.get("CronJob", ()):
        if not at(item, "spec.suspend"):
            yield from own_causes(item, index)


def own_causes(item: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanations of why a CronJob does not do its work, without explanations that come from its existing Jobs.

    They cover a schedule that is not due within five years, a schedule that the controller calls invalid, a Job that
    was due and not started, and a last Job that failed and was deleted.
    """
    now = moment(index.given.now)
    zone = zone_of(str(at(item, "spec.timeZone", "") or ""))
    try:
        schedule = parsed(str(at(item, "spec.schedule", "")))
    except NotASchedule:
        # Other forms, such as @every, are only known to the controller: its events say whether it can read them.
        yield from _warned(item, index)
        return
    if now is None or zone is None:
        yield from _warned(item, index)
        return
    due = schedule.last(now, zone)
    if due is None:
        shown = f"schedule: {at(item, 'spec.schedule')}"
        yield _explained(item, "cronjob-never", shown, index)
    elif _is_late(item, due, index):
        yield _late(item, due, index)
    elif _has_failed(item, index):
        shown = f"lastSuccessfulTime: {at(item, 'status.lastSuccessfulTime', 'none')}"
        yield _explained(
            item, "cronjob-failed", shown, index, "status of the CronJob", last=str(at(item, "status.lastScheduleTime"))
        )


def _warned(item: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    event = _warning(item, index)
    if event is not None and WARNINGS[str(event["reason"])] != "cronjob-missed":
        yield _of_event(item, event, "(not known)", index)


def _is_late(item: Mapping[str, Any], due: datetime.datetime, index: Index) -> bool:
    began = max(filter(None, map(moment, _times(item))), default=None)
    return (began is None or began < due) and longer(due.isoformat(), index.given.now, LATE)


def _times(item: Mapping[str, Any]) -> Sequence[str]:
    """Two times of a CronJob: its creation, before which no Job is due, and its last run. A missing time is an empty
    text.
    """
    return [str(at(item, key, "") or "") for key in ("metadata.creationTimestamp", "status.lastScheduleTime")]


def _late(item: Mapping[str, Any], due: datetime.datetime, index: Index) -> Explanation:
    when = due.strftime("%Y-%m-%dT%H:%M:%SZ")
    active = [str(each.get("name", "")) for each in at(item, "status.active", [])]
    if active and at(item, "spec.concurrencyPolicy") == "Forbid":
        shown = f"status.active: {', '.join(active)}; concurrencyPolicy: Forbid"
        return _explained(item, "cronjob-blocked", shown, index, "status of the CronJob", active=active[0], due=when)
    event = _warning(item, index)
    if event is not None:
        return _of_event(item, event, when, index)
    shown = f"lastScheduleTime: {at(item, 'status.lastScheduleTime', 'none')}, due: {when}"
    return _explained(item, "cronjob-late", shown, index, "status of the CronJob", due=when)


def _of_event(item: Mapping[str, Any], event: Mapping[str, Any], due: str, index: Index) -> Explanation:
    reason, said = str(event.get("reason", "")), str(event.get("message", ""))
    return _explained(item, WARNINGS[reason], said, index, f"event {reason}", due=due)


def _warning(item: Mapping[str, Any], index: Index) -> Json | None:
    found = index.events("CronJob", item, *WARNINGS)
    return found[-1] if found else None


def _has_failed(item: Mapping[str, Any], index: Index) -> bool:
    """True where the last run did not succeed, and no Job is left that shows why."""
    last, done = (moment(at(item, f"status.{key}")) for key in ("lastScheduleTime", "lastSuccessfulTime"))
    if last is None or at(item, "status.active") or _jobs(item, index) or "Job" not in index.given.owners:
        return False
    return (done is None or done < last) and longer(last.isoformat(), index.given.now, LATE)


def _jobs(item: Mapping[str, Any], index: Index) -> list[Json]:
    """Jobs of a CronJob, oldest first."""
    own = ("CronJob", str(at(item, "metadata.uid", "")))
    found = [each for each in index.given.owners.get("Job", ()) if own[1] and index.controller(each) == own]
    return sorted(found, key=lambda each: str(at(each, "metadata.creationTimestamp", "") or ""))


def _explained(
    item: Mapping[str, Any], cause: str, shown: str, index: Index, where: str = "spec of the CronJob", **facts: str
) -> Explanation:
    own = {"cronjob": name(item), "namespace": namespace(item), "schedule": str(at(item, "spec.schedule", "")), **facts}
    return index.explanation(f"cronjob {namespace(item)}/{name(item)}", cause, "gang", shown, where, **own)
