"""A workflow file taken through the steps of OSMO's submit, up to what would be handed to the cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from osmo_workflows import names, sandbox, schema
from osmo_workflows.assertions import split
from osmo_workflows.evaluation import evaluate, node_tokens
from osmo_workflows.models import PoolStatus, WorkflowPriority, as_refusal
from osmo_workflows.pools import Pool
from osmo_workflows.refusal import Refusal
from osmo_workflows.rendering import Rendered, Variables, load_yaml, render
from osmo_workflows.schema import DEFAULT_RESOURCE, ResourceSpec, TaskGroupSpec, TaskSpec, WorkflowSpec
from osmo_workflows.service import Configuration
from osmo_workflows.spec_data import DatasetInputOutput, Input, Output, UpdateDatasetOutput, URLInputOutput
from osmo_workflows.tokens import default_variables, resource_tokens
from osmo_workflows.topology import check_uniform

Nodes = Mapping[str, Sequence[Mapping[str, Any]]]
"""Nodes of each platform: what each has free for a task, as {cpu, gpu, memory, storage}."""


@dataclass(frozen=True)
class Options:
    """What comes with the file: the pool, variables, and what the service knows of the user."""

    pool: str = "default"
    variables: Variables = field(default_factory=Variables)
    priority: WorkflowPriority = WorkflowPriority.NORMAL
    nodes: Nodes = field(default_factory=dict[str, Sequence[Mapping[str, Any]]])
    credentials: Mapping[str, Mapping[str, str]] | None = None
    """Keys and values of the user's credentials by name; None where they are not known, and nothing is said of them."""


@dataclass(frozen=True)
class Submission:
    """A workflow that OSMO takes."""

    spec: WorkflowSpec
    """As in the file."""
    groups: list[TaskGroupSpec]
    """Tasks with their resources and the user's environment, each in a group."""
    pool: Pool
    rendered: Rendered


def submit(text: str, config: Configuration, options: Options) -> Submission:
    """The file through all steps. Raises Refusal with the stage it ends at."""
    pool = _read_pool(config, options.pool)
    rendered = render(text, options.variables, limit_of(config))
    spec = schema.parse(load_yaml(rendered.text))
    groups = accepted(spec, config, pool, options)
    return Submission(spec, groups, pool, rendered)


def limit_of(config: Configuration) -> sandbox.Limit:
    """What the configuration lets rendering take."""
    limits = config.workflow.user_workflow_limits
    return sandbox.Limit(limits.jinja_sandbox_max_time, limits.jinja_sandbox_memory_limit)


def _read_pool(config: Configuration, name: str) -> Pool:
    try:
        return config.pool(name)
    except Refusal as refusal:
        raise refusal.at("pool") from None


def accepted(spec: WorkflowSpec, config: Configuration, pool: Pool, options: Options) -> list[TaskGroupSpec]:
    """The steps after the schema: groups with resources and environment, datasets with buckets. Raises Refusal."""
    copied = spec.model_copy(deep=True)
    _set_buckets(copied, config)
    _set_environment(copied, options.variables.environment)
    groups = _grouped(copied, pool)
    if sum(len(group.tasks) for group in groups) > config.workflow.max_num_tasks:
        raise Refusal("OSMOUserError", f"more than {config.workflow.max_num_tasks} tasks", stage="limits")
    try:
        _validate(copied.name, groups, config, pool, options)
    except Refusal as refusal:
        raise refusal.at("validate") from None
    return groups


def _set_buckets(spec: WorkflowSpec, config: Configuration) -> None:
    """Datasets without a bucket get the service's default one."""
    for task in spec.all_tasks:
        for item in (*task.inputs, *task.outputs):
            if isinstance(item, URLInputOutput) or not isinstance(item, DatasetInputOutput | UpdateDatasetOutput):
                continue
            target = item.dataset if isinstance(item, DatasetInputOutput) else item.update_dataset
            if names.dataset(target.name).bucket:
                continue
            if not config.dataset.default_bucket:
                problem = f"{task.name}: dataset '{target.name}' names no bucket, and there is no default one"
                raise Refusal("OSMOUserError", problem, stage="datasets")
            target.name = f"{config.dataset.default_bucket}/{target.name}"


