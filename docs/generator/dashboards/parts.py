"""What the dashboards have in common: the data source, variables, and panels of two kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from grafana_foundation_sdk.builders import common, prometheus, table, timeseries
from grafana_foundation_sdk.builders import dashboard as dashboards
from grafana_foundation_sdk.models import common as options
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

Unit = Literal[
    "short", "percentunit", "celsius", "watt", "mbytes", "bytes", "Bps", "h", "s", "currencyUSD", "rotmhz", "cps"
]
"""Units as Grafana names them; `mbytes` is MiB."""
SOURCE = model.DataSourceRef(type_val="prometheus", uid="${datasource}")
"""A variable of the dashboard: the id of the data source differs between instances."""
HEIGHT = 8
COLUMNS = 24
OURS = "physical-ai"


@dataclass(frozen=True)
class Query:
    """One expression; the legend names labels as `{{node}}`."""

    expression: str
    legend: str


def dashboard(uid: str, title: str) -> dashboards.Dashboard:
    """An empty dashboard with the choice of a data source, and links to the others."""
    links = dashboards.DashboardLink("Dashboards").type(model.DashboardLinkType.DASHBOARDS).tags([OURS])
    source = dashboards.DatasourceVariable("datasource").label("Data source").type("prometheus")
    return (
        dashboards.Dashboard(title)
        .uid(uid)
        .tags([OURS])
        .readonly()
        .time("now-6h", "now")
        .refresh("1m")
        .tooltip(model.DashboardCursorSync.CROSSHAIR)
        .link(links.as_dropdown(True).keep_time(True))
        .with_variable(source)
    )


def choice(name: str, label: str, series: str, pattern: str = "", *, first: str = "") -> dashboards.QueryVariable:
    """A choice from the values of a label. Its series must exist on every node, vGPU nodes included.

    Args:
        pattern: A regular expression whose first group is the value, where it is part of the label's value only.
        first: The value at first; everything without it.
    """
    return (
        dashboards.QueryVariable(name)
        .datasource(SOURCE)
        .query(f"label_values({series}, {label})")
        .regex(f"/^{pattern}$/" if pattern else "")
        .multi(True)
        .include_all(True)
        .all_value(".+")
        .current(model.VariableOption(text=first or "All", value=first or "$__all"))
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.ALPHABETICAL_ASC)
    )


def or_zero(expression: str, alive: str, label: str) -> str:
    """The expression; a single 0 while it has no result, as long as what reports it is alive.

    Args:
        alive: Series that exist while it is.
        label: Label that the result is by; "none" there.
    """
    zero = f'label_replace(sum({alive}) * 0, "{label}", "none", "", "")'
    return f"{expression} or ({zero} unless on () ({expression}))"


def row(title: str) -> dashboards.Row:
    return dashboards.Row(title)


def lines(
    title: str,
    *queries: Query,
    unit: Unit = "short",
    text: str = "",
    width: int = 8,
    target: float | None = None,
    stacked: bool = False,
) -> timeseries.Panel:
    """Lines over time, from 0 on.

    Args:
        text: What the panel shows, where the title does not say it.
        width: Of 24 columns.
        target: A line to reach.
    """
    steps = [model.Threshold(value=None, color="blue")]
    panel = timeseries.Panel().title(title).description(text).datasource(SOURCE).unit(unit).min(0)
    panel = panel.span(width).height(HEIGHT).line_width(1).fill_opacity(10 if stacked else 0)
    panel = panel.legend(common.VizLegendOptions().show_legend(True).placement(options.LegendPlacement.BOTTOM))
    if stacked:
        panel = panel.stacking(common.StackingConfig().mode(options.StackingMode.NORMAL).group("A"))
    if target is not None:
        steps.append(model.Threshold(value=target, color="green"))
        style = common.GraphThresholdsStyleConfig().mode(options.GraphThresholdsStyleMode.LINE)
        panel = panel.thresholds_style(style)
    panel = panel.thresholds(dashboards.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(steps))
    for number, query in enumerate(queries):
        panel = panel.with_target(_query(number, query).range())
    return panel


def figures(title: str, *queries: Query, unit: Unit = "short", text: str = "", width: int = 8) -> table.Panel:
    """A table of present values: a line for each series, with its labels."""
    panel = table.Panel().title(title).description(text).datasource(SOURCE).unit(unit).span(width).height(HEIGHT)
    panel = panel.with_transformation(model.DataTransformerConfig(id_val="merge", options={}))
    for number, query in enumerate(queries):
        panel = panel.with_target(_query(number, query).instant().format(PromQueryFormat.TABLE))
    return panel


def _query(number: int, query: Query) -> prometheus.Dataquery:
    made = prometheus.Dataquery().ref_id(chr(ord("A") + number)).datasource(SOURCE)
    return made.expr(query.expression).legend_format(query.legend)
