"""Where a Helm release's chart comes from: its repository, or the archive that `physai charts pull` verified."""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from physical_ai.catalog.charts import Chart, ChecksumMismatch, cached_chart, verify
from physical_ai.settings.models.tree import ChartSourceName


def release_chart(chart: Chart, source: ChartSourceName) -> dict[str, Any]:
    """The arguments of a `helm.v3.Release` that say which chart it installs.

    Args:
        chart: The pin.
        source: `repository`: Pulumi's Helm downloads it and verifies nothing. `cache`: exactly the pulled archive,
            whose checksum is taken here once more.

    Raises:
        pulumi.RunError: With `cache`, the archive is not there, or is not the pinned one.
    """
    if source == "cache":
        path = cached_chart(chart)
        try:
            verify(chart, path)
        except FileNotFoundError:
            raise pulumi.RunError(
                f"charts.source is cache, and the chart {chart.name} {chart.version} is not in it ({path}).\n"
                f"  Run `physai charts pull {pulumi.get_stack()}` first, or set charts.source: repository."
            ) from None
        except (ChecksumMismatch, OSError) as problem:
            raise pulumi.RunError(f"charts.source is cache: {problem}") from None
        return {"chart": str(path)}
    if chart.is_oci:
        return {"chart": f"{chart.repository}/{chart.name}", "version": chart.version}
    return {
        "chart": chart.name,
        "version": chart.version,
        "repository_opts": kubernetes.helm.v3.RepositoryOptsArgs(repo=chart.repository),
    }
