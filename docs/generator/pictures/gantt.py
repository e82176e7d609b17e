"""Bars of time, in minutes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from docs.generator.pictures.mermaid import diagram

_SIZES = '"useWidth": 460, "leftPadding": 20, "rightPadding": 20, "fontSize": 13, "barHeight": 18'
"""Sizes in pixels, as wide as a phone: a wider picture would shrink to letters that nobody can read."""
_MILLISECONDS = 60_000


@dataclass(frozen=True)
class Bar:
    """One bar, from a minute to another. `strong`: true for a bar that stands out."""

    name: str
    start: float
    end: float
    strong: bool = False


def gantt(title: str, description: str, bars: Iterable[Bar]) -> str:
    """Text of a diagram with a bar in each row."""
    lines = ["dateFormat x", "axisFormat %M", "tickInterval 10minute", *map(_line, bars)]
    return diagram(f'%%{{init: {{"gantt": {{{_SIZES}}}}}}}%%\ngantt', title, description, lines)


def _line(bar: Bar) -> str:
    name = bar.name.replace(":", " ").replace(",", " ")
    return f"{name} :{'crit, ' * bar.strong}{bar.start * _MILLISECONDS:.0f}, {bar.end * _MILLISECONDS:.0f}"
