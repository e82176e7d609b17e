"""A pool in memory, on which an upgrade node by node works: nodes, Pods, driver DaemonSet, and the GPU Operator.

The operator is the simulator's model, which takes its steps between the command's requests.
"""

from __future__ import annotations

import copy
import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from physical_ai.readiness import expected_pools
from physical_ai.readiness.reader import Missing, Unreachable
from physical_ai.settings import Loaded, load
from simulator.gpu import names, upgrade
from simulator.gpu.upgrade_states import DriverPod, Pool
from simulator.gpu.workloads import workload
from workbench.cli.rolls import Run, World, advance
from workbench.moves.progress import Limits
from workbench.rolls.deciding import Patience, Step
from workbench.rolls.marks import mark_of
from workbench.rolls.view import HASH

STACK, POOL, DRIVER, OPERAND = "dev-westus2", "h100gpu", "nvidia-gpu-driver-h100", "nvidia-device-plugin-daemonset"
NAMESPACE = "gpu-operator"
POLICY = {"autoUpgrade": True, "maxParallelUpgrades": 1, "maxUnavailable": "25%", "drain": {"enable": True}}
START = datetime.datetime(2027, 1, 1, tzinfo=datetime.UTC)


class Killed(BaseException):
    """The end of a process, at any of its writes."""


