"""Pods that test a GPU with a CUDA program. The program fails if CUDA would not work with the devices that the device
plugin has assigned.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulator.cluster.names import RUN_BY, RUNS
from simulator.cluster.objects import annotations_of, at, is_terminating
from simulator.cluster.pods import ended
from simulator.gpu import names
from simulator.gpu.live.cluster import Cluster

CUDA = "cuda"
"""Value of the annotation RUNS that marks a Pod as a GPU test."""


class Probes:
    """Runs the GPU test Pods of the operator's namespace."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def run(self, faults: Mapping[str, str]) -> None:
        """Ends the test Pods that have a node. `faults`: the CUDA error by node; empty where CUDA works."""
        for pod in self._cluster.all("Pod"):
            annotations, node = annotations_of(pod), str(at(pod, "spec.nodeName", ""))
            is_probe = annotations.get(RUNS) == CUDA and annotations.get(RUN_BY) == names.STACK
            is_pending = at(pod, "status.phase") in (None, "Pending") and not is_terminating(pod)
            if is_probe and is_pending and node in faults:
                fault = faults[node]
                result = (1 if fault else 0, fault)
                status = ended(pod, {each["name"]: result for each in pod["spec"]["containers"]})
                self._cluster.patch(pod, {"status": status}, sub="/status")
