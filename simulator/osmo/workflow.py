"""A workflow as the service stores it after accepting it, and its result."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
COMPLETED, FAILED, UPSTREAM = "COMPLETED", "FAILED", "FAILED_UPSTREAM"
QUEUE_TIMEOUT, EXEC_TIMEOUT = "FAILED_QUEUE_TIMEOUT", "FAILED_EXEC_TIMEOUT"
SERVER_ERROR = "FAILED_SERVER_ERROR"
BACKEND_ERROR, EVICTED, PREEMPTED = "FAILED_BACKEND_ERROR", "FAILED_EVICTED", "FAILED_PREEMPTED"
BACKEND_ERROR_CODE, EVICTED_CODE, PREEMPTED_CODE = 3001, 3004, 3006
"""Exit codes that OSMO gives tasks whose Pod did not end by itself (NVIDIA/OSMO 6.3.1, src/utils/job/task.py)."""
RESCHEDULED = "RESCHEDULED"
PROCESSING = "PROCESSING"
PRESCHEDULING = ("WAITING", PROCESSING)
"""Statuses of a group that has no Pods yet."""


@dataclass(frozen=True)
class Task:
    """A task of a workflow, which runs in one Pod."""

    name: str
    pod: str
    platform: str
    gpus: int = 0
    lead: bool = True


@dataclass(frozen=True)
class Group:
    """Tasks that run together. A group starts once all groups have completed whose output it needs."""

    name: str
    tasks: tuple[Task, ...]
    objects: tuple[Json, ...]
    """Kubernetes objects of the group, in the order in which they are created."""
    needs: tuple[str, ...] = ()
    fails_with_any: bool = False
    """True if the group fails with any of its tasks (`ignoreNonleadStatus: false`); otherwise only its leading task
    counts.
    """


@dataclass(frozen=True)
class Workflow:
    """A submitted workflow. `queue_seconds`: maximum time to wait, in simulated seconds. `exec_seconds`: maximum time
    to run, in simulated seconds.
    """

    id: str
    namespace: str
    groups: tuple[Group, ...]
    queue_seconds: float
    exec_seconds: float
    retries: int = 0
    """Number of times that a task may be started again."""


@dataclass
class TaskResult:
    """Present status of a task, and its outcome once it has ended."""

    name: str
    group: str
    platform: str
    gpus: int
    status: str = "WAITING"
    node: str = ""
    exit_code: int | None = None
    message: str = ""
    """Termination message of the task's container, or the reason why the task waits."""
    attempts: int = 0

    def document(self) -> Json:
        return {
            "name": self.name,
            "group": self.group,
            "platform": self.platform,
            "gpus": self.gpus,
            "status": self.status,
            "node": self.node or None,
            "exitCode": self.exit_code,
            "message": self.message,
            "attempts": self.attempts,
        }


@dataclass
class Result:
    """Outcome of a workflow: the statuses of its groups and tasks, by name."""

    id: str
    groups: dict[str, str] = field(default_factory=dict[str, str])
    tasks: dict[str, TaskResult] = field(default_factory=dict[str, TaskResult])
    waits: str = ""
    """Reason why the workflow was not followed to its end, such as a missing agent; empty if the workflow has ended."""
    left: bool = False
    """True if the run's objects are still in the cluster because no agent could delete them."""


def group_status(every: Collection[str], counted: Collection[str]) -> str:
    """Status of a group that is over, from the statuses of all its tasks, and of those that decide about it
    (NVIDIA/OSMO 6.3.1, src/utils/job/task.py, _aggregate_status).
    """
    for status in (SERVER_ERROR, PREEMPTED):
        if status in every:
            return status
    if EVICTED in counted:
        return EVICTED
    return FAILED if any(each.startswith("FAILED") for each in counted) else COMPLETED


def pending(workflow: Workflow) -> Result:
    """The result of a workflow before its first Pod: all groups and tasks are WAITING."""
    tasks: Mapping[str, TaskResult] = {
        task.name: TaskResult(task.name, group.name, task.platform, task.gpus)
        for group in workflow.groups
        for task in group.tasks
    }
    return Result(workflow.id, {group.name: "WAITING" for group in workflow.groups}, dict(tasks))
