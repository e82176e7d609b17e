"""The ClusterRole for Azure RBAC's role AKS RBAC Reader. Azure's other roles for Kubernetes have equals among
Kubernetes' own ClusterRoles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.kubernetes.client import Object

RBAC_READER = "azure-rbac-reader"

READ: Mapping[str, Sequence[str]] = {
    "": (
        "configmaps",
        "endpoints",
        "events",
        "limitranges",
        "namespaces",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "resourcequotas",
        "serviceaccounts",
        "services",
    ),
    "apps": ("controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"),
    "autoscaling": ("horizontalpodautoscalers",),
    "batch": ("cronjobs", "jobs"),
    "discovery.k8s.io": ("endpointslices",),
    "events.k8s.io": ("events",),
    "metrics.k8s.io": ("nodes", "pods"),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
    "policy": ("poddisruptionbudgets",),
}
"""Data actions of "Azure Kubernetes Service RBAC Reader" (Azure built-in roles, containers), by API group.

Unlike the ClusterRole `view`, it does not grow when custom resources are installed. It includes no Secrets, roles,
nodes or custom resources.
"""


def reader_role() -> Object:
    """The ClusterRole with the rights of Azure's role AKS RBAC Reader."""
    rules = [
        {"apiGroups": [group], "resources": list(names), "verbs": ["get", "list", "watch"]}
        for group, names in READ.items()
    ]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": RBAC_READER},
        "rules": rules,
    }
