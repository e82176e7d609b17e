"""Jobs: the Pods of a PodGroup, which start together or not at all. Pure functions.

Read in kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/scheduler/api/podgroup_info and cache/cluster_info.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.kubernetes.fit import FINAL
from simulator.cluster.objects import Json, annotations_of, at, labels, name
from simulator.scheduling import kai_names

DEFAULT_QUEUE = "default-queue"
"""Queue of Pods that name no queue (podgrouper, DefaultQueueName)."""
DEFAULT_PRIORITY = 50
"""Priority of a PodGroup whose PriorityClass is missing or unknown, in a cluster without a default PriorityClass."""
PREEMPTIBLE_BELOW = 100
PART_LABEL = "kai.scheduler/subgroup-name"
WHOLE = "default"
"""Name of the part that contains all Pods of a group without subgroups (DefaultSubGroup)."""


@dataclass(frozen=True)
class Part:
    """Smallest part of a PodGroup that has its own minimum of running Pods: a subgroup that contains no subgroups or,
    in a group without subgroups, all Pods.
    """

    name: str
    least: int
    """Number of the part's Pods that have to run before any Pod of the group starts."""
    pending: tuple[Json, ...] = ()
    """Pods that wait for a node, oldest first."""
    active: tuple[Json, ...] = ()
    """Pods that have a node."""
    gated: int = 0
    """Number of Pods with a scheduling gate, which are not to be scheduled yet."""

    @property
    def alive(self) -> int:
        return len(self.pending) + len(self.active) + self.gated

    @property
    def is_ready(self) -> bool:
        return self.alive - self.gated >= self.least

    @property
    def missing(self) -> int:
        """Number of Pods that still need a node before the part can run."""
        return max(self.least - len(self.active), 0)


@dataclass(frozen=True)
class Job:
    """Pods that KAI schedules together, with their queue and priority."""

    namespace: str
    name: str
    group: Json | None
    """PodGroup of the job; None for a pod on its own, for which KAI's podgrouper creates one."""
    queue: str
    priority: int
    preemptible: bool
    created: str
    parts: tuple[Part, ...]
    lost: tuple[Json, ...] = ()
    """Pods that name a subgroup which the group does not have."""

    @property
    def pending(self) -> tuple[Json, ...]:
        return tuple(pod for part in self.parts for pod in part.pending)

    @property
    def active(self) -> tuple[Json, ...]:
        return tuple(pod for part in self.parts for pod in part.active)

    @property
    def gated(self) -> int:
        return sum(part.gated for part in self.parts)

    @property
    def is_whole(self) -> bool:
        """True for a job whose group has no subgroups."""
        return [part.name for part in self.parts] == [WHOLE]

    @property
    def elasticity(self) -> int:
        """Rank of the job for ordering: 0 if it has fewer Pods than its minimum, 1 if it has exactly its minimum, 2 if
        it has more (plugins/elastic).
        """
        if any(part.missing for part in self.parts):
            return 0
        return 2 if any(len(part.active) > part.least for part in self.parts) else 1

    @property
    def not_ready(self) -> str:
        """Reason why the job is not even considered for scheduling; empty if it is considered."""
        short = [part for part in self.parts if not part.is_ready]
        if not short:
            return ""
        return "Job is not ready for scheduling." + "".join(
            f" Waiting for {part.least} pods{'' if part.name == WHOLE else f' for SubGroup {part.name}'},"
            f" currently {part.alive} exist, {part.gated} are gated{'' if part.name == WHOLE else '.'}"
            for part in short
        )

    def next_pods(self) -> tuple[Json, ...]:
        """Pods to place together next. If a part of the job has fewer Pods than its minimum, all Pods that the parts
        lack; otherwise one more Pod, for the part that has the fewest Pods in proportion to its minimum.
        """
        if any(part.missing for part in self.parts):
            return tuple(pod for part in self.parts for pod in part.pending[: part.missing])
        growing = [part for part in self.parts if part.pending]
        first = min(growing, key=lambda part: (part.least == 0, len(part.active) / (part.least or 1)), default=None)
        return first.pending[:1] if first else ()


