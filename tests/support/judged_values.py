"""Judges a chart's values as the settings loader does, without a stack's other files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.compat import check_chart, check_values, known_keys
from physical_ai.catalog.compat.keys import Refused
from physical_ai.catalog.compat.tables import key_table
from physical_ai.findings import Finding
from physical_ai.planning.chart_values import completed
from physical_ai.planning.owned_values import NVIDIA_DRIVER, OWNED_VALUES
from physical_ai.settings import Fault
from physical_ai.settings.layers.document import Document
from tests.support.covering_stacks import derived

CHARTS = sorted(OWNED_VALUES.keys() - {NVIDIA_DRIVER})


def version(chart: str) -> str:
    """Newest pinned version of a chart whose keys are known."""
    return [each for name, each in pinned_charts() if name == chart and not each.startswith("v0.20")][-1]


def known(chart: str) -> Mapping[str, str]:
    return known_keys(version(chart)) if chart == "gpu-operator" else key_table(chart, version(chart)).known


def judged(chart: str, data: dict[str, Any]) -> list[Fault]:
    """Faults of a chart's value file, in a stack that installs the chart."""

    ours = derived()[chart][0][1]

    def check(values: Mapping[str, Any], refused: Refused) -> list[Finding]:
        if chart == "gpu-operator":
            return check_values(version(chart), values, refused, ours)
        return check_chart(chart, version(chart), values, refused)

    return completed(Document("values.yaml", data), OWNED_VALUES[chart], ours, check, chart=chart, module="plan.py")[1]


def nested(path: str, value: Any) -> dict[str, Any]:
    for step in reversed(path.split(".")):
        value = {step: value}
    return value


def errors(chart: str, path: str, value: Any) -> list[Fault]:
    return [fault for fault in judged(chart, nested(path, value)) if fault.is_error]
