"""Selection of a cluster's nodes for an acceptance run. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai.catalog.acceptance import ACCEPTED_CONDITION
from physical_ai.kubernetes.objects import Json, at, is_ready, name
from physical_ai.readiness.objects import pool_of
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT
from workbench.health.acceptance.running import Target


class NoNodes(Exception):
    """Error if there is no node to check; the text says why."""


def choose(
    nodes: Sequence[Json], pools: Sequence[str], *, pool: str | None = None, node: str | None = None, new: bool = False
) -> list[Target]:
    """The selected nodes of the stack's GPU pools, sorted by name.

    Args:
        pools: Names of the stack's GPU pools.
        pool: Selects the nodes of this pool only.
        node: Selects this node only.
        new: True to select only nodes that have not passed: nodes with the taint, and nodes without a result, such as
            those that joined before the policy that sets the taint.

    Raises:
        NoNodes: there is no such pool or node, or none of the selected nodes is Ready.
    """
    if pool is not None and pool not in pools:
        raise NoNodes(f"the stack has no GPU pool {pool}; it has {', '.join(sorted(pools))}")
    known = sorted((each for each in nodes if pool_of(each) in pools), key=name)
    if node is not None and node not in map(name, known):
        raise NoNodes(f"no GPU pool of the stack has a node {node}; they have {', '.join(map(name, known)) or 'none'}")
    chosen = [each for each in known if pool in (None, pool_of(each)) and node in (None, name(each))]
    chosen = [each for each in chosen if not new or is_kept_out(each) or not is_accepted(each)]
    ready = [Target(each, pool_of(each)) for each in chosen if is_ready(each)]
    if chosen and not ready:
        raise NoNodes(f"{', '.join(map(name, chosen))}: not Ready; `physai why {name(chosen[0])}` shows why")
    return ready


def not_ready(nodes: Sequence[Json], targets: Sequence[Target], pools: Sequence[str]) -> list[str]:
    """Nodes of the pools that a run over all pools leaves out because they are not Ready."""
    taken = {name(each.node) for each in targets}
    return sorted(
        name(each) for each in nodes if pool_of(each) in pools and not is_ready(each) and name(each) not in taken
    )


def is_accepted(node: Mapping[str, Any]) -> bool:
    """True if the node passed its last acceptance run."""
    conditions: list[Json] = at(node, "status.conditions", [])
    return any(each["type"] == ACCEPTED_CONDITION and each["status"] == "True" for each in conditions)


def is_kept_out(node: Mapping[str, Any]) -> bool:
    """True for a node with the taint that keeps work away until the node has passed acceptance."""
    key = split_taint(NOT_ACCEPTED_TAINT)[0]
    taints: list[Json] = at(node, "spec.taints", [])
    return any(each["key"] == key for each in taints)
