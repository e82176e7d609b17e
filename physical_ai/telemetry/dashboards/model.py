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
class Threshold:
    """Color from this value on; without a value from the smallest on."""

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
    """Unit by Grafana's name: `percentunit`, `mbytes` (MiB), `currencyUSD`."""
    kind: str
    """Grafana's type of panel: `timeseries`, `stat`, `table`."""
    text: str
    width: int
    """Width of at most 24 columns."""
    steps: tuple[Threshold, ...] = ()
    """Values from which on a color counts: lines of a plot, the ground of a number."""
    links: tuple[Link, ...] = ()
    """Runbooks of the alerts about the same values."""
    colors: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Colors of lines with a meaning of their own, by legend."""
    runbook: str = ""
    """Address of the runbook in a table of alerts, with `${__value.raw}` for the name of the alert."""
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
    """Query in Grafana's form: `label_values(kube_node_info, node)`."""
    first: str = ALL
    """Initial value of the variable, or the expression for all values."""


@dataclass(frozen=True)
class Dashboard:
    name: str
    """Name of its file, also part of its uid."""
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
