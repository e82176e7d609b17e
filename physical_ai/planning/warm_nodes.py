"""Objects that keep nodes of GPU pools ready: Pods of a low priority that hold whole nodes until work needs them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.images import MICROSOFT, PYTHON_IMAGE, image
from physical_ai.planning import manifests
from physical_ai.settings.facts.capacity import warm_name, warm_pools
from physical_ai.settings.facts.gpu import gpu_resources
from physical_ai.settings.facts.pools import pool_selector, tolerations
from physical_ai.settings.models.tree import Settings

NAME_LABEL = "app.kubernetes.io/instance"
"""Label of a Deployment's Pods; its value is the name of the Deployment."""


@dataclass(frozen=True)
class WarmNodes:
    """Objects for the nodes that are kept ready.

    Attributes:
        queue: KAI's Queue, whose kind KAI's release brings.
        objects: PriorityClass and Deployments.
    """

    queue: dict[str, Any]
    objects: list[dict[str, Any]]


def warm_nodes(settings: Settings) -> WarmNodes | None:
    """The objects of a stack; None if no pool keeps nodes ready."""
    wanted = warm_pools(settings)
    if not wanted:
        return None
    priority, queue, template = manifests.load("warm-nodes.yaml")
    return WarmNodes(queue, [priority, *(_deployment(template, settings, name) for name in wanted)])


def _deployment(template: dict[str, Any], settings: Settings, name: str) -> dict[str, Any]:
    """Deployment whose Pods each hold all GPUs of one node of a pool."""
    pool, found = settings.pools[name], copy.deepcopy(template)
    found["metadata"]["name"] = warm_name(name)
    own = {NAME_LABEL: found["metadata"]["name"]}
    pod = found["spec"]["template"]
    pod["metadata"]["labels"] |= own
    found["spec"] |= {"replicas": pool.capacity.warm, "selector": {"matchLabels": own}}
    pod["spec"] |= {"nodeSelector": pool_selector(name, pool), "tolerations": tolerations(pool)}
    gpus = {resource: str(count) for resource, count in gpu_resources(pool).items()}
    (container,) = pod["spec"]["containers"]
    container["image"] = image(PYTHON_IMAGE).at(MICROSOFT)
    for kind in ("requests", "limits"):
        container["resources"][kind] |= gpus
    return found
