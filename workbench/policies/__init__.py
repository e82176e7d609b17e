"""Policies: rules on the declared resources of a stack.

`evaluate(stack)` returns the findings. The tests record what the program declares for each stack, in previews and in
deployments, and evaluate the recordings. A `Stack` can be made from any other list of resources, too.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.policies import (
    azure,
    cost,
    data_logins,
    data_services,
    declarations,
    gateway,
    gpu,
    images,
    isolation,
    model,
    networks,
    node_pools,
    reliability,
    secrets,
    workloads,
)
from workbench.policies.flows import rules as flows
from workbench.policies.model import (
    UNKNOWN,
    Options,
    Resource,
    ResourceFinding,
    Rule,
    Secret,
    Stack,
    Topic,
    Unknown,
    Violation,
)

RULES: tuple[Rule, ...] = (
    *declarations.RULES,
    *node_pools.RULES,
    *gpu.RULES,
    *azure.RULES,
    *data_services.RULES,
    *data_logins.RULES,
    *images.RULES,
    *networks.RULES,
    *isolation.RULES,
    *gateway.RULES,
    *flows.RULES,
    *secrets.RULES,
    *reliability.RULES,
    *workloads.RULES,
    *cost.RULES,
)


def evaluate(stack: Stack, rules: Iterable[Rule] = RULES) -> list[ResourceFinding]:
    """All findings about a stack, in the order of the rules and then of the resources."""
    return model.evaluate(stack, rules)


__all__ = [
    "RULES",
    "UNKNOWN",
    "Options",
    "Resource",
    "ResourceFinding",
    "Rule",
    "Secret",
    "Stack",
    "Topic",
    "Unknown",
    "Violation",
    "evaluate",
]
