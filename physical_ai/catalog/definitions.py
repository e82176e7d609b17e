"""Objects that remain in a cluster when a release is deleted: kinds of its chart, and marks of the GPU Operator on
nodes.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from functools import lru_cache

from pydantic import Field

from physical_ai.catalog.load import DATA, read_all_rows, row
from physical_ai.catalog.rows import Row, Text

CLEANUP_NAMESPACE = "physical-ai-cleanup"
"""Namespace of the Job that removes what remains."""
OPERATORS_KIND = "clusterpolicies.nvidia.com"
"""Kind whose objects make a GPU Operator label the nodes, as long as one exists."""
NODE_LABELS = (
    "nvidia.com/gpu.present",
    "nvidia.com/gpu.deploy.*",
    "nvidia.com/gpu-driver-upgrade-state",
    "network.nvidia.com/operator.mofed.wait",
)
"""Patterns of labels that the GPU Operator sets and leaves (NVIDIA/gpu-operator controllers/state_manager.go,
NVIDIA/k8s-operator-libs pkg/upgrade/consts.go), and the Network Operator, where a node has NVIDIA's network cards
(Mellanox/network-operator controllers/nicclusterpolicy_controller.go, handleWaitLabelsNoConfig). Those of feature
discovery go with Node Feature Discovery, whose chart removes them in a hook."""
NODE_ANNOTATIONS = ("nvidia.com/gpu-driver-upgrade-enabled",)


class Remaining(Row):
    """Objects that the release of one chart leaves behind."""

    chart: Text
    definitions: tuple[Text, ...]
    """CustomResourceDefinitions, by all releases of the chart."""
    remains: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Patterns of the names of objects, by definition."""
    webhooks: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Webhook configurations, by definition, that an operator keeps for an object of the kind: those of the chart
    itself are deleted with the release."""
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def remaining() -> dict[str, Remaining]:
    """Remaining objects by chart."""
    found = (
        row(Remaining, data, f"{file}: {data.get('chart')}") for file, data in read_all_rows(DATA / "definitions.yaml")
    )
    return {each.chart: each for each in found}


def definitions_of(charts: Iterable[str]) -> list[str]:
    """Names of the definitions that remain of these charts."""
    known = remaining()
    names = (name for chart in charts if chart in known for name in known[chart].definitions)
    return sorted(dict.fromkeys(names))


def webhooks_of(charts: Iterable[str]) -> dict[str, list[str]]:
    """Webhook configurations that can remain of these charts, as `<plural>/<name>`, by definition."""
    known = remaining()
    return {
        definition: list(names)
        for chart in charts
        if chart in known
        for definition, names in known[chart].webhooks.items()
    }


def objects_of(charts: Iterable[str]) -> dict[str, list[str]]:
    """Patterns of names of the objects that remain of these charts, by definition."""
    known = remaining()
    return {
        definition: list(patterns)
        for chart in charts
        if chart in known
        for definition, patterns in known[chart].remains.items()
    }
