"""Hook Jobs of the operator's chart. Only one of them has an effect: it applies the CRDs of a new release."""

from __future__ import annotations

import logging

from simulator.charts import crds
from simulator.cluster import jobs
from simulator.cluster.definitions import replace_definition
from simulator.cluster.names import RUN_BY
from simulator.cluster.objects import Json, annotations_of, at, is_terminating, owner
from simulator.cluster.pods import ended
from simulator.gpu import names
from simulator.gpu.live.cluster import Cluster

log = logging.getLogger("gpu-stack")
CHART = "gpu-operator"
UPGRADE_CRDS = "gpu-operator-upgrade-crd"


class HookJobs:
    """Runs the Pods of hook Jobs, for which Helm waits."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def run(self) -> bool:
        moved = False
        for pod in self._cluster.all("Pod"):
            job = owner(pod, "Job")
            mine = annotations_of(pod).get(RUN_BY) == names.STACK and not is_terminating(pod)
            if job and mine and at(pod, "spec.nodeName") and at(pod, "status.phase") in (None, "Pending"):
                if job == UPGRADE_CRDS:
                    self._upgrade(pod)
                self._cluster.patch(pod, {"status": ended(pod)}, sub="/status")
                jobs.complete(self._cluster.client, pod)
                moved = True
        return moved

    def _upgrade(self, pod: Json) -> None:
        release = str(pod["spec"]["containers"][0]["image"]).rpartition(":")[2]
        for definition in crds(CHART, release):
            replace_definition(self._cluster.client, definition)
        log.info("CRDs of %s applied", release)
