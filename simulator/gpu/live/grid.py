"""Pods of the GRID driver's DaemonSet: on each node the deployed agent runs, with a simulated host."""

from __future__ import annotations

import json
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from physical_ai.catalog.own_names import GRID_AGENT, GRID_DRIVER_WANTED
from simulator.azure.own_facts import POOL_LABEL
from simulator.cluster.names import BOOTS
from simulator.cluster.objects import (
    Json,
    annotations_of,
    at,
    by_name,
    is_terminating,
    labels,
    name,
    timestamp,
)
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.live.grid_api import STRATEGIC, NodeApi, report
from simulator.gpu.live.grid_host import SimulatedHost
from simulator.gpu.live.grid_program import Memory, Program, ProgramFault, Wanted, files_of, load
from simulator.gpu.live.kubelet import Kubelet
from simulator.gpu.live.kubelets import Kubelets
from simulator.kubernetes.client import ApiError, Unreachable

log = logging.getLogger("gpu-stack")
APP = ("app.kubernetes.io/name", GRID_AGENT)
"""Label of the agent's Pods. KWOK leaves Pods with this label alone (kwok.yaml)."""
AT_REST = ("ready", "blocked", "removed")
LOOK_SECONDS = 2.0
"""Real seconds between two checks of an unchanged node; the agent itself checks every few simulated minutes."""


Times = tuple[float, float]
"""One point in time on two clocks: simulated seconds since the epoch, and seconds of a monotonic clock."""


@dataclass(frozen=True)
class Fault:
    """Node condition that reports that the agent's program cannot run because its files are missing or faulty."""

    message: str
    status: str = "False"
    reason: str = "AgentFault"


@contextmanager
def agent_faults() -> Generator[None]:
    """Turns each exception of the agent's code into a ProgramFault, except the API server's errors.

    Raises:
        ProgramFault: the agent's code has raised an exception.
    """
    try:
        yield
    except (ApiError, Unreachable, httpx.HTTPError):
        raise
    except Exception as fault:
        raise ProgramFault(f"the agent failed: {type(fault).__name__}: {fault}") from fault


class Agent:
    """The GRID driver agent on one node.

    If a Pod with another version of the agent starts, this object continues with the new program; the agent's records
    on the host remain.
    """

    def __init__(self, cluster: Cluster, node: str, program: Program) -> None:
        self._cluster, self._node = cluster, node
        self.program: Program = program
        self.memory: Memory = program.fresh_memory()
        self.host = SimulatedHost(self._annotate, program)
        self.api = NodeApi(cluster, node, program.facts)
        self._seen: Any = None
        self._looked = 0.0
        self._reported: tuple[str, str] = ("", "")
        self._wanted: Wanted | None = None

    def metrics(self, now: float) -> str:
        """Metrics that the agent exports, with `now` (seconds since the epoch) as the time of its last check."""
        return self.program.metrics(self.memory, self._wanted, now)

    @property
    def is_at_rest(self) -> bool:
        return self.memory.state.value in AT_REST

    def start(self, program: Program) -> None:
        """Replaces the agent's program by `program`, the program of a new Pod. The new program takes over the old
        program's memory in the form of a document.
        """
        if program is not self.program:
            with agent_faults():
                self.memory = program.remembered(json.loads(json.dumps(self.program.to_document(self.memory))))
            self.program = self.host.program = program
            self.api.facts = program.facts

    def run(self, item: Json, pod: Json, wanted: Wanted, known: Kubelet, time: Times) -> bool:
        """Takes one step of the agent; returns True if the agent's memory changed. No step is taken if the agent is at
        rest, its inputs are unchanged, and its last step is less than LOOK_SECONDS ago.
        """
        now, real = time
        boots = annotations_of(item).get(BOOTS, "")
        self.host.look(known.state, str(at(item, "status.nodeInfo.kernelVersion", "")), boots, now)
        self.api.began(known.began)
        seen = (
            labels(item),
            annotations_of(item),
            known.state.driver_root,
            known.state.faults,
            tuple(known.began),
            wanted,
            pod["metadata"]["uid"],
        )
        if self.is_at_rest and seen == self._seen and real - self._looked < LOOK_SECONDS:
            return False
        self._seen, self._looked, self._wanted = seen, real, wanted
        before = self.memory
        with agent_faults():
            self.memory = self.program.advance(self.memory, self.host, self.api, wanted, now)
        if self.memory.state != before.state:
            log.info("%s: %s: %s", self._node, self.memory.state.value, self.memory.sentence)
        self._report(pod)
        return self.memory != before

    def _annotate(self, key: str, value: str | None) -> None:
        item = next((each for each in self._cluster.nodes if name(each) == self._node), None)
        if item is not None:
            self._cluster.annotate(item, {key: value})

    def forget_report(self) -> None:
        """Forgets the last reported Pod status, because another part of the simulator has changed that status."""
        self._reported = ("", "")

    def _report(self, pod: Json) -> None:
        """Reports the Pod's status if it has changed. The Pod is always running; it is ready once the agent has
        verified the wanted driver, or removed an unwanted one.
        """
        key = (str(at(pod, "metadata.uid")), str(self.memory.is_done))
        if key != self._reported:
            report_pod(self._cluster, pod, self.memory.is_done)
            self._reported = key


