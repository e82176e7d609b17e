"""In-memory cluster with its Azure, for tests of repairs: requests change it, and a process can die at any request."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from physical_ai.readiness.reader import Missing, Unreachable
from tests.support.json_copies import json_copy
from workbench.health.arm import Answer
from workbench.health.replacement.cluster import RepairCluster
from workbench.health.replacement.machines import Machines
from workbench.health.replacement.record import Record
from workbench.health.replacement.world import Standing, World

CLUSTER = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"
SCALE_SET = "aks-h100gpu-1-vmss"
POOL = "h100gpu"
GPU = {"nvidia.com/gpu": 1}
Json = dict[str, Any]


class Killed(Exception):
    """Process that was killed."""


def merge(into: Json, patch: Mapping[str, Any]) -> None:
    """Applies a JSON merge patch (RFC 7386) in place."""
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, Mapping):
            merge(into.setdefault(key, {}), value)
        else:
            into[key] = value


@dataclass
class Fake:
    """Pool h100gpu of a cluster: its API server, and its machines in Azure."""

    size: int = 4
    autoscaled: bool = False
    least: int = 0
    nodes: dict[str, Json] = field(default_factory=dict[str, Json])
    pods: dict[tuple[str, str], Json] = field(default_factory=dict[tuple[str, str], Json])
    maps: dict[str, Json] = field(default_factory=dict[str, Json])
    blocked: set[str] = field(default_factory=set[str])
    """Names of Pods that a disruption budget protects."""
    count: int = 0
    busy: int = 0
    """Number of requests that Azure refuses because it works on something else."""
    deleted: list[str] = field(default_factory=list[str])
    restarted: list[str] = field(default_factory=list[str])
    reports: dict[str, Json] = field(default_factory=dict[str, Json])
    accepted: list[str] = field(default_factory=list[str])
    refuse_acceptance: str = ""
    calls: int = 0
    kill_before: int = -1
    kill_after: int = -1
    """Number of the request at which the process dies after the request has taken effect; with `kill_before`, it dies
    before.
    """
    clock: datetime = datetime(2026, 11, 1, 12, 0, 0, 250_000, tzinfo=UTC)
    pending: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """Changes that Azure makes while the process sleeps."""
    reuses_names: bool = False
    """True if a new machine gets the lowest free number, so that it may have the name of a deleted one."""
    standing: dict[str, str] = field(default_factory=dict[str, str])
    """Problem that alerts and conditions report about a node, by node."""
    unread: tuple[str, ...] = ()
    levels: list[str] = field(default_factory=list[str])
    """Levels of the acceptances that ran."""
    by_hand: bool = False
    """True if the machines are not Azure's."""
    _made: int = 0
    _version: int = 0

    def __post_init__(self) -> None:
        for _ in range(self.size):
            self.add_node()
        self.count = self.size

    def add_node(self) -> str:
        serial = index = self._made
        self._made += 1
        if self.reuses_names:
            index = next(number for number in range(serial + 1) if f"{SCALE_SET}{number:06d}" not in self.nodes)
        node = f"{SCALE_SET}{index:06d}"
        self.nodes[node] = {
            "metadata": {
                "name": node,
                "resourceVersion": self._next(),
                "uid": f"uid{serial:05d}-0000",
                "creationTimestamp": f"2026-11-01T12:{serial:02d}:00Z",
                "labels": {"kubernetes.azure.com/agentpool": POOL, "agentpool": POOL},
                "annotations": {},
            },
            "spec": {
                "providerID": ""
                if self.by_hand
                else f"azure:///subscriptions/s/resourceGroups/mc/providers/Microsoft.Compute"
                f"/virtualMachineScaleSets/{SCALE_SET}/virtualMachines/{index}"
            },
            "status": {
                "nodeInfo": {"bootID": f"boot-{serial}"},
                "conditions": [{"type": "Ready", "status": "True"}],
                "allocatable": {"nvidia.com/gpu": "1"},
            },
        }
        return node

    def add_pod(self, node: str, pod: str, owner: str = "", **metadata: Any) -> None:
        owners = [{"kind": owner, "name": "owner", "controller": True}] if owner else []
        own = {"namespace": "default", "name": pod, "uid": f"pod{self._next()}", "ownerReferences": owners}
        self.pods["default", pod] = {
            "metadata": {**own, **metadata},
            "spec": {"nodeName": node, "containers": [{"name": "c"}]},
            "status": {"phase": "Running"},
        }

    # The process and the world around it

    def _counted(self, change: Callable[[], Any]) -> Any:
        self.calls += 1
        if self.calls == self.kill_before:
            raise Killed
        number = self.calls
        try:
            return change()
        finally:
            if number == self.kill_after:
                raise Killed

    def sleep(self, seconds: float) -> None:
        self.clock += timedelta(seconds=max(seconds, 1))
        happening, self.pending = self.pending, []
        for each in happening:
            each()

    # The API server

    def send(self, method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        return json_copy(self._counted(lambda: self._answer(method, path, parameters, json_copy(body))))

    def _answer(self, method: str, path: str, parameters: Mapping[str, str], body: Any) -> Any:
        parts = path.strip("/").split("/")
        if path == "/api/v1/nodes":
            return {"items": list(self.nodes.values())}
        if path == "/api/v1/pods":
            node = parameters["fieldSelector"].removeprefix("spec.nodeName=")
            return {"items": [pod for pod in self.pods.values() if pod["spec"]["nodeName"] == node]}
        if path.endswith("/eviction"):
            return self._evict(parts[3], parts[5], body)
        if "configmaps" in parts:
            return self._config_map(method, parts[-1], body)
        if parts[2] == "nodes" and parts[3] in self.nodes:
            if method == "PATCH":
                self._merge(self.nodes[parts[3]], body)
            return self.nodes[parts[3]]
        raise Missing(path)

    def _next(self) -> str:
        self._version += 1
        return str(self._version)

    def touch(self, node: str) -> None:
        """Changes the node as another client does."""
        self.nodes[node]["metadata"]["resourceVersion"] = self._next()

    def _merge(self, held: Json, patch: Json) -> None:
        """Applies a patch. A patch that names another resourceVersion than that of the object is refused."""
        wanted = patch.get("metadata", {}).get("resourceVersion")
        if wanted is not None and wanted != held["metadata"]["resourceVersion"]:
            raise Unreachable("409 the object has been modified; please apply your changes to the latest version")
        merge(held, patch)
        held["metadata"]["resourceVersion"] = self._next()

    def _evict(self, namespace: str, pod: str, body: Json) -> Json:
        if (namespace, pod) not in self.pods:
            raise Missing(pod)
        if self.pods[namespace, pod]["metadata"]["uid"] != body["deleteOptions"]["preconditions"]["uid"]:
            raise Unreachable("409 the UID in the precondition does not match the UID in record")
        if pod in self.blocked:
            raise Unreachable("429 Cannot evict pod as it would violate the pod's disruption budget.")
        del self.pods[namespace, pod]
        return {}

    def _config_map(self, method: str, last: str, body: Any) -> Json:
        if method == "POST":
            found = body["metadata"]["name"]
            if found in self.maps:
                raise Unreachable(f"409 configmaps {found} already exists")
            body["metadata"]["resourceVersion"] = self._next()
            self.maps[found] = body
            return body
        if last == "configmaps":
            labeled = [each for each in self.maps.values() if "labels" in each["metadata"]]
            return {"items": labeled}
        if last not in self.maps:
            raise Missing(last)
        if method == "PATCH":
            self._merge(self.maps[last], body)
        return self.maps[last]

    # Azure

    def arm(self, method: str, path: str, parameters: Mapping[str, str], body: Any) -> Answer:
        assert parameters["api-version"]
        return self._counted(lambda: self._azure(method, path, body))

    def _azure(self, method: str, path: str, body: Any) -> Answer:
        pool = {
            "count": self.count,
            "enableAutoScaling": self.autoscaled,
            "minCount": self.least if self.autoscaled else None,
            "provisioningState": "Updating" if self.pending else "Succeeded",
        }
        if method == "GET":
            return Answer(200, {"properties": pool})
        if self.busy or self.pending:
            self.busy = max(self.busy - 1, 0)
            return Answer(409, {"code": "OperationNotAllowed", "message": "another operation is in progress"})
        if path.endswith("/deleteMachines"):
            (machine,) = body["machineNames"]
            if machine not in self.nodes:
                return Answer(404, {"code": "NotFound", "message": f"no machine {machine}"})
            self.pending.append(lambda: self._delete(machine))
        elif path.endswith("/restart"):
            self.pending.append(lambda: self._restart(f"{SCALE_SET}{int(path.split('/')[-2]):06d}"))
        elif method == "PUT":
            self.pending.append(lambda: self._resize(body["properties"]["count"]))
        return Answer(202)

    def _delete(self, machine: str) -> None:
        if machine not in self.nodes:
            return
        self.deleted.append(machine)
        self.remove(machine)

    def remove(self, machine: str) -> None:
        """Removes a machine, as a deletion does or as Azure does when it evicts a Spot VM."""
        del self.nodes[machine]
        self.pods = {key: pod for key, pod in self.pods.items() if pod["spec"]["nodeName"] != machine}
        self.count -= 1

    def _restart(self, node: str) -> None:
        self.restarted.append(node)
        if node not in self.nodes:
            return
        self.nodes[node]["status"]["nodeInfo"]["bootID"] += "-again"
        self.touch(node)

    def _resize(self, count: int) -> None:
        while len(self.nodes) < count:
            self.add_node()
        self.count = count

    # The other parts of a repair

    def world(self, *, reports: bool = True) -> World:
        return World(
            cluster=RepairCluster(self.send),
            machines=None if self.by_hand else Machines(self.arm, CLUSTER),
            expected={POOL: GPU},
            least={POOL: "quick"},
            gather=lambda node: {"node": node},
            report=self._report if reports else None,
            accept=self._leveled,
            standing=self._standing,
            now=lambda: self.clock,
        )

    def _report(self, record: Record, evidence: Mapping[str, Any]) -> str:
        self._counted(lambda: self.reports.setdefault(record.name, dict(evidence)))
        return record.name

    def _leveled(self, node: str, level: str) -> str:
        self.levels.append(level)
        return self._accept(node)

    def _standing(self, record: Record) -> Standing:
        found = self.standing.get(record.new_node)
        return Standing((found,) if found else (), self.unread)

    def _accept(self, node: str) -> str:
        self._counted(lambda: self.accepted.append(node))
        return self.refuse_acceptance

    def state(self) -> str:
        """Everything that a repair leaves behind, as a text to compare. Names of new machines are in it, times are
        not.
        """
        maps = {key: {k: json.loads(v) for k, v in value["data"].items()} for key, value in self.maps.items()}
        for each in maps.values():
            for own in ("deadline", "started", "removed", "offered", "proven"):
                each.get("repair.json", {}).pop(own, None)
            each.get("reservation.json", {}).pop("since", None)
        nodes = json_copy(self.nodes)
        for each in nodes.values():
            each["metadata"].pop("resourceVersion")
        found = [nodes, sorted(map(str, self.pods)), maps, self.count, sorted(set(self.reports))]
        return json.dumps(found, sort_keys=True)
