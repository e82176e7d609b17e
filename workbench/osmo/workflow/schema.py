"""Pydantic models of the workflow file, which accept exactly the files that OSMO 6.3.1 accepts. The file format has
only the version 2; OSMO does not check it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from physical_ai.catalog.osmo import CONTROL_CONTAINER
from workbench.osmo.choices import DownloadType, ExitAction, TopologyRequirementType
from workbench.osmo.names import container_name, object_name
from workbench.osmo.refusal import as_refusal, crash
from workbench.osmo.units import stored_amount
from workbench.osmo.workflow.spec_data import (
    CheckpointSpec,
    File,
    Input,
    NamePattern,
    Output,
    Span,
    Strict,
    TaskInputOutput,
    TaskKPI,
    Texts,
)

EXIT_CODES = re.compile(r"\d+(-\d{2,}(?=-))*(-\d+)?(,\d+(-\d+)?)*")
r"""Pattern of a list of exit codes and ranges without spaces, such as `1-3,137`. OSMO's own pattern, `(\d+(-\d+)?)+…`,
takes exponential time.
"""
DEFAULT_RESOURCE = "default"
_SCALARS = (str, int, float, bool)


class TopologyRequirement(Strict):
    """A requirement of a task to run near the other tasks of its group."""

    key: str
    group: str = "default"
    requirementType: TopologyRequirementType = TopologyRequirementType.REQUIRED


class ResourceSpec(Texts):
    """Resources of a task. An amount without a unit is converted to Ki; an amount with a unit stays as it is
    written.
    """

    cpu: int | None = None
    storage: str | None = None
    memory: str | None = None
    gpu: int | None = None
    platform: str | None = None
    nodesExcluded: list[str] = []
    topology: list[TopologyRequirement] = []

    @field_validator("memory", "storage")
    @classmethod
    def _amount(cls, value: str | None, info: ValidationInfo) -> str | None:
        return None if value is None else stored_amount(value, info.field_name or "")


def _texts(value: Any) -> Any:
    """A map whose keys and simple values (such as numbers) are converted to text. Any other value is unchanged, and the
    model refuses it later.
    """
    if not isinstance(value, dict):
        return value
    items = cast("dict[Any, Any]", value).items()
    return {str(key): str(item) if isinstance(item, _SCALARS) else item for key, item in items}


def _credentials(value: Any) -> Any:
    """The credentials of a task, each mapped to a folder or to variables, with simple values converted to text."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise ValueError("credentials is a map of the credential's name to a folder or {VARIABLE: key}")
    result: dict[str, Any] = {}
    for name, target in cast("dict[Any, Any]", value).items():
        if isinstance(target, dict):
            keys = cast("dict[Any, Any]", target)
            if not all(isinstance(key, _SCALARS) for key in keys.values()):
                raise ValueError(f"credential {name}: each variable needs the name of a key")
            result[str(name)] = {str(variable): str(key) for variable, key in keys.items()}
        elif isinstance(target, _SCALARS):
            result[str(name)] = str(target)
        else:
            raise ValueError(f"credential {name} needs a folder, or a map {{VARIABLE: key}}")
    return result


def _download(value: Any) -> Any:
    if value is None or isinstance(value, DownloadType):
        return value
    known = [item.value for item in DownloadType]
    if value not in known:
        raise ValueError(f"downloadType {value!r} is not one of: {', '.join(known)}")
    return DownloadType(value)


def _exit_actions(actions: dict[str, str]) -> dict[str, str]:
    for action, codes in actions.items():
        if action.upper() not in ExitAction.__members__:
            raise ValueError(f"'{action}' is not an exit action: {', '.join(ExitAction.__members__)}")
        if not EXIT_CODES.fullmatch(codes):
            raise ValueError(f"'{codes}' is not a list of exit codes for {action}: write 1-3,137, without spaces")
    return actions


def _unique_paths(files: list[File]) -> list[File]:
    paths = [file.path for file in files]
    duplicate = next((path for index, path in enumerate(paths) if path in paths[:index]), None)
    if duplicate is not None:
        raise ValueError(f"two files have the path '{duplicate}'")
    return files


def _some_command(command: list[str]) -> list[str]:
    if not command:
        raise ValueError("a task needs at least one command")
    return command


