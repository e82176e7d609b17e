"""Code that all Helm releases share: the source of the chart, and the options of the installation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pulumi_kubernetes as kubernetes

from physical_ai.catalog.charts import Chart, ChecksumMismatch, installed_chart, installed_path, verify
from physical_ai.settings.models.tree import ChartSourceName


@dataclass(frozen=True)
class InstalledRelease:
    """A Helm release of the stack, as its gate and its outputs name it."""

    resource: kubernetes.helm.v3.Release
    version: str
    """Version of the chart."""
    namespace: str


class Installs(Protocol):
    """A component with Helm releases."""

    @property
    def installed(self) -> Mapping[str, InstalledRelease]: ...


def missing_archives(charts: Iterable[Chart]) -> list[Chart]:
    """The charts that `charts.source: cache` cannot install, because their archive was not pulled."""
    return [chart for chart in charts if not installed_chart(chart).exists()]


def archive_problems(charts: Iterable[Chart]) -> Iterator[str]:
    """Reasons not to install an archive: it is not the pinned one, or the pin has no checksum to compare it with."""
    for chart in charts:
        try:
            verify(chart, installed_chart(chart))
        except FileNotFoundError:
            continue
        except (ChecksumMismatch, OSError) as problem:
            yield " ".join(str(problem).split())


def release_options(chart: Chart, source: ChartSourceName, *, skip_await: bool = False) -> dict[str, Any]:
    """The arguments of a `helm.v3.Release` that are the same for all: its chart, and how it is installed.

    What a failed installation leaves behind shows the reason, and the next `up` continues from there.

    Args:
        chart: The pin.
        source: `repository`: its address, with which a simulation finds the model. `cache`: the pulled archive, which
            was verified before any resource was declared; all that a real deployment installs.
        skip_await: Whether something else waits until the release works.
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
