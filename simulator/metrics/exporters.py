"""The exporters of one simulated cluster: the output of each exporter, computed from simulated state and the API
server's objects.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from physical_ai.catalog import operator_release
from simulator import osmo_names as osmo
from simulator.amd import names as amd
from simulator.amd.model import EXPORTER, EXPORTER_CONFIG, gpu_of
from simulator.cluster.machines import machine_of
from simulator.cluster.names import NVIDIA
from simulator.cluster.objects import Json, annotations_of, at, is_ready, labels, name, owner
from simulator.cluster.watch import Watch
from simulator.faults import node_faults
from simulator.faults.defects import defects_of
from simulator.faults.injection import LOAD
from simulator.gpu import sharing
from simulator.gpu.containers import pod_version
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.live.grid import APP, GridAgents
from simulator.gpu.live.kubelet import Kubelet
from simulator.gpu.live.kubelets import Kubelets
from simulator.metrics import (
    amd_pages,
    dcgm,
    discovery,
    kube_state,
    node_exporter,
    operator_pages,
    osmo_pages,
)
from simulator.metrics.cadvisor import Cadvisor
from simulator.metrics.dcgm_units import Job
from simulator.metrics.dcgm_values import default_csv
from simulator.metrics.managed_prometheus import label_list
from simulator.metrics.page import CONTENT_TYPE

WATCHED = {
    "pods": "/api/v1/pods",
    "namespaces": "/api/v1/namespaces",
    "daemonsets": "/apis/apps/v1/daemonsets",
    "deployments": "/apis/apps/v1/deployments",
}
SYNC_SECONDS = 10.0
FRESH_SECONDS = 0.2
"""Seconds for which the exporters reuse the computed assignment of Pods to GPUs."""
JSON_TYPE = "application/json"


class Answer(NamedTuple):
    code: int
    text: str
    type: str = CONTENT_TYPE


APP_NAME, STATE_METRICS, NODE_EXPORTER = "app.kubernetes.io/name", "kube-state-metrics", "prometheus-node-exporter"
PER_POD = "KUBERNETES_VIRTUAL_GPUS"
ALLOWED = "--metric-labels-allowlist="
UNKNOWN = Answer(404, "no exporter has this path\n")
SILENT = Answer(503, "the exporter does not run\n")


class Exporters:
    """Answers requests to any exporter of the cluster. It watches no objects before the first request."""

    def __init__(self, cluster: Cluster, kubelets: Kubelets, grid: GridAgents, policy: Callable[[], Json]) -> None:
        """Prepares the answers. `policy`: function that returns the ClusterPolicy that the operator follows; an empty
        object if there is none.
        """
        self._cluster, self._kubelets, self._grid, self._policy = cluster, kubelets, grid, policy
        self._watches: dict[str, Watch] = {}
        self._state, self._cadvisor, self._events = kube_state.KubeState(), Cadvisor(), osmo_pages.Events()
        self._totals: dict[tuple[str, str], dcgm.Totals] = {}
        """Counters by UID of the exporter's Pod and start of the machine. A new Pod or a restarted machine begins
        with new counters.
        """
        self._jobs: tuple[float, dict[str, list[Job]]] = (0.0, {})

    def answer(self, path: str, host: str) -> Answer:
        """Answer to a request for the URL path `path`. `host`: the address to which the request was sent."""
        parts = urlsplit(path)
        match parts.path.strip("/").split("/"):
            case ["targets"]:
                wanted = discovery.selection(dict(parse_qsl(parts.query)))
                pods = osmo_pages.with_service(self._all("pods"))
                return Answer(200, json.dumps(discovery.targets(pods, wanted, host)), JSON_TYPE)
            case ["cadvisor", "metrics"]:
                return Answer(200, self._cadvisor.page(self._all("pods"), time.time()))
            case ["kube-state-metrics", "metrics"]:
                return Answer(200, self._kube_state({kind: text.split(",") for kind, text in parse_qsl(parts.query)}))
            case ["pods", osmo.OPERATOR_NAMESPACE | osmo.CONTROL_NAMESPACE, pod, "metrics"]:
                return self._osmo(pod)
            case ["pods", namespace, pod, "metrics"]:
                return self._pod(namespace, pod)
            case _:
                return UNKNOWN

    def _all(self, kind: str) -> list[Json]:
        """The objects of a kind in all namespaces. The first call starts a watch, from which later calls read."""
        if kind not in self._watches:
            self._watches[kind] = Watch(self._cluster.client, WATCHED[kind], _ignore)
        self._watches[kind].synced.wait(SYNC_SECONDS)
        return self._watches[kind].all()

    def _kube_state(self, labels: Mapping[str, Sequence[str]]) -> str:
        """Output of kube-state-metrics. `labels`: the exported labels, by kind of object."""
        found = {kind: self._all(kind) for kind in WATCHED}
        objects = kube_state.Objects(
            self._cluster.nodes,
            found["pods"],
            found["daemonsets"],
            found["deployments"],
            found["namespaces"],
            node_labels=tuple(labels.get("nodes", ())),
            pod_labels=tuple(labels.get("pods", ())),
        )
        return self._state.page(objects)

    def _pod(self, namespace: str, wanted: str) -> Answer:
        found = next(
            (each for each in self._all("pods") if name(each) == wanted and _namespace(each) == namespace), None
        )
        if found is None:
            return UNKNOWN
        node = str(at(found, "spec.nodeName", ""))
        kubelet, given = self._kubelets.of(node), labels(found)
        if kubelet is not None and kubelet.state.containerd_dead:
            return SILENT
        if given.get(APP_NAME) in (STATE_METRICS, NODE_EXPORTER):
            return self._of_chart(found, node)
        if given.get("app") == "gpu-operator":
            return self._operator()
        if given.get(APP[0]) == APP[1]:
            agent = self._grid.of(node)
            return SILENT if agent is None else Answer(200, agent.metrics(time.time()))
        return self._amd(found, node) if kubelet is None else self._operand(kubelet, found, node)

    def _of_chart(self, pod: Json, node: str) -> Answer:
        """Answer of an exporter that the chart kube-prometheus-stack installs: kube-state-metrics or node_exporter."""
        if not is_ready(pod):
            return SILENT
        is_state = labels(pod)[APP_NAME] == STATE_METRICS
        return Answer(200, self._kube_state(_allowed(pod)) if is_state else self._node_exporter(node))

    def _amd(self, pod: Json, node: str) -> Answer:
        """Answer of AMD's exporter on a node with AMD GPUs. Any other exporter's Pod on such a node gives no answer."""
        gpu = gpu_of(self._node(node))
        if labels(pod).get(APP_NAME) != EXPORTER or gpu is None or not is_ready(pod):
            return SILENT
        volumes = at(pod, "spec.volumes", [])
        fields = next((at(each, "configMap.name") for each in volumes if each["name"] == EXPORTER_CONFIG), None)
        path = f"/api/v1/namespaces/{amd.NAMESPACE}/configmaps/{fields}"
        config = self._cluster.client.find(path) if fields else None
        pods = self._all("pods")
        loads = {str(at(each, "metadata.uid")): _load(each) for each in pods}
        return Answer(200, amd_pages.page(node, gpu, config, amd_pages.holders(pods, node, loads)))

    def _node(self, wanted: str) -> Json:
        return next((each for each in self._cluster.nodes if name(each) == wanted), Json())

    def _node_exporter(self, node: str) -> str:
        """Output of node_exporter about the InfiniBand ports of a node."""
        item = self._node(node)
        machine = machine_of(item)
        ports = machine.gpu.count if machine is not None and machine.gpu is not None and machine.infiniband else 0
        defects = defects_of(item)
        there = ports - ("adapter-missing" in defects and ports > 0)
        return node_exporter.page(there, int("port-down" in defects), node_faults(item).port_gains(time.time()))

    def _osmo(self, wanted: str) -> Answer:
        pods = self._all("pods")
        self._events.look(pods, self._cluster.nodes)
        found = next((each for each in osmo_pages.with_service(pods) if name(each) == wanted), None)
        if found is None or not (is_ready(found) or osmo_pages.is_elsewhere(found)) or not osmo_pages.reports(found):
            return SILENT
        page = osmo_pages.page(found, pods, self._events)
        return SILENT if page is None else Answer(200, page)

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
        state, process = kubelet.state, (str(at(pod, "metadata.uid")), kubelet.boots)
        gpus = dcgm.Gpus(
            node=node,
            hardware=state.hardware,
            driver=pod_version(state),
            exporter=operator_release(state.release).dcgm_exporter,
            jobs=self._jobs_of(node),
            faults=state.faults,
            totals=self._totals.setdefault(process, dcgm.Totals()),
            per_pod=_has_series_for_each_pod(pod),
            shared=_is_shared(kubelet),
        )
        return dcgm.page(gpus, state.collectors or default_csv(), time.time())

    def _operator(self) -> Answer:
        if self._cluster.operator() is None:
            return SILENT
        return Answer(200, operator_pages.operator_page(self._cluster.nodes, self._policy() or None, time.time()))

    def _jobs_of(self, node: str) -> Sequence[Job]:
        now = time.monotonic()
        if now - self._jobs[0] > FRESH_SECONDS:
            self._jobs = (now, jobs(self._all("pods")))
        return self._jobs[1].get(node, ())


def jobs(pods: Sequence[Json]) -> dict[str, list[Job]]:
    """Containers that hold the GPUs of each node, in the order in which their Pods started."""
    running = [pod for pod in pods if at(pod, "status.phase") == "Running" and at(pod, "spec.nodeName")]
    found: dict[str, list[Job]] = {}
    for pod in sorted(running, key=lambda each: (str(at(each, "status.startTime", "")), name(each))):
        for container in pod["spec"]["containers"]:
            limits: Mapping[str, str] = at(container, "resources.limits", {})
            for resource, amount in limits.items():
                if resource.startswith(NVIDIA):
                    job = Job(_namespace(pod), name(pod), container["name"], _load(pod), resource)
                    found.setdefault(str(at(pod, "spec.nodeName")), []).extend([job] * int(amount))
    return found


def _has_series_for_each_pod(exporter: Json) -> bool:
    environment = [each for container in exporter["spec"]["containers"] for each in container.get("env") or ()]
    return any(each["name"] == PER_POD and str(each.get("value")).lower() == "true" for each in environment)


def _is_shared(kubelet: Kubelet) -> bool:
    return any(
        sharing.sharing(pod.config).strategy != "none"
        for pod in kubelet.state.pods.values()
        if pod.workload.main == "nvidia-device-plugin"
    )


def _allowed(pod: Json) -> dict[str, Sequence[str]]:
    """Labels of objects that the kube-state-metrics in the Pod `pod` exports, by kind of object."""
    arguments = [text for container in pod["spec"]["containers"] for text in container.get("args") or ()]
    return label_list(",".join(text.removeprefix(ALLOWED) for text in arguments if text.startswith(ALLOWED)))


def _load(pod: Json) -> float:
    try:
        return min(max(float(annotations_of(pod).get(LOAD, "1")), 0.0), 1.0)
    except ValueError:
        return 1.0


def _namespace(item: Json) -> str:
    return str(at(item, "metadata.namespace", ""))


def _ignore() -> None:
    """Callback of a watch that does nothing: the exporters read the watched objects only when a request comes."""


AnswerTo = Callable[[str, str], Answer]
