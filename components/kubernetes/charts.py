"""Code that all Helm releases share: the source of the chart, and the options of the installation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pulumi_kubernetes as kubernetes

from physical_ai.catalog.chart_archives import ChecksumMismatch, installed_chart, installed_path, verify
from physical_ai.catalog.charts import Chart
from physical_ai.settings.models.tree import ChartSourceName


@dataclass(frozen=True)
class InstalledRelease:
    """A Helm release of the stack, with the version and namespace that the release gate and the stack's outputs
    show.
    """

    resource: kubernetes.helm.v3.Release
    version: str
    """Version of the chart."""
    namespace: str


class Installs(Protocol):
    """Protocol of components with Helm releases."""

    @property
    def installed(self) -> Mapping[str, InstalledRelease]: ...


def missing_archives(charts: Iterable[Chart]) -> list[Chart]:
    """Charts that `charts.source: cache` cannot install, because their archives were not pulled."""
    return [chart for chart in charts if not installed_chart(chart).exists()]


def archive_problems(charts: Iterable[Chart]) -> Iterator[str]:
    """Reasons why chart archives must not be installed: an archive is not the pinned one, or the pin has no checksum to
    compare the archive with.
    """
    for chart in charts:
        try:
            verify(chart, installed_chart(chart))
        except FileNotFoundError:
            continue
        except (ChecksumMismatch, OSError) as problem:
            yield " ".join(str(problem).split())


def release_options(chart: Chart, source: ChartSourceName, *, skip_await: bool = False) -> dict[str, Any]:
    """Arguments of a `helm.v3.Release` that are the same for all releases: its chart, and how it is installed.

    A failed installation is left in place: it shows the reason, and the next `up` continues from there.

    Args:
        chart: The pinned chart.
        source: `cache`: the chart is the pulled archive, which was verified before any resource was declared; every
            real deployment uses `cache`. `repository`: the chart is an address in a repository; only a simulation uses
            `repository`, and finds the simulator's model of the chart by the address.
        skip_await: True where something other than Helm waits until the release works.
    """
    return {
        **_archive(chart, source),
        "atomic": False,
        "cleanup_on_fail": False,
        "skip_await": skip_await,
        "create_namespace": False,
    }


def _archive(chart: Chart, source: ChartSourceName) -> dict[str, Any]:
    if source == "cache":
        return {"chart": installed_path(chart)}
    if chart.is_oci:
        return {"chart": f"{chart.repository}/{chart.name}", "version": chart.version}
    return {
        "chart": chart.name,
        "version": chart.version,
        "repository_opts": kubernetes.helm.v3.RepositoryOptsArgs(repo=chart.repository),
    }
