"""Everything a reviewer wants to know of one stack's preview, as one document: changes, policies, versions, cost."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any

from physical_ai.cli.commands import compat
from physical_ai.cli.commands.policy import declared_by, document_of
from physical_ai.cli.preview import plan
from physical_ai.cli.preview.changes import Run, Step
from physical_ai.cli.preview.impact import impact, is_grave
from physical_ai.cli.stack_input import Given
from physical_ai.cli.status import deployed_pools
from physical_ai.costs import change, deployed, estimate
from physical_ai.costs.document import change_document
from physical_ai.costs.document import document as cost_document
from physical_ai.settings import StackName
from physical_ai.simulator.simulation import Simulation

OPERATOR = "gpu-operator"
FACTS: Mapping[str, tuple[str, ...]] = {
    "AgentPool": ("vmSize", "scaleSetPriority", "count", "minCount", "maxCount", "nodeTaints", "availabilityZones"),
    "ManagedCluster": ("kubernetesVersion", "location", "sku"),
}
"""What is told of a resource that is yet to be made, by kind."""


def before(simulation: Simulation) -> dict[str, Any]:
    """What is deployed now, before a preview: `{deployed, running, pools}`, with the pools as ARM has them."""
    if not simulation.exists:
        return {"deployed": False, "running": None, "pools": []}
    releases: Mapping[str, Mapping[str, Any]] = simulation.outputs().get("releases") or {}
    running = releases[OPERATOR]["version"] if OPERATOR in releases else None
    return {"deployed": True, "running": running, "pools": deployed_pools(simulation)}


def document(given: Given, run: Run, was: Mapping[str, Any], nodes: Mapping[str, int]) -> dict[str, Any]:
    """The preview `run` of a stack, judged.

    Args:
        was: what `before` said.
        nodes: how many nodes each pool has now.
    """
    from physical_ai.policies import evaluate

    settings = given.loaded.settings
    today = datetime.datetime.now(datetime.UTC).date()
    declared = declared_by(given, preview=False)
    region = StackName.parse(given.input.stack).region
    old = deployed(given.input.stack, region, was["pools"]) if was["pools"] else None
    new = estimate(settings)
    return {
        "stack": given.input.stack,
        "deployed": was["deployed"],
        "changes": _changes(run, nodes, settings.gpu_operator.gate.timeout_minutes),
        "summary": dict(run.counts()),
        "warnings": [str(each) for each in given.loaded.warnings],
        "policy": document_of(given.input.stack, declared, evaluate(declared)),
        "compat": compat.verdicts(settings, today, was["running"]),
        "cost": {**cost_document(new, today), "change": change_document(change(old, new))},
    }


def _changes(run: Run, nodes: Mapping[str, int], driver_minutes: int) -> list[dict[str, Any]]:
    rows = plan.document(run, nodes)["changes"]
    return [
        {
            **row,
            "kind": step.kind,
            "differences": _differences(step),
            "impact": impact(step, row["nodesLost"], driver_minutes),
            "grave": is_grave(step),
        }
        for step, row in zip(plan.planned(run), rows, strict=True)
    ]


def _differences(step: Step) -> list[dict[str, Any]]:
    """What changes, as text; of a new node pool or cluster what there is to know of it."""
    if step.op == "create":
        facts = [path for path in FACTS.get(step.kind, ()) if step.new.get(path) not in (None, [])]
        return [{"path": path, "before": None, "after": _told(step.new[path]), "replaces": False} for path in facts]
    if step.op not in ("update", "replace"):
        return []
    found = plan.differences(step)
    # A chart's values say what changes; the checksum that the provider keeps of them says nothing more.
    told = [each for each in found if each["path"] != "checksum"] or found
    return [{**each, "before": _told(each["before"]), "after": _told(each["after"])} for each in told]


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
