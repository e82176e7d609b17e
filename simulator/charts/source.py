"""Choice of the local chart that the simulator installs in place of a chart from a repository."""

from __future__ import annotations

from pathlib import Path

from physical_ai.catalog.chart_archives import ChecksumMismatch, cached_chart, installed_path, verify
from physical_ai.catalog.charts import pinned_charts
from physical_ai.citations import changed_in
from physical_ai.repository import PROJECT, user_folder
from simulator.charts.models import materialise, modelled
from simulator.kubernetes.helm import HelmFailed


class NoModel(HelmFailed):
    """Error if the simulator has neither the chart nor a model of it; the text lists the charts that it has."""


def chart_source(chart: str, version: str, repository: str) -> Path:
    """Local path of the chart to install: the path `chart` if it exists, or else the archive of the chart that was
    pulled before, or else the simulator's model of the chart.

    Args:
        chart: A path, an `oci://` address, or a chart's name.
        version: Version as in the release; empty means the newest, which the simulator does not guess.
        repository: Address of the chart repository, or empty.

    Raises:
        NoModel: No local chart and no model exists; nothing is ever downloaded from here.
        HelmFailed: The pulled archive is not the pinned chart.
    """
    local = PROJECT / chart
    if local.exists() and not chart.startswith("oci://"):
        return local
    folder, _, name = chart.rpartition("/")
    pins = pinned_charts().values()
    installed = next((item for item in pins if installed_path(item) == chart), None)
    if installed is not None:  # of a stack with `charts.source: cache`, whose archive was not pulled
        name, version, repository = installed.name, installed.version, installed.repository
    pinned = next((item for item in pins if (item.name, item.version) == (name, version)), None)
    if pinned is not None and pinned.repository == (repository or folder) and (pulled := cached_chart(pinned)).exists():
        try:
            verify(pinned, pulled)
        except ChecksumMismatch as problem:
            raise HelmFailed(str(problem)) from None
        return pulled
    if version not in modelled().get(name, ()):
        raise NoModel(_missing(name, version))
    return materialise(name, version, chart_models())


def chart_models() -> Path:
    """The folder in which chart models are created, each under a name that contains the digest of its content."""
    return user_folder() / "chart-models"


def _missing(name: str, version: str) -> str:
    if name not in modelled():
        known = ", ".join(modelled())
        return (
            f"the simulator has no model of the chart {name}; it has one of {known}, and downloads nothing. "
            "A chart that `physai charts pull` has put into the cache needs no model. A model is a folder and a "
            f"row of charts.yaml in {changed_in('simulator/charts/data/')} (docs/reference/chart-models.md)"
        )
    versions = ", ".join(modelled()[name])
    requested = f"version {version}" if version else "a version that is not pinned"
    return (
        f"the simulator has no model of the chart {name} in {requested}; it has {versions}, and downloads nothing. "
        "A chart that `physai charts pull` has put into the cache is used instead of a model"
    )
