"""Bars of the minutes from a fault to its alert, from the measured table of docs/simulator.md."""

from __future__ import annotations

import re

from docs.generator.pictures.gantt import Bar, gantt
from physical_ai.repository import DOCS

FILE = DOCS / "simulator.md"
_ROW = re.compile(r"^\| (\w+) \| (\d+) \| (`.*) \|$", re.MULTILINE)
_MINUTES = re.compile(r"` ([\d.]+)")


def alert_times() -> str:
    """A bar for each alert, up to the slowest of its measured faults; those that take longer than their hold stand out.

    An alert fires at most two minutes after its hold, one for a scrape and one for an evaluation, unless its expression
    has a range.
    """
    rows = [(name, int(hold), max(map(float, _MINUTES.findall(faults)))) for name, hold, faults in _rows()]
    bars = [Bar(name, 0, minutes, strong=minutes > hold + 3) for name, hold, minutes in rows]
    described = ", ".join(f"{name} {minutes:g}" for name, _, minutes in rows)
    return gantt("Minutes from a fault to its alert", f"Slowest measured fault of each alert: {described}.", bars)


def _rows() -> list[tuple[str, str, str]]:
    """Alert, hold and faults of each row of the table."""
    return _ROW.findall(FILE.read_text(encoding="utf-8"))
