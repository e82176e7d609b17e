"""Helm hooks of the operator's chart that do something: the Job that brings the CRDs of a new release."""

from __future__ import annotations

import logging

from physical_ai.simulator.charts import crds
from physical_ai.simulator.cluster.objects import Json, annotations_of, at
from physical_ai.simulator.gpu import names
from physical_ai.simulator.gpu.live.cluster import Cluster, is_going, owner
from physical_ai.simulator.gpu.live.operator import timestamp
from physical_ai.simulator.kubernetes.client import Client

log = logging.getLogger("gpu-stack")
CHART = "gpu-operator"
UPGRADE_CRDS = "gpu-operator-upgrade-crd"


def replace(client: Client, definition: Json) -> None:
    """Puts a CRD in the place of the one there is. An apply would leave fields that helm has put there before."""
    path = f"/apis/{definition['apiVersion']}/customresourcedefinitions"
    live = client.find(f"{path}/{definition['metadata']['name']}")
    if live is None:
        client.request("POST", path, definition)
        return
    metadata = {**definition["metadata"], "resourceVersion": at(live, "metadata.resourceVersion")}
    client.request("PUT", f"{path}/{definition['metadata']['name']}", {**definition, "metadata": metadata})


class Hooks:
    """Plays the pods of hook Jobs: helm waits for them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def run(self) -> bool:
        moved = False
        for pod in self._cluster.all("Pod"):
            job = owner(pod, "Job")
            mine = annotations_of(pod).get(names.PLAYED_BY) == names.STACK and not is_going(pod)
            if job and mine and at(pod, "spec.nodeName") and at(pod, "status.phase") in (None, "Pending"):
                if job == UPGRADE_CRDS:
                    self._upgrade(pod)
                self._finish(pod)
                moved = True
        return moved

    def _upgrade(self, pod: Json) -> None:
        release = str(pod["spec"]["containers"][0]["image"]).rpartition(":")[2]
        for definition in crds(CHART, release):
            replace(self._cluster.client, definition)
        log.info("CRDs of %s applied", release)

    def _finish(self, pod: Json) -> None:
        now = timestamp()
        done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
        rest: Json = {"imageID": "", "ready": False, "restartCount": 0, "state": done}
        statuses = [{"name": each["name"], "image": each["image"], **rest} for each in pod["spec"]["containers"]]
        self._cluster.patch(pod, {"status": {"phase": "Succeeded", "containerStatuses": statuses}}, sub="/status")
