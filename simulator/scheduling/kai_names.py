"""Names that KAI gives to objects and reads from them, copied from KAI's source. The deployed code does not share them,
so a wrong name there fails in the simulator.

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
"""Name of the operator's Deployment, service account and field manager."""
SCHEDULER = "kai-scheduler-default"
"""Name of the scheduler's Deployment, which the operator creates for the chart's SchedulingShard `default`."""
OPERANDS = {
    "admission": "admission",
    "binder": "binder",
    "podGrouper": "pod-grouper",
    "podGroupController": "podgroup-controller",
    "queueController": "queue-controller",
    "nodeScaleAdjuster": "node-scale-adjuster",
}
"""Names of the Deployments that KAI's operator creates, by the section of its Config object that configures each."""
QUEUE_API, POD_GROUP_API, TOPOLOGY_API = "scheduling.run.ai/v2", "scheduling.run.ai/v2alpha2", "kai.scheduler/v1alpha1"
QUEUE_LABEL, GROUP_ANNOTATION = "kai.scheduler/queue", "pod-group-name"
"""Label of a Pod with its queue, from which the Pod takes its GPUs; and annotation of a Pod with its PodGroup, whose
Pods start together.
"""
