"""Which charts a stack installs."""

from __future__ import annotations

from physical_ai.catalog.charts import Chart, chart
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.plans.osmo import osmo_releases


def stack_charts(settings: Settings) -> tuple[Chart, ...]:
    """The pins of a stack's charts, in the order they are installed. Raises `UnknownName`."""
    operator = chart("gpu-operator", settings.gpu_operator.version)
    return (operator, *(release.chart for release in osmo_releases(settings)))
