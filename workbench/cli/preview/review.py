"""A stack's preview for a reviewer, as one document: changes, policies, versions, cost."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any

from physical_ai.settings import StackName
from physical_ai.settings.rules.compat import judge
from workbench.cli.changes import Run, Step
from workbench.cli.output import compat, policy
from workbench.cli.policy_pack import declared_resources
from workbench.cli.preview import change_list, first_gpu, reach
from workbench.cli.preview.impact import impact, is_disruptive
from workbench.cli.preview.model import Preview
from workbench.cli.requested_stack import RequestedStack
from workbench.costs import change, deployed, estimate
from workbench.costs.document import change_document
from workbench.costs.document import document as cost_document

FACTS: Mapping[str, tuple[str, ...]] = {
    "AgentPool": ("vmSize", "scaleSetPriority", "count", "minCount", "maxCount", "nodeTaints", "availabilityZones"),
    "ManagedCluster": ("kubernetesVersion", "location", "sku"),
}
"""Properties of a new resource that the preview shows, by the resource's kind."""


def document(
    requested: RequestedStack, preview: Preview, impact_on_work: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The document of a stack's preview: changes, findings of policies and versions, and prices.

    Args:
        impact_on_work: Document of the impact on running work; None if the preview changes nothing that exists.
    """
    from workbench.policies import evaluate

    settings, stack, was = requested.loaded.settings, requested.input.stack, preview.deployed
    today = datetime.datetime.now(datetime.UTC).date()
    declared = declared_resources(requested, preview=False)
    old = deployed(stack, StackName.parse(stack).region, was.pools) if was.pools else None
    new, moved = estimate(settings), change_list.move(preview.run, preview.nodes)
    return {
        "stack": stack,
        "deployed": was.exists,
        "impact": impact_on_work,
        "changes": _changes(preview.run, preview.nodes, settings.gpu_operator.gate.timeout_minutes),
        "summary": dict(change_list.counts(preview.run)),
        "networkMove": moved.document() if moved is not None else None,
        "reach": reach.changed(declared, preview.run) if was.exists else [],
        "warnings": [str(each) for each in requested.loaded.warnings],
        "policy": policy.document(stack, declared, evaluate(declared)),
        "firstGpu": first_gpu.judged(settings, declared, preview),
        "compat": compat.document(settings, today, judge(settings, today, was.operator_version)),
        "cost": {**cost_document(new, today), "change": change_document(change(old, new))},
    }


def _changes(run: Run, nodes: Mapping[str, int], driver_minutes: int) -> list[dict[str, Any]]:
    rows = change_list.document(run, nodes)["changes"]
    return [
        {
            **row,
            "kind": step.kind,
            "differences": _differences(step),
            "impact": impact(step, row["nodesLost"], driver_minutes),
            "disruptive": is_disruptive(step),
        }
        for step, row in zip(change_list.planned(run), rows, strict=True)
    ]


def _differences(step: Step) -> list[dict[str, Any]]:
    """Changed properties of a resource, with the values as texts. For a new node pool or cluster: its main
    properties.
    """
    if step.op == "create":
        facts = [path for path in FACTS.get(step.kind, ()) if step.new.get(path) not in (None, [])]
        return [{"path": path, "before": None, "after": _text(step.new[path]), "replaces": False} for path in facts]
    if step.op not in ("update", "replace"):
        return []
    found = change_list.differences(step)
    # The checksum that the provider stores of a chart's values adds nothing to the values themselves.
    shown = [each for each in found if each["path"] != "checksum"] or found
    return [{**each, "before": _text(each["before"]), "after": _text(each["after"])} for each in shown]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
