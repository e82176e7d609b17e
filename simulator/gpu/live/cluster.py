"""Watches on the objects of a cluster that the simulated GPU stack reads, and changes of these objects. A read after a
write returns the written object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simulator.cluster.objects import Changes, Json, at, labels
from simulator.cluster.watch import Watch
from simulator.gpu.workloads import Workload, claims_of, workload
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client

OPERATOR = "app.kubernetes.io/component=gpu-operator"
"""Label of the operator's own Deployment in every release of the chart."""
FIELD_MANAGER = "gpu-operator"
NAMESPACE = "gpu-operator"
"""Namespace that is watched from the start. An operator in another namespace makes the simulator watch that namespace
instead.
"""
GROUPS = {
    "Node": "v1",
    "Namespace": "v1",
    "Pod": "v1",
    "ConfigMap": "v1",
    "ServiceAccount": "v1",
    "Service": "v1",
    "Event": "v1",
    "Deployment": "apps/v1",
    "DaemonSet": "apps/v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
    "RuntimeClass": "node.k8s.io/v1",
    "ResourceSlice": "resource.k8s.io/v1",
    "ClusterPolicy": "nvidia.com/v1",
    "NVIDIADriver": "nvidia.com/v1alpha1",
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
}
OF_NAMESPACE = ("Pod", "ConfigMap", "ServiceAccount", "Service", "DaemonSet", "Role", "RoleBinding")
OF_CLUSTER = ("ClusterRole", "ClusterRoleBinding", "RuntimeClass", "ResourceSlice", "ClusterPolicy", "NVIDIADriver")
PLURALS = {"ClusterPolicy": "clusterpolicies", "RuntimeClass": "runtimeclasses"}
SYNC_SECONDS = 10.0


@dataclass(frozen=True)
class Operator:
    """The GPU Operator that runs in the cluster."""

    namespace: str
    release: str
    """The operator's release, such as `v26.7.0`."""
    manager_image: str = ""
    """Value of DRIVER_MANAGER_IMAGE in the operator's environment."""


def path_of(kind: str, namespace: str = "", key: str = "") -> str:
    """URL path of an object; without `key`, of the collection."""
    version = GROUPS[kind]
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    where = f"/namespaces/{namespace}" if namespace else ""
    return f"{base}{where}/{PLURALS.get(kind, f'{kind.lower()}s')}" + (f"/{key}" if key else "")


def path(item: Json) -> str:
    return path_of(item["kind"], str(at(item, "metadata.namespace", "")), str(at(item, "metadata.name")))


