"""The exporters of one simulated cluster: what each answers, from the models and the API server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from physical_ai.catalog import operator_release
from physical_ai.simulator.cluster.names import NVIDIA
from physical_ai.simulator.cluster.objects import Json, annotations_of, at, labels, name, owner
from physical_ai.simulator.cluster.watch import Watch
from physical_ai.simulator.faults.injection import LOAD
from physical_ai.simulator.gpu.containers import pod_version
from physical_ai.simulator.gpu.live.cluster import Cluster
from physical_ai.simulator.gpu.live.grid import APP, GridAgents
from physical_ai.simulator.gpu.live.kubelet import Kubelet, Kubelets
from physical_ai.simulator.metrics import dcgm, discovery, kube_state, operator_pages
from physical_ai.simulator.metrics.page import CONTENT_TYPE

WATCHED = {
    "pods": "/api/v1/pods",
    "namespaces": "/api/v1/namespaces",
    "daemonsets": "/apis/apps/v1/daemonsets",
    "deployments": "/apis/apps/v1/deployments",
}
SYNC_SECONDS = 10.0
FRESH_SECONDS = 0.2
"""How long the assignment of Pods to GPUs is used again."""
JSON_TYPE = "application/json"


class Answer(NamedTuple):
    code: int
    text: str
    type: str = CONTENT_TYPE


UNKNOWN = Answer(404, "no exporter has this path\n")
SILENT = Answer(503, "the exporter does not run\n")


class Exporters:
    """Answers for all exporters of the cluster. Nothing is watched before the first request."""

    def __init__(self, cluster: Cluster, kubelets: Kubelets, grid: GridAgents, policy: Callable[[], Json]) -> None:
        """`policy` is the ClusterPolicy that the operator follows; empty without one."""
        self._cluster, self._kubelets, self._grid, self._policy = cluster, kubelets, grid, policy
        self._watches: dict[str, Watch] = {}
        self._state = kube_state.KubeState()
        self._totals: dict[str, dcgm.Totals] = {}
        """Counters by uid of the exporter's Pod."""
        self._jobs: tuple[float, dict[str, list[dcgm.Job | None]]] = (0.0, {})

    def answer(self, path: str, host: str) -> Answer:
        """What a request gets; `host` is the address that it was sent to."""
        parts = urlsplit(path)
        match parts.path.strip("/").split("/"):
            case ["targets"]:
                wanted = discovery.selection(dict(parse_qsl(parts.query)))
                return Answer(200, json.dumps(discovery.targets(self._all("pods"), wanted, host)), JSON_TYPE)
            case ["kube-state-metrics", "metrics"]:
                return Answer(200, self._kube_state())
            case ["pods", namespace, pod, "metrics"]:
                return self._pod(namespace, pod)
            case _:
                return UNKNOWN

    def _all(self, kind: str) -> list[Json]:
        """The objects of a kind in all namespaces, watched from the first call on."""
        if kind not in self._watches:
            self._watches[kind] = Watch(self._cluster.client, WATCHED[kind], _ignore)
        self._watches[kind].synced.wait(SYNC_SECONDS)
        return self._watches[kind].all()

    def _kube_state(self) -> str:
        found = {kind: self._all(kind) for kind in WATCHED}
        objects = kube_state.Objects(
            self._cluster.nodes, found["pods"], found["daemonsets"], found["deployments"], found["namespaces"]
        )
        return self._state.page(objects)

    def _pod(self, namespace: str, wanted: str) -> Answer:
        pods = self._cluster.all("Pod")
        found = next((each for each in pods if name(each) == wanted and _namespace(each) == namespace), None)
        if found is None:
            return UNKNOWN
        node = str(at(found, "spec.nodeName", ""))
        kubelet, given = self._kubelets.of(node), labels(found)
        if kubelet is not None and kubelet.state.containerd_dead:
            return SILENT
        if given.get("app") == "gpu-operator":
            return self._operator()
        if given.get(APP[0]) == APP[1]:
            agent = self._grid.of(node)
            return SILENT if agent is None else Answer(200, agent.metrics(time.time()))
        return SILENT if kubelet is None else self._operand(kubelet, found, node)

    def _operand(self, kubelet: Kubelet, pod: Json, node: str) -> Answer:
        known = kubelet.state.pods.get(owner(pod, "DaemonSet"))
        if known is None or not known.ready:
            return SILENT
        match known.workload.main:
            case "nvidia-dcgm-exporter":
                return Answer(200, self._dcgm(kubelet, pod, node))
            case "nvidia-node-status-exporter":
                return Answer(200, operator_pages.node_status_page(node, kubelet.state, time.time()))
            case _:
                return UNKNOWN

    def _dcgm(self, kubelet: Kubelet, pod: Json, node: str) -> str:
        state = kubelet.state
        gpus = dcgm.Gpus(
            node=node,
            hardware=state.hardware,
            driver=pod_version(state),
            exporter=operator_release(state.release).dcgm_exporter,
            jobs=self._jobs_of(node),
            faults=state.faults,
            totals=self._totals.setdefault(str(at(pod, "metadata.uid")), dcgm.Totals()),
        )
        return dcgm.page(gpus, state.collectors or dcgm.default_csv(), time.time())

    def _operator(self) -> Answer:
        if self._cluster.operator() is None:
            return SILENT
        return Answer(200, operator_pages.operator_page(self._cluster.nodes, self._policy() or None, time.time()))

    def _jobs_of(self, node: str) -> Sequence[dcgm.Job | None]:
        now = time.monotonic()
        if now - self._jobs[0] > FRESH_SECONDS:
            self._jobs = (now, jobs(self._all("pods")))
        return self._jobs[1].get(node, ())


def jobs(pods: Sequence[Json]) -> dict[str, list[dcgm.Job | None]]:
    """What holds the GPUs of each node, in the order in which the Pods started."""
    running = [pod for pod in pods if at(pod, "status.phase") == "Running" and at(pod, "spec.nodeName")]
    found: dict[str, list[dcgm.Job | None]] = {}
    for pod in sorted(running, key=lambda each: (str(at(each, "status.startTime", "")), name(each))):
        for container in pod["spec"]["containers"]:
            limits: Mapping[str, str] = at(container, "resources.limits", {})
            count = sum(int(amount) for resource, amount in limits.items() if resource.startswith(NVIDIA))
            job = dcgm.Job(_namespace(pod), name(pod), container["name"], _load(pod))
            found.setdefault(str(at(pod, "spec.nodeName")), []).extend([job] * count)
    return found


def _load(pod: Json) -> float:
    try:
        return min(max(float(annotations_of(pod).get(LOAD, "1")), 0.0), 1.0)
    except ValueError:
        return 1.0


def _namespace(item: Json) -> str:
    return str(at(item, "metadata.namespace", ""))


def _ignore() -> None:
    """What changes is read when it is asked for."""


AnswerTo = Callable[[str, str], Answer]
