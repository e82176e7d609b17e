"""Objects that remain in a cluster when a release is deleted: CustomResourceDefinitions of its chart, and labels that
the GPU Operator has set on nodes.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from functools import lru_cache

from pydantic import Field

from physical_ai.catalog.load import DATA, read_all_rows, row
from physical_ai.catalog.rows import Row, Text

CLEANUP_NAMESPACE = "physical-ai-cleanup"
"""Namespace of the Job that removes remaining objects."""
OPERATORS_KIND = "clusterpolicies.nvidia.com"
"""CustomResourceDefinition of the GPU Operator's kind: a GPU Operator labels the nodes as long as an object of this
kind exists.
"""
NODE_LABELS = (
    "nvidia.com/gpu.present",
    "nvidia.com/gpu.deploy.*",
    "nvidia.com/gpu-driver-upgrade-state",
    "network.nvidia.com/operator.mofed.wait",
)
"""Patterns of node labels that operators set and leave behind.

The GPU Operator sets most of them (NVIDIA/gpu-operator controllers/state_manager.go, NVIDIA/k8s-operator-libs
pkg/upgrade/consts.go), and the Network Operator one, on nodes with NVIDIA's network cards (Mellanox/network-operator
controllers/nicclusterpolicy_controller.go, handleWaitLabelsNoConfig). Labels of feature discovery are removed by a
hook of Node Feature Discovery's chart.
"""
NODE_ANNOTATIONS = ("nvidia.com/gpu-driver-upgrade-enabled",)


class Remaining(Row):
    """Objects that the release of one chart leaves behind."""

    chart: Text
    definitions: tuple[Text, ...]
    """Names of the CustomResourceDefinitions in all releases of the chart."""
    remains: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Patterns of the names of objects that remain, by name of their CustomResourceDefinition."""
    webhooks: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Names of the webhook configurations that an operator creates for objects of a kind, by the kind's
    CustomResourceDefinition. Webhook configurations of the chart itself are deleted with the release.
    """
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def remaining() -> dict[str, Remaining]:
    """Objects that the releases of charts leave behind, by chart."""
    found = (
        row(Remaining, data, f"{file}: {data.get('chart')}") for file, data in read_all_rows(DATA / "definitions.yaml")
    )
    return {each.chart: each for each in found}


def definitions_of(charts: Iterable[str]) -> list[str]:
    """Names of the CustomResourceDefinitions that the releases of these charts leave behind."""
    known = remaining()
    names = (name for chart in charts if chart in known for name in known[chart].definitions)
    return sorted(dict.fromkeys(names))


def webhooks_of(charts: Iterable[str]) -> dict[str, list[str]]:
    """Webhook configurations that the releases of these charts can leave behind, as `<plural>/<name>`, by
    CustomResourceDefinition.
    """
    known = remaining()
    return {
        definition: list(names)
        for chart in charts
        if chart in known
        for definition, names in known[chart].webhooks.items()
    }


def objects_of(charts: Iterable[str]) -> dict[str, list[str]]:
    """Patterns of names of the objects that the releases of these charts leave behind, by CustomResourceDefinition."""
    known = remaining()
    return {
        definition: list(patterns)
        for chart in charts
        if chart in known
        for definition, patterns in known[chart].remains.items()
    }
