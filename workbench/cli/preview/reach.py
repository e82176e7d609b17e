"""Comparison of a stack's connections before and after a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from workbench.cli.changes import Run
from workbench.policies import Resource, Stack
from workbench.policies.flows.declared import FLOWS
from workbench.policies.flows.judging import Judgement, judge, state_of
from workbench.policies.flows.paths import ways
from workbench.policies.flows.world import read

LOST, MADE = ("delete", "delete-replaced"), ("create",)


def changed(declared: Stack, run: Run) -> list[dict[str, Any]]:
    """Connections that the change opens or closes, as data. Connections that are in a wrong state after the change come
    first.

    A connection is left out if one of its ends exists only before or only after the change. `declared.yaml` requires
    some flows only for isolated namespaces. These flows are always compared, but are wrong only if the namespace is
    isolated after the change.
    """
    old, new = _connections(before(declared, run)), _connections(declared)
    broken = {_key(each) for each in judge(declared) if not each.holds}
    rows = [
        _row(old[key], each, holds=key not in broken)
        for key, each in new.items()
        if key in old and old[key].way.verdict.open is not each.way.verdict.open
    ]
    return sorted(rows, key=lambda row: row["holds"])


def _connections(stack: Stack) -> dict[tuple[object, ...], Judgement]:
    world = read(stack.resources)
    found = [Judgement(flow, way) for flow in FLOWS for way in ways(world, replace(flow, where=""))]
    return {_key(each): each for each in found}


def _key(judged: Judgement) -> tuple[object, ...]:
    flow = judged.flow
    return flow.source, flow.target, judged.way.target, judged.way.port, flow.protocol, flow.must


def _row(old: Judgement, new: Judgement, *, holds: bool) -> dict[str, Any]:
    return {
        "from": new.flow.source,
        "to": new.flow.target,
        "target": new.way.target,
        "port": new.way.port,
        "before": state_of(old),
        "after": state_of(new),
        "by": new.way.verdict.by,
        "byBefore": old.way.verdict.by,
        "must": new.flow.must.value,
        "holds": holds,
        "why": new.flow.why,
    }


def before(declared: Stack, run: Run) -> Stack:
    """The stack as it was declared before a run: the run's changes are reverted, resource by resource."""
    steps = {(each.type, each.name): each for each in run.changed() if each.op not in LOST}
    kept: list[Resource] = []
    for resource in declared.resources:
        step = steps.get((resource.type, resource.name))
        if step is None or not resource.custom:
            kept.append(resource)
        elif step.op not in MADE:
            kept.append(replace(resource, inputs=step.old))
    return replace(declared, resources=(*kept, *_deleted(declared, run)))


def _deleted(declared: Stack, run: Run) -> Iterator[Resource]:
    known: Mapping[tuple[str, str], Resource] = {(each.type, each.name): each for each in declared.resources}
    for step in run.changed():
        if step.op in LOST and (step.type, step.name) not in known:
            yield Resource(step.type, step.name, step.old, urn=step.urn)
