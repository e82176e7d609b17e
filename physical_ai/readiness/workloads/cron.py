"""Schedules of CronJobs, and the last time at which a schedule was due. Pure functions.

The supported forms are the forms of robfig/cron v3 `ParseStandard`, with which the API server and the CronJob
controller parse schedules.
"""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass

_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
"""Least and greatest value of each field: minute, hour, day of the month, month, day of the week."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NAMES: Mapping[int, Mapping[str, int]] = {
    3: {each: number for number, each in enumerate(_MONTHS, 1)},
    4: {each: number for number, each in enumerate(_DAYS)},
}
_NAMED = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MOST_DAYS = 5 * 366
"""Number of days that are searched for the last time: as many as robfig/cron searches ahead, so that a 29th of
February is found.
"""


class NotASchedule(ValueError):
    """Raised where a text is not a schedule of a supported form; the message says which part is wrong."""


@dataclass(frozen=True)
class Schedule:
    """A schedule, as the set of values of each field."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool
    """True where the schedule restricts both the day of the month and the day of the week; a day that matches one of
    them is then enough.
    """

    def _has(self, day: datetime.date) -> bool:
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return day.month in self.months and (of_month or of_week if self.either_day else of_month and of_week)

    def last(self, now: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime | None:
        """Last time at which the schedule was due, in UTC; None if the schedule was not due in the last five years.

        >>> parsed("30 2 * * *").last(datetime.datetime(2026, 11, 22, 1, tzinfo=datetime.UTC), datetime.UTC).day
        21
        """
        local = now.astimezone(zone)
        for back in range(MOST_DAYS):
            day = local.date() - datetime.timedelta(days=back)
            if not self._has(day):
                continue
            for hour in sorted(self.hours, reverse=True):
                for minute in sorted(self.minutes, reverse=True):
                    due = datetime.datetime.combine(day, datetime.time(hour, minute), zone).astimezone(datetime.UTC)
                    # An hour that the start of daylight saving time skips does not occur.
                    wall = due.astimezone(zone)
                    if due <= now and (wall.hour, wall.minute) == (hour, minute):
                        return due
        return None


def parsed(text: str) -> Schedule:
    """Schedule from a text of five fields, or from a name such as `@daily`.

    Raises:
        NotASchedule: the text has another form, such as `@every`.
    """
    fields = _NAMED.get(text.strip().lower(), text).split()
    if len(fields) != len(_BOUNDS):
        raise NotASchedule(f"{text!r} has {len(fields)} fields instead of 5")
    minutes, hours, days, months, weekdays = (_field(each, number) for number, each in enumerate(fields))
    return Schedule(minutes, hours, days, months, weekdays, not _is_any(fields[2]) and not _is_any(fields[4]))


def zone_of(name: str) -> datetime.tzinfo | None:
    """Time zone with this name; UTC for an empty name, None for a name that this machine does not know."""
    try:
        return zoneinfo.ZoneInfo(name) if name else datetime.UTC
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _is_any(field: str) -> bool:
    return any(each in ("*", "?", "*/1", "?/1") for each in field.split(","))


def _field(text: str, number: int) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        low, high = _BOUNDS[number]
        if span not in ("*", "?"):
            first, dash, last = span.partition("-")
            begin = _number(first, number, part)
            end = _number(last, number, part) if dash else (high if slash else begin)
            if not low <= begin <= end <= high:
                raise NotASchedule(f"{part!r} is not within {low}-{high}")
            low, high = begin, end
        if slash and not (step.isascii() and step.isdigit() and int(step)):
            raise NotASchedule(f"{part!r} has no step")
        found.update(range(low, high + 1, int(step) if slash else 1))
    return frozenset(found)


def _number(text: str, number: int, part: str) -> int:
    named = _NAMES.get(number, {}).get(text.lower())
    if named is not None:
        return named
    if not (text.isascii() and text.isdigit() and len(text) < 4):
        raise NotASchedule(f"{part!r} is no number")
    return int(text)
