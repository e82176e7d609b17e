"""Model of a Grafana dashboard, limited to the features that this project's dashboards use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

ALL = ".+"
"""Value of a dashboard variable that selects everything."""
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)(?::\w+)?\}")


@dataclass(frozen=True)
class Query:
    """A query of a panel: its expression, and a legend that names labels as `{{node}}`."""

    expression: str
    legend: str = ""


@dataclass(frozen=True)
class Threshold:
    """Value from which on a color applies. If the value is None, the color applies from the smallest value on."""

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
    """Unit as Grafana names it: `percentunit`, `mbytes` (MiB), `currencyUSD`."""
    kind: str
    """Type of panel as Grafana names it: `timeseries`, `stat`, `table`."""
    text: str
    width: int
    """Width of the panel in columns; a dashboard is 24 columns wide."""
    steps: tuple[Threshold, ...] = ()
    """Values from which on a color applies: as lines in a plot, or as the background of a number."""
    links: tuple[Link, ...] = ()
    """Links to the runbooks of alerts about the values that the panel shows."""
    colors: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Colors of lines with a special meaning, by legend."""
    runbook: str = ""
    """Link to the runbooks in a table of alerts, in which Grafana replaces `${__value.raw}` by the alert's name; empty
    for other panels.
    """
    stacked: bool = False


@dataclass(frozen=True)
class Row:
    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Variable:
    """Variable at the top of a dashboard, to choose from the values of a label."""

    name: str
    query: str
    """Query in Grafana's form: `label_values(kube_node_info, node)`."""
    first: str = ALL
    """Initial value of the variable; `ALL` selects all values."""


@dataclass(frozen=True)
class Dashboard:
    name: str
    """Name of the dashboard's file, which is also part of its uid."""
    uid: str
    title: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
    document: str
    """JSON text that Grafana imports."""

    def filled(self, query: Query, *, span: str = "1h") -> str:
        """Expression of a query with Grafana's variables replaced by their initial values, so that Prometheus can
        evaluate it.
        """
        return filled(query.expression, {each.name: each.first for each in self.variables}, span=span)

    def panels(self) -> Iterator[Panel]:
        """All panels in order."""
        for row in self.rows:
            yield from row.panels


def filled(expression: str, values: Mapping[str, str] | None = None, *, span: str = "1h") -> str:
    """Expression with Grafana's variables replaced, so that Prometheus can evaluate it. A variable that is not in
    `values` becomes an expression that matches any text.

    Args:
        span: Time range of the dashboard.

    >>> filled('label_replace(up{node=~"aks-($pool)-.+"}, "pool", "$1", "node", "(.+)")')
    'label_replace(up{node=~"aks-(.+)-.+"}, "pool", "$1", "node", "(.+)")'
    """
    given = {"__range": span, "__rate_interval": "5m", **(values or {})}
    return _VARIABLE.sub(lambda found: given.get(found[1] or found[2], ALL), expression)
