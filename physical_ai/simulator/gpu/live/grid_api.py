"""The API server as one node's driver agent may use it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Literal

from grid_agent.facts import OPERANDS, ClusterError, Condition, NodeFacts, Pod
from physical_ai.simulator.cluster.names import NVIDIA
from physical_ai.simulator.cluster.objects import Json, annotations_of, at, is_terminating, labels, name, timestamp
from physical_ai.simulator.gpu.live.cluster import Cluster
from physical_ai.simulator.kubernetes.client import ApiError

STRATEGIC = "application/strategic-merge-patch+json"


class NodeApi:
    """Implements the agent's `ClusterApi` for one node."""

    def __init__(self, cluster: Cluster, node: str) -> None:
        self._cluster, self._node = cluster, node
        self._began: dict[str, float] = {}

    def began(self, pods: Mapping[str, float]) -> None:
        """When each of the node's pods looked at the driver first (model seconds since the epoch), by uid."""
        self._began = dict(pods)

    def observe(self) -> NodeFacts:
        item = self._item()
        found = self._cluster.client.get("/api/v1/pods", {"fieldSelector": f"spec.nodeName={self._node}"})
        pods = [self._pod(each) for each in found["items"]]
        conditions: list[Json] = at(item, "status.conditions", [])
        mine = next((each for each in conditions if each["type"] == "GridDriverReady"), None)
        return NodeFacts(
            name=self._node,
            labels=labels(item),
            annotations=annotations_of(item),
            operands=tuple(each for each in pods if each.app in OPERANDS),
            gpu_pods=tuple(each for each in pods if each.gpus and each.phase in ("Pending", "Running")),
            condition=(mine["status"], mine.get("reason", "")) if mine else None,
        )

    def label(self, labels: Mapping[str, str]) -> None:
        self._cluster.label(self._item(), dict(labels))

    def delete(self, pod: Pod) -> None:
        metadata = {"namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
        self._cluster.delete({"kind": "Pod", "metadata": metadata})

    def evict(self, pod: Pod) -> None:
        path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/eviction"
        metadata = {"name": pod.name, "namespace": pod.namespace}
        try:
            self._cluster.client.request(
                "POST", path, {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
            )
        except ApiError as problem:
            if problem.code != 404:
                raise ClusterError("refused" if problem.code == 429 else "other", str(problem)) from None

    def report(self, condition: Condition) -> None:
        now = timestamp()
        told = {"type": "GridDriverReady", "status": condition.status, "reason": condition.reason}
        times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
        body = {"status": {"conditions": [{**told, "message": condition.message, **times}]}}
        self._cluster.patch(self._item(), body, STRATEGIC, "/status")

    def event(self, kind: Literal["Normal", "Warning"], reason: str, message: str) -> None:
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
            raise ClusterError("other", f"node {self._node} is gone")
        return found

    def _pod(self, item: Json) -> Pod:
        init: list[Json] = at(item, "status.initContainerStatuses", [])
        uid = str(at(item, "metadata.uid"))
        return Pod(
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


def gpus_of(pod: Json) -> int:
    """NVIDIA devices that a pod asks for, of whatever name."""
    containers: list[Json] = at(pod, "spec.containers", [])
    limits = (at(each, "resources.limits", {}) for each in containers)
    return sum(int(count) for each in limits for key, count in each.items() if key.startswith(NVIDIA))
