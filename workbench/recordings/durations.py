"""Durations of operations, from the times in a recording. Each operation has a resource type of the catalogue's table
of usual times. Pure functions.

Only the first start counts: a node that became ready long after it was created has been restarted, and a release whose
Deployment was changed has been upgraded.
"""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from physical_ai.catalog.timings import GPU_GATE
from physical_ai.kubernetes.objects import annotations_of, at, condition, labels, name, namespace
from physical_ai.nested import mappings
from physical_ai.readiness.objects import pool_of
from workbench.recordings.reading import Recording

CLUSTER, POOL = "azure-native:containerservice:ManagedCluster", "azure-native:containerservice:AgentPool"
RELEASE = "kubernetes:helm.sh/v3:Release"
LONGEST = 120.0
"""Maximum duration in minutes. A longer time between two timestamps does not belong to the first start, but to a later
restart or change.
"""
GPU_PODS = re.compile(r"driver|device-plugin")
SCALED = re.compile(r"\{aks-([a-z0-9]+)-[0-9]+-vmss ")
RELEASE_NAME = "meta.helm.sh/release-name"
Seen = Mapping[str, tuple[float, float]]
"""Shortest and longest duration, in minutes, of each kind of operation in a recording. Keys are resource types of the
catalogue's table of usual times.
"""


def durations(recording: Recording) -> Seen:
    """Shortest and longest duration of each kind of operation, from operations with known beginning and end."""
    found: dict[str, list[float]] = defaultdict(list)
    sources = ((CLUSTER, _cluster), (POOL, _scale_ups), (GPU_GATE, _gpus), (RELEASE, _releases))
    for kind, minutes_of in sources:
        found[kind] += [each for each in minutes_of(recording) if 0 < each <= LONGEST]
    return {kind: (round(min(each), 1), round(max(each), 1)) for kind, each in found.items() if each}


def _cluster(recording: Recording) -> Iterator[float]:
    """Minutes from the creation of the AKS cluster in ARM until its first node is ready."""
    ready = [each for node in nodes_of(recording) if (each := became_at(node, "Ready")) is not None]
    for body in recording.of("azure"):
        created = time_of(at(body["body"], "systemData.createdAt"))
        if body["type"].lower() == "microsoft.containerservice/managedclusters" and created and ready:
            yield minutes_between(created, min(ready))


def _scale_ups(recording: Recording) -> Iterator[float]:
    """Minutes from each scale-up event of the autoscaler until the next new node of the pool is ready."""
    for event in recording.lists.get("/api/v1/events", ()):
        asked = time_of(event.get("firstTimestamp") or event.get("eventTime"))
        found = SCALED.search(str(event.get("message", "")))
        if event.get("reason") != "TriggeredScaleUp" or asked is None or found is None:
            continue
        after = [
            each
            for node in nodes_of(recording)
            if pool_of(node) == found[1] and (created_at(node) or asked) > asked
            if (each := became_at(node, "Ready")) is not None
        ]
        if after:
            yield minutes_between(asked, min(after))


def _gpus(recording: Recording) -> Iterator[float]:
    """Minutes from a node that is ready until the Pods of its driver and device plugin are ready for the first time."""
    pods: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for pod in recording.lists.get("/api/v1/pods", ()):
        if namespace(pod) in ("gpu-operator", "kube-amd-gpu") and GPU_PODS.search(name(pod)):
            pods[str(at(pod, "spec.nodeName", ""))].append(pod)
    for node in nodes_of(recording):
        own, joined = pods.get(name(node), []), became_at(node, "Ready")
        ends = [became_at(pod, "Ready") for pod in own]
        if joined is None or not any("device-plugin" in name(each) for each in own) or any(map(restarts, own)):
            continue
        known = [each for each in ends if each is not None]
        if len(known) == len(ends):
            yield minutes_between(joined, max(known))


def _releases(recording: Recording) -> Iterator[float]:
    """Minutes from the creation of a Helm release's first Deployment until all its Deployments are available. Releases
    with a changed Deployment are left out.
    """
    starts: dict[tuple[str, str], list[datetime.datetime]] = defaultdict(list)
    ends: dict[tuple[str, str], list[datetime.datetime | None]] = defaultdict(list)
    for each in recording.lists.get("/apis/apps/v1/deployments", ()):
        release, created = annotations_of(each).get(RELEASE_NAME, ""), created_at(each)
        if release and created is not None:
            first = at(each, "metadata.generation", 1) == 1
            starts[namespace(each), release].append(created)
            ends[namespace(each), release].append(became_at(each, "Available") if first else None)
    for release, began in starts.items():
        known = [each for each in ends[release] if each is not None]
        if len(known) == len(began):
            yield minutes_between(min(began), max(known))


def nodes_of(recording: Recording) -> list[dict[str, Any]]:
    """Recorded nodes. Nodes without labels are left out."""
    return [each for each in recording.lists.get("/api/v1/nodes", ()) if labels(each)]


def created_at(item: Mapping[str, Any]) -> datetime.datetime | None:
    """Time at which the object `item` was created; None if it is not known."""
    return time_of(at(item, "metadata.creationTimestamp"))


def became_at(item: Mapping[str, Any], kind: str) -> datetime.datetime | None:
    """Time at which the condition `kind` of the object `item` became true; None if the condition is not true, or its
    time is not known.
    """
    found = condition(item, kind)
    return time_of(found.get("lastTransitionTime")) if found.get("status") == "True" else None


def restarts(pod: Mapping[str, Any]) -> bool:
    """True if a container of the Pod has been restarted."""
    return any(each.get("restartCount") for each in mappings(at(pod, "status.containerStatuses")))


def time_of(value: Any) -> datetime.datetime | None:
    """A time in a recorded object; None if it is no time with a UTC offset."""
    try:
        found = datetime.datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def minutes_between(start: datetime.datetime, end: datetime.datetime) -> float:
    """Minutes from one time to another; negative if `end` is earlier."""
    return (end - start).total_seconds() / 60
