"""Container images that the Pods of pinned Helm charts use.

>>> [each.image for each in images_of("service") if each.host == "docker.io"]
['docker.io/envoyproxy/envoy:v1.38.1']
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Any, Literal

from physical_ai.catalog.load import DATA, CatalogError, read_all_rows, row
from physical_ai.catalog.rows import Row, Text

FILE = "chart_images.yaml"
"""Name of the files that list images: one file in the catalogue, and one in each part that lists the images of its own
charts.
"""


class ChartImage(Row):
    image: Text
    only: Literal["entra", "grafana"] | None = None
    """Option of the chart that the image depends on; None for an image that is always used."""

    @property
    def host(self) -> str:
        return self.image.partition("/")[0]


class PinImages(Row):
    version: Text
    """Version of the chart whose images were read."""
    images: tuple[Text, ...]
    """Images with their registries and tags. An image without a tag has the version of the pinned chart as its tag."""


class ChartImages(Row):
    chart: Text
    read: Text
    """Version of the chart whose values were read."""
    source: Text
    date: datetime.date
    images: tuple[ChartImage, ...]
    pins: tuple[PinImages, ...]


@lru_cache(maxsize=1)
def chart_images() -> dict[str, ChartImages]:
    """Images of each chart, by the chart's name."""
    found: dict[str, ChartImages] = {}
    for label, data in read_all_rows(DATA / FILE):
        item = _row(data, label)
        if item.chart in found:
            raise CatalogError(f"{label}: {item.chart} is a duplicate")
        found[item.chart] = item
    return found


def _row(data: dict[str, Any], label: str) -> ChartImages:
    images: list[Any] = [{"image": each} if isinstance(each, str) else each for each in data.get("images", ())]
    return row(ChartImages, {**data, "images": images}, f"{label}: {data.get('chart')}")


def images_of(chart: str) -> tuple[ChartImage, ...]:
    """Images of a chart; empty if the settings or another file of data name the images."""
    pins = chart_images().get(chart)
    return () if pins is None else pins.images
