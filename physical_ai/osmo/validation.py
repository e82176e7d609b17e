"""What the service checks of a workflow before it keeps it: names, quota, resources, privileges, data, credentials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from physical_ai.osmo import names
from physical_ai.osmo.assertions import split
from physical_ai.osmo.evaluation import evaluate, node_tokens
from physical_ai.osmo.models import PoolStatus, WorkflowPriority
from physical_ai.osmo.pools import Pool
from physical_ai.osmo.refusal import Refusal
from physical_ai.osmo.rendering import Variables
from physical_ai.osmo.schema import TaskGroupSpec, TaskSpec
from physical_ai.osmo.service import Configuration
from physical_ai.osmo.spec_data import DatasetInputOutput, Input, Output, UpdateDatasetOutput, URLInputOutput
from physical_ai.osmo.tokens import default_variables, resource_tokens
from physical_ai.osmo.topology import check_uniform

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


def validate(
    name: str,
    groups: Sequence[TaskGroupSpec],
    config: Configuration,
    pool: Pool,
    options: Options,
    *,
    offline: bool = False,
) -> None:
    """All that the service looks at before it keeps a workflow. Raises Refusal with the stage `validate`.

    `offline` leaves out what only a service knows: its buckets and its nodes.
    """
    try:
        _validate(name, groups, config, pool, options, offline=offline)
    except Refusal as refusal:
        raise refusal.at("validate") from None


def _validate(
    name: str,
    groups: Sequence[TaskGroupSpec],
    config: Configuration,
    pool: Pool,
    options: Options,
    *,
    offline: bool,
) -> None:
    longest = config.workflow.workflow_info.max_name_length
    for item in (name, *(part for group in groups for part in (group.name, *(task.name for task in group.tasks)))):
        if len(item) > longest:
            raise Refusal("OSMOUserError", f"'{item}' is longer than {longest} characters")
    if pool.status is PoolStatus.MAINTENANCE:
        raise Refusal("OSMOUsageError", f"pool '{pool.name}' is in maintenance")
    _check_guarantee(groups, pool, options.priority)
    check_uniform([task for group in groups for task in group.tasks], pool)
    for task in (task for group in groups for task in group.tasks):
        check_resources(task, pool, None if offline else options.nodes)
        check_privileges(task, pool)
    for task in (task for group in groups for task in group.tasks):
        names.image(task.image)
        _check_data(task, config, offline=offline)
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


def _check_data(task: TaskSpec, config: Configuration, *, offline: bool) -> None:
    sources: list[tuple[Input | Output, bool]] = [(item, False) for item in task.inputs]
    sources += [(item, True) for item in task.outputs]
    for item, writes in sources:
        if isinstance(item, URLInputOutput) or not offline:
            _check_source(task, item, config, writes=writes)


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
    if writes and "write" not in found.mode:
        raise Refusal("OSMOUsageError", f"{task.name}: bucket '{bucket}' is {found.mode}")
    if not writes and "read" not in found.mode:
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
