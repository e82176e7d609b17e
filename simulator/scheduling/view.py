"""The cluster as schedulers see it: Pods, nodes, and KAI's own kinds while KAI is installed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

from simulator.cluster.objects import Json, at, name, timestamp
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import APPLY_PATCH, ApiError, Client
from simulator.scheduling import kai_names

STRATEGIC = "application/strategic-merge-patch+json"
PODS, NODES, DEPLOYMENTS = "/api/v1/pods", "/api/v1/nodes", "/apis/apps/v1/deployments"
QUEUES, GROUPS = f"/apis/{kai_names.QUEUE_API}/queues", f"/apis/{kai_names.POD_GROUP_API}/podgroups"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
SYNC_SECONDS = 10.0
BINDER = "binder"
"""Name of the Deployment of KAI's binder."""
BINDER_ACCOUNT = "binder"
"""Name of the service account of KAI's binder, to which KAI's chart gives the right to bind Pods (kai-scheduler
templates/rbac).
"""


class View:
    """Watches on the cluster, and the few writes that both schedulers need.

    The watches call `changed` after each change, from their own threads.
    """

    def __init__(self, client: Client, changed: Callable[[], None]) -> None:
        self.client, self._changed = client, changed
        self._binder = client.as_account(kai_names.NAMESPACE, BINDER_ACCOUNT)
        self._watches: dict[str, Watch] = {}
        for path in (PODS, NODES, DEPLOYMENTS):
            self._watch(path)
        for watch in self._watches.values():
            watch.synced.wait(SYNC_SECONDS)

    def _watch(self, path: str) -> Watch:
        if path not in self._watches:
            self._watches[path] = Watch(self.client, path, self._changed)
        return self._watches[path]

    @property
    def pods(self) -> list[Json]:
        return self._watches[PODS].all()

    @property
    def nodes(self) -> list[Json]:
        return self._watches[NODES].all()

    def has_kai(self) -> bool:
        """True if KAI's scheduler is installed and available. The first True starts the watches on KAI's own kinds."""
        found = self._runs(kai_names.SCHEDULER)
        if found:
            for watch in [self._watch(path) for path in (QUEUES, GROUPS, CLASSES)]:
                watch.synced.wait(SYNC_SECONDS)
        return found

    def scheduler_arguments(self) -> list[str]:
        """Command line of KAI's scheduler, as KAI's operator has written it; empty if there is no scheduler."""
        for item in self._watches[DEPLOYMENTS].all():
            if name(item) == kai_names.SCHEDULER and at(item, "metadata.namespace") == kai_names.NAMESPACE:
                containers: list[Json] = at(item, "spec.template.spec.containers", [])
                return [str(each) for container in containers for each in container.get("args") or ()]
        return []

    def has_binder(self) -> bool:
        """True if KAI's binder is available. Without the binder no Pod gets a node, because KAI's scheduler only
        creates BindRequests (v0.17.0, pkg/scheduler).
        """
        return self._runs(BINDER)

    def _runs(self, wanted: str) -> bool:
        return any(
            name(item) == wanted and int(at(item, "status.availableReplicas", 0)) > 0
            for item in self._watches[DEPLOYMENTS].all()
            if at(item, "metadata.namespace") == kai_names.NAMESPACE
        )

    def all(self, path: str) -> list[Json]:
        return self._watches[path].all() if path in self._watches else []

    # Writes; each returns True if the object exists

    def patch(self, path: str, body: Json, kind: str) -> bool:
        try:
            self.client.patch(path, body, kind)
        except ApiError as refusal:
            if refusal.code in (404, 409):
                return False
            raise
        return True

    def bind(self, pod: Mapping[str, Any], host: str) -> str:
        """Binds a Pod to a node, as KAI's binder does; returns the API server's reason if it refuses, else an empty
        text.
        """
        target = {"apiVersion": "v1", "kind": "Node", "name": host}
        body: Json = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name(pod)}, "target": target}
        try:
            self._binder.request("POST", f"{path_of(pod)}/binding", body)
        except ApiError as refusal:
            return str(refusal)
        return ""

    def delete(self, pod: Mapping[str, Any]) -> None:
        """Deletes a Pod, with its grace period, as KAI does when it evicts (pkg/scheduler/cache/evictor)."""
        try:
            self.client.request("DELETE", path_of(pod))
        except ApiError as refusal:
            if refusal.code != 404:
                raise

    def set_condition(
        self,
        pod: Mapping[str, Any],
        message: str,
        type: str = "PodScheduled",
        reason: str = "Unschedulable",
        status: str = "False",
    ) -> None:
        """Sets a condition of a Pod with the message `message`; by default the condition PodScheduled=False. Sends no
        request if the Pod already has the condition.
        """
        conditions: list[Json] = at(pod, "status.conditions", [])
        before = next((each for each in conditions if each["type"] == type), dict[str, Any]())
        if (before.get("status"), before.get("message")) == (status, message):
            return
        since = before.get("lastTransitionTime") if before.get("status") == status else None
        condition = {"type": type, "status": status, "reason": reason, "message": message}
        body = {"status": {"conditions": [{**condition, "lastTransitionTime": since or timestamp()}]}}
        self.patch(f"{path_of(pod)}/status", body, STRATEGIC)

    def record_event(
        self, item: Mapping[str, Any], component: str, reason: str, message: str, type: str = "Normal"
    ) -> None:
        """Records an Event about an object. The same message about the same object is a single Event."""
        recorded = event(item, component, reason, message, type)
        path = f"/api/v1/namespaces/{recorded['metadata']['namespace']}/events/{recorded['metadata']['name']}"
        try:
            self.client.patch(path, recorded, APPLY_PATCH, {"fieldManager": component, "force": "true"})
        except ApiError as refusal:
            if refusal.code not in (403, 404, 409):  # its namespace is terminating, or deleted
                raise


def path_of(pod: Mapping[str, Any]) -> str:
    return f"/api/v1/namespaces/{at(pod, 'metadata.namespace')}/pods/{name(pod)}"


def event(item: Mapping[str, Any], component: str, reason: str, message: str, type: str) -> Json:
    """The Event object; an Event about a cluster-scoped object is in the namespace `default`."""
    metadata: Json = item["metadata"]
    digest = zlib.crc32(f"{metadata.get('uid')} {reason} {message}".encode())
    about = {key: str(metadata[key]) for key in ("name", "namespace", "uid") if metadata.get(key)}
    now = timestamp()
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{about['name']}.{digest:08x}", "namespace": about.get("namespace", "default")},
        "involvedObject": {"apiVersion": item.get("apiVersion", "v1"), "kind": item.get("kind", "Pod"), **about},
        "type": type,
        "reason": reason,
        "message": message[:1024],
        "source": {"component": component},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
