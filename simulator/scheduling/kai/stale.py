"""Stale gangs: jobs of which fewer Pods run than their minimum. KAI evicts the rest of one after a while. Pure
functions.

Read in kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/scheduler/actions/stalegangeviction and api/podgroup_info.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simulator.cluster.objects import Json, annotations_of, at, name
from simulator.scheduling import kai_names
from simulator.scheduling.kai.jobs import WHOLE, Job, is_kais, part_of

GRACE_SECONDS = 60.0
"""Time for which a gang may be stale, unless its PodGroup or the scheduler's command line names another one
(`defaultStalenessGracePeriod`).
"""
GRACE_ARGUMENT = "--default-staleness-grace-period="
"""Argument of the scheduler with the time for all PodGroups that name none (cmd/scheduler/app/options)."""
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s)")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def gangs(groups: Iterable[Json]) -> list[Json]:
    """PodGroups that need more than one Pod. Other groups are never stale."""
    return [group for group in groups if int(at(group, "spec.minMember", 1) or 1) > 1 or at(group, "spec.subGroups")]


def stale(jobs: Iterable[Job], pods: Iterable[Json]) -> dict[tuple[str, str], Job]:
    """Jobs that have fewer Pods on nodes than their minimum, by namespace and name.

    A Pod that is being deleted still counts, and a job of which one Pod has succeeded is never stale.
    """
    kept = {_key(pod) for pod in pods if is_kais(pod) and _spares(pod)}
    return {
        (job.namespace, job.name): job
        for job in jobs
        if job.active and any(part.missing for part in job.parts) and (job.namespace, job.name) not in kept
    }


def grace_seconds(group: Mapping[str, Any] | None, arguments: Sequence[str] = ()) -> float | None:
    """Time for which a gang may be stale; None if it is never evicted. `arguments`: the scheduler's command line."""
    default = next((each.removeprefix(GRACE_ARGUMENT) for each in arguments if each.startswith(GRACE_ARGUMENT)), "")
    given = str(at(group or {}, "spec.stalenessGracePeriod", "") or "") or default
    if given.startswith("-"):
        return None
    found = [float(number) * _UNITS[unit] for number, unit in _PART.findall(given)]
    return sum(found) if found else GRACE_SECONDS


def message(job: Job, pod: Mapping[str, Any]) -> str:
    """KAI's message about a Pod that it evicts (api/unschedule_info.go, GetGangEvictionMessage)."""
    part = next(each for each in job.parts if each.name == part_of(pod))
    where = "" if part.name == WHOLE else f" in sub-group {part.name}"
    return (
        f"Workload doesn't meet the minimum required number of pods ({part.least}){where}, evicting remaining pod:"
        f" {job.namespace}/{name(pod)}"
    )


def _spares(pod: Mapping[str, Any]) -> bool:
    """True for a Pod whose gang is not stale: one that has succeeded, or one that is being deleted and still on its
    node, which counts as a Pod of the gang (the status Releasing).
    """
    releasing = at(pod, "metadata.deletionTimestamp") is not None and bool(at(pod, "spec.nodeName"))
    return at(pod, "status.phase") == "Succeeded" or releasing


def _key(pod: Mapping[str, Any]) -> tuple[str, str]:
    return str(at(pod, "metadata.namespace", "")), annotations_of(pod).get(kai_names.GROUP_ANNOTATION, "")
