"""All simulated kubelets of a cluster, which run together in rounds."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from simulator.cluster.names import RUN_BY
from simulator.cluster.objects import Json, annotations_of, at, is_terminating, name, owner
from simulator.gpu import names, node
from simulator.gpu.hardware import Hardware
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.live.kubelet import Kubelet, Surroundings

WRITERS = 8
"""Number of nodes whose changes are written at the same time."""


class Kubelets:
    """The simulated kubelets of all GPU nodes of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._nodes: dict[str, Kubelet] = {}
        self._writers = ThreadPoolExecutor(WRITERS, "kubelet")

    @property
    def are_waiting(self) -> bool:
        return any(each.is_waiting for each in self._nodes.values())

    @property
    def look_at_jobs(self) -> bool:
        return any(each.looks_at_jobs for each in self._nodes.values())

    def cuda(self) -> dict[str, str]:
        """Error of a CUDA program on each node, by node name; empty for a node on which CUDA works."""
        return {key: node.cuda_probe(each.state) for key, each in self._nodes.items()}

    def of(self, name: str) -> Kubelet | None:
        return self._nodes.get(name)

    def run(self, hardware: Mapping[str, Hardware | None], around: Surroundings, seconds: float, now: float) -> bool:
        """Runs one round over all nodes; returns True if any node changed."""
        pods: dict[str, dict[str, Json]] = {}
        for pod in self._cluster.all("Pod"):
            host, made_by = str(at(pod, "spec.nodeName", "")), owner(pod, "DaemonSet")
            if host and made_by and annotations_of(pod).get(RUN_BY) == names.STACK and not is_terminating(pod):
                pods.setdefault(host, {})[made_by] = pod
        items = {name(item): item for item in self._cluster.nodes if hardware.get(name(item)) is not None}
        self._nodes = {key: each for key, each in self._nodes.items() if key in items}
        for key, item in items.items():
            known, found = self._nodes.get(key), hardware[key]
            if found is not None and (known is None or known.uid != at(item, "metadata.uid")):
                self._nodes[key] = Kubelet(self._cluster, item, found, around.release)

        def run(key: str) -> bool:
            return self._nodes[key].run(items[key], around, pods.get(key, {}), seconds, now)

        return any(list(self._writers.map(run, items)))
