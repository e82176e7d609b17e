"""Conversion of a real stack's preview, from the output of `pulumi preview --json` to the form of the simulator's
previews.

Source of the format: pulumi/pulumi, sdk/go/common/display (PreviewDigest, PreviewStep).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from physical_ai.nested import is_mapping
from physical_ai.settings.facts.capacity import warm_name
from workbench.cli.changes import Run, Step
from workbench.cli.preview.model import OPERATOR, Deployed

POOL, CLUSTER, RELEASE = "AgentPool", "ManagedCluster", "Release"
RESERVATION, DEPLOYMENT = "CapacityReservation", "Deployment"


def parsed(text: str) -> Mapping[str, Any]:
    """The output of `pulumi preview --json` as a map (Pulumi's PreviewDigest). Raises ValueError for anything else."""
    document: Any = json.loads(text)
    if not is_mapping(document) or not isinstance(document.get("steps"), list):
        raise ValueError("it has no list `steps`")
    return document


def run_of(digest: Mapping[str, Any]) -> Run:
    """The preview's steps in the form of a finished engine run."""
    run = Run()
    for row in _steps(digest):
        differences: Mapping[str, Any] = row.get("detailedDiff") or {}
        step = Step(
            urn=row["urn"],
            type=_state(row, "newState").get("type") or _state(row, "oldState").get("type") or "",
            op=row["op"],
            properties=tuple(sorted(differences or row.get("diffReasons") or ())),
            keys=tuple(row.get("replaceReasons") or ()),
            old=dict(_inputs(row, "oldState")),
            new=dict(_inputs(row, "newState")),
        )
        run.steps[step.urn, step.op] = step
    return run


def deployed(digest: Mapping[str, Any]) -> Deployed:
    """Facts about the real stack as deployed before the previewed changes."""
    version: str | None = None
    for row in _steps(digest):
        inputs = _inputs(row, "oldState")
        if _kind(row) == RELEASE and inputs.get("name") == OPERATOR:
            version = cast("str | None", inputs.get("version"))
    return Deployed(any(row.get("oldState") for row in _steps(digest)), version, tuple(_pools(digest)))


def nodes(digest: Mapping[str, Any]) -> dict[str, int]:
    """Number of nodes of each pool in the state. After `--refresh`, that is the number in Azure."""
    return {str(pool["name"]): int(pool.get("count") or 0) for pool in _pools(digest)}


def _pools(digest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    kept, seen = _without_work(digest), set[str]()
    for row in _steps(digest):
        inputs = _inputs(row, "oldState")
        outputs: Mapping[str, Any] = _state(row, "oldState").get("outputs") or {}
        if not inputs or row["urn"] in seen:
            continue
        seen.add(row["urn"])
        if _kind(row) == POOL:
            name, group = str(inputs["agentPoolName"]), str(inputs.get("capacityReservationGroupID") or "")
            machines = max(kept.get(group.rpartition("/")[2].lower(), 0), kept.get(warm_name(name), 0))
            count = outputs.get("count", inputs.get("count"))
            yield {**inputs, "name": name, "count": count, "withoutWork": machines}
        elif _kind(row) == CLUSTER:
            yield from inputs.get("agentPoolProfiles") or []


def _without_work(digest: Mapping[str, Any]) -> dict[str, int]:
    """Machines that are billed while nothing runs: reserved ones by their group's name in lower case, nodes that are
    kept ready by the name of the Deployment that keeps them.
    """
    found: dict[str, int] = {}
    for row in {row["urn"]: row for row in _steps(digest)}.values():
        inputs = _inputs(row, "oldState")
        if inputs and _kind(row) == RESERVATION:
            group = str(inputs["capacityReservationGroupName"]).lower()
            found[group] = found.get(group, 0) + int(inputs["sku"]["capacity"])
        elif inputs and _kind(row) == DEPLOYMENT:
            found[str(inputs["metadata"].get("name"))] = int(inputs["spec"].get("replicas") or 0)
    return found


def _steps(digest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return digest["steps"]


def _kind(row: Mapping[str, Any]) -> str:
    return str(_state(row, "oldState").get("type") or "").rpartition(":")[2]


def _state(row: Mapping[str, Any], side: str) -> Mapping[str, Any]:
    return row.get(side) or {}


def _inputs(row: Mapping[str, Any], side: str) -> Mapping[str, Any]:
    return _state(row, side).get("inputs") or {}
