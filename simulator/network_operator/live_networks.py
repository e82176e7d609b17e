"""Networks of Pods in a running cluster: the objects that the Network Operator, nv-ipam's controller and
Multus write.
"""

from __future__ import annotations

from collections.abc import Callable

from simulator.charts.crds import definitions
from simulator.cluster.definitions import replace_definition
from simulator.cluster.objects import Json, annotations_of, at, by_name, digest, is_terminating, name
from simulator.cluster.watch import Watch, key_of
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client
from simulator.network_operator import networks as model

MANAGER = "network-operator"
IPAM_CHART = "nv-ipam"
LAST_NAMESPACE = "operator.macvlannetwork.mellanox.com/last-network-namespace"
"""Annotation of a MacvlanNetwork with the namespace of its NetworkAttachmentDefinition. If the namespace changes, the
operator deletes the NetworkAttachmentDefinition in the old namespace (pkg/state/state_macvlan_network.go).
"""


class PodNetworks:
    """Simulates the networks of Pods. It watches nothing until a policy contains Multus or nv-ipam."""

    def __init__(self, client: Client, wake: Callable[[], None]) -> None:
        self._client, self._wake = client, wake
        self._served = ""
        self._made: dict[tuple[str, str], str] = {}
        self._watches: dict[str, Watch] = {}

    def round(self, policy: Json, nodes: list[Json], served: frozenset[str]) -> None:
        """Runs one round for the policy in effect. `served`: nodes on which Multus and nv-ipam run."""
        release = str(at(policy, "spec.nvIpam.version", "")).rpartition("network-operator-")[2]
        if release and release != self._served:
            for definition in definitions(IPAM_CHART, release):
                replace_definition(self._client, definition)
            self._served = release
        self._attach()
        if release:
            self._allocate(nodes)
            self._give(served)

    def problem(self, pod: Json, served: frozenset[str]) -> str:
        """Multus's message about a network of the Pod that does not exist. Empty if all networks exist, or if the Pod's
        node is not in `served`.
        """
        if at(pod, "spec.nodeName") not in served:
            return ""
        return model.missing(pod, {key_of(each) for each in self._all(model.DEFINITIONS)})

    def _all(self, path: str) -> list[Json]:
        if path not in self._watches:
            self._watches[path] = Watch(self._client, path, self._wake)
            self._watches[path].synced.wait()
        return [item for item in self._watches[path].all() if not is_terminating(item)]

    def _attach(self) -> None:
        there = {key_of(each) for each in self._all(model.DEFINITIONS)}
        for network in self._all(model.GROUP):
            item = model.attachment(network)
            space, mark = str(item["metadata"]["namespace"]), digest(item)
            key = (space, name(network))
            last = annotations_of(network).get(LAST_NAMESPACE)
            if last not in (None, space):
                self._delete(f"{_folder(str(last))}/{name(network)}")
                self._made.pop((str(last), name(network)), None)
            if self._made.get(key) == mark and key in there:
                continue
            path = f"{_folder(space)}/{name(network)}"
            made = self._apply(path, item)
            if made is None:
                continue  # its namespace is not there yet
            self._watches[model.DEFINITIONS].put(made)
            self._made[key] = mark
            self._patch(model.GROUP, network, {"metadata": {"annotations": {LAST_NAMESPACE: space}}})
            status = {"state": "ready", "macvlanNetworkAttachmentDef": path}
            self._patch(model.GROUP, network, {"status": status}, "/status")

    def _allocate(self, nodes: list[Json]) -> None:
        for pool in self._all(model.POOLS):
            given = model.allocations(pool, nodes)
            if given != at(pool, "status.allocations"):
                self._patch(model.POOLS, pool, {"status": {"allocations": given}}, "/status")

    def _give(self, served: frozenset[str]) -> None:
        pods = self._all("/api/v1/pods") if served and self._all(model.DEFINITIONS) else []
        pods = [pod for pod in pods if at(pod, "spec.nodeName") in served]
        attached = {key_of(each): each for each in self._all(model.DEFINITIONS)}
        for (space, key), text in model.interfaces(pods, by_name(self._all(model.POOLS)), attached).items():
            item: Json = {"metadata": {"namespace": space, "name": key}}
            self._patch("/api/v1/pods", item, {"metadata": {"annotations": {model.STATUS: text}}})

    def _patch(self, collection: str, item: Json, body: Json, sub: str = "") -> None:
        """Patches an object; does nothing if the object was deleted or changed meanwhile."""
        space, key = key_of(item)
        group, _, plural = collection.rpartition("/")
        path = f"{group}/namespaces/{space}/{plural}" if space else collection
        try:
            found = self._client.patch(f"{path}/{key}{sub}", body, MERGE_PATCH, {"fieldManager": MANAGER})
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise
            return
        self._watches[collection].put(found)

    def _apply(self, path: str, item: Json) -> Json | None:
        """Applies an object and returns it; None if its namespace does not exist."""
        try:
            return self._client.patch(path, item, APPLY_PATCH, {"fieldManager": MANAGER, "force": "true"})
        except ApiError as refusal:
            if refusal.code != 404:
                raise
            return None

    def _delete(self, path: str) -> None:
        try:
            self._client.request("DELETE", path)
        except ApiError as refusal:
            if refusal.code != 404:
                raise


def _folder(namespace: str) -> str:
    return f"/apis/k8s.cni.cncf.io/v1/namespaces/{namespace}/network-attachment-definitions"