class Cluster:
    """Watches nodes, operators, and the objects in the operator's namespace, and writes them. Readers see each write at
    once.
    """

    def __init__(self, client: Client, changed: Callable[[], None]) -> None:
        self.client, self._changed = client, changed
        self._nodes = Watch(client, path_of("Node"), changed)
        self._deployments = Watch(client, path_of("Deployment"), changed, OPERATOR)
        self._watches: dict[str, Watch] = {}
        self._namespace = ""
        self.attend(NAMESPACE)

    def operator(self) -> Operator | None:
        """The GPU Operator whose Deployment is available; None if there is none.

        The first call that finds an operator also starts the watches of the operator's namespace.
        """
        for item in self._deployments.all():
            if int(at(item, "status.availableReplicas", 0)) > 0:
                namespace = str(at(item, "metadata.namespace"))
                container: Json = at(item, "spec.template.spec.containers", [{}])[0]
                image = str(container.get("image", ""))
                release = labels(item).get("app.kubernetes.io/version") or image.rpartition(":")[2]
                env = {each["name"]: str(each.get("value", "")) for each in container.get("env") or ()}
                self.attend(namespace)
                return Operator(namespace, release, env.get("DRIVER_MANAGER_IMAGE", ""))
        return None

    def attend(self, namespace: str) -> None:
        """Watches the objects in the operator's namespace `namespace`, and the cluster-scoped kinds that the operator
        uses. Returns when all objects have been listed.
        """
        if namespace != self._namespace:
            for watch in self._watches.values():
                watch.stop()
            self._namespace = namespace
            kinds = {kind: path_of(kind, namespace) for kind in OF_NAMESPACE} | {
                kind: path_of(kind) for kind in OF_CLUSTER
            }
            self._watches = {kind: Watch(self.client, where, self._changed) for kind, where in kinds.items()}
        for watch in self._followed:
            watch.synced.wait(SYNC_SECONDS)

    @property
    def is_synced(self) -> bool:
        """True once all watched objects have been listed."""
        return all(watch.synced.is_set() for watch in self._followed)

    @property
    def _followed(self) -> list[Watch]:
        return [self._nodes, self._deployments, *self._watches.values()]

    @property
    def nodes(self) -> list[Json]:
        return self._nodes.all()

    def all(self, kind: str) -> list[Json]:
        """All objects of a kind; for a namespaced kind, those in the operator's namespace."""
        watch = self._nodes if kind == "Node" else self._watches.get(kind)
        return watch.all() if watch is not None else []

    # Writes

    def patch(self, item: Json, body: Json, kind: str = MERGE_PATCH, sub: str = "") -> Json | None:
        """Patches an object and returns it; None if the object no longer exists."""
        params = {"fieldManager": FIELD_MANAGER} | ({"force": "true"} if kind == APPLY_PATCH else {})
        try:
            result = self.client.patch(f"{path(item)}{sub}", body, kind, params)
        except ApiError as refusal:
            if refusal.code in (404, 409):
                return None
            raise
        self._seen(item["kind"], result)
        return result

    def apply(self, item: Json) -> Json | None:
        return self.patch(item, item, APPLY_PATCH)

    def label(self, item: Json, changes: Changes) -> None:
        self.patch(item, {"metadata": {"labels": changes}})

    def annotate(self, item: Json, changes: Changes) -> None:
        self.patch(item, {"metadata": {"annotations": changes}})

    def delete(self, item: Json, **params: str) -> None:
        uid = at(item, "metadata.uid")
        body: Json = {"preconditions": {"uid": uid}} if uid else {}
        try:
            self.client.request("DELETE", path(item), body, params={"propagationPolicy": "Background", **params})
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise

    def pods_on(self, node: str) -> list[Json]:
        """The Pods of all namespaces on a node."""
        return list(self.client.get("/api/v1/pods", {"fieldSelector": f"spec.nodeName={node}"})["items"])

    def workloads_on(self, node: str, *, claims: bool) -> tuple[Workload, ...]:
        """The Pods of a node, with the facts that decide whether they block a driver upgrade.

        Args:
            claims: True if a resource claim for a GPU counts like a GPU request.
        """
        pods = self.pods_on(node)
        named = {(str(at(pod, "metadata.namespace")), key) for pod in pods for key in claims_of(pod)} if claims else ()
        found = {each: claim for each in named if (claim := self._claim(*each)) is not None}
        return tuple(workload(pod, found) for pod in pods)

    def _claim(self, namespace: str, key: str) -> Json | None:
        try:
            return self.client.get(f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims/{key}")
        except ApiError as refusal:
            if refusal.code != 404:
                raise
            return None

    def evict(self, namespace: str, key: str) -> None:
        """Evicts a Pod; does nothing if the Pod no longer exists.

        Raises:
            ApiError: The API server refuses, with code 429 if a disruption budget is the reason.
        """
        body: Json = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": key, "namespace": namespace}}
        try:
            self.client.request("POST", f"{path_of('Pod', namespace, key)}/eviction", body)
        except ApiError as refusal:
            if refusal.code != 404:
                raise

    def _seen(self, kind: str, item: Json) -> None:
        watch = self._nodes if kind == "Node" else self._watches.get(kind)
        if watch is not None and item.get("metadata"):
            watch.put(item)

    def serves(self, api_version: str, kind: str) -> bool:
        """True if the API server serves the kind `kind` in `api_version`."""
        return kind in self.client.kinds(api_version)
