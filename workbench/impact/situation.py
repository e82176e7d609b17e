"""State of a cluster before a change: its work, its pools, and upgrades that run already. Nothing is changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.own_names import DRIVER_LABEL, ROLL_ANNOTATION
from physical_ai.catalog.vendors import VENDORS
from physical_ai.kubernetes.objects import annotations_of, at, labels, name
from physical_ai.readiness.objects import pool_of
from physical_ai.readiness.reader import Get, Missing, Unreachable, listed
from physical_ai.readiness.rollout import UPGRADE_STATE
from physical_ai.readiness.upgrade_budgets import PATH as BUDGETS
from physical_ai.readiness.upgrade_budgets import named
from workbench.impact.pools import PoolFacts
from workbench.impact.work import MIG_RESOURCE, Work, work_of

AT_REST = ("", "upgrade-done")
"""Values of the label about driver upgrades on a node without one (NVIDIA/k8s-operator-libs, pkg/upgrade)."""
FAILED = "upgrade-failed"


@dataclass(frozen=True)
class Situation:
    """State of a cluster at the time when it was read.

    Attributes:
        pools: Facts of the pools that its nodes name, by name: nodes, GPUs and labels. Azure knows more of its own.
        doubts: Sentences about what makes the judgement of a change less certain, without their final dots.
    """

    work: tuple[Work, ...]
    pools: Mapping[str, PoolFacts]
    doubts: tuple[str, ...] = ()
    refusing: tuple[str, ...] = ()
    """Disruption budgets that can never allow an eviction, each as a text with its reason."""


def read_situation(get: Get, platform: Collection[str]) -> Situation:
    """State of a cluster, from three list requests.

    A login that may not read disruption budgets gets a doubt in place of them.

    Args:
        platform: Namespaces of the platform itself, whose Pods do not count as work.

    Raises:
        Unreachable, Unusable: `get` raised it for Pods or nodes.
    """
    doubts: list[str] = []
    try:
        budgets = listed(get, BUDGETS)
    except (Missing, Unreachable) as problem:
        budgets = []
        doubts.append(f"disruption budgets could not be read, which keep Pods from a drain ({problem})")
    nodes = listed(get, "/api/v1/nodes")
    work = work_of(listed(get, "/api/v1/pods"), nodes, platform, budgets)
    return Situation(tuple(work), pools_of(nodes), (*doubts, *upgrades(nodes)), tuple(named(budgets)))


def pools_of(nodes: Sequence[Mapping[str, Any]]) -> dict[str, PoolFacts]:
    """Facts of the pools of these nodes, by name. Of several nodes the one with the most GPUs counts."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for node in nodes:
        if pool := pool_of(dict(node)):
            found.setdefault(pool, []).append(node)
    return {pool: _facts(pool, members) for pool, members in found.items()}


def _facts(pool: str, nodes: Sequence[Mapping[str, Any]]) -> PoolFacts:
    gpus, vendor = max(map(_gpus, nodes))
    own = labels(nodes[0])
    return PoolFacts(pool, len(nodes), gpus, driver=own.get(DRIVER_LABEL, ""), vendor=vendor, labels=own)


def _gpus(node: Mapping[str, Any]) -> tuple[int, str]:
    offered: Mapping[str, Any] = at(node, "status.allocatable", {}) or {}
    for vendor in VENDORS:
        keys = [key for key in offered if key == vendor.resource or key.startswith(MIG_RESOURCE)]
        amounts = [int(offered[key]) for key in keys if key.startswith(vendor.domain) and str(offered[key]).isdigit()]
        if sum(amounts):
            return sum(amounts), vendor.name
    return 0, ""


def upgrades(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences about driver upgrades that run or have failed, and about nodes that somebody has cordoned."""
    held = [name(node) for node in nodes if ROLL_ANNOTATION in annotations_of(node)]
    running = [name(node) for node in nodes if labels(node).get(UPGRADE_STATE, "") not in (*AT_REST, FAILED)]
    running = [each for each in running if each not in held]
    failed = [name(node) for node in nodes if labels(node).get(UPGRADE_STATE) == FAILED]
    cordoned = [name(node) for node in nodes if at(node, "spec.unschedulable") is True]
    cordoned = [each for each in cordoned if each not in (*running, *failed, *held)]
    found: list[str] = []
    if held:
        found.append(
            f"physai roll holds {_named(held)}: another driver reaches {'it' if len(held) == 1 else 'them'} in turn"
        )
    if running:
        found.append(f"an upgrade of drivers runs already on {_named(running)}, before that of this change can begin")
    if failed:
        found.append(f"an upgrade of drivers has failed on {_named(failed)}: no other one begins there before a repair")
    if cordoned:
        found.append(f"{_named(cordoned)} {'is' if len(cordoned) == 1 else 'are'} cordoned: no new Pod is placed there")
    return found


def _named(nodes: Sequence[str], most: int = 3) -> str:
    more = f" and {len(nodes) - most} more" if len(nodes) > most else ""
    return ", ".join(nodes[:most]) + more
