"""Upgrades that AKS refuses, or stops half-way, because of disruption budgets. Pure functions.

AKS reads all budgets of the cluster first, and refuses the upgrade if one of them can never allow an eviction. Then it
drains node after node; at a node that it cannot drain the upgrade fails, with the nodes that it has not come to as they
were (MicrosoftDocs/azure-aks-docs fb060ab, upgrade-options.md, upgrade-aks-node-pools-rolling.md; the default
`undrainableNodeBehavior` is Schedule). A forced upgrade ignores budgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from physical_ai.readiness.upgrade_budgets import is_upgrade
from workbench.impact.changes import Change, changed
from workbench.impact.ways import Way
from workbench.impact.work import Work

AKS_KINDS = ("AgentPool", "ManagedCluster")
STOPS = "AKS stops at a node that it cannot drain, which may come before this Pod's node"


@dataclass(frozen=True)
class Budgets:
    """Disruption budgets, as AKS takes them for an upgrade that begins now.

    Attributes:
        refusing: Budgets that can never allow an eviction, each as a text with its reason.
        forced: True if the cluster's settings make upgrades ignore budgets.
    """

    refusing: tuple[str, ...] = ()
    forced: bool = False


NO_BUDGETS = Budgets()


def refusal(change: Change, budgets: Budgets) -> str:
    """Sentence about an upgrade that AKS refuses, without its final dot; empty for every other change."""
    if budgets.forced or not budgets.refusing or change.kind not in AKS_KINDS or change.op != "update":
        return ""
    if not changed(change) or not is_upgrade(change.old, change.new):
        return ""
    named = "; ".join(budgets.refusing)
    return f"AKS refuses the upgrade, and nothing of it happens, while a budget allows no eviction: {named}"


def ignoring_budgets(change: Change, way: Way, budgets: Budgets) -> Way:
    """The way as a forced upgrade takes it: the Pods of a node end whatever their budgets."""
    is_forced = budgets.forced and way.drain and change.kind in AKS_KINDS
    return way.model_copy(update={"drain": False}) if is_forced else way


def stopping(work: Sequence[Work], change: Change, way: Way, pool: str) -> frozenset[str]:
    """Nodes of the pool `pool` at which AKS stops the upgrade, since a budget keeps one of their Pods."""
    if change.kind != "AgentPool" or not way.drain or way.order != "one-by-one":
        return frozenset()
    return frozenset(each.node for each in work if each.budget and each.pool == pool and each.node)
