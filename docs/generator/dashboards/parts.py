"""Parts that the dashboards have in common: the data source, variables, and panels of three kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from grafana_foundation_sdk.builders import common, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders import dashboard as dashboards
from grafana_foundation_sdk.models import common as options
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from physical_ai.telemetry.dashboards.of_stack import CLUSTER, runbook
from physical_ai.telemetry.promql import metrics, selecting
from physical_ai.telemetry.rule_rows import alert_rows

Unit = Literal[
    "short",
    "percentunit",
    "celsius",
    "watt",
    "mbytes",
    "bytes",
    "Bps",
    "h",
    "s",
    "currencyUSD",
    "rotmhz",
    "cps",
    "hertz",
]
"""Units as Grafana names them; `mbytes` is MiB."""
SOURCE = model.DataSourceRef(type_val="prometheus", uid="${datasource}")
"""Data source of all panels: a variable of the dashboard, since the id of the data source differs between
instances.
"""
HEIGHT = 8
COLUMNS = 24
OURS = "physical-ai"
EVERYWHERE = frozenset({"physical_ai:nodes_wanted", "physical_ai:gpu_hour_usd"})
"""Series about pools that the recording rules do not record by cluster."""
ALERT_COLOR = "red"


@dataclass(frozen=True)
class Query:
    """A query of a panel: its expression, and a legend that names labels as `{{node}}`."""

    expression: str
    legend: str


def dashboard(uid: str, title: str) -> dashboards.Dashboard:
    """An empty dashboard with a variable for the data source, and links to the other dashboards."""
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
        .with_variable(_clusters())
    )


def _clusters() -> dashboards.QueryVariable:
    """Variable for the choice of clusters. "All" is `.*`, which also selects series without the label `cluster`, as a
    Prometheus of a single cluster has them.
    """
    query = "label_values(kube_node_info, cluster)"
    made = dashboards.QueryVariable(CLUSTER).label("Cluster").datasource(SOURCE).query(query)
    made = made.multi(True).include_all(True).all_value(".*")
    made = made.current(model.VariableOption(text="All", value="$__all"))
    return made.refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED).sort(model.VariableSort.ALPHABETICAL_ASC)


def choice(name: str, label: str, series: str, *, first: str = "") -> dashboards.QueryVariable:
    """Variable for a choice from the values of a label. Its series must exist on every node, vGPU nodes included.

    Args:
        first: The value that is chosen at first; everything without it.
    """
    return (
        dashboards.QueryVariable(name)
        .datasource(SOURCE)
        .query(f"label_values({_of_clusters(series)}, {label})")
        .multi(True)
        .include_all(True)
        .all_value(".+")
        .current(model.VariableOption(text=first or "All", value=first or "$__all"))
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.ALPHABETICAL_ASC)
    )


def or_zero(expression: str, alive: str, label: str) -> str:
    """Query for the expression; a single 0 while the expression has no result and its reporter is alive.

    Args:
        alive: Series that exist while the reporter is alive.
        label: Label by which the result is grouped; the 0 has the value "none".
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
    alert: str = "",
    stacked: bool = False,
    colors: Mapping[str, str] = MappingProxyType({}),
) -> timeseries.Panel:
    """Panel with lines over time, whose axis starts at 0.

    Args:
        text: Description of the panel, where the title does not suffice.
        width: Width in Grafana's grid of 24 columns.
        target: Value of a line that the others should reach.
        alert: An alert about the same values: its threshold is a line, and its runbook a link.
        colors: Colors of lines with a meaning of their own, by legend.
    """
    steps = [model.Threshold(value=None, color="blue")]
    panel = timeseries.Panel().title(title).description(text).datasource(SOURCE).unit(unit).min(0)
    panel = panel.span(width).height(HEIGHT).line_width(1).fill_opacity(10 if stacked else 0)
    panel = panel.legend(common.VizLegendOptions().show_legend(True).placement(options.LegendPlacement.BOTTOM))
    if stacked:
        panel = panel.stacking(common.StackingConfig().mode(options.StackingMode.NORMAL).group("A"))
    if alert:
        threshold = alert_rows()[alert].threshold
        if threshold is not None:
            steps.append(model.Threshold(value=threshold.default, color=ALERT_COLOR))
        panel = panel.links([_link(alert)])
    if target is not None:
        steps.append(model.Threshold(value=target, color="green"))
    if len(steps) > 1:
        style = common.GraphThresholdsStyleConfig().mode(options.GraphThresholdsStyleMode.LINE)
        panel = panel.thresholds_style(style)
    panel = panel.thresholds(dashboards.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(steps))
    for name, color in colors.items():
        fixed = model.DynamicConfigValue(id_val="color", value={"mode": "fixed", "fixedColor": color})
        panel = panel.override_by_name(name, [fixed])
    for number, query in enumerate(queries):
        panel = panel.with_target(_query(number, query).range())
    return panel