@dataclass
class Place:
    """The cluster.

    Attributes:
        revision: Newest revision of the driver's and the operand's template.
        broken: Names of nodes on which the newest driver does not start.
        unproved: Names of nodes on which acceptance fails.
        left: Writes until the process is killed.
        lost: Names of Pods with work that somebody has ended.
        opened: Names of nodes that the operator has uncordoned before their proof.
        proved: Names of nodes that acceptance has passed, with the driver's revision.
    """

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    pods: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    revision: int = 1
    operand: int = 1
    broken: set[str] = field(default_factory=set[str])
    unproved: set[str] = field(default_factory=set[str])
    left: int = 10**6
    lost: list[str] = field(default_factory=list[str])
    opened: list[str] = field(default_factory=list[str])
    proved: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    now: datetime.datetime = START
    version: int = 1
    before: Callable[[], None] = lambda: None
    """Called before each request that changes something."""

    def change(self, item: dict[str, Any]) -> None:
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)

    def write(self) -> None:
        self.before()
        self.left -= 1
        if self.left < 0:
            raise Killed

    # The nodes

    def join(self, name: str) -> None:
        labels = {"agentpool": POOL, "gpu": "true"}
        metadata = {"name": name, "labels": labels, "annotations": {names.UPGRADE_ENABLED: "true"}}
        ready = [{"type": "Ready", "status": "True"}]
        status: dict[str, Any] = {"conditions": ready, "allocatable": dict(resources())}
        self.nodes[name] = {"metadata": metadata, "spec": {}, "status": status}
        self.change(self.nodes[name])
        self.kubelet()

    def kubelet(self) -> None:
        """Starts missing Pods of DaemonSets with the newest template, and lets Pods become ready."""
        for name in self.nodes:
            for kind, revision in ((DRIVER, self.revision), (OPERAND, self.operand)):
                pod = self.pods.get(f"{kind}-{name}")
                if pod is None:
                    self.pods[f"{kind}-{name}"] = _daemon(kind, name, revision)
                elif not (kind == DRIVER and name in self.broken and pod["metadata"]["labels"][HASH] == self.newest):
                    pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}]

    @property
    def newest(self) -> str:
        return f"r{self.revision}"

    def work(self, name: str, node: str, *, kind: str = "") -> None:
        """Starts a Pod with a GPU. `kind`: kind of its controller; empty for a Pod without one."""
        owners = [{"kind": kind, "name": "web-1", "controller": True}] if kind else []
        metadata = {"name": name, "namespace": "team", "uid": name, "ownerReferences": owners}
        container = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
        status = {"phase": "Running", "startTime": self.now.isoformat()}
        self.pods[name] = {
            "metadata": metadata,
            "spec": {"nodeName": node, "containers": [container]},
            "status": status,
        }

    @property
    def working(self) -> list[str]:
        return [name for name, each in self.pods.items() if each["metadata"]["namespace"] == "team"]

    def schedule(self, name: str) -> None:
        """Starts a Pod on some node that takes one, as a scheduler does."""
        free = [each for each, node in self.nodes.items() if not node["spec"].get("unschedulable")]
        if free:
            self.work(name, free[self.version % len(free)])

    # The GPU Operator

    def operator(self) -> None:
        """One pass of the upgrade controller, and what the kubelets do after it."""
        drivers = {name: self.pods[f"{DRIVER}-{name}"] for name in self.nodes if f"{DRIVER}-{name}" in self.pods}
        if len(drivers) < len(self.nodes):
            return self.kubelet()
        state = {name: self._driver(name, pod) for name, pod in drivers.items()}
        loads = {name: [workload(each) for each in self._on(name)] for name in self.nodes}
        proved = frozenset(name for name, each in state.items() if each.current and each.ready)
        pool = Pool(self.nodes, POLICY, state, proved, loads, proved, now=self.now.timestamp())
        for move in upgrade.advance(pool):
            node = self.nodes[move.node]
            _merge(node["metadata"]["annotations"], move.annotations)
            node["metadata"]["labels"][names.UPGRADE_STATE] = move.state
            if move.unschedulable is not None:
                _merge(node["spec"], {"unschedulable": move.unschedulable or None})
            if move.unschedulable is False and mark_of(node) is not None:
                self.opened.append(move.node)
            if move.restart:
                del self.pods[f"{DRIVER}-{move.node}"]
            for each in move.evict:
                self.lost.append(each.name)
                self.pods.pop(each.name, None)
            self.change(node)
        return self.kubelet()

    def _driver(self, name: str, pod: dict[str, Any]) -> DriverPod:
        current = pod["metadata"]["labels"][HASH] == self.newest
        ready = bool(pod["status"]["conditions"])
        return DriverPod(current, ready, failing=current and name in self.broken)

    def _on(self, node: str) -> list[dict[str, Any]]:
        mine = [each for each in self.pods.values() if each["spec"]["nodeName"] == node]
        return [each for each in mine if each["metadata"]["namespace"] == "team"]

    def deploy(self, *, operand: bool = False) -> None:
        """Deploys another driver, or another operand. Neither touches a Pod by itself."""
        if operand:
            self.operand += 1
        else:
            self.revision += 1

    def drivers(self) -> dict[str, str]:
        return {name: self.pods[f"{DRIVER}-{name}"]["metadata"]["labels"][HASH] for name in self.nodes}

    def phases(self) -> dict[str, str]:
        found = {name: mark_of(node) for name, node in self.nodes.items()}
        return {name: mark.phase for name, mark in found.items() if mark}

    # The API server

    def send(self, method: str, path: str, parameters: Any, body: Any = None) -> Any:
        del parameters
        kind, name = path.split("/")[-2:]
        match method, kind:
            case "GET", _ if name in ("nodes", "pods"):
                return {"items": copy.deepcopy(list(getattr(self, name).values()))}
            case "GET", _ if name == "daemonsets":
                return {"items": [_set(DRIVER, self.revision), _set(OPERAND, self.operand)]}
            case "GET", _ if name == "controllerrevisions":
                both = ((DRIVER, self.revision), (OPERAND, self.operand))
                return {"items": [_revision(kind, each) for kind, last in both for each in range(1, last + 1)]}
            case "GET", "pods" if name in self.pods:
                return copy.deepcopy(self.pods[name])
            case "PATCH", "nodes":
                return self._patch(name, body)
            case "DELETE", "pods" if name in self.pods:
                self.write()
                del self.pods[name]
            case "POST", _ if name == "eviction":
                self.write()
                self.pods.pop(path.split("/")[-2], None)
            case _:
                raise Missing(path)
        return {}

    def _patch(self, name: str, body: dict[str, Any]) -> Any:
        self.write()
        node = self.nodes.get(name)
        if node is None:
            raise Missing(name)
        if body["metadata"]["resourceVersion"] != node["metadata"]["resourceVersion"]:
            raise Unreachable("409 the object has been modified")
        for part in ("labels", "annotations"):
            _merge(node["metadata"][part], body["metadata"].get(part, {}))
        _merge(node["spec"], body.get("spec", {}))
        self.change(node)
        return node


