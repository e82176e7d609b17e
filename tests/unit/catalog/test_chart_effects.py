"""Values that stacks pass to charts were each seen to change what the genuine chart renders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.held_against import held
from physical_ai.settings import existing, load

FILE = Path(__file__).parents[2] / "fixtures/charts/effects.yaml"
MAPS = ("nodeSelector", "extraPodLabels", "extraPodAnnotations", "podLabels", "podAnnotations", "labels", "annotations",
        "namespaceLabels", "matchLabels")  # fmt: skip
"""Maps of labels, each of which is one key."""
UNREAD = {
    ("gpu-operator", "v26.7.2"),
    ("gpu-operator", "v26.3.0"),
    ("gpu-operator", "v26.3.2"),
    ("nvsentinel", "v1.23.0"),
}
"""Pins that no stack passes values to, or of which no chart could be had."""


@cache
def facts() -> dict[tuple[str, str], dict[str, Any]]:
    return {(each["chart"], each["version"]): each for each in yaml.safe_load(FILE.read_text())}


def keys(values: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for key, value in values.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, Mapping) and value and key not in MAPS:
            yield from keys(value, here)
        else:
            yield here


def passed(stack: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Chart, version and values of a stack's releases."""
    loaded = load(stack)
    plan = loaded.plan
    if plan.gpu is not None and loaded.settings.gpu_operator is not None:
        yield "gpu-operator", loaded.settings.gpu_operator.version, plan.gpu.values
    of_parts = [release for part in plan.parts.values() for release in part.releases]
    for release in (*plan.osmo, plan.control_plane, *of_parts):
        if release is not None:
            yield release.chart.name, release.chart.version, release.values


@pytest.mark.parametrize("stack", existing())
def test_what_a_stack_passes_has_its_effect_in_the_genuine_chart(stack: str) -> None:
    for chart, version, values in passed(stack):
        seen = facts()[chart, version]
        unknown = {key for key in keys(values) if key not in {*seen["effects"], *seen.get("without", {})}}
        assert not unknown, f"{chart} {version}: render the genuine chart with and without these"


def test_each_pin_was_rendered_or_says_that_it_was_not() -> None:
    assert facts().keys() | UNREAD == pinned_charts().keys()
    for item in held():
        if item.kind == "chart" and not {(item.name, version) for version in item.versions} & UNREAD:
            assert item.repeated, item.subject
