"""The cluster for the simulated operators: watched objects by kind, and writes that do nothing if the object was
deleted.
"""

from __future__ import annotations

from collections.abc import Callable

from simulator.cluster.names import RUN_BY
from simulator.cluster.objects import Json, at, labels, name
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client
from simulator.operators.kai_operands import MANAGED_BY, OPERATOR

STRATEGIC = "application/strategic-merge-patch+json"
CONFIGS = "/apis/kai.scheduler/v1/configs"
SHARDS = "/apis/kai.scheduler/v1/schedulingshards"
_KINDS = {
    "Deployment": "/apis/apps/v1{}/deployments",
    "ConfigMap": "/api/v1{}/configmaps",
    "Event": "/api/v1{}/events",
    "Pod": "/api/v1{}/pods",
    "Secret": "/api/v1{}/secrets",
    "Service": "/api/v1{}/services",
    "ServiceAccount": "/api/v1{}/serviceaccounts",
    "MutatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "Config": CONFIGS,
    "SchedulingShard": SHARDS,
}


def path_of(kind: str, namespace: str = "", key: str = "") -> str:
    """URL path of an object. Without `key`, the path of the collection; without `namespace`, the path of the objects in
    all namespaces.
    """
    where = _KINDS[kind].format(f"/namespaces/{namespace}" if namespace else "")
    return f"{where}/{key}" if key else where


class Cluster:
    """Watches the objects that the operators act on.

    KAI's own kinds are watched only after KAI's operator was first available.
    """

    def __init__(self, client: Client, changed: Callable[[], None]) -> None:
        self.client, self._changed = client, changed
        deployments = path_of("Deployment")
        self._operators = Watch(client, deployments, changed, f"app={OPERATOR}")
        self._managed = Watch(client, deployments, changed, f"{MANAGED_BY}={OPERATOR}")
        self._pods = Watch(client, path_of("Pod"), changed, RUN_BY)
        self._own: dict[str, Watch] = {}

    def operator(self) -> Json | None:
        """The Deployment of the KAI operator that has an available replica; None if there is none. The first Deployment
        that is found also starts the watches on KAI's own kinds.
        """
        found = [item for item in self._operators.all() if int(at(item, "status.availableReplicas", 0)) > 0]
        if found and not self._own:
            self._own = {path: Watch(self.client, path, self._changed) for path in (CONFIGS, SHARDS)}
        return found[0] if found else None

    def configs(self) -> list[Json]:
        return self._own[CONFIGS].all() if self._own else []

    def shards(self) -> list[Json]:
        return self._own[SHARDS].all() if self._own else []

    def managed(self, namespace: str) -> dict[str, Json]:
        """Deployments that the KAI operator has created in a namespace, by name."""
        mine = (item for item in self._managed.all() if at(item, "metadata.namespace") == namespace)
        return {name(item): item for item in mine if at(item, "metadata.deletionTimestamp") is None}

    def pods(self, model: str) -> list[Json]:
        """Pods that the simulator's part `model` runs, according to their label; Pods that are being deleted are left
        out.
        """
        found = (item for item in self._pods.all() if labels(item).get(RUN_BY) == model)
        return [item for item in found if at(item, "metadata.deletionTimestamp") is None]

    def find(self, kind: str, namespace: str, key: str) -> Json | None:
        return self.client.find(path_of(kind, namespace, key))

    def apply(self, item: Json, manager: str) -> Json:
        path = path_of(item["kind"], str(at(item, "metadata.namespace", "")), name(item))
        return self._seen(self.client.patch(path, item, APPLY_PATCH, {"fieldManager": manager, "force": "true"}))

    def patch(self, item: Json, body: Json, kind: str = MERGE_PATCH, sub: str = "") -> None:
        """Patches an object; does nothing if the object was deleted."""
        path = path_of(item["kind"], str(at(item, "metadata.namespace", "")), name(item))
        try:
            self._seen(self.client.patch(f"{path}{sub}", body, kind))
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise

    def delete(self, kind: str, namespace: str, key: str) -> None:
        try:
            self.client.request("DELETE", path_of(kind, namespace, key), params={"propagationPolicy": "Background"})
        except ApiError as refusal:
            if refusal.code != 404:
                raise

    def _seen(self, item: Json) -> Json:
        """Stores a written object in its watch, so that readers see the write at once."""
        watches = {"Pod": self._pods, "Deployment": self._managed}
        watches |= {"Config": self._own[CONFIGS], "SchedulingShard": self._own[SHARDS]} if self._own else {}
        watch = watches.get(str(item.get("kind")))
        if watch is not None and item.get("metadata"):
            watch.put(item)
        return item
