"""Scope of a change: which work and which node pools it concerns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.kubernetes.objects import at
from workbench.impact.changes import Change
from workbench.impact.pools import PoolFacts
from workbench.impact.ways import Scope, object_name
from workbench.impact.work import Work


def pool_name(change: Change) -> str:
    """Name of the AKS node pool that a change is about."""
    inputs = change.old or change.new
    return str(inputs.get("agentPoolName") or change.name)


def selects(change: Change, pool: PoolFacts) -> bool:
    """True if the NVIDIADriver object of the change installs the driver on this pool's nodes.

    Only labels that the pool's settings declare are compared with the NVIDIADriver's node selector. Other labels, such
    as those of Node Feature Discovery, are assumed to match.
    """
    if pool.driver != "operator":
        return False
    selector: Mapping[str, Any] = at(change.old or change.new, "spec.nodeSelector") or {}
    set_by_aks = {"agentpool": pool.name, "kubernetes.azure.com/agentpool": pool.name, DRIVER_LABEL: pool.driver}
    labels = {**set_by_aks, **pool.labels}
    return all(labels[key] == value for key, value in selector.items() if key in labels)


_POOLS: Mapping[Scope, Callable[[Change, PoolFacts], bool]] = {
    "pool": lambda change, pool: pool.name == pool_name(change),
    "cluster": lambda _, __: True,
    "gpus": lambda _, pool: pool.gpus > 0,
    "driver": selects,
    "grid": lambda _, pool: pool.driver == "grid",
}
_WORK: Mapping[Scope, Callable[[Change, Work], bool]] = {
    "cluster": lambda _, __: True,
    "gpus": lambda _, work: work.gpus > 0,
    "namespace": lambda change, work: work.namespace == object_name(change),
    "queue": lambda change, work: work.queue == object_name(change),
    "kai": lambda _, work: bool(work.queue),
    "workflows": lambda _, work: work.is_workflow,
}


def concerns_pool(scope: Scope, change: Change, pool: PoolFacts) -> bool:
    """True if the change concerns nodes of the pool."""
    return scope in _POOLS and _POOLS[scope](change, pool)


def concerns_work(scope: Scope, change: Change, work: Work, pool: PoolFacts | None) -> bool:
    """True if a Pod is in the scope of a change. `pool`: pool of the Pod's node; None for a Pod without a node."""
    if scope in _WORK:
        return _WORK[scope](change, work)
    return pool is not None and concerns_pool(scope, change, pool)
