"""A model of the KAI scheduler v0.20.1: queues, gangs, and its words; what it leaves out is in docs/simulator.md."""

from __future__ import annotations

SCHEDULER = "kai-scheduler"
"""`schedulerName` of the pods that are KAI's."""
DEPLOYMENT = "kai-scheduler-default"
"""The scheduler of the SchedulingShard `default`; nothing is scheduled while it is not available."""
QUEUE_API, POD_GROUP_API = "scheduling.run.ai/v2", "scheduling.run.ai/v2alpha2"
QUEUE_LABEL = "kai.scheduler/queue"
GROUP_ANNOTATION = "pod-group-name"
DEFAULT_QUEUE = "default-queue"
"""Where pods go that name no queue (podgrouper, DefaultQueueName)."""