def _set_environment(spec: WorkflowSpec, assignments: Sequence[str]) -> None:
    given: dict[str, str] = {}
    for assignment in assignments:
        parts = assignment.split("=")
        if len(parts) < 2:
            raise Refusal("OSMOUsageError", f"'{assignment}' is no assignment: write NAME=value", stage="model")
        # OSMO takes what lies between the first and the second `=`.
        given[parts[0]] = parts[1]
    for task in spec.all_tasks:
        task.environment = {**task.environment, **given}


def _grouped(spec: WorkflowSpec, pool: Pool) -> list[TaskGroupSpec]:
    """All groups, each task with its resources and their platform. Raises Refusal with stage `parse`."""
    try:
        own = [TaskGroupSpec(name=f"{task.name}-group", tasks=[task]) for task in spec.tasks]
        groups = [*spec.groups, *own]
        _check_order(groups)
        _fill_platforms(spec.resources, pool)
        _check_topology_keys(spec.resources, pool)
        for group in groups:
            for task in group.tasks:
                task.resources = _resource(spec.resources, task)
        # Names are looked at once more, now with those of the groups that were made of tasks.
        WorkflowSpec(name=spec.name, groups=groups, resources=spec.resources)
    except ValidationError as error:
        raise as_refusal(error, "OSMOUsageError").at("parse") from None
    except Refusal as refusal:
        raise refusal.at("parse") from None
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
                raise Refusal("OSMOSubmissionError", f"{group.name}: there is no task '{task}' to take an input from")
            if home[task] not in before:
                raise Refusal("ValueError", f"{group.name}: its input '{task}' has to come before it in the file")
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
        for wanted in resource.topology:
            if wanted.key not in known:
                told = ", ".join(known) or "none"
                problem = f"resource '{name}': topology key '{wanted.key}' is not one of the pool's: {told}"
                raise Refusal("OSMOSubmissionError", problem)


def _resource(resources: Mapping[str, ResourceSpec], task: TaskSpec) -> ResourceSpec:
    found = resources.get(task.resource)
    if found is None:
        what = f"there is no resource '{task.resource}'"
        hint = f"; it names none, so there has to be one called {DEFAULT_RESOURCE}"
        raise Refusal("OSMOResourceError", f"{task.name}: {what}{hint if task.resource == DEFAULT_RESOURCE else ''}")
    return found


def _validate(name: str, groups: Sequence[TaskGroupSpec], config: Configuration, pool: Pool, options: Options) -> None:
    longest = config.workflow.workflow_info.max_name_length
    for item in (name, *(part for group in groups for part in (group.name, *(task.name for task in group.tasks)))):
        if len(item) > longest:
            raise Refusal("OSMOUserError", f"'{item}' is longer than {longest} characters")
    if pool.status is PoolStatus.MAINTENANCE:
        raise Refusal("OSMOUsageError", f"pool '{pool.name}' is in maintenance")
    _check_guarantee(groups, pool, options.priority)
    check_uniform([task for group in groups for task in group.tasks], pool)
    for task in (task for group in groups for task in group.tasks):
        check_resources(task, pool, options.nodes)
        check_privileges(task, pool)
    for task in (task for group in groups for task in group.tasks):
        names.image(task.image)
        _check_data(task, config)
        _check_credentials(task, options.credentials)


def _check_guarantee(groups: Sequence[TaskGroupSpec], pool: Pool, priority: WorkflowPriority) -> None:
    guarantee = pool.resources.gpu.guarantee if pool.resources.gpu else -1
    if priority is WorkflowPriority.LOW or guarantee == -1:
        return
    for group in groups:
        wanted = sum(task.resources.gpu or 0 for task in group.tasks)
        if wanted > guarantee:
            problem = f"{group.name} wants {wanted} GPUs, pool '{pool.name}' guarantees {guarantee}: submit it as LOW"
            raise Refusal("OSMOUsageError", problem)


