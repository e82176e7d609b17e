"""One run of a workflow in the cluster: Pods, retries, and the statuses of tasks and groups."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from simulator.kubernetes.client import ApiError, Client
from simulator.osmo import workflow as of
from simulator.osmo.pods import Seen, seen
from simulator.osmo.workflow import Group, Json, Task, TaskResult, Workflow, pending
from simulator.osmo_names import FINALIZER, WORKFLOW_LABEL

POLL_SECONDS = 0.1
DELETION_SECONDS = 10.0
PATIENCE_MINUTES = 30.0
"""Simulated minutes for which a workflow is followed while an agent is missing; the real service would wait without a
limit.
"""
WORKER, LISTENER = "worker", "listener"
STRATEGIC = "application/strategic-merge-patch+json"
AfterExit = Callable[[str, int, str, int], str]
"""Function that returns the status of a task after its program has ended, according to the exit actions of the task and
its pool. Arguments: task, exit code, status, number of retries so far.
"""
Report = Callable[[TaskResult], None]
Missing = Callable[[], Mapping[str, str]]
"""Function that returns the backend's agents that are not connected, with the reason for each. The worker creates and
deletes Pods, the listener reports their changes (NVIDIA/OSMO 6.3.1, src/operator).
"""


class Run:
    """Run of one workflow, from its first Pod to its result."""

    def __init__(
        self,
        client: Client,
        workflow: Workflow,
        after_exit: AfterExit,
        report: Report,
        now: Callable[[], float],
        *,
        missing: Missing = dict,
    ) -> None:
        self._client, self._workflow, self._after_exit = client, workflow, after_exit
        self._report, self._now, self._missing = report, now, missing
        self.result = pending(workflow)
        self._submitted = now()
        self._began: float | None = None
        """Simulated time at which the first task began to run."""
        self._lacks: float | None = None
        """Simulated time since when an agent has been missing; None while no agent is missing."""
        self._groups = {group.name: group for group in workflow.groups}
        self._reported: dict[str, TaskResult] = {}

    def step(self) -> bool:
        """Runs one round; returns True if the workflow is over, or has waited too long for an agent to be followed any
        further.
        """
        statuses, missing = self.result.groups, self._missing()
        for name, group in self._groups.items():
            if statuses[name] in of.PRESCHEDULING:
                self._begin(group, missing.get(WORKER, ""))
        if why := missing.get(LISTENER):
            self._explain(why)
        else:
            self._look()
        self._time_out()
        return all(_is_over(status) for status in statuses.values()) or self._gives_up(missing)

    def _gives_up(self, missing: Mapping[str, str]) -> bool:
        self._lacks = (self._lacks or self._now()) if missing else None
        if self._lacks is None or self._now() - self._lacks < PATIENCE_MINUTES * 60:
            return False
        self.result.waits = " ".join(missing.values())
        return True

    def _explain(self, why: str) -> None:
        """Gives every task of the groups that are being scheduled or run the message `why`: the reason why their status
        is no longer updated. Each task keeps the status that was last reported.
        """
        for name, group in self._groups.items():
            for task in group.tasks:
                if self.result.groups[name] in ("SCHEDULING", "RUNNING"):
                    self._set(task, message=why)

    def _begin(self, group: Group, no_worker: str) -> None:
        needed = [self.result.groups[name] for name in group.needs]
        if any(status.startswith("FAILED") for status in needed):
            self._end(group, of.UPSTREAM, "a task that it takes an input from has failed")
        elif all(status == of.COMPLETED for status in needed):
            if no_worker:
                # Its job waits in the backend's queue, without a limit: `queue_timeout` begins with SCHEDULING.
                self.result.groups[group.name] = of.PROCESSING
                for task in group.tasks:
                    self._set(task, status=of.PROCESSING, message=no_worker)
            else:
                self.create(group)

    def create(self, group: Group) -> bool:
        """Creates the group's objects, in order. Returns True if the API server has accepted all of them; otherwise the
        group fails and its objects are removed.
        """
        for item in group.objects:
            try:
                self._create(item)
            except ApiError as refusal:
                self.clean([group])
                self._end(group, of.SERVER_ERROR, f"{item['kind']} refused: {refusal}")
                return False
        self.result.groups[group.name] = "SCHEDULING"
        for task in group.tasks:
            self._set(task, status="SCHEDULING", attempts=1, message="")
        return True

    def _create(self, item: Json) -> None:
        path = self._client.path(item["apiVersion"], item["kind"], self._workflow.namespace)
        self._client.request("POST", path, item)

    def placed(self, group: Group) -> bool:
        """Updates the status of the group's tasks from their Pods: the node, or the scheduler's reason for a Pod
        without a node. Returns True if every task has a node.
        """
        pods = self._pods()
        for task in group.tasks:
            found = pods.get(task.pod)
            if found is not None:
                self._set(task, status="PLACED" if found.node else "SCHEDULING", node=found.node, message=found.waits)
        return all(self.result.tasks[task.name].node for task in group.tasks)

    def _look(self) -> None:
        pods = self._pods()
        for name, group in self._groups.items():
            if self.result.groups[name] not in ("SCHEDULING", "RUNNING"):
                continue
            for task in group.tasks:
                self._follow(task, pods.get(task.pod))
            self._judge(group)

    def _follow(self, task: Task, found: Seen | None) -> None:
        state = self.result.tasks[task.name]
        if _is_over(state.status):
            return
        if found is None:
            # OSMO's listener sees how a Pod goes that another client deletes. Here only drains and lost nodes do that.
            found = Seen(
                "", False, of.BACKEND_ERROR_CODE, "its Pod was deleted by another client", "", of.BACKEND_ERROR
            )
        if found.exit_code is None:
            if found.running and self._began is None:
                self._began = self._now()
            status = "RUNNING" if found.running else "INITIALIZING" if found.node else "SCHEDULING"
            self._set(task, status=status, node=found.node, message=found.waits)
            return
        status = found.failure or (of.COMPLETED if found.exit_code == 0 else of.FAILED)
        status = self._after_exit(task.name, found.exit_code, status, state.attempts - 1)
        if status == of.RESCHEDULED and state.attempts <= self._workflow.retries:
            self._again(task, found)
            return
        self._set(task, status=status, node=found.node, exit_code=found.exit_code, message=found.message)

    def _again(self, task: Task, found: Seen) -> None:
        """Replaces the Pod of a task by a new Pod, whose name contains the number of the new attempt."""
        (group,) = (each for each in self._groups.values() if task in each.tasks)
        attempt = self.result.tasks[task.name].attempts + 1
        (old,) = (item for item in group.objects if item["kind"] == "Pod" and item["metadata"]["name"] == task.pod)
        name = f"{task.pod.rpartition('-try-')[0] or task.pod}-try-{attempt}"
        fresh = {**old, "metadata": {**old["metadata"], "name": name}}
        self._delete(old)
        self._create(fresh)
        renamed = replace(task, pod=name)
        self._groups[group.name] = replace(
            group,
            tasks=tuple(renamed if each is task else each for each in group.tasks),
            objects=tuple(fresh if item is old else item for item in group.objects),
        )
        message = f"restarted after exit code {found.exit_code}"
        self._set(renamed, status="SCHEDULING", node="", attempts=attempt, message=message)

    def _judge(self, group: Group) -> None:
        """Ends the group with its leading task, even if others still run; or with the first task that fails, if the
        group fails with any (NVIDIA/OSMO 6.3.1, src/utils/job/jobs.py, UpdateGroup).
        """
        states = {task.name: self.result.tasks[task.name].status for task in group.tasks}
        lead = next(task.name for task in group.tasks if task.lead)
        failed = next((name for name, status in states.items() if status.startswith("FAILED")), "")
        cause = lead if _is_over(states[lead]) else failed if group.fails_with_any else ""
        if cause:
            why = "Lead task finished" if cause == lead else f"Task {cause} Failed."
            status = of.FAILED if states[cause].startswith("FAILED") else states[cause]
            for task in group.tasks:
                if not _is_over(self.result.tasks[task.name].status):
                    self._set(task, status=status, message=why)
            ends = {task.name: self.result.tasks[task.name].status for task in group.tasks}
            counted = ends.values() if group.fails_with_any else [ends[lead]]
            self.result.groups[group.name] = of.group_status(ends.values(), counted)
            self.clean([group])
        elif "RUNNING" in states.values():
            self.result.groups[group.name] = "RUNNING"

    def _time_out(self) -> None:
        now = self._now()
        if self._began is not None and now - self._began > self._workflow.exec_seconds:
            status, message = of.EXEC_TIMEOUT, "the workflow ran longer than its exec_timeout"
        elif not self._is_queued:
            self._submitted = now
            return
        elif self._began is None and now - self._submitted > self._workflow.queue_seconds:
            status, message = of.QUEUE_TIMEOUT, "the workflow waited longer than its queue_timeout"
        else:
            return
        for name, group in list(self._groups.items()):
            if not _is_over(self.result.groups[name]):
                self._end(group, status, message)
                self.clean([group])

    @property
    def _is_queued(self) -> bool:
        """True if any group of the workflow has Pods or had Pods."""
        return any(status not in of.PRESCHEDULING for status in self.result.groups.values())

    def _end(self, group: Group, status: str, message: str) -> None:
        self.result.groups[group.name] = status
        for task in group.tasks:
            last = self.result.tasks[task.name].message
            self._set(task, status=status, message=f"{message}; last: {last}" if last else message)

    def _set(self, task: Task, **changes: Any) -> None:
        state = replace(self.result.tasks[task.name], **changes)
        self.result.tasks[task.name] = state
        if self._reported.get(task.name) != state:
            self._reported[task.name] = state
            self._report(state)

    # Requests to the cluster

    def _pods(self) -> Mapping[str, Seen]:
        path = f"/api/v1/namespaces/{self._workflow.namespace}/pods"
        items = self._client.get(path, {"labelSelector": f"{WORKFLOW_LABEL}={self._workflow.id}"})["items"]
        return {item["metadata"]["name"]: seen(item) for item in items}

    def clean(self, groups: Sequence[Group] | None = None) -> None:
        """Removes the remaining objects of `groups`, or of all groups if `groups` is None.

        Only the worker agent can remove objects: without it, the objects stay and `result.left` becomes True.
        """
        self.result.left = WORKER in self._missing() and self._is_queued
        if self.result.left:
            return
        for group in self._groups.values() if groups is None else groups:
            for item in reversed(group.objects):
                self._delete(item)

    def wait_for_deletion(self) -> None:
        """Waits, for a limited time, until the agents have removed the finalizers of all Pods: a Pod with a finalizer
        still holds its GPU.
        """
        if self.result.left:
            return
        end = time.monotonic() + DELETION_SECONDS
        while self._pods() and time.monotonic() < end:
            time.sleep(POLL_SECONDS)

    def _delete(self, item: Json) -> None:
        metadata = item["metadata"]
        path = self._client.path(item["apiVersion"], item["kind"], self._workflow.namespace, metadata["name"])
        try:
            if item["kind"] == "Pod":
                without = {"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
                self._client.patch(path, without, STRATEGIC)
            self._client.request("DELETE", path)
        except ApiError as refusal:
            if refusal.code != 404:
                raise


def _is_over(status: str) -> bool:
    return status == of.COMPLETED or status.startswith("FAILED")
