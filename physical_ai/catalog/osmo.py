"""The supported release of OSMO and of its scheduler: versions, and the names that depend on them.

Later releases rename keys of the charts' values, objects and arguments; start here to support them.
"""

from __future__ import annotations

CHART_VERSION = "1.3.1"
"""Version of OSMO's charts `service` and `backend-operator`."""
IMAGE_TAG = "6.3.1"
"""Tag of all OSMO images, unless a stack sets another; the charts' own default is `latest`."""
IMAGES = "nvcr.io/nvidia/osmo"

CONTROL_NAMESPACE = "osmo-control-plane"
"""OSMO's service and its data services."""
OPERATOR_NAMESPACE = "osmo-operator"
"""The agents that work for a control plane."""
WORKFLOWS_NAMESPACE = "osmo-workflows"
"""The Pods of workflows, and nothing else."""

BACKEND_CHART = "backend-operator"
BACKEND_RELEASE = "osmo-operator"
"""Prefix of the names of all objects of the chart."""
LISTENER_ACCOUNT = f"{BACKEND_RELEASE}-backend-listener"
WORKER_ACCOUNT = f"{BACKEND_RELEASE}-backend-worker"
"""ServiceAccounts of the agents, which the chart creates."""
TOKEN_SECRET = "agent-token"  # noqa: S105 - a name
TOKEN_KEY = "token"  # noqa: S105 - a name
"""The Secret with the agents' login, in their namespace. The chart always mounts it, and does not create it."""

SERVICE_ACCOUNT = "osmo-workflow"
"""Service account of workflows' pods, in their namespace; federated with the workflows' own identity."""

CREDENTIAL_SECRETS = {
    "workflow_data": "osmo-workflow-data-cred",
    "workflow_log": "osmo-workflow-log-cred",
    "workflow_app": "osmo-workflow-app-cred",
}
"""Secrets with the service's access to its storage, by key of the configuration; created by its operator."""

METRICS_PORT = 9464
"""Port at which every process of OSMO reports metrics, if its environment asks for them (NVIDIA/OSMO
src/utils/metrics/metrics.py). The containers of osmo-agent and osmo-logger do not declare it (chart service 1.3.1),
and osmo-logger and osmo-router have no metrics."""
METRICS_ENVIRONMENT = {"METRICS_OTEL_ENABLE": "true"}

KAI_TOPOLOGY = "kai.scheduler/v1alpha1"
"""API version of a Topology in the pinned release (kai-scheduler/KAI-Scheduler deployments/kai-scheduler/crds)."""
KAI_CHART = "kai-scheduler"
KAI_VERSION = "v0.17.0"
"""The newest release whose tag was read (2026-08-03), and the first whose chart gives the scheduler's Pods a priority.
OSMO 6.3.1 asks for 0.12 or newer where workflows use topologies. v0.20.0 and v0.20.1 are older, and retracted."""
KAI_RELEASE = "kai-scheduler"
KAI_NAMESPACE = "kai-scheduler"
NO_ROLLBACK = frozenset({KAI_RELEASE})
"""Releases that `helm rollback` leaves failed: their chart renders some objects only where they do not exist, so an
earlier manifest has objects that exist and that the later one does not know (kai-scheduler/KAI-Scheduler tag v0.17.0,
docs/migrationguides). Uninstalled and installed again, they keep queues, groups and running Pods."""
KAI_RESERVATION_NAMESPACE = "kai-resource-reservation"
"""Namespace in which KAI's binder reserves shared GPUs with Pods of its own, which name their node (the chart's
default)."""
KAI_SHARD = "default"
"""The SchedulingShard of the chart. Its condition `Available` shows when the scheduler is ready; `Reconciling` remains
True, so a client that waits for its end waits forever (NVIDIA/aicr#165)."""
KAI_SCHEDULER = f"kai-scheduler-{KAI_SHARD}"
"""The scheduler's Deployment, which the operator creates for that shard."""
KAI_OPERATOR = "kai-operator"
"""The Deployment that makes the scheduler's and the following ones (pkg/operator/operands)."""
KAI_OPERANDS = {
    "admission": "admission",
    "binder": "binder",
    "podGrouper": "pod-grouper",
    "podGroupController": "podgroup-controller",
    "queueController": "queue-controller",
    "nodeScaleAdjuster": "node-scale-adjuster",
}
"""Deployments by section of KAI's Config."""
SCHEDULER = "kai-scheduler"
"""`schedulerName` of a Pod that KAI schedules."""
KAI_QUEUE_API, KAI_POD_GROUP_API = "scheduling.run.ai/v2", "scheduling.run.ai/v2alpha2"
KAI_QUEUE_LABEL = "kai.scheduler/queue"
"""Label of a Pod with the queue that it takes its GPUs from."""
KAI_GROUP_ANNOTATION = "pod-group-name"
"""Annotation of a Pod with the group that it starts with."""

FINALIZER = "osmo.nvidia.com/cleanup"
"""Finalizer of every Pod of a workflow. The agents remove it; without them, the Pod and its namespace remain."""
WORKFLOW_LABEL = "osmo.workflow_id"
"""Label of all objects that OSMO creates for a workflow."""
TASK_LABEL = "osmo.task_name"
"""Label of the Pod of a task."""
CONTROL_CONTAINER = "osmo-ctrl"
"""OSMO's own container in each of its Pods; no task may have its name."""