def check_resources(task: TaskSpec, pool: Pool, nodes: Nodes | None = None) -> None:
    """A task's resources against its platform's validations. Raises Refusal.

    Without `nodes`, validations about nodes are left out: nothing is known of any.
    """
    name = task.resources.platform or ""
    if name not in pool.platforms:
        known = ", ".join(pool.platforms)
        raise Refusal("OSMOResourceError", f"{task.name}: pool '{pool.name}' has no platform '{name}', but: {known}")
    platform = pool.platforms[name]
    variables = default_variables(pool.common_default_variables, platform.default_variables)
    tokens = resource_tokens(task.resources.model_dump(), variables, task.cacheSize)
    static, about_nodes = split(platform.parsed_resource_validations)
    for assertion in static:
        try:
            evaluate(assertion, tokens, task.name)
        except Refusal as refusal:
            if refusal.kind == "AssertionError":
                raise Refusal("OSMOUserError", refusal.message) from None
            raise
    if not about_nodes or nodes is None:
        return
    if name not in nodes:
        raise Refusal("OSMOResourceError", f"There are no resources in platform {name} and pool {pool.name}!")
    reasons: list[str] = []
    for node in nodes[name]:
        free = node_tokens({pool.name: {name: node}}, {}, pool.name, name)
        try:
            for assertion in about_nodes:
                evaluate(assertion, {**free, **tokens}, task.name)
            return
        except Refusal as refusal:
            if refusal.kind != "AssertionError":
                raise
            reasons.append(refusal.message)
    raise Refusal("OSMOResourceError", f"{task.name} fits no node: {'; '.join(reasons)}")


def check_privileges(task: TaskSpec, pool: Pool) -> None:
    """What the platform has to allow: privileged, host network, folders of the node. Raises Refusal."""
    platform = pool.platforms[task.resources.platform or ""]
    if task.privileged and not platform.privileged_allowed:
        raise Refusal("OSMOResourceError", f"{task.name}: platform '{task.resources.platform}' allows no privileged")
    if task.hostNetwork and not platform.host_network_allowed:
        raise Refusal("OSMOResourceError", f"{task.name}: platform '{task.resources.platform}' allows no hostNetwork")
    for mount in task.volumeMounts:
        parts = mount.split(":")
        if len(parts) > 2 or parts[1:] == [""]:
            raise Refusal("OSMOResourceError", f"{task.name}: '{mount}' is no mount: write /source or /source:/target")
        if parts[0] not in (*platform.allowed_mounts, *platform.default_mounts):
            platform_name = task.resources.platform
            raise Refusal("OSMOResourceError", f"{task.name}: platform '{platform_name}' allows no mount {parts[0]}")


def _check_data(task: TaskSpec, config: Configuration) -> None:
    for item in task.inputs:
        _check_source(task, item, config, writes=False)
    for item in task.outputs:
        _check_source(task, item, config, writes=True)


def _check_source(task: TaskSpec, item: Input | Output, config: Configuration, *, writes: bool) -> None:
    if isinstance(item, URLInputOutput):
        if not names.is_storage(item.url):
            raise Refusal("OSMOError", f"{task.name}: '{item.url}' is no address of s3, gs, azure, swift or tos")
        return
    if not isinstance(item, DatasetInputOutput | UpdateDatasetOutput):
        return
    name = item.dataset.name if isinstance(item, DatasetInputOutput) else item.update_dataset.name
    bucket = names.dataset(name).bucket
    found = config.dataset.buckets.get(bucket)
    if found is None:
        raise Refusal("OSMOServerError", f"{task.name}: the service knows no bucket '{bucket}'")
    if writes and not re.search("write", found.mode):
        raise Refusal("OSMOUsageError", f"{task.name}: bucket '{bucket}' is {found.mode}")
    if not writes and not re.search("read", found.mode):
        raise Refusal("OSMOUsageError", f"{task.name}: bucket '{bucket}' is {found.mode}")


def _check_credentials(task: TaskSpec, known: Mapping[str, Mapping[str, str]] | None) -> None:
    if known is None:
        return
    for name, target in task.credentials.items():
        if name not in known:
            raise Refusal("OSMOCredentialError", f"{task.name}: you have stored no credential '{name}'")
        if isinstance(target, dict):
            for key in target.values():
                if key not in known[name]:
                    told = ", ".join(known[name])
                    problem = f"{task.name}: credential '{name}' has no key '{key}', but: {told}"
                    raise Refusal("OSMOCredentialError", problem)
