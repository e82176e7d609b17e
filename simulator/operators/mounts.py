"""The kubelet's messages about Pods whose Secrets or ConfigMaps are missing."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from simulator.cluster.objects import Json, at, name

Find = Callable[[str, str, str], Json | None]
"""Function that returns the object of a kind, namespace and name; None if it does not exist."""
CRASHED = "CrashLoopBackOff"
"""Reason in the state of a container that has started and ended, and that waits until it is started again."""
_NAMES = {"Secret": "secret", "ConfigMap": "configmap"}


@dataclass(frozen=True)
class StartProblem:
    """Reason why a Pod's containers do not start, as the Pod's status and an Event show it."""

    waiting: str
    """Reason in the state of the waiting containers."""
    event: str
    """Reason of the Event about the Pod."""
    message: str


def start_problem(pod: Json, find: Find) -> StartProblem | None:
    """Problem with the first missing object that the Pod refers to; None if all objects exist. The order is the
    kubelet's: first volumes, then environment variables.
    """
    namespace = str(at(pod, "metadata.namespace", ""))
    for volume in at(pod, "spec.volumes", []):
        for kind, key, given in _sources(volume):
            if problem := _missing(kind, key, given, find(kind, namespace, key)):
                where = f'MountVolume.SetUp failed for volume "{volume["name"]}" : '
                return StartProblem("ContainerCreating", "FailedMount", where + problem)
    for container in at(pod, "spec.containers", []):
        for kind, given in _variables(container):
            items = [{"key": given["key"]}] if "key" in given else []
            key = str(given.get("name", ""))
            found = find(kind, namespace, key)
            if problem := _missing(kind, key, {**given, "items": items}, found):
                if found is not None:
                    problem = f"couldn't find key {given['key']} in {kind} {namespace}/{key}"
                return StartProblem("CreateContainerConfigError", "Failed", f"Error: {problem}")
    return None


def _sources(volume: Json) -> Iterator[tuple[str, str, Json]]:
    if secret := volume.get("secret"):
        yield "Secret", str(secret.get("secretName", "")), secret
    if config := volume.get("configMap"):
        yield "ConfigMap", str(config.get("name", "")), config


def _variables(container: Json) -> Iterator[tuple[str, Json]]:
    for variable in at(container, "env", []):
        for kind, field in (("Secret", "secretKeyRef"), ("ConfigMap", "configMapKeyRef")):
            if given := at(variable, f"valueFrom.{field}"):
                yield kind, given
    for source in at(container, "envFrom", []):
        for kind, field in (("Secret", "secretRef"), ("ConfigMap", "configMapRef")):
            if given := source.get(field):
                yield kind, given


def _missing(kind: str, key: str, given: Json, found: Json | None) -> str | None:
    if given.get("optional"):
        return None
    if found is None:
        return f'{_NAMES[kind]} "{key}" not found'
    held: dict[str, Any] = {**at(found, "data", {}), **at(found, "binaryData", {})}
    lacking = next((item["key"] for item in given.get("items") or () if item["key"] not in held), None)
    word = "config" if kind == "ConfigMap" else "secret"
    return f"references non-existent {word} key: {lacking}" if lacking else None


def status(pod: Json, why: StartProblem, now: str) -> Json:
    """`status` of a waiting Pod, for a strategic merge patch."""
    containers: list[Json] = at(pod, "spec.containers", [])
    crashed = why.waiting == CRASHED
    state: Json = {"waiting": {"reason": why.waiting}}
    if why.waiting != "ContainerCreating":
        state["waiting"]["message"] = why.message.removeprefix("Error: ")
    rest = {"ready": False, "started": False, "restartCount": int(crashed), "imageID": "", "state": state}
    if crashed:
        rest["lastState"] = {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": now, "finishedAt": now}}
    text = f"containers with unready status: {[each['name'] for each in containers]}"
    unready = {"status": "False", "reason": "ContainersNotReady", "message": text, "lastTransitionTime": now}
    return {
        "phase": "Running" if crashed else "Pending",
        "startTime": now,
        "conditions": [{"type": kind, **unready} for kind in ("ContainersReady", "Ready")],
        "containerStatuses": [{"name": each["name"], "image": each["image"], **rest} for each in containers],
    }


def event(pod: Json, why: StartProblem, now: str) -> Json:
    """The kubelet's Event about a Pod. The Event's name is computed from its message: the same message changes the
    existing Event.
    """
    metadata: Json = pod["metadata"]
    about = {"apiVersion": "v1", "kind": "Pod", "name": name(pod), "namespace": metadata["namespace"]}
    key = f"{name(pod)}.{zlib.crc32(why.message.encode()):08x}"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": key, "namespace": metadata["namespace"]},
        "involvedObject": {**about, "uid": metadata["uid"]},
        "type": "Warning",
        "reason": why.event,
        "message": why.message,
        "source": {"component": "kubelet", "host": str(at(pod, "spec.nodeName", ""))},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
