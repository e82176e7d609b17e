"""A model of the KAI scheduler v0.20.1: queues, gangs, and its messages; what it leaves out is in docs/simulator.md."""

from __future__ import annotations

from physical_ai.catalog.osmo import KAI_SCHEDULER, SCHEDULER

QUEUE_API, POD_GROUP_API = "scheduling.run.ai/v2", "scheduling.run.ai/v2alpha2"
DEFAULT_QUEUE = "default-queue"
"""Where pods go that name no queue (podgrouper, DefaultQueueName)."""

__all__ = [
    "DEFAULT_QUEUE",
    "KAI_SCHEDULER",
    "POD_GROUP_API",
    "QUEUE_API",
    "SCHEDULER",
]