class TaskSpec(Texts):
    """A task of a workflow, which runs one container."""

    name: NamePattern
    image: str
    command: Annotated[list[str], AfterValidator(_some_command)]
    inputs: list[Input] = []
    outputs: list[Output] = []
    kpis: list[TaskKPI] = []
    args: list[str] = []
    lead: bool = False
    environment: Annotated[dict[str, str], BeforeValidator(_texts)] = {}
    files: Annotated[list[File], AfterValidator(_unique_paths)] = []
    privileged: bool = False
    hostNetwork: bool = False
    volumeMounts: list[str] = []
    credentials: Annotated[dict[str, str | dict[str, str]], BeforeValidator(_credentials)] = {}
    downloadType: Annotated[DownloadType | None, BeforeValidator(_download)] = None
    cacheSize: str | None = None
    exitActions: Annotated[dict[str, str], BeforeValidator(_texts), AfterValidator(_exit_actions)] = {}
    checkpoint: list[CheckpointSpec] = []
    resources: ResourceSpec = ResourceSpec()
    """Key `resources` of a task, which OSMO ignores. A task names its resources by the key `resource`."""
    backend: str = ""
    resource: str = DEFAULT_RESOURCE

    @field_validator("name", mode="before")
    @classmethod
    def _is_text(cls, name: Any) -> Any:
        """Raises Refusal for a name that YAML reads as a number, such as `.inf` or `.nan`. OSMO crashes when it changes
        the case of such a name.
        """
        if isinstance(name, float):
            raise crash(f"the name {name} is a number")
        return name

    @field_validator("name")
    @classmethod
    def _not_reserved(cls, name: str) -> str:
        if container_name(name) == CONTROL_CONTAINER:
            raise ValueError(f"'{name}' is the name of OSMO's own container")
        return name


class TaskGroupSpec(Strict):
    """Tasks that run at the same time. The group ends when its lead task ends."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True)

    name: NamePattern
    barrier: bool = True
    ignoreNonleadStatus: bool = True
    tasks: list[TaskSpec]

    @field_validator("tasks")
    @classmethod
    def _one_leads(cls, tasks: list[TaskSpec], info: ValidationInfo) -> list[TaskSpec]:
        if "name" not in info.data:
            return tasks  # the error is that of the name
        if not tasks:
            raise ValueError("a group needs at least one task")
        if len(tasks) == 1:
            tasks[0].lead = True
        leads = sum(task.lead for task in tasks)
        if leads != 1:
            raise ValueError(f"a group needs exactly one task with lead: true, this one has {leads}")
        return tasks

    @property
    def inputs(self) -> list[Input]:
        return [item for task in self.tasks for item in task.inputs]


class TimeoutSpec(Strict):
    """Longest running time and longest waiting time of a workflow; None for the pool's default."""

    exec_timeout: Span | None = None
    queue_timeout: Span | None = None


class WorkflowSpec(Strict):
    """A workflow of groups, or of single tasks, each of which becomes a group."""

    name: NamePattern
    pool: str = ""
    groups: list[TaskGroupSpec] = []
    tasks: list[TaskSpec] = []
    resources: dict[str, ResourceSpec] = {DEFAULT_RESOURCE: ResourceSpec()}
    timeout: TimeoutSpec = TimeoutSpec()
    backend: str = ""

    @model_validator(mode="after")
    def _tasks_or_groups(self) -> WorkflowSpec:
        if self.groups and self.tasks:
            raise ValueError("a workflow has either tasks or groups")
        if not self.groups and not self.tasks:
            raise ValueError("a workflow needs at least one task or group")
        known: dict[str, str] = {}
        for name in self.all_names:
            if object_name(name) in known:
                same = known[object_name(name)]
                raise ValueError(f"'{same}' and '{name}' are the same name: case, - and _ are not significant")
            known[object_name(name)] = name
        return self

    @property
    def all_names(self) -> list[str]:
        """Names of all tasks and groups. Each name may occur only once."""
        grouped = [name for group in self.groups for name in (group.name, *(task.name for task in group.tasks))]
        return [*(task.name for task in self.tasks), *grouped]

    @property
    def all_tasks(self) -> list[TaskSpec]:
        return [*self.tasks, *(task for group in self.groups for task in group.tasks)]


class VersionedWorkflowSpec(Strict):
    """The parts of a workflow file that OSMO keeps after rendering."""

    version: int = 2
    workflow: WorkflowSpec


def parse(document: Mapping[str, Any]) -> WorkflowSpec:
    """The workflow in a document `{workflow: …}`. Raises Refusal for an invalid workflow; the Refusal lists every wrong
    value.
    """
    try:
        return VersionedWorkflowSpec.model_validate(document).workflow
    except ValidationError as error:
        raise as_refusal(error, "OSMOUsageError") from None


def upstream(item: Input) -> str | None:
    """Name of the task of this workflow whose output an input needs; None for other inputs."""
    return item.task if isinstance(item, TaskInputOutput) and ":" not in item.task else None
