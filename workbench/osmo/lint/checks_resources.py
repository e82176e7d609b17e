"""Checks of the requests of tasks: platform, GPUs, CPU, memory, storage, placement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from physical_ai.catalog import nearest
from physical_ai.catalog.osmo import IMAGE_TAG, KAI_VERSION
from physical_ai.settings.facts.osmo import OsmoPlatformFacts
from workbench.osmo import units
from workbench.osmo.lint import rules_task
from workbench.osmo.lint.finding import Path
from workbench.osmo.lint.view import WORKFLOW, TaskView, View, gib
from workbench.osmo.pods.topology import placed
from workbench.osmo.refusal import Refusal
from workbench.osmo.shapes import a_map
from workbench.osmo.workflow.schema import DEFAULT_RESOURCE, ResourceSpec, TopologyRequirement

_KUBERNETES_UNITS = ("Ki", "Mi", "Gi", "Ti", "")
_READ_OTHERWISE = ("G", "M", "T")


def check(view: View) -> None:
    """Adds the findings of all checks in this module to the findings about the workflow."""
    for name, resource in view.spec.resources.items():
        _amounts(view, resource, (*WORKFLOW, "resources", name))
    seen: set[tuple[str, Path]] = set()
    for task in view.tasks:
        if task.resource is None:
            _unknown_resource(view, task)
            continue
        _cache(view, task)
        if (task.platform_name, task.resource_path) in seen:
            continue
        seen.add((task.platform_name, task.resource_path))
        if task.platform is None:
            _unknown_platform(view, task)
            continue
        _gpus(view, task, task.resource)
        _fits(view, task, task.resource)
        _placement(view, task, task.resource)
    _gangs(view)
    _topology(view)


def _gangs(view: View) -> None:
    """Reports groups whose tasks together request more GPUs of a platform than the platform's node pool can have."""
    for number, group in enumerate(view.spec.groups):
        asked: dict[str, int] = {}
        facts: dict[str, OsmoPlatformFacts] = {}
        for task in view.tasks:
            if task.group is group and task.facts is not None and task.resource is not None:
                asked[task.platform_name] = asked.get(task.platform_name, 0) + (task.resource.gpu or 0)
                facts[task.platform_name] = task.facts
        for platform, gpus in asked.items():
            known = facts[platform]
            most = known.nodes * known.per_node
            if known.has_gpu and gpus > most:
                problem = f"'{group.name}' requests {gpus} GPUs of platform '{platform}', whose pool has at most {most}"
                nodes = -(-gpus // known.per_node)
                fix = f"Use fewer tasks in the group, or set pools.{known.pool}.scale.max: {nodes}."
                view.add(rules_task.GANG_LIMIT, (*WORKFLOW, "groups", number, "name"), problem, fix)


def _amounts(view: View, resource: ResourceSpec, path: Path) -> None:
    for key in ("memory", "storage"):
        value = getattr(resource, key)
        amount = units.split_amount(value) if value else None
        if amount is None:
            continue
        if amount[1] in _READ_OTHERWISE:
            problem = f"{key}: OSMO reads {value} as {amount[0]}{amount[1]}i, Kubernetes as a decimal unit"
            view.add(rules_task.AMOUNT_UNIT, (*path, key), problem, f"{amount[0]}{amount[1]}i")
        elif amount[1] not in _KUBERNETES_UNITS:
            view.add(rules_task.AMOUNT_UNIT, (*path, key), f"{key}: Kubernetes does not have the unit {amount[1]}")


def _unknown_resource(view: View, task: TaskView) -> None:
    known = ", ".join(view.spec.resources) or "none"
    name = task.spec.resource
    if name == DEFAULT_RESOURCE:
        problem = f"'{task.name}' does not name a resource, and resource {DEFAULT_RESOURCE} does not exist"
        view.add(rules_task.RESOURCE_UNKNOWN, task.path, problem, f"Resources: {known}.")
    else:
        view.add(
            rules_task.RESOURCE_UNKNOWN,
            (*task.path, "resource"),
            f"resource '{name}' does not exist",
            f"Resources: {known}.",
        )


def _where(view: View, task: TaskView, key: str) -> Path:
    """Path of the key `key` in the resource that a task names. If the file does not define that resource: path of the
    task.
    """
    explicit = task.spec.resource in view.spec.resources and "resources" in view.spec.model_fields_set
    return (*task.resource_path, key) if explicit else task.path


def _unknown_platform(view: View, task: TaskView) -> None:
    known = list(view.pool.platforms)
    near = nearest(task.platform_name, known)
    platforms = f"Platforms of {view.context.name}: {', '.join(known)}."
    fix = f"Did you mean '{near}'?  {platforms}" if near else platforms
    elsewhere = [name for name in view.context.config.pool_names if _has(view, name, task.platform_name)]
    if elsewhere:
        fix = f"It belongs to OSMO pool {' and '.join(elsewhere)}: use --pool {elsewhere[0]}."
    view.add(
        rules_task.PLATFORM_UNKNOWN,
        _where(view, task, "platform"),
        f"platform '{task.platform_name}' does not exist",
        fix,
    )


def _has(view: View, pool: str, platform: str) -> bool:
    """True if the OSMO pool named `pool` has the platform; False also if OSMO cannot read that pool."""
    try:
        return platform in view.context.config.pool(pool).platforms
    except Refusal:
        return False


def _gpus(view: View, task: TaskView, resource: ResourceSpec) -> None:
    gpus = resource.gpu
    where = _where(view, task, "gpu")
    if gpus is not None and gpus < 0:
        view.add(rules_task.GPU_LIMIT, where, f"gpu: {gpus} is not a number of GPUs", "gpu: 1")
        return
    if not task.is_on_gpu_platform:
        if gpus:
            others = [name for name, item in view.context.facts.items() if item.has_gpu]
            fix = f"platform: {' or '.join(others)}" if others else None
            problem = f"'{task.name}' sets gpu: {gpus} on platform '{task.platform_name}', which has no GPUs"
            view.add(rules_task.GPU_ON_CPU, where, problem, fix)
        return
    if not gpus:
        platform = task.platform_name
        problem = f"'{task.name}' runs on platform '{platform}' and does not set the number of its GPUs"
        view.add(rules_task.GPU_EXPLICIT, where, problem)
    elif task.facts is not None and gpus > task.facts.most:
        has = f"a task may request at most {task.facts.most} {task.facts.resource} on platform '{task.platform_name}'"
        view.add(rules_task.GPU_LIMIT, where, f"gpu: {gpus}; {has}", f"gpu: {task.facts.most}")


def _fits(view: View, task: TaskView, resource: ResourceSpec) -> None:
    if task.facts is None:
        return
    room, node = task.facts.room, f"a node of pool {task.facts.pool}"
    if resource.cpu is not None and resource.cpu > room.cpus:
        problem = f"cpu: {resource.cpu}; {node} leaves {room.cpus} for a task"
        view.add(rules_task.NODE_LIMIT, _where(view, task, "cpu"), problem, f"cpu: {room.cpus} or less")
    elif resource.cpu is not None and resource.cpu < 1:
        view.add(
            rules_task.NODE_LIMIT, _where(view, task, "cpu"), f"cpu: {resource.cpu} is not a number of CPUs", "cpu: 1"
        )
    for key, limit in (("memory", room.memory_gib), ("storage", room.storage_gib)):
        value = getattr(resource, key)
        wanted = gib(value) if value else None
        if wanted is not None and wanted > limit:
            problem = f"{key}: {value}; {node} leaves {limit}Gi for a task"
            view.add(rules_task.NODE_LIMIT, _where(view, task, key), problem, f"{key}: {limit}Gi or less")
        elif wanted == 0:
            view.add(rules_task.NODE_LIMIT, _where(view, task, key), f"{key}: {value} is zero")
    _shared_memory(view, task, resource)


def _shared_memory(view: View, task: TaskView, resource: ResourceSpec) -> None:
    shm = view.variables(task).get("USER_SHM_SIZE")
    memory = gib(resource.memory) if resource.memory else None
    size = gib(str(shm)) if shm else None
    if task.gpus and memory is not None and size is not None and memory <= size:
        problem = f"memory: {resource.memory} is not above /dev/shm of platform '{task.platform_name}', {shm}"
        view.add(rules_task.SHARED_MEMORY, _where(view, task, "memory"), problem, f"More than {shm}.")


def _placement(view: View, task: TaskView, resource: ResourceSpec) -> None:
    template: Any = a_map(task.platform.parsed_pod_template) if task.platform else {}
    if resource.nodesExcluded and "USER_EXCLUDED_NODES" not in repr(template):
        problem = f"no template of platform '{task.platform_name}' applies nodesExcluded"
        view.add(rules_task.NODE_EXCLUSION, _where(view, task, "nodesExcluded"), problem)


def _cache(view: View, task: TaskView) -> None:
    size = task.spec.cacheSize
    if not size:
        return
    path = (*task.path, "cacheSize")
    if size.endswith("%"):
        try:
            percent = float(size[:-1])
        except ValueError:
            percent = -1.0
        if not 0 <= percent < 101:
            view.add(rules_task.CACHE_SIZE, path, f"'{size}' is not a percentage", "Example: 50%.")
        elif task.resource is not None and not task.resource.storage:
            view.add(rules_task.CACHE_SIZE, path, f"{size}: the resource has no storage of its own")
    elif gib(size) is None:
        view.add(rules_task.CACHE_SIZE, path, f"'{size}' is not an amount", "Example: 20Gi.")


def _topology(view: View) -> None:
    known = [key.key for key in view.pool.topology_keys]
    first: tuple[str, ...] | None = None
    for name, resource in view.spec.resources.items():
        if not resource.topology:
            continue
        path = (*WORKFLOW, "resources", name, "topology")
        for index, item in enumerate(resource.topology):
            if item.key not in known:
                problem = f"the pool does not have topology key '{item.key}'; it has: {', '.join(known) or 'none'}"
                view.add(rules_task.TOPOLOGY, (*path, index, "key"), problem)
        keys = tuple(sorted(item.key for item in resource.topology))
        if first is not None and keys != first and name in {task.spec.resource for task in view.tasks}:
            view.add(
                rules_task.TOPOLOGY,
                path,
                f"keys {', '.join(keys)}; another resource has {', '.join(first)}",
            )
        first = first or keys
    if all(item.key in known for resource in view.spec.resources.values() for item in resource.topology):
        _nested_subgroups(view)


def _nested_subgroups(view: View) -> None:
    """Reports groups that OSMO submits and the scheduler KAI refuses, because they have nested subgroups."""
    groups: dict[str, dict[str, Sequence[TopologyRequirement]]] = {}
    for task in (each for each in view.tasks if each.group and each.resource):
        own = task.resource.topology if task.resource else ()
        groups.setdefault(task.group.name if task.group else "", {})[task.spec.name] = own
    for number, group in enumerate(view.spec.groups):
        parents = placed(groups.get(group.name, {}), view.pool.topology_keys, "").parents
        if parents:
            problem = (
                f"tasks of group '{group.name}' are apart on two levels of the topology, so that"
                f" {', '.join(repr(each) for each in parents)} has parts of its own: KAI {KAI_VERSION} refuses the"
                f" group that OSMO {IMAGE_TAG} makes of it (minMember cannot be set on a mid-level SubGroup)"
            )
            view.add(
                rules_task.TOPOLOGY, (*WORKFLOW, "groups", number, "name"), problem, "Let them differ on one level."
            )
