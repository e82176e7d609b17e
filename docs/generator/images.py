"""docs/reference/images.md, generated from the images that the catalogue has for each pinned chart."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import code, table
from physical_ai.catalog.acceptance import check_images
from physical_ai.catalog.chart_images import chart_images
from physical_ai.catalog.charts import Chart, pinned_charts
from physical_ai.catalog.data_services import NEED_LOGIN, is_upstream
from physical_ai.catalog.images import images
from physical_ai.settings.facts.pinned_images import floating_images, named_images, pinned_images

_HEAD = """\
# Images

Generated from `physical_ai/catalog/data/chart_images.yaml` and `images.yaml` by `python -m docs.generator`. Each pinned
chart with every image that its Pods can have. Charts name images by tag, so that a publisher can change what a tag is;
a digest, where the program sets one, cannot change. Drivers that a setting names are in the catalogue. Images of
workflows are the users' own.

With `dataServices.registry.only`, Pods pull from the stack's registry alone: *cached* images come through a rule for
their registry in `dataServices.registry.upstreams`, *imported* ones with `az acr import`, since their registry is
cached with a login only or not at all. Settings with an image of a chart that is neither are refused.

No image runs with the identity that deploys.
"""


def document() -> str:
    """Text of the complete page."""
    charts = table(("chart", "images read at", "image", "with `registry.only`"), _charts())
    own = table(("image", "tag", "digest", "source"), _own())
    floating = table(
        ("image", "why it has no tag of one version"), ((code(each), why) for each, why in floating_images().items())
    )
    checks = table(("check", "image", "source"), _checks())
    parts = ["## Charts\n", charts, "## Without a fixed tag\n", floating, "## Of the program\n", own]
    return "\n".join([_HEAD, *parts, "## Of acceptance\n", checks])


def _charts() -> Iterator[tuple[str, ...]]:
    for pin in pinned_charts().values():
        for image in pinned_images(pin):
            yield f"{pin.name} {pin.version}", _read(pin), code(image), _mirrored(image.partition("/")[0])


def _read(pin: Chart) -> str:
    if pin.name in named_images():
        return "the program names them"
    versions = {item.version for item in chart_images()[pin.name].pins}
    return pin.version if pin.version in versions or pin.keys is None else pin.keys.version


def _mirrored(host: str) -> str:
    return "cached" if is_upstream(host) and host not in NEED_LOGIN else "imported"


def _own() -> Iterator[tuple[str, ...]]:
    for item in images().values():
        yield code(item.name), item.tag, code(item.digest), f"{item.source} ({item.date})"


def _checks() -> Iterator[tuple[str, ...]]:
    for name, item in check_images().items():
        if item.reference is not None:
            yield name, code(item.reference), f"{item.source} ({item.date})"
