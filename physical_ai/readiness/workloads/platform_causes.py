"""Explanations that name software of the platform as the cause of a problem: a Pod, node or workflow depends on an
object that is missing, switched off or unavailable.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from parts.amd import names as amd
from physical_ai.catalog import osmo
from physical_ai.kubernetes.objects import Json, labels
from physical_ai.readiness.objects import pool_of
from physical_ai.readiness.platform.absence import Absence
from physical_ai.readiness.platform.parts import PRESENT
from physical_ai.readiness.platform.remedies import remedy
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import DeclaredPool, Explanation
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE

SCHEDULING = frozenset({osmo.KAI_NAMESPACE})
WORKFLOWS = frozenset({osmo.OPERATOR_NAMESPACE, osmo.CONTROL_NAMESPACE, osmo.WORKFLOWS_NAMESPACE, *SCHEDULING})
EFFECTS = {
    osmo.KAI_NAMESPACE: "Pods and workflows of KAI's queues do not start",
    osmo.OPERATOR_NAMESPACE: "workflows make no progress",
    osmo.CONTROL_NAMESPACE: "workflows make no progress",
    osmo.WORKFLOWS_NAMESPACE: "Pods of workflows are not created",
    OPERATOR_NAMESPACE: "nodes that join or restart lack what it does",
    amd.NAMESPACE: "nodes with AMD's GPUs that join or restart lack what it does",
}
"""Effect of an absent object of the platform, by the namespace of the software that needs the object."""
_STAGES = {**dict.fromkeys(WORKFLOWS, "osmo"), osmo.KAI_NAMESPACE: "gang"}


def all_parts(index: Index, *, agents_named: bool) -> Iterator[Explanation]:
    """Explanations for every object of the platform that is missing or switched off.

    Objects that exist but are unavailable are left out, because the explanations of owners cover them. With
    `agents_named`, OSMO's agents are left out too.
    """
    for found in index.absences:
        if found.state != "unavailable" and not (agents_named and is_agent(found)):
            yield _explained(_subject(found), found, index)


def parts_of(item: str, areas: Collection[str], index: Index) -> Iterator[Explanation]:
    """Explanations of the problem of `item` (a Pod, workflow or pool) by objects of the platform that are missing,
    switched off or unavailable in the namespaces `areas`. OSMO's agents are left out, since they have causes of their
    own.
    """
    for found in index.absences:
        if found.part.area in areas and not is_agent(found):
            yield _explained(item, found, index)


def parts_of_node(item: str, node: Json, index: Index) -> Iterator[Explanation]:
    """Explanations of a GPU node's problem by missing or switched-off objects of the GPU Operator that serves the node.
    Unavailable objects are left out, because the node's gates or the objects' Pods explain them.
    """
    declared = next((each for each in index.given.pools if each.name == pool_of(node)), None)
    gpus = [*(declared.gpus if declared is not None else ()), *(["nvidia.com/"] if PRESENT in labels(node) else [])]
    return _of_gpus(item, gpus, index)


def parts_of_pool(declared: DeclaredPool, index: Index) -> Iterator[Explanation]:
    """Explanations for an empty pool by missing or switched-off objects that its future GPU nodes will need."""
    return _of_gpus(f"pool {declared.name}", list(declared.gpus), index)


def _of_gpus(item: str, gpus: Collection[str], index: Index) -> Iterator[Explanation]:
    areas = {OPERATOR_NAMESPACE} if any(each.startswith("nvidia.com/") for each in gpus) else set[str]()
    areas |= {amd.NAMESPACE} if any(each.startswith("amd.com/") for each in gpus) else set()
    for found in index.absences:
        if found.part.area in areas and found.state != "unavailable":
            yield _explained(item, found, index)


def named(wanted: str, index: Index) -> tuple[str, list[Explanation]] | None:
    """Title and explanations of the platform's object with the name `wanted` (NAME or NAMESPACE/NAME) that does not do
    its work; None if no such object has this name.
    """
    found = [each for each in index.absences if wanted in (each.part.name, f"{each.part.namespace}/{each.part.name}")]
    return (_subject(found[0]), [_explained(_subject(each), each, index) for each in found]) if found else None


def is_agent(found: Absence) -> bool:
    """True for a Deployment of OSMO's agents, which have causes of their own."""
    return found.part.kind == "Deployment" and found.part.area == osmo.OPERATOR_NAMESPACE


def _subject(found: Absence) -> str:
    kind, _, rest = found.part.title.partition(" ")
    return f"{kind.lower()} {rest}"


def _explained(item: str, found: Absence, index: Index) -> Explanation:
    facts: dict[str, Any] = {
        "part": found.part.title,
        "effect": found.effect or EFFECTS.get(found.part.area, "what it does is not done"),
        "remedy": remedy(found, index.given.stack),
    }
    stage = _STAGES.get(found.part.area, "node")
    return index.explanation(item, f"part-{found.state}", stage, found.evidence, found.where, **facts)
