"""The requests to the API server that the driver agent of one node may send."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from physical_ai.catalog.own_names import GRID_DRIVER_READY
from physical_ai.kubernetes.quantities import quantity
from simulator.cluster.names import NVIDIA
from simulator.cluster.objects import Json, annotations_of, at, is_terminating, labels, name, timestamp
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.live.grid_program import Condition, Facts, Pod
from simulator.kubernetes.client import ApiError

STRATEGIC = "application/strategic-merge-patch+json"


class NodeApi:
    """Interface through which the GRID driver agent of one node reads and changes the cluster; here it uses the
    simulator's API server. `facts`: the agent's classes, of which `observe` returns instances.
    """

    def __init__(self, cluster: Cluster, node: str, facts: Facts) -> None:
        self._cluster, self._node, self.facts = cluster, node, facts
        self._began: dict[str, float] = {}

    def began(self, pods: Mapping[str, float]) -> None:
        """Stores the times at which the node's Pods appeared. `pods`: simulated seconds since the epoch, by Pod uid."""
        self._began = dict(pods)

    def observe(self) -> object:
        item = self._item()
        found = self._cluster.client.get("/api/v1/pods", {"fieldSelector": f"spec.nodeName={self._node}"})
        pods: list[Json] = list(found["items"])
        conditions: list[Json] = at(item, "status.conditions", [])
        mine = next((each for each in conditions if each["type"] == GRID_DRIVER_READY), None)
        running = [each for each in pods if at(each, "status.phase", "Pending") in ("Pending", "Running")]
        return self.facts.NodeFacts(
            name=self._node,
            labels=labels(item),
            annotations=annotations_of(item),
            operands=tuple(self._pod(each) for each in pods if labels(each).get("app", "") in self.facts.OPERANDS),
            gpu_pods=tuple(self._pod(each) for each in running if gpus_of(each) or claims(each)),
            condition=(mine["status"], mine.get("reason", "")) if mine else None,
        )

    def label(self, labels: Mapping[str, str]) -> None:
        self._cluster.label(self._item(), dict(labels))

    def delete(self, pod: Pod) -> None:
        metadata = {"namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
        self._cluster.delete({"kind": "Pod", "metadata": metadata})

    def evict(self, pod: Pod) -> None:
        try:
            self._cluster.evict(pod.namespace, pod.name)
        except ApiError as problem:
            raise self.facts.ClusterError("refused" if problem.code == 429 else "other", str(problem)) from None

    def report(self, condition: Condition) -> None:
        report(self._cluster, self._item(), condition)

    def event(self, kind: str, reason: str, message: str) -> None:
        now = timestamp()
        digest = zlib.crc32(f"{reason} {message} {now}".encode())
        about = {"apiVersion": "v1", "kind": "Node", "name": self._node, "uid": at(self._item(), "metadata.uid", "")}
        self._cluster.apply(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": f"{self._node}.{digest:08x}", "namespace": "default"},
                "involvedObject": about,
                "type": kind,
                "reason": reason,
                "message": message,
                "source": {"component": "grid-driver", "host": self._node},
                "reportingComponent": "grid-driver",
                "reportingInstance": self._node,
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
            }
        )

    def _item(self) -> Json:
        found = next((each for each in self._cluster.nodes if name(each) == self._node), None)
        if found is None:
            raise self.facts.ClusterError("other", f"node {self._node} does not exist any more")
        return found

    def _pod(self, item: Json) -> object:
        init: list[Json] = at(item, "status.initContainerStatuses", [])
        uid = str(at(item, "metadata.uid"))
        return self.facts.Pod(
            namespace=str(at(item, "metadata.namespace")),
            name=name(item),
            uid=uid,
            app=labels(item).get("app", ""),
            phase=str(at(item, "status.phase", "Pending")),
            terminating=is_terminating(item),
            looking=bool(init) and not init[0].get("ready"),
            begun=self._began.get(uid),
            gpus=gpus_of(item),
        )


def report(cluster: Cluster, node: Json, condition: Condition) -> None:
    """Writes the condition GridDriverReady of a node."""
    now = timestamp()
    shown = {"status": condition.status, "reason": condition.reason, "message": condition.message}
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    cluster.patch(
        node, {"status": {"conditions": [{"type": GRID_DRIVER_READY, **shown, **times}]}}, STRATEGIC, "/status"
    )


def gpus_of(pod: Json) -> int:
    """Number of NVIDIA devices that a Pod requests, under any resource name."""
    containers: list[Json] = at(pod, "spec.containers", [])
    limits = (at(each, "resources.limits", {}) for each in containers)
    counts = (count for each in limits for key, count in each.items() if key.startswith(NVIDIA))
    return sum(int(quantity(count) or 1) for count in counts)


def claims(pod: Json) -> bool:
    """True for a Pod that gets devices through a resource claim."""
    return bool(at(pod, "spec.resourceClaims", []))
