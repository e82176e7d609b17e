"""The source of a Helm release's chart: its repository, or the archive that `physai charts pull` verified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pulumi_kubernetes as kubernetes

from physical_ai.catalog.charts import Chart, ChecksumMismatch, cached_chart, verify
from physical_ai.settings.models.tree import ChartSourceName


def archive_problems(charts: Iterable[Chart]) -> Iterator[str]:
    """Why `charts.source: cache` cannot be used: each archive that is missing, or is not the pinned one."""
    for chart in charts:
        path = cached_chart(chart)
        try:
            verify(chart, path)
        except FileNotFoundError:
            yield f"The chart {chart.name} {chart.version} is not in the cache ({path})."
        except (ChecksumMismatch, OSError) as problem:
            yield " ".join(str(problem).split())


def release_chart(chart: Chart, source: ChartSourceName) -> dict[str, Any]:
    """The arguments of a `helm.v3.Release` that name the chart it installs.

    Args:
        chart: The pin.
        source: `repository`: Pulumi's Helm downloads it and verifies nothing. `cache`: the pulled archive, which
            `archive_problems` has checked before any resource was declared.
    """
    if source == "cache":
        return {"chart": str(cached_chart(chart))}
    if chart.is_oci:
        return {"chart": f"{chart.repository}/{chart.name}", "version": chart.version}
    return {
        "chart": chart.name,
        "version": chart.version,
        "repository_opts": kubernetes.helm.v3.RepositoryOptsArgs(repo=chart.repository),
    }
