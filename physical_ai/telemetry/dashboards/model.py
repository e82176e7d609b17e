"""A dashboard as Grafana's JSON describes it, as far as this project draws it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

ALL = ".+"
"""The value of a variable of which everything is chosen."""
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)(?::\w+)?\}")


@dataclass(frozen=True)
class Query:
    """One expression; the legend names labels as `{{node}}`."""

    expression: str
    legend: str = ""


@dataclass(frozen=True)
class Step:
    """From this value on, the color counts; without a value from the smallest on."""

    value: float | None
    color: str


@dataclass(frozen=True)
class Link:
    title: str
    url: str


@dataclass(frozen=True)
class Panel:
    title: str
    queries: tuple[Query, ...]
    unit: str
    """As Grafana names it: `percentunit`, `mbytes` (MiB), `currencyUSD`."""
    kind: str
    """Grafana's type of panel: `timeseries`, `stat`, `table`."""
    text: str
    width: int
    """Of 24 columns."""
    steps: tuple[Step, ...] = ()
    """Values from which on a color counts: lines of a plot, the ground of a number."""
    links: tuple[Link, ...] = ()
    """Runbooks of the alerts about the same values."""
    colors: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Of lines with a meaning of their own, by legend."""
    runbook: str = ""
    """Of a table of alerts: the address of the runbook, with `${__value.raw}` for the name of the alert."""
    stacked: bool = False


@dataclass(frozen=True)
class Row:
    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Variable:
    """A choice at the top, from the values of a label."""

    name: str
    query: str
    """As Grafana writes it: `label_values(kube_node_info, node)`."""
    first: str = ALL
    """Its value, or the expression for all values, as long as nothing else is chosen."""


@dataclass(frozen=True)
class Dashboard:
    name: str
    """Of its file, and in its uid."""
    uid: str
    title: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
    document: str
    """The JSON that Grafana imports."""

    def filled(self, query: Query, *, span: str = "1h") -> str:
        """The expression of a query for Prometheus itself, as the dashboard shows it at first."""
        return filled(query.expression, {each.name: each.first for each in self.variables}, span=span)

    def panels(self) -> Iterator[Panel]:
        """All panels in order."""
        for row in self.rows:
            yield from row.panels


def filled(expression: str, values: Mapping[str, str] | None = None, *, span: str = "1h") -> str:
    """An expression for Prometheus itself: variables replaced, by any text where `values` has none.

    Args:
        span: Time that the dashboard shows.

    >>> filled('label_replace(up{node=~"aks-($pool)-.+"}, "pool", "$1", "node", "(.+)")')
    'label_replace(up{node=~"aks-(.+)-.+"}, "pool", "$1", "node", "(.+)")'
    """
    given = {"__range": span, "__rate_interval": "5m", **(values or {})}
    return _VARIABLE.sub(lambda found: given.get(found[1] or found[2], ALL), expression)
