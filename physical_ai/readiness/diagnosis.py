"""Reports about pools, made from Kubernetes objects: whether a pool offers its GPUs, and otherwise why not.

Pure functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from physical_ai.kubernetes.objects import is_ready, labels, name
from physical_ai.readiness import rollout
from physical_ai.readiness.amd_gates import AmdEvidence, AmdGates, is_amd
from physical_ai.readiness.claim_gates import ClaimGates
from physical_ai.readiness.evidence import Evidence
from physical_ai.readiness.fabric import lacks_fabric
from physical_ai.readiness.model import ClosedGate, Cluster, Expected, Json, Report
from physical_ai.readiness.node_gates import MIG_STRATEGY, NodeGates
from physical_ai.readiness.objects import allocatable, is_being_removed, pool_of
from physical_ai.readiness.ports import ports_cause
from physical_ai.readiness.slurmd import slurm_gate


def is_open(expected: Expected, node: Json) -> bool:
    """True for a node that is Ready and offers the expected resources; the Node object alone is enough to decide
    this.
    """
    offers_unusable_gpus = expected.needs_mig_ids and labels(node).get(MIG_STRATEGY) == "none"
    return is_ready(node) and _offers(expected, node) and not offers_unusable_gpus and not lacks_fabric(expected, node)


def _offers(expected: Expected, node: Json) -> bool:
    given = allocatable(node)
    if expected.by_claims and given.keys() - expected.resources:
        return False  # a device plugin on the node would offer the same GPUs a second time
    return all(given.get(resource, 0) == count for resource, count in expected.resources.items())


def nodes_of(expected: Expected, nodes: Iterable[Json]) -> list[Json]:
    """Nodes of the pool, sorted by name, without nodes that are being removed."""
    return sorted((node for node in nodes if pool_of(node) == expected.pool and not is_being_removed(node)), key=name)


def diagnose(expected: Sequence[Expected], cluster: Cluster) -> tuple[Report, ...]:
    """Reports for the pools, in the given order.

    If `cluster` contains only nodes, counts and states are correct, but causes are not.
    """
    evidence, amd = Evidence(cluster), AmdEvidence(cluster)
    waiting = rollout.pending(evidence)
    return tuple(_report(each, nodes_of(each, cluster.nodes), (evidence, amd), waiting) for each in expected)


def _closed(
    expected: Expected, node: Json, known: tuple[Evidence, AmdEvidence], waiting: Sequence[rollout.Pending]
) -> ClosedGate | None:
    evidence, amd = known
    if is_amd(expected):
        return None if is_open(expected, node) else AmdGates(expected, node, amd).first_closed()
    if is_open(expected, node):
        if found := ports_cause(expected, node, evidence.records(name(node))):
            return NodeGates(expected, node, evidence).closed("fabric", found[0], pod=None, message="", **found[1])
        closed = rollout.closed_gate(expected, node, evidence, waiting)
        if closed is None and expected.slurm:
            return slurm_gate(expected, node, evidence.slurm(name(node)))
        return closed
    gates = ClaimGates if expected.by_claims else NodeGates
    return gates(expected, node, evidence).first_closed()


def _report(
    expected: Expected, nodes: Sequence[Json], known: tuple[Evidence, AmdEvidence], waiting: Sequence[rollout.Pending]
) -> Report:
    offered: Counter[str] = Counter()
    for node in nodes:
        offered.update(allocatable(node))
    closed = tuple(gate for node in nodes if (gate := _closed(expected, node, known, waiting)) is not None)
    return Report(
        pool=expected.pool,
        driver_source=expected.driver_source,
        state="waiting" if closed else "ready" if nodes else "empty",
        nodes=len(nodes),
        expected={resource: count * len(nodes) for resource, count in expected.resources.items()},
        allocatable=dict(offered),
        closed=closed,
    )