def _merge(target: dict[str, Any], changes: Any) -> None:
    for key, value in changes.items():
        if value is None:
            target.pop(key, None)
        else:
            target[key] = value


def _daemon(kind: str, node: str, revision: int) -> dict[str, Any]:
    owners = [{"kind": "DaemonSet", "name": kind, "controller": True}]
    metadata = {"name": f"{kind}-{node}", "namespace": NAMESPACE, "labels": {HASH: f"r{revision}"}}
    spec = {"nodeName": node, "containers": []}
    return {"metadata": {**metadata, "ownerReferences": owners}, "spec": spec, "status": {"conditions": []}}


def _set(kind: str, revision: int) -> dict[str, Any]:
    component = {"app.kubernetes.io/component": "nvidia-driver"} if kind == DRIVER else {}
    metadata = {"name": kind, "namespace": NAMESPACE, "uid": kind, "labels": component, "generation": revision}
    template = {"spec": {"nodeSelector": {"gpu": "true"}}}
    spec = {"updateStrategy": {"type": "OnDelete"}, "template": template}
    return {"metadata": metadata, "spec": spec, "status": {"observedGeneration": revision}}


def _revision(kind: str, number: int) -> dict[str, Any]:
    metadata = {"name": f"{kind}-r{number}", "labels": {HASH: f"r{number}"}, "ownerReferences": [{"uid": kind}]}
    return {"metadata": metadata, "revision": number}


@cache
def loaded() -> Loaded:
    return load(STACK)


@cache
def resources() -> dict[str, str]:
    expected = next(each for each in expected_pools(loaded().settings) if each.pool == POOL)
    return {name: str(count) for name, count in expected.resources.items()}


@dataclass(frozen=True)
class OneWorld(World):
    """A world in memory, in which acceptance is a look at `unproved`."""

    place: Place = field(default_factory=Place)

    @property
    def platform(self) -> frozenset[str]:  # pyright: ignore[reportIncompatibleVariableOverride]  # in memory
        return frozenset({NAMESPACE})

    def accepted(self, node: str, level: Any) -> list[str]:
        del level
        place = self.place
        assert place.nodes[node]["spec"].get("unschedulable"), "a node takes work before it is proved"
        assert not [each for each in place.working if place.pods[each]["spec"]["nodeName"] == node]
        if node in place.unproved:
            return ["vector-add: no device"]
        place.proved.add((node, place.revision))
        return []


def pool(count: int = 3) -> Place:
    place = Place()
    for index in range(count):
        place.join(f"n{index}")
    place.kubelet()
    for _ in range(3):
        place.operator()
    return place


def run_of(place: Place, *, within: float = 3600, budget: float | None = None, **options: Any) -> Run:
    """A run that looks at most a few times; the operator takes its steps while the run waits."""

    def sleep(seconds: float) -> None:
        place.now += datetime.timedelta(seconds=max(seconds, 60))
        place.operator()

    services = bool(options.pop("restart_services", False))
    world = OneWorld(place.send, loaded().settings, loaded(), place=place)
    patience = Patience(Limits(within, budget, services), 1800)
    options = {"max_wait": 7200.0, **options}
    return Run(world, POOL, patience, sleep=sleep, now=lambda: place.now, **options)


def go(place: Place, **options: Any) -> Step:
    """One run of the command. Returns its last step."""
    return advance(run_of(place, **options), lambda step: None)
