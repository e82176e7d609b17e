"""Scope of a change: which work and which node pools it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.catalog.vendors import NVIDIA
from physical_ai.kubernetes.objects import at
from physical_ai.settings.facts.gpu import MIG_CONFIG_LABEL
from workbench.impact.changes import Change
from workbench.impact.grid import installs
from workbench.impact.pools import PoolFacts
from workbench.impact.ways import Scope, object_name
from workbench.impact.work import Work


def pool_name(change: Change) -> str:
    """Name of the AKS node pool that a change is about."""
    inputs = change.old or change.new
    return str(inputs.get("agentPoolName") or change.name)


def selects(change: Change, pool: PoolFacts) -> bool:
    """True if the object of the change selects this pool's nodes: an NVIDIADriver, a DeviceConfig of AMD's operator, or
    a NicClusterPolicy.

    Only labels that the pool's settings declare are compared with the object's selector. Other labels, such as those of
    Node Feature Discovery, are assumed to match. An object without a selector selects all nodes.
    """
    set_by_aks = {"agentpool": pool.name, "kubernetes.azure.com/agentpool": pool.name, DRIVER_LABEL: pool.driver}
    labels = {**set_by_aks, **pool.labels}
    terms = _terms(at(change.old or change.new, "spec") or {})
    return not terms or any(
        all(key not in labels or labels[key] in values for key, values in term.items()) for term in terms
    )


def _terms(spec: Mapping[str, Any]) -> list[dict[str, Sequence[str]]]:
    """Alternatives of a selector, each with the values that it allows by label."""
    for field in ("nodeSelector", "selector"):
        given = spec.get(field)
        if isinstance(given, Mapping):
            return [{str(key): (str(value),) for key, value in _items(given)}]
    path = "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    alternatives: list[Mapping[str, Any]] = at(spec, path) or []
    return [
        {str(each["key"]): tuple(map(str, each["values"])) for each in _expressions(term) if each["operator"] == "In"}
        for term in alternatives
    ]


def _items(given: Any) -> Iterable[tuple[Any, Any]]:
    return given.items()


def _expressions(term: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(term.get("matchExpressions") or ())


def _is_nvidias(pool: PoolFacts) -> bool:
    """True for a pool with GPUs of NVIDIA, or with GPUs whose vendor is not known."""
    return pool.gpus > 0 and pool.vendor in ("", NVIDIA.name)


_POOLS: Mapping[Scope, Callable[[Change, PoolFacts], bool]] = {
    "pool": lambda change, pool: pool.name == pool_name(change),
    "cluster": lambda _, __: True,
    "nvidia": lambda _, pool: _is_nvidias(pool),
    "nvidia-nodes": lambda _, pool: _is_nvidias(pool),
    "mig": lambda _, pool: _is_nvidias(pool) and MIG_CONFIG_LABEL in pool.labels,
    "driver": lambda change, pool: pool.driver == "operator" and selects(change, pool),
    "selected": lambda change, pool: pool.gpus > 0 and selects(change, pool),
    "grid": lambda change, pool: pool.driver == "grid" and installs(change, pool.name),
}
_WORK: Mapping[Scope, Callable[[Change, Work], bool]] = {
    "cluster": lambda _, __: True,
    "namespace": lambda change, work: work.namespace == object_name(change),
    "queue": lambda change, work: work.queue == object_name(change),
    "kai": lambda _, work: bool(work.queue),
    "workflows": lambda _, work: work.is_workflow,
    "claims": lambda _, work: work.by_claims,
}
_ON_GPUS = ("nvidia", "mig", "driver", "selected", "grid")
"""Scopes of changes that concern those Pods of a pool that hold GPUs. Whoever installs a driver leaves others alone."""


def concerns_pool(scope: Scope, change: Change, pool: PoolFacts) -> bool:
    """True if the change concerns nodes of the pool."""
    return scope in _POOLS and _POOLS[scope](change, pool)


def concerns_work(scope: Scope, change: Change, work: Work, pool: PoolFacts | None) -> bool:
    """True if a Pod is in the scope of a change. `pool`: pool of the Pod's node; None for a Pod without a node, or on a
    node of no known pool.
    """
    if scope in _WORK:
        return _WORK[scope](change, work)
    if scope in _ON_GPUS and not work.gpus:
        return False
    if scope == "driver" and change.op == "update" and work.keeps_driver:
        return False
    if pool is not None:
        return concerns_pool(scope, change, pool)
    if scope == "nvidia":
        return work.vendor in ("", NVIDIA.name)
    return scope == "mig" and work.has_mig
