"""Checks that OSMO makes before storing a workflow: names, quota, resources, privileges, data, credentials."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.osmo import names
from workbench.osmo.choices import LOW, NORMAL, PoolStatus
from workbench.osmo.refusal import Refusal
from workbench.osmo.service.configuration import Configuration
from workbench.osmo.service.evaluation import failure
from workbench.osmo.service.pools import Pool
from workbench.osmo.service.sections import DatasetConfig
from workbench.osmo.tokens import default_variables, resource_tokens
from workbench.osmo.workflow.schema import TaskGroupSpec, TaskSpec
from workbench.osmo.workflow.spec_data import URLInputOutput, dataset_name


def validate(
    name: str, groups: Sequence[TaskGroupSpec], config: Configuration, pool: Pool, priority: str = NORMAL
) -> None:
    """Raises Refusal if a workflow fails one of OSMO's checks before storing it. Checks that need OSMO's database are
    left out.
    """
    longest = config.workflow.workflow_info.max_name_length
    for item in (name, *(part for group in groups for part in (group.name, *(task.name for task in group.tasks)))):
        if len(item) > longest:
            raise Refusal("OSMOUserError", f"'{item}' is longer than {longest} characters")
    if pool.status is PoolStatus.MAINTENANCE:
        raise Refusal("OSMOUsageError", f"pool '{pool.name}' is in maintenance")
    if priority != LOW:
        _check_guarantee(groups, pool)
    _check_topology([task for group in groups for task in group.tasks], pool)
    for task in (task for group in groups for task in group.tasks):
        check_resources(task, pool)
        check_privileges(task, pool)
    for task in (task for group in groups for task in group.tasks):
        names.image(task.image)
        _check_addresses(task)
        _check_buckets(task, config.dataset)


def _check_guarantee(groups: Sequence[TaskGroupSpec], pool: Pool) -> None:
    guarantee = pool.resources.gpu.guarantee if pool.resources.gpu else -1
    if guarantee == -1:
        return
    for group in groups:
        requested = sum(task.resources.gpu or 0 for task in group.tasks)
        if requested > guarantee:
            guaranteed = f"pool '{pool.name}' guarantees {guarantee}"
            problem = f"{group.name} requests {requested} GPUs, but {guaranteed}: use priority LOW"
            raise Refusal("OSMOUsageError", problem)


def check_resources(task: TaskSpec, pool: Pool) -> None:
    """Raises Refusal if a task's resources do not meet a validation of its platform. Validations about nodes are left
    out.
    """
    name = task.resources.platform or ""
    if name not in pool.platforms:
        known = ", ".join(pool.platforms)
        raise Refusal("OSMOResourceError", f"{task.name}: pool '{pool.name}' has no platform '{name}', only: {known}")
    platform = pool.platforms[name]
    variables = default_variables(pool.common_default_variables, platform.default_variables)
    tokens = resource_tokens(task.resources.model_dump(), variables, task.cacheSize)
    for assertion in platform.parsed_resource_validations:
        if not assertion.is_about_nodes and (message := failure(assertion, tokens, task.name)):
            raise Refusal("OSMOUserError", message)


def check_privileges(task: TaskSpec, pool: Pool) -> None:
    """Raises Refusal if the platform does not allow a privilege of the task: privileged, host network, folders of the
    node.
    """
    name = task.resources.platform or ""
    platform = pool.platforms[name]
    denied = f"{task.name}: platform '{name}' does not allow"
    if task.privileged and not platform.privileged_allowed:
        raise Refusal("OSMOResourceError", f"{denied} privileged")
    if task.hostNetwork and not platform.host_network_allowed:
        raise Refusal("OSMOResourceError", f"{denied} hostNetwork")
    for mount in task.volumeMounts:
        source, *rest = mount.split(":")
        if len(rest) > 1 or rest == [""]:
            problem = f"{task.name}: '{mount}' is not a mount: write /source or /source:/target"
            raise Refusal("OSMOResourceError", problem)
        if source not in (*platform.allowed_mounts, *platform.default_mounts):
            raise Refusal("OSMOResourceError", f"{denied} the mount {source}")


def _check_addresses(task: TaskSpec) -> None:
    for item in (*task.inputs, *task.outputs):
        if isinstance(item, URLInputOutput) and not names.is_storage(item.url):
            raise Refusal("OSMOError", f"{task.name}: '{item.url}' is not an address of s3, gs, azure, swift or tos")


def _check_buckets(task: TaskSpec, config: DatasetConfig) -> None:
    """Raises Refusal if OSMO's configuration does not let the task read its input datasets, or write its output
    datasets, in their buckets. Each dataset's name must include the bucket.
    """
    for writes, items in ((False, task.inputs), (True, task.outputs)):
        for item in items:
            if (name := dataset_name(item)) is not None:
                try:
                    config.bucket(names.dataset(name).bucket, writes=writes)
                except Refusal as refusal:
                    raise Refusal(refusal.kind, f"{task.name}: {refusal.message}") from None


def check_stored(groups: Sequence[TaskGroupSpec]) -> None:
    """Raises Refusal if a task has a value that PostgreSQL cannot store in the type jsonb."""
    for task in (task for group in groups for task in group.tasks):
        if "\\u0000" in task.model_dump_json():
            raise Refusal(
                "OSMODatabaseError", f"{task.name}: a value has the character NUL, which OSMO's database refuses"
            )


def _check_topology(tasks: Sequence[TaskSpec], pool: Pool) -> None:
    """Raises Refusal if two tasks have topology requirements with different keys, or if the pool lacks one of the
    keys.
    """
    used = {tuple(sorted(item.key for item in task.resources.topology)) for task in tasks if task.resources.topology}
    if len(used) > 1:
        different = " and ".join(", ".join(keys) for keys in sorted(used))
        raise Refusal("OSMOResourceError", f"tasks use different topology keys: {different}")
    known = {key.key for key in pool.topology_keys}
    for keys in used:
        for key in keys:
            if key not in known:
                raise Refusal("OSMOResourceError", f"the pool does not have topology key '{key}'")
