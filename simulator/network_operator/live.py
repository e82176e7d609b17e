"""The Network Operator against one running cluster, and the device plugins of its nodes."""

from __future__ import annotations

from simulator.cluster.loop import Loop
from simulator.cluster.names import DRIVER_WAIT_LABEL, NETWORK_DRIVER
from simulator.cluster.objects import (
    Json,
    annotations_of,
    at,
    by_name,
    digest,
    is_ready,
    is_terminating,
    labels,
    name,
)
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client
from simulator.network_operator import policy as model
from simulator.network_operator.live_networks import PodNetworks
from simulator.network_operator.names import NAMESPACE, POLICY
from simulator.network_operator.policy import IPAM, MULTUS, OFED, SHARED, SRIOV, STATE_LABEL
from simulator.network_operator.sandboxes import Sandboxes

SELECTOR = "app.kubernetes.io/name=network-operator"
POLICIES = "/apis/mellanox.com/v1alpha1/nicclusterpolicies"
DAEMONSETS = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
NODES = "/api/v1/nodes"
MANAGER = "network-operator"
PREFIX = "rdma/"


class NetworkOperator:
    """Simulates the Network Operator.

    Until the operator is deployed, only its Deployment and Pods that have not started are watched.
    """

    def __init__(self, client: Client) -> None:
        self.loop = Loop("network-operator", self.round)
        self._client = client
        self._deployments = Watch(client, "/apis/apps/v1/deployments", self.loop.wake, SELECTOR)
        self._watches: dict[str, Watch] = {}
        self._made: dict[str, str] = {}
        self._networks = PodNetworks(client, self.loop.wake)
        self._sandboxes = Sandboxes(client, self.loop.wake)

    def round(self) -> None:
        """Runs one round of the Network Operator; does nothing if the operator is not running."""
        if not any(int(at(item, "status.availableReplicas", 0)) > 0 for item in self._deployments.all()):
            self._sandboxes.release(lambda pod: "")
            return
        if not self._watches:
            paths = (POLICIES, DAEMONSETS, PODS, NODES)
            self._watches = {path: Watch(self._client, path, self.loop.wake) for path in paths}
            for watch in self._watches.values():
                watch.synced.wait()
        policies = [item for item in self._watches[POLICIES].all() if not is_terminating(item)]
        counts = next((item for item in policies if name(item) == POLICY), None)
        nodes = self._watches[NODES].all()
        wanted = model.daemonsets(counts, nodes) if counts is not None else []
        self._make(wanted)
        self._record(nodes)
        self._label(counts, self._watches[NODES].all())
        self._offer(counts, nodes)
        served = self._served() if counts is not None else frozenset[str]()
        if counts is not None:
            self._networks.round(counts, nodes, served)
        self._sandboxes.release(lambda pod: self._networks.problem(pod, served))
        live = by_name(self._watches[DAEMONSETS].all())
        for item in policies:
            given = model.status(item, wanted if item is counts else [], live)
            if given != item.get("status"):
                self._patch(f"{POLICIES}/{name(item)}/status", {"status": given}, POLICIES)

    def _make(self, wanted: list[Json]) -> None:
        live = {name(item) for item in self._watches[DAEMONSETS].all() if not is_terminating(item)}
        for item in wanted:
            mark = digest(item)
            if self._made.get(name(item)) != mark or name(item) not in live:
                params = {"fieldManager": MANAGER, "force": "true"}
                found = self._client.patch(f"{DAEMONSETS}/{name(item)}", item, APPLY_PATCH, params)
                self._watches[DAEMONSETS].put(found)
                self._made[name(item)] = mark
        for key in live - {name(item) for item in wanted}:
            self._made.pop(key, None)
            try:
                self._client.request("DELETE", f"{DAEMONSETS}/{key}", params={"propagationPolicy": "Background"})
            except ApiError as refusal:
                if refusal.code != 404:
                    raise

    def _running(self) -> dict[str, dict[str, bool]]:
        """Readiness of the Pods of each operator state, by state and node: True if the state's Pod on the node is
        ready.
        """
        found: dict[str, dict[str, bool]] = {}
        for pod in self._watches[PODS].all():
            node = str(at(pod, "spec.nodeName", ""))
            if node and STATE_LABEL in labels(pod) and not is_terminating(pod):
                found.setdefault(labels(pod)[STATE_LABEL], {})[node] = is_ready(pod)
        return found

    def _served(self) -> frozenset[str]:
        """Nodes on which both Multus and nv-ipam run."""
        running = self._running()
        ready = [{node for node, is_up in running.get(state, {}).items() if is_up} for state in (MULTUS, IPAM)]
        return frozenset(ready[0] & ready[1])

    def _record(self, nodes: list[Json]) -> None:
        """Records the OFED driver of each node in an annotation. The driver stays in the kernel after its Pod ends,
        until another OFED driver is loaded.
        """
        for pod in self._watches[PODS].all():
            if labels(pod).get(STATE_LABEL) != OFED or not is_ready(pod) or is_terminating(pod):
                continue
            image = str(pod["spec"]["containers"][0]["image"])
            node = next((each for each in nodes if name(each) == at(pod, "spec.nodeName")), None)
            if node is not None and annotations_of(node).get(NETWORK_DRIVER) != image:
                self._patch(f"{NODES}/{name(node)}", {"metadata": {"annotations": {NETWORK_DRIVER: image}}}, NODES)

    def _label(self, policy: Json | None, nodes: list[Json]) -> None:
        for key, value in model.wait_labels(policy, nodes, self._running().get(OFED, {})).items():
            self._patch(f"{NODES}/{key}", {"metadata": {"labels": {DRIVER_WAIT_LABEL: value}}}, NODES)

    def _offer(self, policy: Json | None, nodes: list[Json]) -> None:
        """Sets the amounts of the device plugins' resources on each node.

        If a plugin was removed, its resource stays on the node with the amount zero, as with a real kubelet.
        """
        running = self._running()
        for node in nodes:
            given: dict[str, str] = at(node, "status.allocatable", {})
            held = {key: count for key, count in given.items() if key.startswith(PREFIX)}
            plugins = [state for state in (SHARED, SRIOV) if running.get(state, {}).get(name(node))]
            offered = model.resources(policy, node, plugins) if policy is not None else {}
            wanted = dict.fromkeys(held, "0") | {key: str(count) for key, count in offered.items()}
            if wanted != held:
                body: Json = {"status": {"capacity": wanted, "allocatable": wanted}}
                self._patch(f"{NODES}/{name(node)}/status", body, NODES)

    def _patch(self, path: str, body: Json, watched: str) -> None:
        """Patches an object; does nothing if the object was deleted."""
        try:
            found = self._client.patch(path, body, MERGE_PATCH, {"fieldManager": MANAGER})
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise
            return
        self._watches[watched].put(found)
