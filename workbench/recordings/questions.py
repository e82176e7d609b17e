"""Requests of a recording: the lists, API versions and Prometheus queries that it reads, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from physical_ai.catalog.osmo import KAI_POD_GROUP_API
from physical_ai.readiness.devices import CLAIMS, SLICES
from physical_ai.readiness.platform.parts import KINDS
from physical_ai.readiness.upgrade_budgets import PATH as BUDGETS
from physical_ai.readiness.workloads.read import OWNERS, REPLICA_SETS

LEFT_OUT: Mapping[str, str] = {
    "secrets": "never read",
    "leases": "change every few seconds, and say no more than conditions of nodes do",
    "endpoints": "follow from Services and Pods",
    "endpointslices": "follow from Services and Pods",
    "controllerrevisions": "copies of the objects that own them",
    "componentstatuses": "deprecated",
    "certificatesigningrequests": "certificates",
    "ciliumendpoints": "follow from Pods",
    "ciliumidentities": "follow from Pods",
    "ipaddresses": "addresses alone",
    "podtemplates": "no reader has any",
}
"""Kubernetes resources that are not recorded, each with the reason."""
OTHER_GROUPS: Mapping[str, str] = {
    "events.k8s.io": "the same events as those of the core",
    "metrics.k8s.io": "a moment's metrics; Prometheus has an hour's",
    "custom.metrics.k8s.io": "metrics",
    "external.metrics.k8s.io": "metrics",
    "authentication.k8s.io": "asks about logins",
    "authorization.k8s.io": "asks about rights",
}
CORE = ("nodes", "namespaces", "pods", "events", "configmaps", "services", "persistentvolumeclaims",
        "persistentvolumes", "resourcequotas")  # fmt: skip
POLICIES, GROUPS = "/apis/networking.k8s.io/v1/networkpolicies", f"/apis/{KAI_POD_GROUP_API}/podgroups"
ASKED = tuple(
    dict.fromkeys(
        (
            *(f"/api/v1/{each}" for each in CORE),
            *KINDS.values(),
            *OWNERS.values(),
            *(REPLICA_SETS, CLAIMS, SLICES, BUDGETS, POLICIES, GROUPS),
        )
    )
)
"""API paths of the lists that commands of physai read. The API server may prefer another version than the path has."""
SPANS = ("1h", "12h", "1d", "7d", "4w")
"""Periods for which `physai usage` can be answered from a recording."""
REPORTED = "7d"
"""Period for which `physai usage --report` can be answered from a recording."""
STEP = 60
SERIES: Mapping[str, str] = {
    "GPU load": "avg by (node, gpu) (DCGM_FI_DEV_GPU_UTIL)",
    "GPU memory": "max by (node, gpu) (DCGM_FI_DEV_FB_USED)",
    "GPU temperature": "max by (node, gpu) (DCGM_FI_DEV_GPU_TEMP)",
    "GPU power": "avg by (node, gpu) (DCGM_FI_DEV_POWER_USAGE)",
    "GPUs of Pods": "physical_ai:gpus_held",
    "Pods' load": "sum by (namespace, pod) (rate(container_cpu_usage_seconds_total[5m]))",
    "Pods' memory": "sum by (namespace, pod) (container_memory_working_set_bytes)",
    "restarts": "sum by (namespace, pod) (kube_pod_container_status_restarts_total)",
}
"""Prometheus queries whose values in the last hour are recorded, one value per minute, by title."""
MOST_LOGS = 64
LOG_LINES = "200"


@dataclass(frozen=True)
class Limits:
    """Limits of a recording on time in seconds, number of requests, and size."""

    seconds: float = 600
    requests: int = 1500
    mebibytes: int = 128
    """Largest total size of the decoded answers, in MiB."""
    logs: bool = False
    """True to record logs of Pods. They are left out by default, because programs can write anything into them."""
