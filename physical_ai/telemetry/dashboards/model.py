"""Dashboards as data. Expressions name variables as Grafana does: `$pool`, `$__range`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import Template
from typing import Literal

Kind = Literal["timeseries", "stat", "table"]
Unit = Literal["short", "percentunit", "celsius", "watt", "mbytes", "Bps", "h"]
"""Units as Grafana names them; `mbytes` is MiB."""

ALL = ".+"
"""The value of a variable of which everything is chosen."""


@dataclass(frozen=True)
class Query:
    """One expression; the legend names labels as `{{node}}`."""

    expression: str
    legend: str = ""


@dataclass(frozen=True)
class Panel:
    title: str
    queries: tuple[Query, ...]
    unit: Unit = "short"
    kind: Kind = "timeseries"
    text: str = ""
    """What it shows, where the title does not say it."""
    width: int = 8
    """Of 24 columns."""
    target: float | None = None
    """A line to reach."""


@dataclass(frozen=True)
class Row:
    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Variable:
    """A choice at the top, from the values of a label. Its series must exist on every node, vGPU nodes included."""

    name: str
    label: str
    """The label whose values are offered."""
    series: str
    pattern: str = ""
    """A regular expression whose first group is the value, where it is part of the label's value only."""


@dataclass(frozen=True)
class Dashboard:
    name: str
    title: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]

    def panels(self) -> Iterator[Panel]:
        """All panels in order."""
        for row in self.rows:
            yield from row.panels


def filled(expression: str, values: Mapping[str, str] | None = None, *, span: str = "1h") -> str:
    """An expression for Prometheus itself: variables replaced, by everything where `values` has none.

    Args:
        span: Time that the dashboard shows.

    >>> filled('sum(up{node=~"aks-($pool)-.+"})')
    'sum(up{node=~"aks-(.+)-.+"})'
    """
    template = Template(expression)
    given = dict.fromkeys(template.get_identifiers(), ALL) | {"__range": span, "__rate_interval": "5m"}
    return template.substitute(given | dict(values or {}))
