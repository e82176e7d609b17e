"""Pods that lose their node to work of another queue. Pure functions.

KAI reclaims for a queue below its fair share what another queue holds beyond its own (kai-scheduler/KAI-Scheduler tag
v0.17.0, pkg/scheduler/actions/reclaim and plugins/proportion/reclaimable). The simulation does so for victims in queues
that are due nothing, without quota and weight, and leaves out the rest: reclaim between queues that share, preemption
within a queue, and consolidation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.kubernetes.fit import PODS, Offer, requests
from simulator.cluster.objects import Json, at
from simulator.scheduling.kai.jobs import Job
from simulator.scheduling.kai.queues import RESOURCES, Shares


def is_due_nothing(queue: str, shares: Shares) -> bool:
    """True for a queue without quota and weight in every resource: whatever it holds is beyond its share."""
    found = shares.queues.get(queue)
    return found is not None and not any(found.quota[key] or found.weight[key] for key in RESOURCES)


def victims(jobs: Iterable[Job], shares: Shares) -> list[Json]:
    """Running Pods whose node work of other queues may take, lowest priority first."""
    found = [job for job in jobs if job.preemptible and job.active and is_due_nothing(job.queue, shares)]
    return [pod for job in sorted(found, key=lambda each: (each.priority, each.name)) for pod in job.active]


def without(offer: Offer, pod: Mapping[str, Any]) -> Offer:
    """The node as it is when the Pod has ended."""
    held = requests(pod) + Counter({PODS: 1})
    return offer.with_taken({key: -amount for key, amount in held.items()})


def host_of(pod: Mapping[str, Any]) -> str:
    return str(at(pod, "spec.nodeName", ""))
