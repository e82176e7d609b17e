"""Optional parts of the platform as data: what a part installs, and the pure functions that decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, Literal

from physical_ai.catalog.charts import Chart
from physical_ai.planning import manifests
from physical_ai.planning.exporters import Exporter
from physical_ai.settings.faults import Fault
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import SettingFinding, Trust

GPU_OPERATOR = "gpu-operator"
"""Name in `Part.needs` of the GPU Operator, which is no part: every stack has it."""
CHART_VERSION = "{version}"
"""Text in `Part.chart_images` that stands for the version of the chart."""
Stage = Literal["cluster", "gpus", "services"]
Planned = tuple["PartPlan | None", list[Fault]]


@dataclass(frozen=True)
class ReleasePlan:
    """A Helm release of a part."""

    key: str
    """Last word of its resource's name, below the name of the part's component."""
    name: str
    """Name of the release in Helm."""
    namespaces: tuple[str, ...]
    """Namespaces of the release: its own, then others that it works in. All of them exist before it."""
    chart: Chart
    values: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    """Keys of the part's releases that exist before it and are deleted after it."""
    skip_await: bool = False
    """True where something other than Helm waits for its Pods, such as the GPU gate."""
    timeout_seconds: int = 600
    objects: tuple[Mapping[str, Any], ...] = ()
    """Objects of kinds that it brings, which come after it."""

    @property
    def namespace(self) -> str:
        return self.namespaces[0]


@dataclass(frozen=True)
class SecretPlan:
    """A Secret in the cluster with values of the stack's secrets."""

    key: str
    """Last word of its resource's name."""
    namespace: str
    name: str
    data: Mapping[str, str]
    """The stack's secret for each key."""


@dataclass(frozen=True)
class PartPlan:
    """Releases and objects that a part installs into a stack's cluster."""

    releases: tuple[ReleasePlan, ...]
    before: tuple[Mapping[str, Any], ...] = ()
    """Objects that exist before the releases, such as policies."""
    secrets: tuple[SecretPlan, ...] = ()
    """Secrets that exist before the releases."""
    after: tuple[Mapping[str, Any], ...] = ()
    """Objects of kinds that the releases bring."""

    def release(self, key: str) -> ReleasePlan:
        """The release with a key. Raises KeyError where there is none."""
        return {each.key: each for each in self.releases}[key]

    @property
    def charts(self) -> tuple[Chart, ...]:
        return tuple(each.chart for each in self.releases)


def _no_images(_settings: Settings) -> Mapping[str, Path]:
    return {}


def _no_policies(_settings: Settings) -> Iterable[Mapping[str, Any]]:
    return ()


def _no_exporters(_settings: Settings) -> tuple[Exporter, ...]:
    return ()


def _no_secrets(_settings: Settings) -> Iterable[tuple[Path, str]]:
    return ()


@dataclass(frozen=True)
class Part:
    """An optional part: its names, and functions of a stack's settings. The program derives everything else from it."""

    name: str
    """Name of its folder in `parts/`."""
    title: str
    """The software in a few words, for pages and messages."""
    setting: Path
    """The setting that installs it."""
    resource_type: str
    """Type of its component resource."""
    resource_name: str
    """Last words of its component's name. Both are part of every URN below it: neither ever changes."""
    owned: Mapping[str, Mapping[str, str]]
    """Keys by chart that its values file may not set, with what to change instead."""
    wanted: Callable[[Settings], bool]
    """Returns True for a stack that installs the part."""
    plan: Callable[[Settings, FilePath], Planned]
    """Returns the plan of the part, and the faults of its values files in a folder; the plan is None for a stack
    without it."""
    examples: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Committed stacks, each with settings that install it: what tests and recordings of all parts deploy."""
    stage: Stage = "gpus"
    """`cluster`: declared before the GPU stack. `gpus`: after the GPU Operator. `services`: after both, before OSMO."""
    needs: tuple[str, ...] = ()
    """Names of parts, or `GPU_OPERATOR`, whose releases exist before its own where a stack has both."""
    offers_gpus: bool = False
    """True where nodes offer GPUs only once the part runs: the GPU gate waits for it."""
    isolated: bool = False
    """True where its namespaces always deny traffic that no policy names."""
    node_policies: Callable[[Settings], Iterable[Mapping[str, Any]]] = field(default=_no_policies)
    """Admission policies about nodes, with their bindings, which exist before the GPU stack."""
    rules: tuple[Callable[[Settings, Trust], Iterator[SettingFinding]], ...] = ()
    """Rules about its settings, on every kind of cluster."""
    azure_rules: tuple[Callable[[Settings, Trust], Iterator[SettingFinding]], ...] = ()
    """Rules about its settings where the stack creates its cluster."""
    existing_rules: tuple[Callable[[Settings, Trust], Iterator[SettingFinding]], ...] = ()
    """Rules about its settings on a cluster that exists already."""
    images: Callable[[Settings], Mapping[str, Path]] = field(default=_no_images)
    """Images that the program itself names for it, with their registries, and the setting that each follows from."""
    chart_images: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Images that Pods of its charts can have, by chart, where the program names them all; `CHART_VERSION` in a tag."""
    floating_images: Mapping[str, str] = field(default_factory=dict[str, str])
    """Images without a tag of one version, and the reason."""
    exporters: Callable[[Settings], tuple[Exporter, ...]] = field(default=_no_exporters)
    """Exporters that are scraped in a stack that has the part."""
    secrets: Callable[[Settings], Iterable[tuple[Path, str]]] = field(default=_no_secrets)
    """Settings that need one of the stack's secrets, and the secret's name."""

    @property
    def charts(self) -> tuple[str, ...]:
        """Names of its charts."""
        return tuple(self.owned)

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """Namespaces of the part, which its `namespaces.yaml` declares with their Pod Security levels."""
        return tuple(str(each["metadata"]["name"]) for each in manifests.namespaces_of(self.name))