def figures(title: str, *queries: Query, unit: Unit = "short", text: str = "", width: int = 8) -> table.Panel:
    """Panel with a table of present values: one line for each combination of labels, one column for each query.

    The last word of a legend is its column's name: Grafana would call it `Value #A`.
    """
    panel = table.Panel().title(title).description(text).datasource(SOURCE).unit(unit).span(width).height(HEIGHT)
    panel = panel.with_transformation(model.DataTransformerConfig(id_val="merge", options={}))
    without_time = {"excludeByName": {"Time": True}}
    panel = panel.with_transformation(model.DataTransformerConfig(id_val="organize", options=without_time))
    for number, query in enumerate(queries):
        panel = panel.with_target(_query(number, query).instant().format(PromQueryFormat.TABLE))
        last = query.legend.rsplit(None, 1)[-1]
        if "{{" not in last:
            named = model.DynamicConfigValue(id_val="displayName", value=last)
            given = "Value" if len(queries) == 1 else f"Value #{chr(ord('A') + number)}"
            panel = panel.override_by_name(given, [named])
    return panel


def firing(title: str, query: Query, *, text: str, width: int) -> table.Panel:
    """Panel with a table of firing alerts: the name of each links to its runbook."""
    link = dashboards.DashboardLink("Runbook").url(runbook("${__value.raw}")).target_blank(True).build()
    panel = figures(title, query, text=text, width=width)
    opens = model.DynamicConfigValue(id_val="links", value=[{"title": link.title, "url": link.url}])
    panel = panel.override_by_name("alertname", [opens])
    return panel.override_by_name("Value", [model.DynamicConfigValue(id_val="custom.hidden", value=True)])


def number(
    title: str, query: Query, *, unit: Unit = "short", text: str = "", bad: str = "", width: int = 4
) -> stat.Panel:
    """Panel with one large number.

    Args:
        bad: The color of values from 1 on; without it, the number has one color.
    """
    steps = [model.Threshold(value=None, color="green" if bad else "blue")]
    if bad:
        steps.append(model.Threshold(value=1, color=bad))
    panel = stat.Panel().title(title).description(text).datasource(SOURCE).unit(unit).span(width).height(4)
    panel = panel.color_mode(options.BigValueColorMode.BACKGROUND_SOLID if bad else options.BigValueColorMode.VALUE)
    panel = panel.graph_mode(options.BigValueGraphMode.NONE)
    panel = panel.thresholds(dashboards.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(steps))
    return panel.with_target(_query(0, query).instant())


def _link(alert: str) -> dashboards.DashboardLink:
    made = dashboards.DashboardLink(alert).type(model.DashboardLinkType.LINK).url(runbook(alert))
    return made.target_blank(True)


def _of_clusters(expression: str) -> str:
    """The expression, restricted to the chosen clusters."""
    return selecting(expression, metrics(expression) - EVERYWHERE, f'cluster=~"${CLUSTER}"')


def _query(number: int, query: Query) -> prometheus.Dataquery:
    made = prometheus.Dataquery().ref_id(chr(ord("A") + number)).datasource(SOURCE)
    return made.expr(_of_clusters(query.expression)).legend_format(query.legend)
