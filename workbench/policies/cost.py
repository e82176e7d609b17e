"""Rules that limit the cost of a development environment."""

from __future__ import annotations

from collections.abc import Iterable

from physical_ai.findings import Severity
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known
from workbench.policies.node_pools import AGENT_POOL

DEVELOPMENT = "dev"


def _spot_in_dev(resource: Resource, stack: Stack) -> Iterable[Violation]:
    if _applies(resource, stack) and known(resource.inputs.get("scaleSetPriority"), "Regular") == "Regular":
        yield Violation("scaleSetPriority", "set priority: Spot in the pool's settings")


def _empty_in_dev(resource: Resource, stack: Stack) -> Iterable[Violation]:
    if not _applies(resource, stack):
        return
    if known(resource.inputs.get("enableAutoScaling"), False) is not True:
        yield Violation("enableAutoScaling", "set scale: {min: 0, max: …} in the pool's settings")
    elif known(resource.inputs.get("minCount"), 0) != 0:
        yield Violation("minCount", "set scale.min: 0 in the pool's settings")


def _applies(resource: Resource, stack: Stack) -> bool:
    return stack.environment == DEVELOPMENT and "gpuProfile" in resource.inputs


RULES = (
    Rule(
        "spot-in-dev",
        Severity.WARNING,
        "Spot nodes cost a fraction of the regular price, and development can tolerate evictions.",
        _spot_in_dev,
        (AGENT_POOL,),
        topic=Topic.COST,
        link="https://learn.microsoft.com/azure/aks/spot-node-pool",
    ),
    Rule(
        "empty-in-dev",
        Severity.WARNING,
        "An idle GPU node costs as much as a busy one, and development uses it for a part of the week only.",
        _empty_in_dev,
        (AGENT_POOL,),
        topic=Topic.COST,
        link="https://learn.microsoft.com/azure/aks/cluster-autoscaler",
    ),
)
