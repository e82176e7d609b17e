"""Durations of the steps of GPU nodes, from the times in a recording: from the Pod that waited to the device plugin
that is ready, and the pulls of images. Pure functions.

Only the first start of a node counts. A step without a known beginning or end is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from physical_ai.kubernetes.objects import at, name, namespace
from physical_ai.readiness.objects import pool_of
from workbench.recordings.durations import (
    LONGEST,
    SCALED,
    became_at,
    created_at,
    minutes_between,
    nodes_of,
    restarts,
    time_of,
)
from workbench.recordings.reading import Recording

OPERANDS = {
    "driver": r"nvidia-driver|grid-driver|driver-container",
    "toolkit": "container-toolkit",
    "plugin": "device-plugin",
}
"""Pattern of the names of the Pods that end each step of a node."""
_PULLED = re.compile(r"^Successfully pulled image .*? in (?P<text>(?:[0-9.]+(?:ms|[hms]))+)(?: |$|\.)")
_PART = re.compile(r"([0-9.]+)(ms|[hms])")
_UNITS = {"h": 60.0, "m": 1.0, "s": 1 / 60, "ms": 1 / 60_000}
_SYSTEM = ("gpu-operator", "kube-amd-gpu", "kube-system")
_OWN = re.compile(r"grid-driver|gpu-evidence|nvidia-")
Found = dict[tuple[str, str], tuple[float, float]]
"""Shortest and longest duration in minutes, by pool and step."""


def node_durations(recording: Recording) -> Found:
    """Shortest and longest duration of each step of each pool's nodes. Steps have the names of the catalogue's
    node_steps.yaml.
    """
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for source in (_joins, _operands, _pulls):
        for pool, step, minutes in source(recording):
            if 0 <= minutes <= LONGEST:
                found[pool, step].append(minutes)
    return {key: (round(min(each), 1), round(max(each), 1)) for key, each in found.items()}


def _joins(recording: Recording) -> Iterator[tuple[str, str, float]]:
    """Minutes until the autoscaler decides for a Pod, and from there until the next new node of the pool is ready."""
    pods = {(namespace(each), name(each)): each for each in recording.lists.get("/api/v1/pods", ())}
    for event in recording.lists.get("/api/v1/events", ()):
        asked = time_of(event.get("firstTimestamp") or event.get("eventTime"))
        scaled = SCALED.search(str(event.get("message", "")))
        if event.get("reason") != "TriggeredScaleUp" or asked is None or scaled is None:
            continue
        about: Mapping[str, Any] = event.get("involvedObject") or {}
        pod = pods.get((str(about.get("namespace", namespace(event))), str(about.get("name", ""))))
        if pod is not None and (waited := created_at(pod)) is not None:
            yield scaled[1], "autoscaler", minutes_between(waited, asked)
        ready = [
            each
            for node in nodes_of(recording)
            if pool_of(node) == scaled[1] and (created_at(node) or asked) > asked
            if (each := became_at(node, "Ready")) is not None
        ]
        if ready:
            yield scaled[1], "node", minutes_between(asked, min(ready))


def _operands(recording: Recording) -> Iterator[tuple[str, str, float]]:
    """Minutes of the steps between a node that is ready and its device plugin. Each step ends when its Pod is ready,
    and begins when the one before has ended.
    """
    pods: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for pod in recording.lists.get("/api/v1/pods", ()):
        for step, pattern in OPERANDS.items():
            if re.search(pattern, name(pod)) and (_OWN.search(name(pod)) or namespace(pod) in _SYSTEM):
                pods[str(at(pod, "spec.nodeName", ""))][step] = pod
    for node in nodes_of(recording):
        own, here = pods.get(name(node), {}), became_at(node, "Ready")
        if here is None or "plugin" not in own or any(map(restarts, own.values())):
            continue
        first = next(own[step] for step in OPERANDS if step in own)
        if (begun := created_at(first)) is not None:
            yield pool_of(node), "labels", max(0.0, minutes_between(here, begun))
            here = max(here, begun)
        for step in (each for each in OPERANDS if each in own):
            end = became_at(own[step], "Ready")
            if end is None:
                break
            yield pool_of(node), step, max(0.0, minutes_between(here, end))
            here = max(here, end)


def _pulls(recording: Recording) -> Iterator[tuple[str, str, float]]:
    """Minutes of the pulls of images of Pods with work, by the kubelet's events."""
    pools = {name(each): pool_of(each) for each in nodes_of(recording)}
    nodes = {
        (namespace(each), name(each)): str(at(each, "spec.nodeName", ""))
        for each in recording.lists.get("/api/v1/pods", ())
    }
    for event in recording.lists.get("/api/v1/events", ()):
        space, pod = str(at(event, "involvedObject.namespace", "")), str(at(event, "involvedObject.name", ""))
        found = _PULLED.match(str(event.get("message", "")))
        pool = pools.get(nodes.get((space, pod), ""))
        if event.get("reason") == "Pulled" and found and pool and space not in _SYSTEM and not _OWN.search(pod):
            yield pool, "image", sum(float(count) * _UNITS[unit] for count, unit in _PART.findall(found["text"]))
