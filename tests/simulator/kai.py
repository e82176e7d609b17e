"""What of KAI the scheduler's model relies on: its kinds, its binder's right and its Deployment, and nothing more."""

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
from physical_ai.simulator.charts import crds
from physical_ai.simulator.cluster.objects import at
from physical_ai.simulator.scheduling.view import BINDER_ACCOUNT
from tests.support.simulated_cluster import SimulatedCluster
from tests.support.waiting import until


def deployment() -> dict[str, Any]:
    labels = {"app": KAI_SCHEDULER}
    container = {"name": "main", "image": "image"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": KAI_SCHEDULER, "namespace": KAI_NAMESPACE},
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
    """The scheduler, available when this returns."""
    place.apply(deployment())
    path = f"/apis/apps/v1/namespaces/{KAI_NAMESPACE}/deployments/{KAI_SCHEDULER}"
    until(lambda: at(place.client.get(path), "status.availableReplicas"), "the scheduler does not come up")
