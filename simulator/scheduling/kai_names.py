"""Names that KAI gives and reads, copied from its source separately from the deployed code.

Source: kai-scheduler/KAI-Scheduler tag v0.17.0: pkg/common/constants/constants.go, pkg/apis/scheduling,
pkg/apis/kai/v1, pkg/operator/operands (resources.go of each), deployments/kai-scheduler/templates (default-shard.yaml,
rbac/operator.yaml); read 2026-11-28.
"""

from __future__ import annotations

CHART, NAMESPACE = "kai-scheduler", "kai-scheduler"
VERSION = "v0.17.0"
"""Release whose operator and scheduler are modelled."""
SCHEDULER_NAME = "kai-scheduler"
"""`schedulerName` of a Pod that KAI schedules."""
OPERATOR = "kai-operator"
"""Deployment, account and field manager of the operator."""
SCHEDULER = "kai-scheduler-default"
"""Deployment of the scheduler, which the operator makes for the chart's SchedulingShard `default`."""
OPERANDS = {
    "admission": "admission",
    "binder": "binder",
    "podGrouper": "pod-grouper",
    "podGroupController": "podgroup-controller",
    "queueController": "queue-controller",
    "nodeScaleAdjuster": "node-scale-adjuster",
}
"""Deployments by their section of a Config."""
QUEUE_API, POD_GROUP_API, TOPOLOGY_API = "scheduling.run.ai/v2", "scheduling.run.ai/v2alpha2", "kai.scheduler/v1alpha1"
QUEUE_LABEL, GROUP_ANNOTATION = "kai.scheduler/queue", "pod-group-name"
"""Label of a Pod with the queue that it takes its GPUs from, and annotation with the group that it starts with."""
