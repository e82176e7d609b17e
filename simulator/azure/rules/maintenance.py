"""Rules on planned maintenance."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import items, table
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse

MANAGED = ("aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")
SCHEDULES = ("daily", "weekly", "absoluteMonthly", "relativeMonthly")


@on_put("MaintenanceConfiguration", "maint-names", "maint-window-names")
def name(put: Put) -> Iterator[Refusal]:
    given, window = ids.name(put.id), "maintenanceWindow" in put.properties
    if given not in ("default", *MANAGED):
        message = f"'{given}' is not a maintenance configuration: use default, {' or '.join(MANAGED)}."
        yield refuse(put, "maint-names", message, "name")
    elif given == "default" and window:
        message = "maintenanceWindow cannot be set on 'default'; use timeInWeek."
        yield refuse(put, "maint-window-names", message, "properties.maintenanceWindow")
    elif given in MANAGED and ("timeInWeek" in put.properties or not window):
        message = f"'{given}' takes a maintenanceWindow and no timeInWeek."
        yield refuse(put, "maint-window-names", message, "properties.maintenanceWindow")


@on_put("MaintenanceConfiguration", "maint-one-schedule", "maint-hours", "maint-dates")
def window(put: Put) -> Iterator[Refusal]:
    if "maintenanceWindow" in put.properties:
        schedule: dict[str, Any] = table(put.properties, "maintenanceWindow.schedule")
        given = [name for name in SCHEDULES if schedule.get(name) is not None]
        if len(given) != 1:
            message = (
                f"A maintenance window has exactly one schedule of {', '.join(SCHEDULES)}; {len(given)} are given."
            )
            yield refuse(put, "maint-one-schedule", message, "properties.maintenanceWindow.schedule")
    for slot in items(put.properties, "timeInWeek"):
        if not items(slot, "hourSlots"):
            message = "A day of timeInWeek needs at least one hour slot."
            code = "NeedAtLeastOneHourPerWeekForUpdate"
            yield refuse(put, "maint-hours", message, "properties.timeInWeek", code)
    closed = items(put.properties, "notAllowedTime") + items(put.properties, "maintenanceWindow.notAllowedDates")
    for span in closed:
        start, end = str(span.get("start", "")), str(span.get("end", ""))
        if _day(start) and _day(end) and end < start:
            yield refuse(put, "maint-dates", f"End {end} is before start {start}.", "properties.notAllowedTime")


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None
