"""A workflow in the form that the checks read: each task with its path in the file, its resource and its platform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from physical_ai.catalog.osmo import CONTROL_CONTAINER
from physical_ai.findings import Severity
from physical_ai.planning.osmo_platforms import CAPABILITIES
from physical_ai.settings.facts.osmo import OsmoPlatformFacts
from workbench.osmo import units
from workbench.osmo.lint.context import Context
from workbench.osmo.lint.finding import Path, Rule
from workbench.osmo.lint.source import Source
from workbench.osmo.service.pools import Platform, Pool
from workbench.osmo.shapes import a_list, a_map
from workbench.osmo.tokens import default_variables
from workbench.osmo.workflow.schema import ResourceSpec, TaskGroupSpec, TaskSpec, WorkflowSpec

WORKFLOW: Path = ("workflow",)


@dataclass(frozen=True)
class TaskView:
    """One task with its path in the file, its resource and its platform."""

    spec: TaskSpec
    path: Path
    group: TaskGroupSpec | None
    """Group of the task; None for a task outside groups."""
    resource: ResourceSpec | None
    """Resource that the task names; None if the workflow does not define it."""
    resource_path: Path
    platform_name: str
    platform: Platform | None
    facts: OsmoPlatformFacts | None

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def gpus(self) -> int:
        """Number of GPUs that the task requests in the workflow."""
        return (self.resource.gpu or 0) if self.resource else 0

    @property
    def on_gpu(self) -> bool:
        """True if the task requests GPUs, or runs on a platform with GPUs."""
        return self.gpus > 0 or self.is_on_gpu_platform

    @property
    def is_on_gpu_platform(self) -> bool:
        """True if the pod template of the task's platform requests GPUs."""
        return self.platform is not None and requests_gpus(self.platform.parsed_pod_template)


def requests_gpus(template: Mapping[str, Any]) -> bool:
    """True if a container of a merged pod template requests a resource of NVIDIA."""
    for container in map(a_map, a_list(a_map(template.get("spec")).get("containers"))):
        resources = a_map(container.get("resources"))
        for kind in ("requests", "limits"):
            if any(str(key).startswith("nvidia.com/") for key in a_map(resources.get(kind))):
                return True
    return False


def forces_capabilities(template: Mapping[str, Any]) -> bool:
    """True if a merged pod template gives tasks the NVIDIA driver capabilities `all`, so that the workflow's value has
    no effect.
    """
    for container in map(a_map, a_list(a_map(template.get("spec")).get("containers"))):
        if container.get("name") == CONTROL_CONTAINER:
            continue
        for item in map(a_map, a_list(container.get("env"))):
            if item.get("name") == CAPABILITIES and item.get("value") == "all":
                return True
    return False


@dataclass
class View:
    """A workflow that OSMO's schema accepts, with the context in which it is checked."""

    source: Source
    context: Context
    pool: Pool
    spec: WorkflowSpec
    placeholders: frozenset[Path] = frozenset()
    """Paths at which a placeholder replaces an invalid value. Findings about placeholders are suppressed."""

    def add(
        self, rule: Rule, path: Path, message: str, fix: str | None = None, severity: Severity | None = None
    ) -> None:
        if not any(path[: len(place)] == place for place in self.placeholders):
            self.source.add(rule, path, message, fix, severity)

    @cached_property
    def tasks(self) -> list[TaskView]:
        return list(self._tasks())

    def _tasks(self) -> Iterator[TaskView]:
        for index, task in enumerate(self.spec.tasks):
            yield self._view(task, (*WORKFLOW, "tasks", index), None)
        for number, group in enumerate(self.spec.groups):
            for index, task in enumerate(group.tasks):
                yield self._view(task, (*WORKFLOW, "groups", number, "tasks", index), group)

    def _view(self, task: TaskSpec, path: Path, group: TaskGroupSpec | None) -> TaskView:
        resource = self.spec.resources.get(task.resource)
        platform = (resource.platform if resource else None) or self.pool.default_platform or ""
        return TaskView(
            spec=task,
            path=path,
            group=group,
            resource=resource,
            resource_path=(*WORKFLOW, "resources", task.resource),
            platform_name=platform,
            platform=self.pool.platforms.get(platform),
            facts=self.context.facts.get(platform),
        )

    def environment(self, task: TaskView) -> dict[str, str]:
        """Environment variables of a submitted task: the variables in the file, overridden by the variables of
        `--set-env`.
        """
        pairs = (text.partition("=") for text in self.context.variables.environment)
        return {**task.spec.environment, **{name: value for name, _, value in pairs}}

    def variables(self, task: TaskView) -> dict[str, Any]:
        """Default variables of the task's pool, overridden by those of its platform."""
        own = task.platform.default_variables if task.platform else {}
        return default_variables(self.pool.common_default_variables, own)


def gib(amount: str) -> float | None:
    """An amount in GiB, parsed as in OSMO; None if it is invalid."""
    parts = units.split_amount(amount)
    return units.convert(amount, "Gi") if parts and (parts[1] or "B") in units.POWERS else None
