"""Mean time between the runs of a cron schedule."""

from __future__ import annotations

import datetime

_DAYS = 28
_FIRST = datetime.datetime(2026, 2, 1)
"""First day of four whole weeks, a Sunday."""


def hours_between(schedule: str) -> float:
    """Mean hours between two runs of a schedule of five fields in numbers, over four weeks.

    >>> hours_between("0 3 * * *"), hours_between("0 */6 * * *"), hours_between("30 2 * * 0")
    (24.0, 6.0, 168.0)
    """
    minute, hour, day, month, weekday = schedule.split()
    times = len(_values(minute, 0, 59)) * len(_values(hour, 0, 23))
    days, months, weekdays = _values(day, 1, 31), _values(month, 1, 12), _values(weekday, 0, 7)
    both = day != "*" and weekday != "*"  # cron's rule: with both fields, one of them is enough
    matching = 0
    for offset in range(_DAYS):
        date = _FIRST + datetime.timedelta(days=offset)
        by_day, by_weekday = date.day in days, (date.isoweekday() % 7 in weekdays or date.isoweekday() in weekdays)
        matching += (by_day or by_weekday) if both else (by_day and by_weekday)
    runs = times * matching * len(months) / 12
    return _DAYS * 24 / runs if runs else float("inf")


def _values(field: str, first: int, last: int) -> set[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        start = first if span == "*" else int(low)
        end = last if span == "*" or (step and not high) else int(high or low)
        found.update(range(start, min(end, last) + 1, max(int(step or 1), 1)))
    return found
