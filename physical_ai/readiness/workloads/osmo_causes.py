"""Explanations of workflows that OSMO knows, but that have no Pods in the cluster. Pure functions.

`Workloads.workflows` are documents of OSMO's API, GET /api/workflow/NAME: `name`, `status`, `pool`, and `groups` with
`name`, `status`, `failure_message`, `remaining_upstream_groups` and `tasks` (NVIDIA/OSMO, core/workflow/objects.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from physical_ai.kubernetes.objects import Json
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.workloads.health import workflow_shortfall
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import Explanation

STARTED = ("SCHEDULING", "INITIALIZING", "RUNNING")
NOT_SENT = ("", "PENDING", "SUBMITTING", "WAITING", "PROCESSING", "RESCHEDULED")
"""Statuses of a group that is not in the cluster yet (NVIDIA/OSMO src/utils/job/task.py at 00a20f3e, 2026-11)."""
WHERE = "OSMO's status of the workflow"


def osmo_causes(workflow: Json, index: Index, *, has_pods: bool = False) -> Iterator[Explanation]:
    """Explanation of why a workflow does not continue. It is about the first failed group or, if no group has failed,
    about the first group that waits without a Pod.
    """
    item, status = f"workflow {workflow.get('name', '')}", str(workflow.get("status", ""))
    if not workflow_shortfall(workflow):
        return
    groups: list[Json] = workflow.get("groups") or []
    failed = [each for each in groups if str(each.get("status", "")).startswith("FAILED")]
    # A group that failed because of another group is not where the failure began.
    first = next((each for each in failed if each.get("status") != "FAILED_UPSTREAM"), None)
    facts = {"workflow": str(workflow.get("name", "")), "osmoPool": str(workflow.get("pool") or "default")}
    if first is not None or status.startswith("FAILED"):
        yield _failed(item, first or (failed[0] if failed else workflow), facts, index)
        return
    if has_pods:
        return
    for group in groups:
        own = str(group.get("status", ""))
        upstream: list[str] = group.get("remaining_upstream_groups") or []
        if own == "COMPLETED" or (own == "WAITING" and upstream):
            continue
        evidence = f"group {group.get('name', '')}: {own}"
        cause = "osmo-pods-gone" if own in STARTED else "osmo-not-sent" if own in NOT_SENT else "osmo-says"
        told = {"group": str(group.get("name", "")), "message": own, **facts}
        yield index.explanation(item, cause, "osmo", evidence, WHERE, **told)
        return
    cause = "osmo-not-sent" if status in (*NOT_SENT, *STARTED) else "osmo-says"
    told = {"group": "of the workflow", "message": status, **facts}
    yield index.explanation(item, cause, "osmo", f"status: {status}", WHERE, **told)


def _failed(item: str, group: Json, facts: dict[str, str], index: Index) -> Explanation:
    status, message = str(group.get("status", "")), _message(group)
    evidence = f"{status}: {message}" if message else status
    found = workload_cause_of("osmo", evidence)
    cause, told = (found[0].id, dict(found[1])) if found else ("osmo-failed", {})
    own = {"group": str(group.get("name", "")), **facts, **told}
    return index.explanation(item, cause, "osmo", evidence, WHERE, **own)


def _message(group: Json) -> str:
    """Failure message of an OSMO group or, if the group has none, the first failure message of one of its tasks; empty
    if no task has one either.
    """
    tasks: list[dict[str, Any]] = group.get("tasks") or []
    found = [group.get("failure_message"), *(each.get("failure_message") for each in tasks)]
    return next((str(each) for each in found if each), "")
