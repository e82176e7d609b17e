"""Pods of workflows in a running cluster: their containers end, and OSMO's agents remove finalizers of deleted Pods."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simulator.cluster.objects import Json, at
from simulator.cluster.pods import COMPLETED, ended, stopped
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import ApiError, Client
from simulator.osmo.programs import duration, outcome
from simulator.osmo_names import (
    CONTROL_CONTAINER,
    FINALIZER,
    LISTENER_ACCOUNT,
    OPERATOR_NAMESPACE,
    WORKER_ACCOUNT,
    WORKFLOW_LABEL,
)

Diagnose = Callable[[Json], tuple[str, int, str] | None]
"""Function that looks for an init container of the Pod that fails on the Pod's node. It returns the container's name,
exit code and message, or None if no init container fails.
"""


class Workflows:
    """Simulation of workflows' Pods: their containers end, and OSMO's agents remove their finalizers."""

    def __init__(self, client: Client, changed: Callable[[], None]) -> None:
        self._client = client
        self._pods = Watch(client, "/api/v1/pods", changed, WORKFLOW_LABEL)
        self._agents = Watch(client, f"/apis/apps/v1/namespaces/{OPERATOR_NAMESPACE}/deployments", changed)
        self._began: dict[str, float] = {}
        """Simulated time, in seconds, at which this class found each Pod running for the first time, by Pod uid."""

    @property
    def are_running(self) -> bool:
        return bool(self._began)

    def run(self, faults: Mapping[str, str], now: float, diagnose: Diagnose) -> bool:
        """Runs one round; returns True if any Pod changed.

        Args:
            faults: CUDA's error on each GPU node; empty if CUDA works.
            now: Simulated time in seconds.
            diagnose: Result of the init containers that check GPUs.
        """
        pods = {str(at(pod, "metadata.uid")): pod for pod in self._pods.all()}
        self._began = {uid: since for uid, since in self._began.items() if uid in pods}
        moved = False
        for uid, pod in pods.items():
            if at(pod, "metadata.deletionTimestamp"):
                self._began.pop(uid, None)
                moved = self._remove_finalizer(pod) or moved
            elif at(pod, "status.phase") == "Running":
                if uid not in self._began and (found := diagnose(pod)) is not None:
                    moved = self._patch(pod, {"status": stopped(pod, *found)}, "/status") or moved
                elif now - self._began.setdefault(uid, now) >= duration(pod):
                    self._end(pod, *outcome(pod, faults))
                    del self._began[uid]
                    moved = True
            else:
                self._began.pop(uid, None)
        return moved

    def _remove_finalizer(self, pod: Json) -> bool:
        """Removes the agents' finalizer from a Pod that is being deleted. Returns True if the finalizer was removed.

        In a real cluster, the listener sees the deletion, and the worker, which alone may change Pods, removes the
        finalizer. Without these agents the finalizer stays, and so does the Pod.
        """
        held: list[str] = at(pod, "metadata.finalizers", [])
        if FINALIZER not in held or not self._has_agents():
            return False
        rest = [item for item in held if item != FINALIZER]
        version = at(pod, "metadata.resourceVersion")
        return self._patch(pod, {"metadata": {"finalizers": rest, "resourceVersion": version}}, "")

    def _has_agents(self) -> bool:
        running = {
            at(item, "spec.template.spec.serviceAccountName")
            for item in self._agents.all()
            if int(at(item, "status.availableReplicas", 0)) > 0
        }
        return {LISTENER_ACCOUNT, WORKER_ACCOUNT} <= running

    def _end(self, pod: Json, code: int, message: str) -> None:
        exits = {each["name"]: (code, message) for each in pod["spec"]["containers"]}
        self._patch(pod, {"status": ended(pod, {**exits, CONTROL_CONTAINER: COMPLETED})}, "/status")

    def _patch(self, pod: Json, change: Json, sub: str) -> bool:
        path = f"/api/v1/namespaces/{at(pod, 'metadata.namespace')}/pods/{at(pod, 'metadata.name')}{sub}"
        try:
            self._client.patch(path, change, "application/merge-patch+json")
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise
            return False
        return True
