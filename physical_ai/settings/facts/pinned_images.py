"""All images of each pinned chart: those in the catalogue, and those that the program names in its values.

>>> from physical_ai.catalog.charts import pinned_charts
>>> pinned_images(pinned_charts()["kai-scheduler", "v0.17.0"])[0]
'ghcr.io/kai-scheduler/kai-scheduler/admission:v0.17.0'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache

from parts.part import CHART_VERSION, Part
from parts.registry import PARTS
from physical_ai.catalog.chart_images import chart_images
from physical_ai.catalog.charts import Chart, pinned_charts
from physical_ai.catalog.load import CatalogError


@cache
def named_images() -> Mapping[str, tuple[str, ...]]:
    """Images of charts whose images the program's values name, by chart. A tag may contain `CHART_VERSION`."""
    return {chart: images for part in PARTS for chart, images in part.chart_images.items()}


@cache
def floating_images() -> Mapping[str, str]:
    """Images whose tag does not stand for one version, each with the reason."""
    return {image: reason for part in PARTS for image, reason in part.floating_images.items()}


def pinned_images(pin: Chart) -> tuple[str, ...]:
    """All images that the Pods of the pinned chart can have, each with its registry and its tag or digest, sorted.

    Raises:
        CatalogError: The images were read at other versions, none of which fits this one.
    """
    return _images(pin, named_images().get(pin.name))


def part_images(part: Part) -> tuple[str, ...]:
    """All images that the Pods of a part's pinned charts can have. Charts whose images are not known are left out."""
    found: dict[str, None] = {}
    for pin in pinned_charts().values():
        if pin.name in part.charts:
            with suppress(CatalogError):
                found |= dict.fromkeys(_images(pin, part.chart_images.get(pin.name)))
    return tuple(found)


def _images(pin: Chart, named: Iterable[str] | None) -> tuple[str, ...]:
    """All images of a pinned chart. `named`: those that the program names; None where the catalogue has them."""
    if named is not None:
        return tuple(sorted(each.replace(CHART_VERSION, pin.version) for each in named))
    rows = {item.version: item for item in chart_images()[pin.name].pins} if pin.name in chart_images() else {}
    found = rows.get(pin.version) or (rows.get(pin.keys.version) if pin.keys else None)
    if found is None:
        raise CatalogError(f"chart_images.yaml: {pin.name} has no images of {pin.version}: add a row to pins")
    tagged = (each if _has_tag(each) else f"{each}:{pin.version}" for each in found.images)
    return tuple(sorted(tagged))


def _has_tag(image: str) -> bool:
    return ":" in image.rpartition("/")[2]
