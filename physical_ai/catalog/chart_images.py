"""Images that pinned charts bring.

>>> [each.image for each in images_of("service") if each.host == "docker.io"]
['docker.io/envoyproxy/envoy:v1.38.1']
>>> from physical_ai.catalog.charts import pinned_charts
>>> pinned_images(pinned_charts()["kai-scheduler", "v0.17.0"])[0]
'ghcr.io/kai-scheduler/kai-scheduler/admission:v0.17.0'
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Any, Literal

from physical_ai.catalog import amd, otel, runners, slurm
from physical_ai.catalog.charts import Chart
from physical_ai.catalog.images import image
from physical_ai.catalog.load import DATA, CatalogError, read_rows, row
from physical_ai.catalog.rows import Row, Text


class ChartImage(Row):
    image: Text
    only: Literal["entra", "grafana"] | None = None
    """What has to be on for it."""

    @property
    def host(self) -> str:
        return self.image.partition("/")[0]


class PinImages(Row):
    version: Text
    """Of the chart, as it was read."""
    images: tuple[Text, ...]
    """With their registries and tags; without a tag where it is the version of the pin."""


class ChartImages(Row):
    chart: Text
    read: Text
    """Version of the chart whose values were read."""
    source: Text
    date: datetime.date
    images: tuple[ChartImage, ...]
    pins: tuple[PinImages, ...]


NAMED: dict[str, tuple[str, ...]] = {
    slurm.CLUSTER_CHART: tuple(slurm.daemon_images()),
    slurm.OPERATOR_CHART: tuple(slurm.operator_images()),
    amd.CHART: (*amd.IMAGES, amd.PLUGIN_IMAGE, amd.LABELLER_IMAGE),
    otel.CHART: (f"docker.io/{otel.IMAGE}",),
    runners.SCALE_SET_CHART: (image(runners.IMAGE).at(runners.REGISTRY),),
}
"""Of charts whose images the program names itself."""
FLOATING: dict[str, str] = {
    amd.PLUGIN_IMAGE: "the chart's own default: name another in amdGpuOperator.devicePluginImage",
    amd.LABELLER_IMAGE: "the chart's own default: name another in amdGpuOperator.nodeLabellerImage",
    f"docker.io/{otel.IMAGE}": "the tag is the chart's version of the collector, which was not read",
}
"""Images without a tag of one version, and the reason."""


@lru_cache(maxsize=1)
def chart_images() -> dict[str, ChartImages]:
    """By the chart's name."""
    rows = [_row(data) for data in read_rows(DATA / "chart_images.yaml")]
    found = {item.chart: item for item in rows}
    if len(found) != len(rows):
        raise CatalogError("chart_images.yaml: duplicate chart")
    return found


def _row(data: dict[str, Any]) -> ChartImages:
    images: list[Any] = [{"image": each} if isinstance(each, str) else each for each in data.get("images", ())]
    return row(ChartImages, {**data, "images": images}, f"chart_images.yaml: {data.get('chart')}")


def images_of(chart: str) -> tuple[ChartImage, ...]:
    """Empty for a chart whose images the settings or other data name."""
    found = chart_images().get(chart)
    return () if found is None else found.images


def pinned_images(pin: Chart) -> tuple[str, ...]:
    """Every image that the pin's Pods can have, each with its registry and its tag or digest, by name.

    Raises:
        CatalogError: No version at which they were read serves for this one.
    """
    if pin.name in NAMED:
        return tuple(sorted(NAMED[pin.name]))
    rows = {item.version: item for item in chart_images()[pin.name].pins} if pin.name in chart_images() else {}
    found = rows.get(pin.version) or (rows.get(pin.keys.version) if pin.keys else None)
    if found is None:
        raise CatalogError(f"chart_images.yaml: {pin.name} has no images of {pin.version}: add a row to pins")
    tagged = (each if _has_tag(each) else f"{each}:{pin.version}" for each in found.images)
    return tuple(sorted(tagged))


def _has_tag(image: str) -> bool:
    return ":" in image.rpartition("/")[2]
