"""Pods of the GRID driver's DaemonSet: on each node the real agent's machine, with a simulated host."""

from __future__ import annotations

import json
import logging
from typing import Any

from grid_agent.machine import advance
from grid_agent.memory import Memory
from grid_agent.metrics import DONE
from grid_agent.steps import State
from grid_agent.wanted import Wanted, WantedError, for_pool, wanted_from
from physical_ai.simulator.cluster.objects import (
    Json,
    annotations_of,
    at,
    by_name,
    is_terminating,
    labels,
    name,
    timestamp,
)
from physical_ai.simulator.gpu import names
from physical_ai.simulator.gpu.live.cluster import Cluster
from physical_ai.simulator.gpu.live.grid_api import STRATEGIC, NodeApi
from physical_ai.simulator.gpu.live.grid_host import SimulatedHost
from physical_ai.simulator.gpu.live.kubelet import Kubelet, Kubelets

log = logging.getLogger("gpu-stack")
APP = ("app.kubernetes.io/name", "gpu-grid-driver-installer")
"""Label of the agent's pods. KWOK leaves them alone (kwok.yaml)."""
WANTED = "physical-ai/grid-driver-wanted"
"""Annotation of the pod: `wanted.json`, or one for each pool."""
POOL = "kubernetes.azure.com/agentpool"
AT_REST = (State.READY, State.BLOCKED, State.REMOVED)
LOOK_SECONDS = 2.0
"""Between two looks at a node where nothing has changed; the agent itself looks every few minutes of model time."""


Times = tuple[float, float]
"""Model time in seconds since the epoch, and seconds of a real clock."""


class Agent:
    """The agent on one node. It remembers what the real one keeps on the host, so a new pod goes on where one ended."""

    def __init__(self, cluster: Cluster, node: str) -> None:
        self._cluster, self._node = cluster, node
        self.memory = Memory()
        self.host = SimulatedHost(self._annotate)
        self.api = NodeApi(cluster, node)
        self._seen: Any = None
        self._looked = 0.0
        self._reported: tuple[str, str] = ("", "")

    def run(self, item: Json, pod: Json, wanted: Wanted, known: Kubelet, time: Times) -> bool:
        """One step, unless nothing has changed and all is at rest; whether the node moved."""
        now, real = time
        self.host.look(known.state, str(at(item, "status.nodeInfo.kernelVersion", "")), _boots(item), now)
        self.api.began(known.began)
        seen = (
            labels(item),
            annotations_of(item),
            known.state.driver_root,
            tuple(known.began),
            wanted,
            pod["metadata"]["uid"],
        )
        at_rest = self.memory.state in AT_REST and seen == self._seen and real - self._looked < LOOK_SECONDS
        if at_rest:
            return False
        self._seen, self._looked = seen, real
        before = self.memory
        self.memory = advance(self.memory, self.host, self.api, wanted, now)
        if self.memory.state != before.state:
            log.info("%s: %s: %s", self._node, self.memory.state.value, self.memory.sentence)
        self._report(pod)
        return self.memory != before

    def _annotate(self, key: str, value: str | None) -> None:
        item = next((each for each in self._cluster.nodes if name(each) == self._node), None)
        if item is not None:
            self._cluster.annotate(item, {key: value})

    def _report(self, pod: Json) -> None:
        """The pod runs from the first moment on, and is ready once the driver is as it is wanted: verified, or gone."""
        ready = self.memory.state in DONE
        key = (str(at(pod, "metadata.uid")), str(ready))
        if key == self._reported:
            return
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
        self._cluster.patch(pod, {"status": status}, STRATEGIC, "/status")
        self._reported = key


class GridAgents:
    """The agents of all nodes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._agents: dict[str, tuple[str, Agent]] = {}

    @property
    def are_working(self) -> bool:
        """Some agent has a job under way, or is not at rest."""
        return any(agent.host.is_working or agent.memory.state not in AT_REST for _, agent in self._agents.values())

    def run(self, kubelets: Kubelets, now: float, real: float) -> bool:
        """One round. `now` is model time in seconds since the epoch, `real` a monotonic clock."""
        nodes = by_name(self._cluster.nodes)
        pods = {
            str(at(pod, "spec.nodeName")): pod
            for pod in self._cluster.all("Pod")
            if labels(pod).get(APP[0]) == APP[1] and at(pod, "spec.nodeName") and not is_terminating(pod)
        }
        uids = {key: str(at(item, "metadata.uid")) for key, item in nodes.items()}
        self._agents = {key: known for key, known in self._agents.items() if uids.get(key) == known[0]}
        moved = False
        for key, pod in pods.items():
            known = kubelets.of(key)
            wanted = wanted_of(pod, nodes[key]) if key in nodes else None
            if wanted is None or known is None:
                continue
            if key not in self._agents:
                self._agents[key] = (uids[key], Agent(self._cluster, key))
            moved = self._agents[key][1].run(nodes[key], pod, wanted, known, (now, real)) or moved
        return moved


def wanted_of(pod: Json, node: Json) -> Wanted | None:
    """What the pod was made to see to on its node; None, with a line in the log, where that can't be used."""
    try:
        document = json.loads(annotations_of(pod).get(WANTED, ""))
        return wanted_from(for_pool(document, lambda: labels(node).get(POOL, "")))
    except (WantedError, ValueError) as problem:
        log.warning("%s: %s", name(pod), problem)
        return None


def _boots(item: Json) -> str:
    return annotations_of(item).get(names.BOOTS, "")
