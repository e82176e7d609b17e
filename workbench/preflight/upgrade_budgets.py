"""Findings about PodDisruptionBudgets that make AKS refuse upgrades: budgets that a stack will create, and budgets in a
cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parts.slurm.names import WORKER_BUDGET
from parts.slurm.rules import BUDGET, BUDGET_FIX, refused_upgrades
from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings

TOPIC = "upgrade"
FIX = "Change the budget, or set cluster.upgrades.forceUntil to a time soon after an upgrade begins."


def declared(settings: Settings) -> Iterator[Finding]:
    """Findings about PodDisruptionBudgets that the stack's software will create according to the settings."""
    if problem := refused_upgrades(settings):
        yield Finding(Severity.WARNING, TOPIC, WORKER_BUDGET, problem, BUDGET_FIX, BUDGET.source)


def present(found: Sequence[str], where: str) -> Iterator[Finding]:
    """Findings about a cluster's PodDisruptionBudgets that make AKS refuse upgrades.

    `found`: texts that `blocking` returns about the budgets; empty if no budget prevents an upgrade.
    """
    for each in found:
        problem = f"AKS refuses every upgrade of Kubernetes and of node images because of {each} (UnsatisfiablePDB)."
        yield Finding(Severity.WARNING, TOPIC, each.partition(" ")[0], problem, FIX, where)
    if not found:
        yield Finding(Severity.OK, TOPIC, "disruption budgets", "each allows an eviction", None, where)
