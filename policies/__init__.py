"""Rules over the resources of a stack.

`evaluate(stack)` gives the findings. The same rules judge a recording made by a test, a simulated stack and, as a
policy pack, what the engine is about to do.
"""

from __future__ import annotations

from collections.abc import Iterable

from policies import azure, declarations, model, node_pools
from policies.model import UNKNOWN, Finding, Options, Resource, Rule, Secret, Severity, Stack, Unknown, Violation

RULES: tuple[Rule, ...] = (*declarations.RULES, *node_pools.RULES, *azure.RULES)


def evaluate(stack: Stack, rules: Iterable[Rule] = RULES) -> list[Finding]:
    """Every finding over `stack`, in the order of the rules and then of the resources."""
    return model.evaluate(stack, rules)


__all__ = [
    "RULES",
    "UNKNOWN",
    "Finding",
    "Options",
    "Resource",
    "Rule",
    "Secret",
    "Severity",
    "Stack",
    "Unknown",
    "Violation",
    "evaluate",
]
