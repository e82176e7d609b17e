"""Findings about charts that a deployment would install without a checksum to verify them."""

from __future__ import annotations

from collections.abc import Iterable

from physical_ai.catalog.chart_archives import expected_sha256
from physical_ai.catalog.charts import Chart
from physical_ai.findings import Finding, Severity


def unverified(charts: Iterable[Chart]) -> list[Finding]:
    """A warning for each chart whose checksum is neither in the catalogue nor recorded."""
    fix = "Run `physai charts pull` once, compare the checksum with another source, and commit stacks/charts.lock."
    problem = "No checksum is known: a pipeline's first download would be trusted as it is."
    return [
        Finding(Severity.WARNING, "chart", f"{chart.name} {chart.version}", problem, fix, "stacks/charts.lock")
        for chart in charts
        if expected_sha256(chart) is None
    ]
