"""Images that charts bring: every pinned chart has its row, and the models of the charts bring no others."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from physical_ai.catalog.chart_images import chart_images, images_of
from physical_ai.catalog.charts import pinned_charts
from physical_ai.repository import ROOT
from physical_ai.settings import load
from physical_ai.settings.facts.images import chart_images as of_stack
from tests.support.stacks import STACKS

MODELS = ROOT / "physical_ai" / "simulator" / "charts" / "data"
NAMED_ELSEWHERE = {"opentelemetry-collector", "slurm", "slurm-operator", "gpu-operator-charts", "gha-runner-scale-set"}
"""Charts whose images the program names itself (`program_images`)."""
ON_PREMISES = {"longhorn", "metallb"}
"""Of clusters without a registry of Azure's."""
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
    assert set(chart_images()) | NAMED_ELSEWHERE | ON_PREMISES == pinned


@pytest.mark.parametrize("chart", sorted(chart_images()))
def test_a_model_brings_no_other_images(chart: str) -> None:
    known = tuple(each.image.partition(":")[0] for each in images_of(chart))
    found = {each for each in references(chart) if not each.startswith("kubernetes.io/")}
    # Values name the registry and the folder alone where the template adds the name.
    others = {each for each in found if not any(one.startswith(each) or each.startswith(one) for one in known)}
    assert others == set()


def test_what_a_chart_takes_from_docker_hub_has_its_tag() -> None:
    hub = [each.image for row in chart_images().values() for each in row.images if each.host == "docker.io"]
    assert hub
    assert all(":" in image for image in hub)


@pytest.mark.parametrize("stack", STACKS)
def test_every_chart_of_a_stack_is_asked_about(stack: str) -> None:
    loaded = load(stack)
    asked = set(of_stack(loaded.settings))
    for chart in loaded.plan.charts:
        unconditional = [each.image for each in images_of(chart.name) if each.only is None]
        assert set(unconditional) <= asked, chart.name
