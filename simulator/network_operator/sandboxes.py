"""Delayed start of Pods that name additional networks: as with a real kubelet, such a Pod starts only once Multus has
found the networks.
"""

from __future__ import annotations

from collections.abc import Callable

from simulator.cluster.names import NETWORKS_FOUND
from simulator.cluster.objects import Json, annotations_of, at, is_terminating, name, timestamp
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client
from simulator.network_operator.networks import WANTED
from simulator.operators.mounts import StartProblem, event, status

STRATEGIC = "application/strategic-merge-patch+json"
PODS = "/api/v1/pods"
KUBELET = {"fieldManager": "kubelet", "force": "true"}


class Sandboxes:
    """Release of Pods that name networks. KWOK starts such a Pod only after this class has set an annotation on it."""

    def __init__(self, client: Client, wake: Callable[[], None]) -> None:
        self._client = client
        self._pending = Watch(client, PODS, wake, fields="status.phase=Pending")
        self._told: dict[str, str] = {}

    def release(self, problem: Callable[[Json], str]) -> None:
        """Sets the annotation that starts a Pod on each scheduled Pod whose networks exist; other Pods get an event and
        a status.

        `problem`: function that returns Multus's message about a Pod's missing network; empty if no network is missing.
        """
        told: dict[str, str] = {}
        for pod in self._pending.all():
            given = annotations_of(pod)
            if not given.get(WANTED) or NETWORKS_FOUND in given or is_terminating(pod) or not at(pod, "spec.nodeName"):
                continue
            message = "" if at(pod, "spec.hostNetwork", default=False) else problem(pod)
            if not message:
                self._write(pod, {"metadata": {"annotations": {NETWORKS_FOUND: "true"}}}, MERGE_PATCH)
                continue
            uid = str(at(pod, "metadata.uid"))
            if self._told.get(uid) != message:
                why = StartProblem("ContainerCreating", "FailedCreatePodSandBox", message)
                self._write(pod, {"status": status(pod, why, timestamp())}, STRATEGIC, "/status")
                item = event(pod, why, timestamp())
                place = f"/api/v1/namespaces/{item['metadata']['namespace']}/events/{name(item)}"
                self._send(place, item, APPLY_PATCH)
            told[uid] = message
        self._told = told

    def _write(self, pod: Json, body: Json, kind: str, sub: str = "") -> None:
        self._send(f"/api/v1/namespaces/{at(pod, 'metadata.namespace')}/pods/{name(pod)}{sub}", body, kind)

    def _send(self, path: str, body: Json, kind: str) -> None:
        """Patches an object; does nothing if the object or its namespace was deleted meanwhile."""
        try:
            self._client.patch(path, body, kind, KUBELET if kind == APPLY_PATCH else {"fieldManager": "kubelet"})
        except ApiError as refusal:
            if refusal.code not in (403, 404, 409):
                raise
