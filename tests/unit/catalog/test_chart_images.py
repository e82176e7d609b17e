"""Images that charts bring: every pinned chart has its row, and the models of the charts bring no others."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from physical_ai.catalog.chart_images import chart_images, images_of
from physical_ai.catalog.charts import Chart, pinned_charts
from physical_ai.catalog.load import CatalogError
from physical_ai.repository import ROOT
from physical_ai.settings import load
from physical_ai.settings.facts.images import chart_images as of_stack
from physical_ai.settings.facts.pinned_images import floating_images, named_images, pinned_images
from tests.support.cases import in_one_test
from tests.support.stacks import STACKS

MODELS = ROOT / "simulator" / "charts" / "data"
REFERENCE = re.compile(r"\b((?:[a-z0-9-]+\.)+(?:io|com|dev|aws)/[a-z0-9._/-]+)")
"""An image with its registry."""


def references(chart: str) -> Iterator[str]:
    """Of the values and templates of a model."""
    for file in (MODELS / chart).rglob("*.yaml"):
        if "crds" in file.parts:
            continue
        for line in file.read_text().splitlines():
            if re.search(r"image|repository|registry|osmoImageLocation", line) and not line.lstrip().startswith("#"):
                yield from REFERENCE.findall(line.split("apiVersion")[0])


def test_every_pinned_chart_has_its_images() -> None:
    pinned = {name for name, _ in pinned_charts()}
    assert set(chart_images()) | set(named_images()) == pinned


PINS = list(pinned_charts().values())


@in_one_test("pin", PINS, ids=lambda pin: f"{pin.name}-{pin.version}")
def test_every_pin_has_its_images_by_tag_or_digest(pin: Chart) -> None:
    images = pinned_images(pin)
    assert images
    assert len(set(images)) == len(images)
    floats = {
        each for each in images if "@" not in each and each.rpartition("/")[2].partition(":")[2] in ("", "latest")
    }
    assert floats <= set(floating_images())


def test_only_what_floats_is_said_to_float() -> None:
    assert {each for pin in PINS for each in pinned_images(pin)} >= set(floating_images())


def test_a_pin_that_nothing_was_read_for_is_refused_until_its_row_is_there() -> None:
    pin = pinned_charts()["gpu-operator", "v26.7.0"].model_copy(update={"version": "v27.1.0"})
    with pytest.raises(CatalogError, match=r"gpu-operator has no images of v27\.1\.0: add a row"):
        pinned_images(pin)


@in_one_test("pin", [each for each in PINS if each.name not in named_images()], ids=lambda pin: pin.name)
def test_the_registry_is_asked_about_every_image_of_a_pin(pin: Chart) -> None:
    """Below a repository of `images`, or itself."""
    asked = [each.image for each in images_of(pin.name)]
    if asked:  # a chart of clusters with a registry
        beyond = [
            one for one in pinned_images(pin) if not any(one.startswith(each.partition(":")[0]) for each in asked)
        ]
        assert beyond == []


@in_one_test("chart", sorted(chart_images()))
def test_a_model_brings_no_other_images(chart: str) -> None:
    pinned = (image for row in chart_images()[chart].pins for image in row.images)
    known = tuple(each.partition(":")[0] for each in (*(each.image for each in images_of(chart)), *pinned))
    found = {each for each in references(chart) if not each.startswith("kubernetes.io/")}
    # Values name the registry and the folder alone where the template adds the name.
    others = {each for each in found if not any(one.startswith(each) or each.startswith(one) for one in known)}
    assert others == set()


def test_what_a_chart_takes_from_docker_hub_has_its_tag() -> None:
    hub = [each.image for row in chart_images().values() for each in row.images if each.host == "docker.io"]
    assert hub
    assert all(":" in image for image in hub)


@in_one_test("stack", STACKS)
def test_every_chart_of_a_stack_is_asked_about(stack: str) -> None:
    loaded = load(stack)
    asked = set(of_stack(loaded.settings))
    for chart in loaded.plan.charts:
        unconditional = [each.image for each in images_of(chart.name) if each.only is None]
        assert set(unconditional) <= asked, chart.name
