"""Optional parts of the platform as data: what a part installs, and the pure functions that derive it from a stack's
settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, Literal

from parts.field_kinds import check_kinds
from physical_ai.catalog.charts import Chart
from physical_ai.planning import manifests
from physical_ai.planning.exporters import Exporter
from physical_ai.settings.faults import Fault
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import SettingFinding, Trust

GPU_OPERATOR = "gpu-operator"
"""Name by which `Part.needs` refers to the GPU Operator, which is not an optional part: every stack has it."""
CHART_VERSION = "{version}"
"""Placeholder in `Part.chart_images` for the version of the chart."""
Stage = Literal["cluster", "gpus", "services"]
Planned = tuple["PartPlan | None", list[Fault]]


@dataclass(frozen=True)
class ReleasePlan:
    """A Helm release of a part."""

    key: str
    """Last word of the release's resource name, after the name of the part's component."""
    name: str
    """Name of the release in Helm."""
    namespaces: tuple[str, ...]
    """Namespaces that must exist before the release: first the release's own, then others in which it works."""
    chart: Chart
    values: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    """Keys of the part's releases that are installed before this release and deleted after it."""
    skip_await: bool = False
    """True where something other than Helm waits for the release's Pods, such as the GPU gate."""
    timeout_seconds: int = 600
    objects: tuple[Mapping[str, Any], ...] = ()
    """Kubernetes objects whose CRDs the release installs; they are declared after the release."""

    @property
    def namespace(self) -> str:
        return self.namespaces[0]


@dataclass(frozen=True)
class SecretPlan:
    """A Kubernetes Secret with values of the stack's secrets."""

    key: str
    """Last word of the Secret's resource name."""
    namespace: str
    name: str
    data: Mapping[str, str]
    """Names of the stack's secrets, each under the key that its value gets in the Kubernetes Secret."""


@dataclass(frozen=True)
class PartPlan:
    """Releases and objects that a part installs into a stack's cluster."""

    releases: tuple[ReleasePlan, ...]
    before: tuple[Mapping[str, Any], ...] = ()
    """Objects that are created before the releases, such as policies."""
    secrets: tuple[SecretPlan, ...] = ()
    """Secrets that are created before the releases."""
    after: tuple[Mapping[str, Any], ...] = ()
    """Kubernetes objects whose CRDs the releases install; they are declared after all releases."""

    def release(self, key: str) -> ReleasePlan:
        """The part's release with the key `key`. Raises KeyError if the part has no such release."""
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
    """Description of an optional part: its names, its properties, and functions that derive from a stack's settings
    what the part installs.
    """

    name: str
    """Name of the part's folder in `parts/`."""
    title: str
    """The software in a few words, for pages and messages."""
    setting: Path
    """The setting that installs the part."""
    resource_type: str
    """Pulumi type of the part's component resource."""
    resource_name: str
    """Last words of the component's resource name.

    `resource_type` and `resource_name` are contained in the URNs of the component and its children. A change would
    replace all these resources, so neither field may ever change.
    """
    owned: Mapping[str, Mapping[str, str]]
    """Chart keys that the part's values files may not set, by chart. Each value names the setting to change instead, or
    says why there is none.
    """
    wanted: Callable[[Settings], bool]
    """Function that returns True for a stack that installs the part."""
    plan: Callable[[Settings, FilePath], Planned]
    """Function that returns the plan of the part, and the faults of its values files in a folder.

    The plan is None for a stack without the part.
    """
    examples: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Stacks that install the part, for tests and recordings: each is the name of a committed stack and the settings to
    add.
    """
    stage: Stage = "gpus"
    """Time at which the part is declared.

    `cluster`: before the GPU stack. `gpus`: after the GPU Operator. `services`: after both, before OSMO.
    """
    needs: tuple[str, ...] = ()
    """Names of other parts, or `GPU_OPERATOR`. Where a stack has one of these parts too, the releases of that part are
    installed before the releases of this part.
    """
    offers_gpus: bool = False
    """True where nodes offer GPUs only once the part runs: the GPU gate waits for it."""
    isolated: bool = False
    """True where the part's namespaces always deny traffic that no policy allows."""
    privileged: Mapping[str, str] = field(default_factory=dict[str, str])
    """Reason for the Pod Security level privileged, by namespace of the part. Pods of such a namespace may take over
    their node.
    """
    node_policies: Callable[[Settings], Iterable[Mapping[str, Any]]] = field(default=_no_policies)
    """Function that returns admission policies about nodes, with their bindings, which must exist before the GPU
    stack.
    """
    rules: tuple[Callable[[Settings, Trust], Iterator[SettingFinding]], ...] = ()
    """Rules about the part's settings, on every kind of cluster."""
    azure_rules: tuple[Callable[[Settings, Trust], Iterator[SettingFinding]], ...] = ()
    """Rules about the part's settings where the stack creates its cluster."""
    existing_rules: tuple[Callable[[Settings, Trust], Iterator[SettingFinding]], ...] = ()
    """Rules about the part's settings on an existing cluster."""
    images: Callable[[Settings], Mapping[str, Path]] = field(default=_no_images)
    """Function that returns images that the program itself chooses for the part, with their registries; each image has
    the setting that it depends on.
    """
    chart_images: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Images that a chart's Pods use, by the chart's name; only for charts of which all images are known. A tag may
    contain `CHART_VERSION`.
    """
    floating_images: Mapping[str, str] = field(default_factory=dict[str, str])
    """Images whose tag does not stand for one version, each with the reason."""
    exporters: Callable[[Settings], tuple[Exporter, ...]] = field(default=_no_exporters)
    """Function that returns the exporters to scrape in a stack that has the part."""
    secrets: Callable[[Settings], Iterable[tuple[Path, str]]] = field(default=_no_secrets)
    """Function that returns the settings that need a secret of the stack, each with the secret's name."""

    def __post_init__(self) -> None:
        """Checks the kinds of all fields. Raises PartError."""
        check_kinds(self.name, vars(self))

    @property
    def charts(self) -> tuple[str, ...]:
        """Names of the part's charts."""
        return tuple(self.owned)

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """Namespaces of the part, which its `namespaces.yaml` declares with their Pod Security levels."""
        return tuple(str(each["metadata"]["name"]) for each in manifests.namespaces_of(self.name))