class GridAgents:
    """The GRID driver agents of all nodes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._agents: dict[str, tuple[str, Agent]] = {}
        """Agent by node, with the node's uid."""
        self._programs: dict[str, Program] = {}
        """Program of each Pod, by uid: a container keeps the program that it has started with."""
        self._faults: dict[str, str] = {}
        """Text of the fault that the node's condition reports, by Pod."""

    @property
    def are_working(self) -> bool:
        """True if any agent has a running job on its host or still has steps to take."""
        return any(agent.host.is_working or not agent.is_at_rest for _, agent in self._agents.values())

    def of(self, node: str) -> Agent | None:
        """The agent on a node; None if there is none."""
        found = self._agents.get(node)
        return found[1] if found is not None else None

    def run(self, kubelets: Kubelets, now: float, real: float) -> bool:
        """Runs one round. `now` is simulated time in seconds since the epoch, `real` the value of a monotonic clock."""
        nodes = by_name(self._cluster.nodes)
        config_maps = by_name(self._cluster.all("ConfigMap"))
        pods = {
            str(at(pod, "spec.nodeName")): pod
            for pod in self._cluster.all("Pod")
            if labels(pod).get(APP[0]) == APP[1] and at(pod, "spec.nodeName") and not is_terminating(pod)
        }
        self._forget(nodes, pods)
        moved = False
        for node, pod in pods.items():
            known = kubelets.of(node)
            if node not in nodes or known is None:
                continue
            try:
                agent = self._agent(nodes[node], pod, config_maps)
                wanted = wanted_of(agent.program, pod, nodes[node])
                if wanted is not None:
                    moved = agent.run(nodes[node], pod, wanted, known, (now, real)) or moved
                    self._faults.pop(str(at(pod, "metadata.uid")), None)
            except ProgramFault as fault:
                self._report(nodes[node], pod, str(fault))
        return moved

    def _forget(self, nodes: Mapping[str, Json], pods: Mapping[str, Json]) -> None:
        uids = {node: str(at(item, "metadata.uid")) for node, item in nodes.items()}
        self._agents = {node: known for node, known in self._agents.items() if uids.get(node) == known[0]}
        present = {str(at(pod, "metadata.uid")) for pod in pods.values()}
        self._programs = {uid: program for uid, program in self._programs.items() if uid in present}
        self._faults = {uid: text for uid, text in self._faults.items() if uid in present}

    def _agent(self, node: Json, pod: Json, config_maps: Mapping[str, Json]) -> Agent:
        """The node's agent, running the program that its Pod mounts."""
        uid = str(at(pod, "metadata.uid"))
        if uid not in self._programs:
            self._programs[uid] = load(files_of(pod, config_maps))
        program = self._programs[uid]
        if name(node) not in self._agents:
            self._agents[name(node)] = (str(at(node, "metadata.uid")), Agent(self._cluster, name(node), program))
        agent = self._agents[name(node)][1]
        agent.start(program)
        return agent

    def _report(self, node: Json, pod: Json, fault: str) -> None:
        uid = str(at(pod, "metadata.uid"))
        if self._faults.get(uid) != fault:
            log.warning("%s: %s", name(node), fault)
            report(self._cluster, node, Fault(fault))
            report_pod(self._cluster, pod, ready=False)
            self._faults[uid] = fault
            if name(node) in self._agents:
                self._agents[name(node)][1].forget_report()


def wanted_of(program: Program, pod: Json, node: Json) -> Wanted | None:
    """Driver that the Pod was created to install on its node; None, with a log line, if the Pod's annotation cannot be
    used.
    """
    try:
        document = json.loads(annotations_of(pod).get(GRID_DRIVER_WANTED, ""))
        return program.wanted_from(program.for_pool(document, lambda: labels(node).get(POOL_LABEL, "")))
    except ValueError as problem:
        log.warning("%s: %s", name(pod), problem)
        return None


def report_pod(cluster: Cluster, pod: Json, ready: bool) -> None:
    """Reports the agent's Pod as running, and as ready or not."""
    now = timestamp()
    init: list[Json] = at(pod, "spec.initContainers", [])
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
    rest: Json = {"imageID": "", "restartCount": 0}
    truth = "True" if ready else "False"
    status = {
        "phase": "Running",
        "startTime": at(pod, "status.startTime") or now,
        "conditions": [
            {"type": "Initialized", "status": "True", "lastTransitionTime": now},
            {"type": "ContainersReady", "status": truth, "lastTransitionTime": now},
            {"type": "Ready", "status": truth, "lastTransitionTime": now},
        ],
        "initContainerStatuses": [
            {"name": each["name"], "image": each["image"], "ready": True, "state": done, **rest} for each in init
        ],
        "containerStatuses": [
            {
                "name": each["name"],
                "image": each["image"],
                "ready": ready,
                "started": True,
                "state": {"running": {"startedAt": now}},
                **rest,
            }
            for each in pod["spec"]["containers"]
        ],
    }
    cluster.patch(pod, {"status": status}, STRATEGIC, "/status")
