"""Causes of one node's problems for `why`, `doctor` and every other command that mentions them. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from physical_ai.kubernetes.objects import Json, name
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import Explanation
from physical_ai.readiness.workloads.node_causes import cordon, leaving, not_accepted, slurm_drain
from physical_ai.readiness.workloads.node_signs import explanation, findings


def of_node(node: Json, index: Index) -> Iterator[Explanation]:
    """Explanations of a node's problems: the removal of a node that is being removed, and the node's findings.

    For a node that is not being removed, also a cordon, a drain by Slurm, or a missing acceptance.
    """
    item = f"node {name(node)}"
    found = [explanation(item, each) for each in findings(name(node), index)]
    leaves = leaving(item, node, index)
    if leaves is not None:
        same = [each for each in found if each.cause == leaves.cause]
        signs = dict.fromkeys((leaves.evidence, *(sign for each in same for sign in each.signs)))
        yield replace(leaves, signs=tuple(signs), alerts=tuple(alert for each in same for alert in each.alerts))
        found = [each for each in found if each not in same]
    yield from found
    others = (cordon(item, node, index), slurm_drain(item, node, index), not_accepted(item, node, index))
    yield from (each for each in others if each is not None and leaves is None)