def is_kais(pod: Mapping[str, Any]) -> bool:
    return pod["spec"].get("schedulerName") == kai_names.SCHEDULER_NAME


def is_alive(pod: Mapping[str, Any]) -> bool:
    return at(pod, "status.phase") not in FINAL and at(pod, "metadata.deletionTimestamp") is None


def jobs_of(pods: Iterable[Json], groups: Iterable[Json], classes: Iterable[Json]) -> list[Job]:
    """The jobs that the Pods scheduled by KAI belong to.

    Args:
        pods: All Pods of the cluster, including those of other schedulers.
        groups: All PodGroups. A PodGroup without Pods is not a job yet.
        classes: All PriorityClasses.
    """
    known = {(_namespace(group), name(group)): group for group in groups}
    members: dict[tuple[str, str], list[Json]] = {}
    for pod in filter(is_kais, pods):
        if is_alive(pod):
            given = annotations_of(pod).get(kai_names.GROUP_ANNOTATION) or f"pg-{name(pod)}-{at(pod, 'metadata.uid')}"
            members.setdefault((_namespace(pod), given), []).append(pod)
    values = {name(each): int(each.get("value", 0)) for each in classes}
    default = next((int(each.get("value", 0)) for each in classes if each.get("globalDefault")), DEFAULT_PRIORITY)
    return [_job(key, known.get(key), found, values, default) for key, found in sorted(members.items())]


def _job(key: tuple[str, str], group: Json | None, pods: list[Json], classes: Mapping[str, int], default: int) -> Job:
    pods.sort(key=lambda pod: (str(at(pod, "metadata.creationTimestamp", "")), name(pod)))
    spec: Json = group["spec"] if group and group.get("spec") else {}
    queue = spec.get("queue") if group else labels(pods[0]).get(kai_names.QUEUE_LABEL)
    asked = spec.get("priorityClassName") if group else at(pods[0], "spec.priorityClassName", "")
    priority = classes.get(str(asked), default)
    said = spec.get("preemptibility")
    parts = tuple(_part(found, least, pods) for found, least in _minima(spec).items())
    known = {part.name for part in parts}
    return Job(
        namespace=key[0],
        name=key[1],
        group=group,
        queue=str(queue or ("" if group else DEFAULT_QUEUE)),
        priority=priority,
        preemptible=said == "preemptible" if said else priority < PREEMPTIBLE_BELOW,
        created=str(at(group or pods[0], "metadata.creationTimestamp", "")),
        parts=parts,
        lost=tuple(pod for pod in pods if part_of(pod) not in known),
    )


def part_of(pod: Mapping[str, Any]) -> str:
    return labels(pod).get(PART_LABEL) or WHOLE


def _minima(spec: Json) -> dict[str, int]:
    """Minimum of running Pods of each part of a PodGroup, by the part's name. A subgroup that contains subgroups is no
    part.
    """
    given: list[Json] = spec.get("subGroups") or []
    above = {each.get("parent") for each in given}
    parts = {str(each["name"]): int(each.get("minMember") or 0) for each in given if each["name"] not in above}
    return parts or {WHOLE: max(int(spec.get("minMember") or 1), 1)}


def _part(part: str, least: int, pods: Iterable[Json]) -> Part:
    mine = [pod for pod in pods if part_of(pod) == part]
    waiting = [pod for pod in mine if not at(pod, "spec.nodeName")]
    return Part(
        name=part,
        least=least,
        pending=tuple(pod for pod in waiting if not at(pod, "spec.schedulingGates")),
        active=tuple(pod for pod in mine if at(pod, "spec.nodeName")),
        gated=sum(bool(at(pod, "spec.schedulingGates")) for pod in waiting),
    )


def _namespace(item: Mapping[str, Any]) -> str:
    return str(at(item, "metadata.namespace", ""))
