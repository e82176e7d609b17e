"""In-memory API server with one GPU node, which runs the Pods of acceptance checks."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from physical_ai.readiness.reader import Missing, Unreachable
from simulator.acceptance.live import machine
from simulator.acceptance.programs import run
from simulator.cluster.pods import ended
from simulator.gpu.hardware import of_node
from simulator.gpu.node_state import Host, NodeState
from simulator.gpu.sharing import devices

Json = dict[str, Any]
NODE = "aks-h100gpu-1-vmss000000"
PODS = "/api/v1/namespaces/gpu-operator/pods"
JOBS = "/apis/batch/v1/namespaces/gpu-operator/jobs"
MAPS = "/api/v1/namespaces/gpu-operator/configmaps"


def gpu_node(sku: str, pool: str = "h100gpu") -> Json:
    return {
        "metadata": {
            "name": NODE,
            "uid": "uid-1",
            "resourceVersion": "1",
            "labels": {
                "agentpool": pool,
                "kubernetes.azure.com/agentpool": pool,
                "node.kubernetes.io/instance-type": sku,
                "kubernetes.io/hostname": NODE,
            },
        },
        "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
        "status": {
            "allocatable": {"cpu": "40", "nvidia.com/gpu": "1"},
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-01T00:00:00Z"}],
            "nodeInfo": {"bootID": "boot-1"},
        },
    }


def _found(item: Json | None) -> Json:
    if item is None:
        raise Missing("not found")
    return item


@dataclass
class World:
    """API server with one GPU node. `send` answers requests; `alter` changes each Pod of a Job before a request returns
    it.
    """

    node: Json
    driver: str
    modules: str = "open"
    alter: Callable[[Json], Json | None] = field(default=lambda pod: pod)
    others: list[Json] = field(default_factory=list[Json])
    """Pods on the node that are not from acceptance."""
    finished: list[Json] = field(default_factory=list[Json])
    """Pods of the CronJobs that check nodes."""
    is_gone: bool = False
    """True if the node has left the cluster."""
    conflicts: int = 0
    """Number of the next writes to the node that fail, because another client has just changed the node."""
    jobs: dict[str, Json] = field(default_factory=dict[str, Json])
    maps: dict[str, Json] = field(default_factory=dict[str, Json])
    logs: dict[str, str] = field(default_factory=dict[str, str])
    created: list[Json] = field(default_factory=list[Json])
    deleted: list[str] = field(default_factory=list[str])

    def send(self, method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        answer = self._answer(method, path, parameters, body)
        return answer if isinstance(answer, str) else copy.deepcopy(answer)

    def _answer(self, method: str, path: str, parameters: Mapping[str, str], body: Any) -> Any:  # noqa: PLR0911
        match method, path:
            case "GET", "/api/v1/pods":
                return {"items": self.others}
            case "GET", _ if path == PODS and "," in parameters["labelSelector"]:
                assert parameters["labelSelector"] == "physical-ai/acceptance-check,!physical-ai/acceptance"
                return {"items": self.finished}
            case "GET", _ if path == PODS:
                pod = self._pod(parameters["labelSelector"].partition("=")[2])
                return {"items": [pod] if pod else []}
            case "GET", _ if path.endswith("/log"):
                return self.logs[path.split("/")[-2]]
            case "GET", _ if path.endswith("/events"):
                return {"items": []}
            case "POST", _ if path == JOBS:
                name = f"{body['metadata']['generateName']}{len(self.created)}"
                self.created.append(body)
                self.jobs[name] = {**body, "metadata": {**body["metadata"], "name": name}}
                return self.jobs[name]
            case "DELETE", _ if path.startswith(JOBS):
                self.deleted.append(path.rpartition("/")[2])
                return _found(self.jobs.pop(self.deleted[-1], None))
            case "GET", _ if path.startswith(JOBS):
                return _found(self.jobs.get(path.rpartition("/")[2]))
            case _, _ if path.startswith(MAPS):
                return self._map(method, path.rpartition("/")[2], body)
            case _, _ if path.startswith("/api/v1/nodes/"):
                return self._node(method, body)
            case _:
                raise AssertionError(f"{method} {path}")

    def _pod(self, job: str) -> Json | None:
        if job not in self.jobs:
            return None
        return self.alter(self.ran(f"{job}-x", self.jobs[job]["spec"]["template"]["spec"]))

    def ran(self, name: str, spec: Json) -> Json:
        """Pod, with this spec, that has run to its end on the node. Its log is kept in `logs`."""
        hardware = of_node(self.node)
        assert hardware is not None
        given = tuple(devices(hardware.mig, "single"))
        state = NodeState(
            "v26.7.0",
            hardware,
            host=Host(self.driver, self.modules),
            devices=given,
            resources=Counter(each.resource for each in given),
        )
        pod: Json = {
            "metadata": {"name": name, "namespace": "gpu-operator"},
            "spec": {**spec, "nodeName": NODE},
            "status": {},
        }
        claimed = len(spec.get("resourceClaims", []))
        found = machine(spec["containers"][0], self.node, state, claimed=claimed)
        code, self.logs[name] = run(spec["containers"][0], found)
        return {**pod, "status": ended(pod, {"check": (code, "")})}

    def _map(self, method: str, name: str, body: Any) -> Json:
        if method == "POST":
            self.maps[body["metadata"]["name"]] = body
            return body
        if name not in self.maps:
            raise Missing(name)
        if method == "PUT":
            self.maps[name] = body
        return self.maps[name]

    def _node(self, method: str, body: Any) -> Json:
        if self.is_gone:
            raise Missing(NODE)
        if method == "PATCH":
            if self.conflicts:
                self.conflicts -= 1
                self.node["metadata"]["resourceVersion"] += "1"
            if body["metadata"]["resourceVersion"] != self.node["metadata"]["resourceVersion"]:
                raise Unreachable("409 the object has been modified")
            for part in ("spec", "status"):
                self.node[part] |= body.get(part, {})
            self.node["metadata"]["resourceVersion"] += "1"
        return self.node
