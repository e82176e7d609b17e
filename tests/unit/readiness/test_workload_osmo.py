"""A workflow that OSMO knows, and of which the cluster has no Pod."""

from __future__ import annotations

from typing import Any

from physical_ai.readiness.workloads import explain
from tests.support import workload_objects as make
from tests.support.cases import in_one_test
from tests.support.workload_objects import Scene

NO_AGENTS = (make.agent("listener", 0), make.agent("worker"))


def submitted(status: str, *groups: dict[str, Any], **more: Any) -> Scene:
    """OSMO knows workflow `wf-1`, of which there is no Pod."""
    workflow = {"name": "wf-1", "status": status, "pool": "default", "groups": list(groups)}
    return Scene(more={"workflows": [workflow], **more})


def osmo_group(status: str, message: str = "", **more: Any) -> dict[str, Any]:
    return {"name": "train", "status": status, "failure_message": message or None, "tasks": [], **more}


OF_OSMO: dict[str, Scene] = {
    "osmo-queue-timeout": submitted("FAILED_QUEUE_TIMEOUT", osmo_group("FAILED_QUEUE_TIMEOUT", "no node")),
    "osmo-refused-pod": submitted(
        "FAILED",
        osmo_group("FAILED_UPSTREAM"),
        osmo_group("FAILED_SERVER_ERROR", 'pods "x" is forbidden: exceeded quota'),
    ),
    "osmo-failed": submitted("FAILED", osmo_group("FAILED", tasks=[{"failure_message": "exit code 1"}])),
    "osmo-exec-timeout": submitted("FAILED_EXEC_TIMEOUT", osmo_group("FAILED_EXEC_TIMEOUT", "ran 4h")),
    "osmo-image-pull": submitted("FAILED_IMAGE_PULL", osmo_group("FAILED_IMAGE_PULL", "nvcr.io/x: not found")),
    "osmo-evicted": submitted("FAILED_EVICTED", osmo_group("FAILED_EVICTED", "the node was low on memory")),
    "osmo-start-failed": submitted("FAILED_START_ERROR", osmo_group("FAILED_START_ERROR", "no such file")),
    "osmo-submission": submitted("FAILED_SUBMISSION", osmo_group("FAILED_SUBMISSION", "no credential")),
    "osmo-says": submitted("FLUXING", osmo_group("FLUXING")),
    "osmo-pods-gone": submitted("RUNNING", osmo_group("RUNNING")),
    "osmo-not-sent": submitted(
        "PENDING", osmo_group("WAITING", remaining_upstream_groups=["prepare"]), osmo_group("PROCESSING")
    ),
}


@in_one_test("cause", sorted(OF_OSMO))
def test_a_workflow_without_pods_is_explained_by_what_osmo_says_of_it(cause: str) -> None:
    (found,) = explain("wf-1", OF_OSMO[cause].workloads())[1]
    assert (found.cause, found.stage, found.subject) == (cause, "osmo", "workflow wf-1")
    assert "?" not in found.reason + found.fix
    assert found.where == "OSMO's status of the workflow"


STATUSES = [
    *("SUBMITTING", "WAITING", "PROCESSING", "SCHEDULING", "INITIALIZING", "RUNNING", "RESCHEDULED", "FAILED"),
    *(f"FAILED_{reason}" for reason in (
        "SERVER_ERROR", "BACKEND_ERROR", "EXEC_TIMEOUT", "QUEUE_TIMEOUT", "IMAGE_PULL", "UPSTREAM", "EVICTED",
        "START_ERROR", "START_TIMEOUT", "PREEMPTED", "SUBMISSION")),
]  # fmt: skip
"""All of NVIDIA/OSMO, src/utils/job/task.py and workflow.py, that a workflow does not end well or by its user with."""


@in_one_test("status", STATUSES)
def test_no_status_of_a_workflow_without_pods_is_silent(status: str) -> None:
    (found,) = explain("wf-1", submitted(status, osmo_group(status, "the flux is too low")).workloads())[1]
    assert found.cause != "osmo-says"
    assert status in found.evidence
    assert ("the flux is too low" in found.evidence) is status.startswith("FAILED")


def test_a_workflow_that_has_completed_or_was_cancelled_needs_nothing() -> None:
    for ended in ("COMPLETED", "FAILED_CANCELED"):
        assert explain("wf-1", submitted(ended, osmo_group(ended)).workloads())[1] == []


def test_a_workflow_that_osmo_has_not_sent_has_the_causes_of_the_agents_too() -> None:
    scene = submitted("PENDING", osmo_group("PROCESSING"), deployments=NO_AGENTS)
    assert [each.cause for each in explain("wf-1", scene.workloads())[1]] == ["agents-down", "osmo-not-sent"]
