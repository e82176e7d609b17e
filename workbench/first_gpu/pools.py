"""GPU pools of a stack with what decides how long their nodes take, from the declared resources or, for nodes that
exist, from the settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.hardware import machine
from physical_ai.catalog.lookup import UnknownName
from physical_ai.catalog.node_steps import DriverKind
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.catalog.vendors import AMD
from physical_ai.nested import at
from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import MIG_CONFIG_LABEL
from workbench.policies import Resource
from workbench.policies.model import known, known_map

ADMISSION = "gpu-nodes-not-accepted"
"""Name of the policy that keeps work off new nodes until they are accepted (manifests/node-admission.yaml)."""
POOL_TYPE, DRIVER_TYPE = ":AgentPool", ":NVIDIADriver"


@dataclass(frozen=True)
class GpuPool:
    """One GPU pool."""

    name: str
    size: str
    driver: DriverKind
    nodes: int
    """Number of nodes that the pool is created with."""
    autoscaled: bool
    mig: bool = False
    accepted_first: bool = False
    """True if a new node takes no work until it has passed acceptance (`health.admit: accepted`)."""
    resource: str = ""
    """URN of the pool; empty if its nodes exist before the stack."""
    most: int = 0
    """Largest number of nodes of the pool."""


def declared_pools(resources: Iterable[Resource]) -> list[GpuPool]:
    """The GPU pools among the resources, by name. A pool has GPUs if its nodes have the label of their driver."""
    kept = list(resources)
    precompiled = {pool for each in kept if each.type.endswith(DRIVER_TYPE) for pool in _precompiled(each.inputs)}
    admission = any(known(at(each.inputs, "metadata.name"), "") == ADMISSION for each in kept)
    found = [_pool(each, precompiled, admission) for each in kept if each.type.endswith(POOL_TYPE)]
    return sorted((each for each in found if each is not None), key=lambda each: each.name)


def existing_pools(settings: Settings) -> list[GpuPool]:
    """The GPU pools of a stack on an existing cluster, whose nodes nobody creates."""
    return [
        GpuPool(
            name,
            pool.sku,
            _kind(pool.driver.source.value, pool.sku, precompiled=settings.gpu_operator.driver.precompiled),
            nodes=pool.scale.initial_count,
            autoscaled=False,
            mig=pool.sharing.mig is not None,
            accepted_first=settings.health.admit == "accepted",
            most=pool.scale.most,
        )
        for name, pool in sorted(settings.pools.items())
    ]


def _pool(resource: Resource, precompiled: set[str], admission: bool) -> GpuPool | None:
    inputs = resource.inputs
    labels = known_map(inputs.get("nodeLabels"))
    if DRIVER_LABEL not in labels:
        return None
    name, size = str(known(inputs.get("agentPoolName"), resource.name)), str(known(inputs.get("vmSize"), ""))
    count = int(known(inputs.get("count"), 0))
    return GpuPool(
        name,
        size,
        _kind(str(labels[DRIVER_LABEL]), size, precompiled=name in precompiled),
        nodes=count,
        autoscaled=known(inputs.get("enableAutoScaling"), False) is True,
        mig=MIG_CONFIG_LABEL in labels,
        accepted_first=admission,
        resource=resource.urn,
        most=int(known(inputs.get("maxCount"), count)),
    )


def _precompiled(driver: Mapping[str, Any]) -> Iterator[str]:
    """Names of the pools for which an NVIDIADriver resource loads a precompiled driver."""
    if known(at(driver, "spec.usePrecompiled"), False) is True:
        selector = known_map(at(driver, "spec.nodeSelector"))
        yield from (str(value) for key, value in selector.items() if key.endswith("agentpool"))


def _kind(source: str, size: str, *, precompiled: bool) -> DriverKind:
    try:
        gpu = machine(size).gpu
    except UnknownName:
        gpu = None
    if gpu is not None and gpu.vendor == AMD and source == "operator":
        return "amd"
    match source:
        case "grid" | "aks" | "host":
            return source
        case _:
            return "precompiled" if precompiled else "operator"
