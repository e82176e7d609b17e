"""Pods that try a GPU out: a CUDA program ends as it would with the devices the plugin has handed out."""

from __future__ import annotations

from collections.abc import Mapping

from physical_ai.simulator.cluster.objects import Json, annotations_of, at
from physical_ai.simulator.gpu import names
from physical_ai.simulator.gpu.live.cluster import Cluster, is_going
from physical_ai.simulator.gpu.live.operator import timestamp

RUNS, CUDA = f"{names.SIMULATOR}runs", "cuda"
"""Annotation of a pod, beside `played-by`: what its container does."""


class Probes:
    """Runs such pods of the operator's namespace to their end."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def run(self, faults: Mapping[str, str]) -> None:
        """`faults`: what CUDA says on each node; empty where it works."""
        for pod in self._cluster.all("Pod"):
            given, host = annotations_of(pod), str(at(pod, "spec.nodeName", ""))
            waits = at(pod, "status.phase") in (None, "Pending") and not is_going(pod)
            if given.get(RUNS) == CUDA and given.get(names.PLAYED_BY) == names.STACK and host in faults and waits:
                self._end(pod, faults[host])

    def _end(self, pod: Json, fault: str) -> None:
        now = timestamp()
        end = {"exitCode": 1 if fault else 0, "reason": "Error" if fault else "Completed", "message": fault}
        state = {"terminated": {**end, "startedAt": now, "finishedAt": now}}
        rest: Json = {"imageID": "", "ready": False, "restartCount": 0, "state": state}
        statuses = [{"name": each["name"], "image": each["image"], **rest} for each in pod["spec"]["containers"]]
        phase = "Failed" if fault else "Succeeded"
        self._cluster.patch(pod, {"status": {"phase": phase, "containerStatuses": statuses}}, sub="/status")
