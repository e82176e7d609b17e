"""Jobs: the pods of a PodGroup, which start together or not at all. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.osmo import KAI_GROUP_ANNOTATION, KAI_QUEUE_LABEL, SCHEDULER
from physical_ai.kubernetes.fit import FINAL
from physical_ai.simulator.cluster.objects import Json, annotations_of, at, labels, name

DEFAULT_QUEUE = "default-queue"
"""Where pods go that name no queue (podgrouper, DefaultQueueName)."""
DEFAULT_PRIORITY = 50
"""Of a group without a known PriorityClass, in a cluster without a default one."""
PREEMPTIBLE_BELOW = 100


@dataclass(frozen=True)
class Job:
    """What KAI schedules as one."""

    namespace: str
    name: str
    group: Json | None
    """Its PodGroup; None for a pod on its own, for which KAI's podgrouper makes one."""
    queue: str
    priority: int
    preemptible: bool
    least: int
    """How many pods have to run for any to start."""
    created: str
    pending: tuple[Json, ...]
    """Pods that wait for a node, oldest first."""
    gated: int
    """Pods with a scheduling gate, which are not to be scheduled yet."""
    active: tuple[Json, ...]
    """Pods that have a node."""

    @property
    def not_ready(self) -> str:
        """Why the job is not even looked at; empty where it is."""
        alive = len(self.pending) + len(self.active) + self.gated
        if alive - self.gated >= self.least:
            return ""
        return (
            f"Job is not ready for scheduling. Waiting for {self.least} pods,"
            f" currently {alive} exist, {self.gated} are gated"
        )


def is_kais(pod: Mapping[str, Any]) -> bool:
    return pod["spec"].get("schedulerName") == SCHEDULER


def is_alive(pod: Mapping[str, Any]) -> bool:
    return at(pod, "status.phase") not in FINAL and at(pod, "metadata.deletionTimestamp") is None


def jobs_of(pods: Iterable[Json], groups: Iterable[Json], classes: Iterable[Json]) -> list[Job]:
    """The jobs that KAI's pods make up.

    Args:
        pods: Of the complete cluster, also those of other schedulers.
        groups: All PodGroups; one without pods is no job yet.
        classes: All PriorityClasses.
    """
    known = {(_namespace(group), name(group)): group for group in groups}
    members: dict[tuple[str, str], list[Json]] = {}
    for pod in filter(is_kais, pods):
        if is_alive(pod):
            given = annotations_of(pod).get(KAI_GROUP_ANNOTATION) or f"pg-{name(pod)}-{at(pod, 'metadata.uid')}"
            members.setdefault((_namespace(pod), given), []).append(pod)
    values = {name(each): int(each.get("value", 0)) for each in classes}
    default = next((int(each.get("value", 0)) for each in classes if each.get("globalDefault")), DEFAULT_PRIORITY)
    return [_job(key, known.get(key), found, values, default) for key, found in sorted(members.items())]


def _job(key: tuple[str, str], group: Json | None, pods: list[Json], classes: Mapping[str, int], default: int) -> Job:
    pods.sort(key=lambda pod: (str(at(pod, "metadata.creationTimestamp", "")), name(pod)))
    spec: Json = group["spec"] if group and group.get("spec") else {}
    queue = spec.get("queue") if group else labels(pods[0]).get(KAI_QUEUE_LABEL)
    asked = spec.get("priorityClassName") or at(pods[0], "spec.priorityClassName", "")
    priority = classes.get(str(asked), default)
    said = spec.get("preemptibility")
    waiting = [pod for pod in pods if not at(pod, "spec.nodeName")]
    return Job(
        namespace=key[0],
        name=key[1],
        group=group,
        queue=str(queue or ("" if group else DEFAULT_QUEUE)),
        priority=priority,
        preemptible=said == "preemptible" if said else priority < PREEMPTIBLE_BELOW,
        least=_least(spec),
        created=str(at(group or pods[0], "metadata.creationTimestamp", "")),
        pending=tuple(pod for pod in waiting if not at(pod, "spec.schedulingGates")),
        gated=sum(bool(at(pod, "spec.schedulingGates")) for pod in waiting),
        active=tuple(pod for pod in pods if at(pod, "spec.nodeName")),
    )


def _least(spec: Json) -> int:
    """Pods without which none starts; of a group with parts, all that its parts need."""
    parts: list[Json] = spec.get("subGroups") or []
    return int(spec.get("minMember") or sum(int(part.get("minMember") or 0) for part in parts) or 1)


def _namespace(item: Mapping[str, Any]) -> str:
    return str(at(item, "metadata.namespace", ""))
