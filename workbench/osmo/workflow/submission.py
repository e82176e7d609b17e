"""Steps that OSMO takes when a workflow file is submitted, before it creates objects in the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from workbench.osmo import names
from workbench.osmo.choices import NORMAL
from workbench.osmo.refusal import Refusal, as_refusal, crash
from workbench.osmo.service.configuration import Configuration
from workbench.osmo.service.pools import Pool
from workbench.osmo.workflow import sandbox, schema
from workbench.osmo.workflow.schema import DEFAULT_RESOURCE, ResourceSpec, TaskGroupSpec, TaskSpec, WorkflowSpec
from workbench.osmo.workflow.spec_data import dataset_name, name_dataset
from workbench.osmo.workflow.validation import check_stored, validate

MOST_SECONDS, MOST_MEMORY = 1.0, 512 * 1024 * 1024
"""Limits on rendering a template during a check: seconds of CPU time, and bytes of memory. They hold even if the
checked configuration sets higher limits, since the author of the template may also have written the configuration.
"""


@dataclass(frozen=True)
class Submission:
    """A workflow that OSMO accepts, before and after OSMO changes it, with its pool and priority."""

    spec: WorkflowSpec
    """Workflow that the file describes, before OSMO changes it."""
    groups: list[TaskGroupSpec]
    """Groups of tasks, in which each task has its resources and the environment variables of `--set-env`. Each single
    task is in a group of its own.
    """
    pool: Pool
    priority: str = NORMAL


def limit_of(config: Configuration) -> sandbox.Limit:
    """The configuration's limits on rendering, but at most `MOST_SECONDS` and `MOST_MEMORY`."""
    limits = config.workflow.user_workflow_limits
    seconds, memory = limits.jinja_sandbox_max_time, limits.jinja_sandbox_memory_limit
    return sandbox.Limit(
        seconds if 0 < seconds < MOST_SECONDS else MOST_SECONDS, memory if 0 < memory < MOST_MEMORY else MOST_MEMORY
    )


def accepted(
    spec: WorkflowSpec, config: Configuration, pool: Pool, environment: Sequence[str] = (), priority: str = NORMAL
) -> list[TaskGroupSpec]:
    """The groups of a workflow after the steps with which OSMO accepts it, with resources and `environment`
    (NAME=value) set.

    Checks of datasets, credentials and nodes are left out, since they need OSMO's database. Raises Refusal if OSMO
    would not accept the workflow.
    """
    copied = spec.model_copy(deep=True)
    _set_environment(copied, environment)
    _name_buckets(copied, config)
    groups = _grouped(copied, pool)
    if sum(len(group.tasks) for group in groups) > config.workflow.max_num_tasks:
        raise Refusal("OSMOUserError", f"more than {config.workflow.max_num_tasks} tasks")
    validate(copied.name, groups, config, pool, priority)
    check_stored(groups)
    return groups


def _name_buckets(spec: WorkflowSpec, config: Configuration) -> None:
    """Adds the default bucket to the names of datasets without a bucket.

    A default bucket in a user's own profile is not known (NVIDIA/OSMO 6.3.1 src/service/core/workflow/objects.py,
    update_dataset_buckets).
    """
    for task in spec.all_tasks:
        for item in (*task.inputs, *task.outputs):
            name = dataset_name(item)
            if name is None or names.dataset(name).bucket:
                continue
            if not config.dataset.default_bucket:
                problem = f"{task.name}: dataset '{name}' names no bucket, and the configuration has no default one"
                raise Refusal("OSMOUserError", f"{problem}: write BUCKET/{name}")
            name_dataset(item, replace(names.dataset(name), bucket=config.dataset.default_bucket).full_name)


def _set_environment(spec: WorkflowSpec, assignments: Sequence[str]) -> None:
    given: dict[str, str] = {}
    for assignment in assignments:
        parts = assignment.split("=")
        if len(parts) < 2:
            raise Refusal("OSMOUsageError", f"'{assignment}' is not an assignment: write NAME=value")
        # OSMO uses the text between the first and the second `=`.
        given[parts[0]] = parts[1]
    for task in spec.all_tasks:
        task.environment = {**task.environment, **given}


def _grouped(spec: WorkflowSpec, pool: Pool) -> list[TaskGroupSpec]:
    """All groups of the workflow, in which each task has its resources and its platform. Raises Refusal if a task's
    resources or platform are not valid.
    """
    try:
        own = [TaskGroupSpec(name=f"{task.name}-group", tasks=[task]) for task in spec.tasks]
        groups = [*spec.groups, *own]
        _check_order(groups)
        _fill_platforms(spec.resources, pool)
        _check_topology_keys(spec.resources, pool)
        for group in groups:
            for task in group.tasks:
                task.resources = _resource(spec.resources, task)
        # Names are checked again, now with those of the groups that were created for tasks.
        WorkflowSpec(name=spec.name, groups=groups, resources=spec.resources)
    except ValidationError as error:
        raise as_refusal(error, "OSMOUsageError") from None
    return groups


def _check_order(groups: Sequence[TaskGroupSpec]) -> None:
    home = {task.name: group.name for group in groups for task in group.tasks}
    before: set[str] = set()
    for group in groups:
        for item in group.inputs:
            task = schema.upstream(item)
            if task is None:
                continue
            if task not in home:
                raise Refusal("OSMOSubmissionError", f"{group.name}: task '{task}' of an input does not exist")
            if home[task] not in before:
                raise crash(f"{group.name}: its input '{task}' must precede it in the file")
        before.add(group.name)


def _fill_platforms(resources: Mapping[str, ResourceSpec], pool: Pool) -> None:
    for name, resource in resources.items():
        if not resource.platform:
            if not pool.default_platform or pool.default_platform not in pool.platforms:
                problem = f"resource '{name}' has no platform, and the pool's default platform does not exist"
                raise Refusal("OSMOResourceError", problem)
            resource.platform = pool.default_platform


def _check_topology_keys(resources: Mapping[str, ResourceSpec], pool: Pool) -> None:
    known = [key.key for key in pool.topology_keys]
    for name, resource in resources.items():
        for item in resource.topology:
            if item.key not in known:
                keys = ", ".join(known) or "none"
                problem = f"resource '{name}': topology key '{item.key}' is not one of the pool's: {keys}"
                raise Refusal("OSMOSubmissionError", problem)


def _resource(resources: Mapping[str, ResourceSpec], task: TaskSpec) -> ResourceSpec:
    found = resources.get(task.resource)
    if found is None:
        what = f"resource '{task.resource}' does not exist"
        hint = f"; a task without a resource uses {DEFAULT_RESOURCE}"
        raise Refusal("OSMOResourceError", f"{task.name}: {what}{hint if task.resource == DEFAULT_RESOURCE else ''}")
    return found
