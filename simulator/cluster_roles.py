"""The ClusterRole for Azure's role "AKS RBAC Reader". For Azure's other AKS RBAC roles, Kubernetes has equivalent
ClusterRoles.
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
"""Resources that Azure's role "Azure Kubernetes Service RBAC Reader" may read, by API group (Azure built-in roles,
containers).

Unlike the ClusterRole `view`, the role does not extend to new custom resources. It includes no Secrets, roles, nodes or
custom resources.
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
