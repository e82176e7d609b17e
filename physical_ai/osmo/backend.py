"""What OSMO makes of a backend: the scheduler's queues, and what each node has left for tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from physical_ai.catalog.osmo import CONTROL_CONTAINER
from physical_ai.osmo.models import as_refusal
from physical_ai.osmo.objects import queue_name
from physical_ai.osmo.pools import Pool, PoolResourceCountable
from physical_ai.osmo.refusal import Refusal
from physical_ai.osmo.shapes import a_list, a_map
from physical_ai.osmo.units import convert, cpus

NAMESPACE_LABEL = "osmo.namespace"


def parent_queue(namespace: str) -> str:
    """KAI's queue above those of the pools."""
    return f"osmo-default-{namespace}"


def queues(namespace: str, pools: Sequence[Pool]) -> list[dict[str, Any]]:
    """Queue and Topology objects of a backend's pools: the parent, one a pool, and topologies of pools with keys."""
    objects = [_queue(parent_queue(namespace), namespace, {"resources": _shares(PoolResourceCountable())})]
    for pool in pools:
        gpus = pool.resources.gpu or PoolResourceCountable()
        spec = {"parentQueue": parent_queue(namespace), "resources": _shares(gpus)}
        objects.append(_queue(queue_name(namespace, pool.name), namespace, spec))
    for pool in pools:
        if pool.topology_keys:
            name = f"{queue_name(namespace, pool.name)}-topology"
            objects.append(
                {
                    "apiVersion": "kai.scheduler/v1alpha1",
                    "kind": "Topology",
                    "metadata": {"name": name, "labels": {NAMESPACE_LABEL: namespace, "osmo.pool": pool.name}},
                    "spec": {"levels": [{"nodeLabel": key.label} for key in pool.topology_keys]},
                }
            )
    return objects


def _queue(name: str, namespace: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.run.ai/v2",
        "kind": "Queue",
        "metadata": {"name": name, "labels": {NAMESPACE_LABEL: namespace}},
        "spec": spec,
    }


def _shares(gpus: PoolResourceCountable) -> dict[str, Any]:
    unlimited = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    own = {"quota": gpus.guarantee, "limit": gpus.maximum, "overQuotaWeight": gpus.weight}
    return {"gpu": own, "cpu": dict(unlimited), "memory": dict(unlimited)}


class _Amounts(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cpu: str = "0"
    memory: str = "0"
    ephemeral_storage: str = Field("1Gi", alias="ephemeral-storage")


def _amounts(cpu: str, memory: str, storage: str) -> _Amounts:
    return _Amounts.model_validate({"cpu": cpu, "memory": memory, "ephemeral-storage": storage})


class ControlResources(BaseModel):
    """What OSMO's own container takes of a node, as a template says; an unknown key breaks the accounting."""

    model_config = ConfigDict(extra="forbid")

    requests: _Amounts = _amounts("250m", "1Gi", "3Gi")
    limits: _Amounts = _amounts("500m", "16Gi", "3Gi")


def control_resources(template: Mapping[str, Any]) -> ControlResources:
    """Resources of osmo-ctrl in a merged pod template, or the built-in ones. Raises Refusal."""
    for container in map(a_map, a_list(a_map(template.get("spec")).get("containers"))):
        if container.get("name") == CONTROL_CONTAINER and "resources" in container:
            try:
                return ControlResources.model_validate(container["resources"])
            except ValidationError as error:
                raise as_refusal(error) from None
    return ControlResources()


def free_for_tasks(allocatable: Mapping[str, str], template: Mapping[str, Any]) -> dict[str, Any]:
    """What a node's allocatable leaves beside OSMO's own container: whole CPUs, memory in Ki, storage in bytes.

    Raises Refusal for amounts that are none.
    """
    try:
        return _free(allocatable, control_resources(template).requests)
    except ValueError as error:
        raise Refusal.of(error, "allocatable") from None


def _free(allocatable: Mapping[str, str], taken: _Amounts) -> dict[str, Any]:
    free: dict[str, Any] = dict(allocatable)
    if "cpu" in free:
        free["cpu"] = max(0, int(float(free["cpu"]) - cpus(taken.cpu)))
    if "nvidia.com/gpu" in free:
        free["nvidia.com/gpu"] = max(0, int(free["nvidia.com/gpu"]))
    if "ephemeral-storage" in free:
        left = convert(free["ephemeral-storage"], "B") - convert(taken.ephemeral_storage, "B")
        free["ephemeral-storage"] = max(0, int(left))
    if "memory" in free:
        free["memory"] = f"{max(0, int(convert(free['memory'], 'Ki') - convert(taken.memory, 'Ki')))}Ki"
    return free
