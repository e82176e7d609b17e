"""Steps to the first Pod with a GPU: those of an empty deployment, from the declared resources and what they wait for,
and those of one more node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from physical_ai.catalog.node_steps import EMPTY_POOL, UNTIL_GPUS, NodeStep, node_step, node_step_names
from physical_ai.catalog.timings import timing
from workbench.first_gpu.model import Path, Range, Step, longest
from workbench.first_gpu.pools import GpuPool
from workbench.policies import Resource

OPERATORS = ("gpu-operator", "amd-gpu-operator")
"""Names of the releases that set up GPUs on nodes."""
LAST = "pod"
LAST_TITLE = "the Pod runs"
_BEFORE_NODES = ("autoscaler", "node")
_SET_UP = UNTIL_GPUS[0]
"""First step of a node that waits for the software of the deployment."""


@dataclass(frozen=True)
class Measured:
    """Minutes that a recording of the stack shows. They count in place of the catalogue's."""

    types: Mapping[str, Range] = field(default_factory=dict[str, Range])
    """Least and most minutes by resource type."""
    nodes: Mapping[tuple[str, str], Range] = field(default_factory=dict[tuple[str, str], Range])
    """Least and most minutes by pool and step of a node."""
    source: str = ""


NOTHING = Measured()


def label(resource: Resource) -> str:
    """Name of a resource for people and as key of its step: the last part of its type, and its name."""
    return f"{resource.type.rpartition(':')[2]} {resource.name}"


def waits_for(resource: Resource, created: Iterable[Resource]) -> list[str]:
    """Labels of the resources in `created` that a resource waits for: its dependencies, its provider and its parent."""
    waits = {*resource.options.depends_on, resource.options.provider.rpartition("::")[0], resource.options.parent}
    return [label(each) for each in created if each.urn in waits]


def set_up_gpus(resources: Iterable[Resource]) -> list[str]:
    """Labels of the resources that set up GPUs on nodes: the operators' releases, their drivers, and DaemonSets."""
    return [
        label(each)
        for each in resources
        if (each.type.endswith(":Release") and each.inputs.get("name") in OPERATORS)
        or each.type.endswith((":NVIDIADriver", ":DeviceConfig", "/v1:DaemonSet"))
    ]


def deployment(resources: Sequence[Resource], pool: GpuPool, measured: Measured = NOTHING) -> Path:
    """The longest path from nothing to the first Pod on a GPU of a pool. A pool that is created without nodes gets its
    first one from the autoscaler, for a Pod that is created when everything for it is there.
    """
    created = [each for each in resources if each.custom]
    steps = resource_steps(created, [pool], measured)
    own = next((label(each) for each in created if pool.resource and each.urn == pool.resource), None)
    ready = set_up_gpus(created)
    if own is not None and not pool.nodes:
        chain = _chain(pool, measured, node_step_names(), {"autoscaler": [own, *ready]})
    else:
        rest = [each for each in node_step_names() if each not in _BEFORE_NODES]
        chain = _created_with(pool, measured, rest, {_SET_UP: [*([own] if own else []), *ready]})
    return longest([*steps, *chain], LAST)


def one_more_node(pool: GpuPool, measured: Measured = NOTHING) -> Path:
    """The longest path from a Pod that waits for a GPU to this Pod on a new node of a pool. The node of an existing
    cluster is there already.
    """
    names = [each for each in node_step_names() if pool.resource or each not in _BEFORE_NODES]
    if not pool.autoscaled:
        names = [each for each in names if each != "autoscaler"]
    return longest(_chain(pool, measured, names, {}), LAST)


def resource_steps(created: Sequence[Resource], pools: Iterable[GpuPool], measured: Measured = NOTHING) -> list[Step]:
    """A step for each resource. A pool among `pools` that is created without nodes takes the time of an empty one."""
    empty = {each.resource: each for each in pools if not each.nodes}
    steps = ((each, _resource_step(each, created, measured)) for each in created)
    return [_emptied(step, empty[each.urn]) if each.urn in empty else step for each, step in steps]


def until_gpus(pool: GpuPool, measured: Measured = NOTHING) -> Range:
    """Least and most minutes until the nodes that a pool is created with offer their GPUs, after they have joined."""
    names = node_step_names()
    own = names[names.index(UNTIL_GPUS[0]) : names.index(UNTIL_GPUS[-1]) + 1]
    steps = _created_with(pool, measured, own, {})
    low, high = (round(sum(each.minutes[case] for each in steps), 1) for case in (0, 1))
    return low, high


def _resource_step(resource: Resource, created: Sequence[Resource], measured: Measured) -> Step:
    usual, needs = timing(resource.type), tuple(waits_for(resource, created))
    seen = measured.types.get(usual.type)
    if seen is not None:
        return Step(label(resource), label(resource), seen, "measured", measured.source, needs)
    known = "published" if usual.published else "estimate"
    return Step(label(resource), label(resource), usual.minutes, known, usual.source, needs)


def _emptied(step: Step, pool: GpuPool) -> Step:
    """The step that creates a pool, for a pool without nodes."""
    usual = node_step(EMPTY_POOL, pool.driver)
    assert usual is not None, "the row counts for every driver"
    return _of_row(step.key, step.title, usual, step.needs)


def _created_with(
    pool: GpuPool, measured: Measured, names: Iterable[str], waits: Mapping[str, Sequence[str]]
) -> list[Step]:
    """Steps of the nodes that a pool is created with. The catalogue's minutes of the pool include the driver that AKS
    installs.
    """
    chain = _chain(pool, measured, names, waits)
    return [_within_node(each) if pool.driver == "aks" and each.key == "driver" else each for each in chain]


def _within_node(step: Step) -> Step:
    return Step(step.key, f"{step.title}, within the creation of the node", (0, 0), step.known, step.source, step.needs)


def _chain(pool: GpuPool, measured: Measured, names: Iterable[str], waits: Mapping[str, Sequence[str]]) -> list[Step]:
    """Steps of a node, each after the one before it and after what `waits` has for it."""
    steps: list[Step] = []
    for name, usual in _rows(pool, names):
        needs = (*([steps[-1].key] if steps else []), *waits.get(name, ()))
        seen = measured.nodes.get((pool.name, name))
        if name == "driver" and pool.driver == "aks" and (pool.name, "node") in measured.nodes:
            seen = (0, 0)  # AKS installs the driver before the node is ready
        if seen is None:
            steps.append(_of_row(name, usual.title, usual, needs))
        else:
            steps.append(Step(name, usual.title, seen, "measured", measured.source, needs))
    last = (steps[-1].key,) if steps else ()
    return [*steps, Step(LAST, LAST_TITLE, (0, 0), "estimate", "", last)]


def _rows(pool: GpuPool, names: Iterable[str]) -> Iterator[tuple[str, NodeStep]]:
    for name in names:
        if (name == "mig" and not pool.mig) or (name == "acceptance" and not pool.accepted_first):
            continue
        if (usual := node_step(name, pool.driver)) is not None:
            yield name, usual


def _of_row(key: str, title: str, usual: NodeStep, needs: tuple[str, ...]) -> Step:
    return Step(key, title, usual.minutes, "published" if usual.published else "estimate", usual.source, needs)
