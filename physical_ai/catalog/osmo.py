"""The supported release of OSMO and of its scheduler: versions, and the names that depend on them.

Later releases rename keys of the charts' values, objects and arguments; support for such a release begins in this
module.
"""

from __future__ import annotations

CHART_VERSION = "1.3.1"
"""Version of OSMO's charts `service` and `backend-operator`."""
IMAGE_TAG = "6.3.1"
"""Tag of all OSMO images, unless a stack sets another; the charts' own default is `latest`."""
IMAGES = "nvcr.io/nvidia/osmo"

CONTROL_NAMESPACE = "osmo-control-plane"
"""Namespace of OSMO's service and its data services."""
OPERATOR_NAMESPACE = "osmo-operator"
"""Namespace of OSMO's agents, which connect the cluster to OSMO's control plane."""
WORKFLOWS_NAMESPACE = "osmo-workflows"
"""Namespace of the Pods of workflows; it contains nothing else."""

BACKEND_CHART = "backend-operator"
BACKEND_RELEASE = "osmo-operator"
"""Name of the Helm release of chart `backend-operator`, and prefix of the names of all objects of that chart."""
LISTENER_ACCOUNT = f"{BACKEND_RELEASE}-backend-listener"
WORKER_ACCOUNT = f"{BACKEND_RELEASE}-backend-worker"
"""Service account of the agent `backend-worker`; the chart creates the account."""
TOKEN_SECRET = "agent-token"  # noqa: S105 - a name
TOKEN_KEY = "token"  # noqa: S105 - a name
"""Key of OSMO's token in the Secret with which the agents log in to the control plane. The chart mounts this Secret
from the agents' namespace, but does not create it.
"""

SERVICE_ACCOUNT = "osmo-workflow"
"""Service account of workflows' Pods, in the namespace of workflows; federated with the Azure identity for
workflows.
"""

CREDENTIAL_SECRETS = {
    "workflow_data": "osmo-workflow-data-cred",
    "workflow_log": "osmo-workflow-log-cred",
    "workflow_app": "osmo-workflow-app-cred",
}
"""Names of the Secrets with which OSMO's service logs in to its storage, by the section of its configuration. The chart
does not create the Secrets.
"""

METRICS_PORT = 9464
"""Port on which every process of OSMO reports metrics, if its environment asks for it (NVIDIA/OSMO
src/utils/metrics/metrics.py). The containers of osmo-agent and osmo-logger do not declare the port (chart service
1.3.1), and osmo-logger and osmo-router have no metrics.
"""
METRICS_ENVIRONMENT = {"METRICS_OTEL_ENABLE": "true"}

KAI_TOPOLOGY = "kai.scheduler/v1alpha1"
"""API version of a Topology in the pinned release (kai-scheduler/KAI-Scheduler deployments/kai-scheduler/crds)."""
KAI_CHART = "kai-scheduler"
KAI_VERSION = "v0.17.0"
"""Newest release of KAI whose tag was read (2026-08-03), and the first whose chart gives the scheduler's Pods a
priority.

OSMO 6.3.1 asks for 0.12 or newer where workflows use topologies. v0.20.0 and v0.20.1 have higher numbers but are older,
and were withdrawn.
"""
KAI_RELEASE = "kai-scheduler"
KAI_NAMESPACE = "kai-scheduler"
NO_ROLLBACK = frozenset({KAI_RELEASE})
"""Helm releases for which `helm rollback` fails.

The chart of these releases renders only objects that do not exist yet. After an upgrade, Helm's manifest therefore
lacks the objects of the first installation, and a rollback fails because it tries to create them again
(kai-scheduler/KAI-Scheduler tag v0.17.0, docs/migrationguides). An uninstallation and a new installation keep queues,
groups and running Pods.
"""
KAI_RESERVATION_NAMESPACE = "kai-resource-reservation"
"""Namespace in which KAI's binder creates Pods that reserve shared GPUs (the chart's default). These Pods are created
with a value of `spec.nodeName`.
"""
KAI_SHARD = "default"
"""Name of the chart's SchedulingShard.

Its condition `Available` shows when the scheduler is ready; `Reconciling` stays True, so a client that waits for it to
become False waits forever (NVIDIA/aicr#165).
"""
KAI_SCHEDULER = f"kai-scheduler-{KAI_SHARD}"
"""Name of the scheduler's Deployment, which KAI's operator creates for the SchedulingShard."""
KAI_OPERATOR = "kai-operator"
"""Name of the Deployment of KAI's operator, which creates the scheduler's Deployment and those of `KAI_OPERANDS`
(pkg/operator/operands).
"""
KAI_OPERANDS = {
    "admission": "admission",
    "binder": "binder",
    "podGrouper": "pod-grouper",
    "podGroupController": "podgroup-controller",
    "queueController": "queue-controller",
    "nodeScaleAdjuster": "node-scale-adjuster",
}
"""Names of the other Deployments that KAI's operator creates, by the section of KAI's Config that describes each."""
SCHEDULER = "kai-scheduler"
"""Value of `schedulerName` in a Pod that KAI schedules."""
KAI_QUEUE_API, KAI_POD_GROUP_API = "scheduling.run.ai/v2", "scheduling.run.ai/v2alpha2"
KAI_QUEUE_LABEL = "kai.scheduler/queue"
"""Label of a Pod with the queue from which it gets its GPUs."""
KAI_GROUP_ANNOTATION = "pod-group-name"
"""Annotation of a Pod with the name of its PodGroup: KAI schedules the Pods of a group together."""

FINALIZER = "osmo.nvidia.com/cleanup"
"""Finalizer of every Pod of a workflow. Only the agents remove it; without them, the Pod and its namespace remain."""
WORKFLOW_LABEL = "osmo.workflow_id"
"""Label of all objects that OSMO creates for a workflow."""
TASK_LABEL = "osmo.task_name"
"""Label of the Pod of a task."""
CONTROL_CONTAINER = "osmo-ctrl"
"""Name of OSMO's own container in each Pod of a workflow; no task may have this name."""
