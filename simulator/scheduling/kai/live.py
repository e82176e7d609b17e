"""KAI's scheduler in operation on the API server."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from physical_ai.kubernetes.fit import Offer, holds
from simulator.clock import seconds_per_model_minute
from simulator.cluster.objects import Json, at, name, timestamp
from simulator.kubernetes.client import MERGE_PATCH
from simulator.scheduling import kai_names
from simulator.scheduling.kai import stale
from simulator.scheduling.kai.decision import Round, decide, uid_of
from simulator.scheduling.kai.jobs import Job, is_alive, is_kais, jobs_of
from simulator.scheduling.kai.nodes import NODE_POOL
from simulator.scheduling.kai.queues import queues_of
from simulator.scheduling.view import CLASSES, GROUPS, QUEUES, View

log = logging.getLogger("kai-scheduler")
CONDITION = "UnschedulableOnNodePool"
BINDER = "binder"
BOUND = "PodBound"


class KaiScheduler:
    """Schedules the Pods that name KAI's scheduler, while KAI's Deployment is available. All of the scheduler's state
    is in the API server.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._bound: dict[str, str] = {}
        """Node of each Pod that was bound but that the watch still shows without a node, by the Pod's UID."""
        self._reported: dict[str, str] = {}
        """Last message about each pod and group, by uid."""
        self._marked: set[str] = set()
        """UIDs of groups whose status this class has set to waiting; the watch may not show the status yet."""
        self._stale: dict[tuple[str, str], float] = {}
        """Time at which each stale gang was found stale, by namespace and name."""

    def round(self) -> float | None:
        """Runs one round. Returns the seconds until the next round, or None if no round is needed before something
        changes in the cluster.
        """
        seen = self._view.pods
        mine = {uid_of(pod): pod for pod in seen if is_kais(pod)}
        self._bound = {uid: host for uid, host in self._bound.items() if uid in mine and not _has_node(mine[uid])}
        waiting = any(is_alive(pod) and not _has_node(pod) and uid not in self._bound for uid, pod in mine.items())
        if not mine or not self._view.has_kai():
            return None
        again = self._evict_stale(seen) if stale.gangs(self._view.all(GROUPS)) else None
        if not waiting:
            return again
        known = mine.keys() | {uid_of(group) for group in self._view.all(GROUPS)}
        self._reported = {uid: message for uid, message in self._reported.items() if uid in known}
        pods = [self._with_node(pod) for pod in seen] if self._bound else seen
        jobs = jobs_of(pods, self._view.all(GROUPS), self._view.all(CLASSES))
        found = decide(jobs, queues_of(self._view.all(QUEUES)), offers_of(self._view.nodes, pods))
        self._bind(found)
        self._evict(found)
        for pod, message in found.refusals.values():
            self._view.set_condition(pod, message)
            self._say(pod, "Unschedulable", message, "Warning")
        for job, message in found.jobs.values():
            self._mark(job, message)
        for job, message in found.not_ready.values():
            if job.group is not None:
                self._say(job.group, "NotReady", message)
        for job in jobs:
            if not job.gated and all(uid_of(pod) in found.bindings for pod in job.pending):
                self._unmark(job)
        return again

    def _evict_stale(self, seen: Sequence[Json]) -> float | None:
        """Evicts the Pods of gangs that have been stale for their time. Returns the seconds until the next gang is due;
        None if there is none.
        """
        pods = [self._with_node(pod) for pod in seen]
        jobs = jobs_of(pods, self._view.all(GROUPS), self._view.all(CLASSES))
        found, now = stale.stale(jobs, pods), time.monotonic()
        arguments = self._view.scheduler_arguments()
        self._stale = {key: self._stale.get(key, now) for key in found}
        waits: list[float] = []
        for key, job in found.items():
            seconds = stale.grace_seconds(job.group, arguments)
            if seconds is None:
                continue
            left = self._stale[key] + seconds / 60 * seconds_per_model_minute() - now
            if left > 0:
                waits.append(left)
                continue
            for pod in job.active:
                text = stale.message(job, pod)
                if job.group is not None:
                    self._say(job.group, "Evict", text)
                self._view.set_condition(pod, text, "DisruptionTarget", "PreemptionByScheduler", "True")
                self._view.delete(pod)
        return min(waits, default=None)

    def _with_node(self, pod: Json) -> Json:
        """The Pod with the node that it was bound to, even before the watch reports that node."""
        host = self._bound.get(uid_of(pod))
        return pod if host is None or _has_node(pod) else {**pod, "spec": {**pod["spec"], "nodeName": host}}

    def _bind(self, found: Round) -> None:
        """Binds the placed Pods to their nodes. Events report the scheduler's choice, and the success or failure of the
        binding (pkg/binder/controllers).
        """
        for uid, (pod, host) in found.bindings.items():
            where = f"{at(pod, 'metadata.namespace')}/{name(pod)}"
            message = f"Successfully assigned pod {where} to node {host} at node-pool {NODE_POOL}"
            log.info("%s", message)
            self._say(pod, "Scheduled", message)
            if not self._view.has_binder():
                continue
            problem = self._view.bind(pod, host)
            if problem:
                message = f"Failed to bind pod {where} to node {host}: {problem}"
                log.warning("%s", message)
                self._say(pod, "BindingError", message, "Warning", BINDER)
                self._view.set_condition(pod, message, type=BOUND, reason="BindingError")
            else:
                self._bound[uid] = host
                message = f"Pod bound successfully to node {host}"
                self._say(pod, "Bound", message, component=BINDER)
                self._view.set_condition(pod, message, type=BOUND, reason="Bound", status="True")

    def _evict(self, found: Round) -> None:
        """Deletes the Pods that lose their node. The next round places the job that gets it."""
        for pod in found.evictions.values():
            message = f"Pod {at(pod, 'metadata.namespace')}/{name(pod)} is evicted: its queue holds more than its share"
            log.info("%s", message)
            self._say(pod, "Evict", message)
            self._view.delete(pod)

    def _say(
        self, item: Json, reason: str, message: str, type: str = "Normal", component: str = kai_names.SCHEDULER_NAME
    ) -> None:
        if self._reported.get(uid_of(item)) != message:
            self._reported[uid_of(item)] = message
            if type == "Warning":
                log.info("%s: %s", name(item), message.replace("\n", ""))
            self._view.record_event(item, component, reason, message, type)

    def _mark(self, job: Job, message: str) -> None:
        """Writes into the group's status why the job is not scheduled, unless some of the job's Pods are scheduled."""
        group = job.group
        if group is None or job.active:
            return
        self._say(group, "Unschedulable", message)
        before: list[Json] = at(group, "status.schedulingConditions", [])
        if before and before[-1].get("message") == message:
            return
        reason, _, rest = message.partition(": ")
        number = int(before[-1].get("transitionID") or 0) if before else 0
        condition = {
            "type": CONDITION,
            "nodePool": NODE_POOL,
            "reason": "Unschedulable",
            "message": message,
            "reasons": [{"reason": reason, "message": rest.removesuffix(".")}] if rest else [],
            "status": "True",
            "transitionID": str(number + 1),
            "lastTransitionTime": timestamp(),
        }
        self._marked.add(uid_of(group))
        self._set_status(group, [condition])

    def _unmark(self, job: Job) -> None:
        group = job.group
        if group is not None and (uid_of(group) in self._marked or at(group, "status.schedulingConditions")):
            self._marked.discard(uid_of(group))
            self._set_status(group, None)

    def _set_status(self, group: Json, conditions: list[Json] | None) -> None:
        groups = f"/apis/{kai_names.POD_GROUP_API}/namespaces/{at(group, 'metadata.namespace')}/podgroups"
        self._view.patch(
            f"{groups}/{name(group)}/status", {"status": {"schedulingConditions": conditions}}, MERGE_PATCH
        )


def _has_node(pod: Json) -> bool:
    return bool(at(pod, "spec.nodeName"))


def offers_of(nodes: list[Json], pods: list[Json]) -> list[Offer]:
    """All nodes, each with the amounts that the Pods on it leave free."""
    on: dict[str, list[Any]] = {}
    for pod in pods:
        if holds(pod):
            on.setdefault(str(pod["spec"]["nodeName"]), []).append(pod)
    return [Offer.of(node, on.get(name(node), ())) for node in nodes]
