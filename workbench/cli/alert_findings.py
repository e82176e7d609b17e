"""Addition of causes to alerts: the causes that the diagnosis of the cluster finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datetime

    from workbench.cli.cluster_gates import ClusterTarget


def with_findings(
    documents: Sequence[Mapping[str, Any]],
    stack: str,
    target_of: Callable[[], ClusterTarget],
    now: datetime.datetime | None = None,
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The alerts, and texts about the parts of the cluster that could not be read.

    A firing alert has its cause and the advice of `physai why` added, if the diagnosis finds a cause.
    """
    from physical_ai.readiness import Unreachable, Unusable, read_reports
    from physical_ai.readiness.expected import is_existing
    from physical_ai.readiness.nodes.signs import Alert
    from physical_ai.readiness.workloads import node_workloads
    from physical_ai.readiness.workloads.index import Index
    from physical_ai.readiness.workloads.node_findings import of_node

    if not documents:
        return [], ()
    target = target_of()
    firing = [each for each in documents if each["state"] == "firing"]
    alerts = [Alert(d["alert"], d["labels"], d["summary"], d["action"], d["runbook"]) for d in firing]
    try:
        reports = read_reports(target.get, target.expected)
        given = node_workloads(target.get, stack, existing=is_existing(target.expected), now=now)
    except (Unreachable, Unusable) as problem:
        return [_with_cause(each, ()) for each in documents], (f"{target.name} ({problem})",)
    index = Index(replace(given, alerts=alerts, reports=reports))
    found = {name: list(of_node(node, index)) for name, node in index.nodes.items()}
    unread = dict.fromkeys([*(each for report in reports for each in report.unread), *given.unread])
    return [_with_cause(each, found.get(each["labels"].get("node", ""), ())) for each in documents], tuple(unread)


def _with_cause(document: Mapping[str, Any], found: Sequence[Any]) -> dict[str, Any]:
    own = next((each for each in found if document["alert"] in each.alerts), None)
    if own is None or document["state"] != "firing":
        return {**document, "cause": None, "reason": None, "fix": document["action"]}
    return {**document, "cause": own.cause, "reason": own.reason, "fix": own.fix}
