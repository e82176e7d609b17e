"""What of KAI the scheduler's model relies on: its kinds, its binder's right and two Deployments, and nothing more."""

from __future__ import annotations

from typing import Any

from physical_ai.catalog.osmo import (
    KAI_CHART,
    KAI_NAMESPACE,
    KAI_POD_GROUP_API,
    KAI_QUEUE_API,
    KAI_SCHEDULER,
    KAI_VERSION,
)
from simulator.charts import crds
from simulator.cluster.objects import at
from simulator.scheduling.view import BINDER, BINDER_ACCOUNT
from tests.support.simulated_cluster import SimulatedCluster
from tests.support.waiting import until


def deployment(name: str) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "main", "image": "image"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": KAI_NAMESPACE},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def binder() -> list[dict[str, Any]]:
    """The right of KAI's binder to give Pods their node."""
    group, name = "rbac.authorization.k8s.io", "kai-binder"
    account = {"kind": "ServiceAccount", "name": BINDER_ACCOUNT, "namespace": KAI_NAMESPACE}
    return [
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": [{"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]}],
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [account],
        },
    ]


def define(place: SimulatedCluster) -> None:
    """Queues, PodGroups, and the namespace of the scheduler."""
    place.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": KAI_NAMESPACE}})
    for item in binder():
        place.apply(item)
    for item in crds(KAI_CHART, KAI_VERSION):
        place.apply(item)
    until(lambda: place.client.resource(KAI_QUEUE_API, "Queue"), "queues are not served")
    until(lambda: place.client.resource(KAI_POD_GROUP_API, "PodGroup"), "groups are not served")


def install(place: SimulatedCluster) -> None:
    """The scheduler and the binder, available when this returns."""
    for name in (BINDER, KAI_SCHEDULER):
        place.apply(deployment(name))
    for name in (BINDER, KAI_SCHEDULER):
        path = f"/apis/apps/v1/namespaces/{KAI_NAMESPACE}/deployments/{name}"
        until(lambda path=path: at(place.client.get(path), "status.availableReplicas"), f"{name} does not come up")
