"""Effects of single operations on the fast model of a cluster (`tests.support.impact_world`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from physical_ai.nested import at
from tests.support.planned_changes import Planned

if TYPE_CHECKING:
    from tests.support.impact_world import World

NAMESPACE = "osmo-workflows"
CHANGE = "change"
REIMAGED = ("orchestratorVersion", "nodeImageVersion", "osSKU", "enableFIPS")
"""Properties of a pool for whose change AKS drains and reimages its nodes."""


def apply(world: World, step: Planned) -> None:
    """Makes one operation of an `up`."""
    effect = _EFFECTS.get(step.kind)
    if effect is not None and step.op != "create":
        effect(world, step)


def most(pool: Mapping[str, Any]) -> int:
    """Largest number of nodes that a pool can have."""
    return int(pool.get("maxCount") or 0) if pool.get("enableAutoScaling") else int(pool.get("count") or 0)


def _pool(world: World, step: Planned) -> None:
    name = str(step.old["agentPoolName"])
    nodes = world.of_pool(name)
    if step.op in ("delete", "replace"):
        world.remove(nodes, CHANGE)
        return
    if any(step.old.get(key) != step.new.get(key) for key in REIMAGED):
        world.end(world.on(nodes), CHANGE)
    added = set(step.new.get("nodeTaints") or ()) - set(step.old.get("nodeTaints") or ())
    if any(str(each).endswith(":NoExecute") for each in added):
        world.end(world.on(nodes), CHANGE)
    surplus = len(nodes) - most(step.new)
    if surplus > 0 and not step.new.get("enableAutoScaling"):
        world.remove(world.random.sample(nodes, surplus), CHANGE)


def _cluster(world: World, step: Planned) -> None:
    paths = ("networkProfile.networkPolicy", "networkProfile.networkDataplane", "networkProfile.networkPluginMode")
    if step.op != "update":
        world.remove(list(world.nodes), CHANGE)
    elif any(at(step.old, path) != at(step.new, path) for path in paths):
        world.end(list(world.pods.values()), CHANGE)


def _driver_object(world: World, step: Planned) -> None:
    if step.op != "update":
        pools = set(at(step.old, "spec.nodeSelector", {}).values())
        world.end([pod for pod in world.pods.values() if pod.pool in pools and pod.gpus and pod.node], CHANGE)


def _namespace(world: World, step: Planned) -> None:
    if step.op != "update" and at(step.old, "metadata.name") == NAMESPACE:
        world.end([pod for pod in world.pods.values() if pod.task], CHANGE)


_EFFECTS: Mapping[str, Callable[[World, Planned], None]] = {
    "AgentPool": _pool,
    "ManagedCluster": _cluster,
    "ResourceGroup": _cluster,
    "NVIDIADriver": _driver_object,
    "Namespace": _namespace,
}
