"""Values that stacks pass to charts were each seen to change what the genuine chart renders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.held_against import held
from physical_ai.settings import existing, load
from tests.support.cases import in_one_test

FILE = Path(__file__).parents[2] / "fixtures/charts/effects.yaml"
MAPS = ("nodeSelector", "extraPodLabels", "extraPodAnnotations", "podLabels", "podAnnotations", "labels", "annotations",
        "namespaceLabels", "matchLabels")  # fmt: skip
"""Maps of labels, each of which is one key."""
RENDERED = ("run", "rendered")
"""How the models of charts were held against the originals where these could be had."""


@cache
def facts() -> dict[tuple[str, str], dict[str, Any]]:
    return {(each["chart"], each["version"]): each for each in yaml.safe_load(FILE.read_text())}


def unread() -> set[tuple[str, str]]:
    """Pins of which no chart could be had."""
    rows = (item for item in held() if item.kind == "chart" and item.how not in RENDERED)
    return {(item.name, version) for item in rows for version in item.versions}


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


@in_one_test("stack", existing())
def test_what_a_stack_passes_has_its_effect_in_the_genuine_chart(stack: str) -> None:
    for chart, version, values in passed(stack):
        if (chart, version) in unread():
            continue
        seen = facts()[chart, version]
        unknown = {key for key in keys(values) if key not in {*seen["effects"], *seen.get("without", {})}}
        assert not unknown, f"{chart} {version}: render the genuine chart with and without these"


def test_each_pin_was_rendered_or_says_that_it_was_not() -> None:
    assert facts().keys() == pinned_charts().keys() - unread()
    rendered = [item for item in held() if item.kind == "chart" and item.how in RENDERED]
    assert [item.subject for item in rendered if not item.repeated] == []
