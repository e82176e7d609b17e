"""The scheduler's objects that OSMO keeps for a backend: queues and topologies of its pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from physical_ai.catalog.osmo import KAI_QUEUE_API
from physical_ai.osmo.pods.objects import queue_name
from physical_ai.osmo.service.pools import Pool, PoolResourceCountable

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
        "apiVersion": KAI_QUEUE_API,
        "kind": "Queue",
        "metadata": {"name": name, "labels": {NAMESPACE_LABEL: namespace}},
        "spec": spec,
    }


def _shares(gpus: PoolResourceCountable) -> dict[str, Any]:
    unlimited = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    own = {"quota": gpus.guarantee, "limit": gpus.maximum, "overQuotaWeight": gpus.weight}
    return {"gpu": own, "cpu": dict(unlimited), "memory": dict(unlimited)}
