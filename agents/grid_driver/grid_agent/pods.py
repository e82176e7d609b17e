"""Pods as the API server shows them -> facts. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from grid_agent.facts import OPERANDS, Pod

Json = dict[str, Any]
RESOURCES = "nvidia.com/"
QUANTITY = re.compile(r"(\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:[eE]([+-]?\d{1,2})|([numkMGTPE]|[KMGTPE]i)?)")
SUFFIXES = {
    "": 1.0,
    **{letter: 1000.0**power for power, letter in enumerate("num", -3)},
    **{letter: 1000.0**power for power, letter in enumerate("kMGTPE", 1)},
    **{f"{letter}i": 1024.0**power for power, letter in enumerate("KMGTPE", 1)},
}
"""Of Kubernetes' quantities."""


def pod_from(pod: Mapping[str, Any], skew: float = 0.0) -> Pod:
    """`skew`: how far kubelet's clock is ahead of the agent's."""
    metadata, status, begun = part(pod, "metadata"), _status(pod), _begun(pod)
    return Pod(
        namespace=namespace_of(pod),
        name=str(metadata.get("name", "")),
        uid=str(metadata.get("uid", "")),
        app=_app(pod),
        phase=str(status.get("phase", "Pending")),
        terminating="deletionTimestamp" in metadata,
        looking=_looking(pod),
        begun=None if begun is None else begun - skew,
        gpus=sum(_asked(pod)),
    )


def is_operand(pod: Mapping[str, Any]) -> bool:
    """One of the operator's pods that see the driver and has not ended."""
    return _app(pod) in OPERANDS and _lives(pod)


def uses_gpus(pod: Mapping[str, Any]) -> bool:
    """Whether the Pod has, or may have, devices of the node's GPUs, used by a process at present or not.

    By a limit, by a claim (which kind of device it is for is not in the Pod), or without either by NVIDIA's runtime
    class. A DaemonSet's Pods never end by themselves, so those without a limit or claim are not waited for.
    """
    spec = part(pod, "spec")
    runtime = str(spec.get("runtimeClassName") or "").startswith("nvidia") and not _is_of_daemon_set(pod)
    return _lives(pod) and (any(_asked(pod)) or bool(listed(spec, "resourceClaims")) or runtime)


def namespace_of(pod: Mapping[str, Any]) -> str:
    return str(part(pod, "metadata").get("namespace", ""))


def _is_of_daemon_set(pod: Mapping[str, Any]) -> bool:
    return any(owner.get("kind") == "DaemonSet" for owner in listed(part(pod, "metadata"), "ownerReferences"))


def _app(pod: Mapping[str, Any]) -> str:
    return str(part(part(pod, "metadata"), "labels").get("app", ""))


def _lives(pod: Mapping[str, Any]) -> bool:
    return _status(pod).get("phase") not in ("Succeeded", "Failed")


def part(owner: Mapping[str, Any], name: str) -> Json:
    """An object in an object; an empty one where there is none."""
    found: object = owner.get(name)
    return cast("Json", found) if isinstance(found, dict) else {}


def _status(pod: Mapping[str, Any]) -> Json:
    return part(pod, "status")


def listed(owner: Mapping[str, Any], name: str) -> list[Json]:
    """The objects of a list in an object."""
    found: object = owner.get(name)
    items = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def _asked(pod: Mapping[str, Any]) -> Iterator[int]:
    spec = part(pod, "spec")
    for container in (*listed(spec, "containers"), *listed(spec, "initContainers")):
        for name, amount in part(part(container, "resources"), "limits").items():
            if name.startswith(RESOURCES):
                yield amount_of(str(amount))


def amount_of(quantity: str) -> int:
    """A quantity of whole devices. One that can't be read counts as one device: the Pod has a limit.

    >>> amount_of("2"), amount_of("1k"), amount_of("0")
    (2, 1000, 0)
    """
    found = QUANTITY.fullmatch(quantity)
    if found is None:
        return 1
    number, exponent, suffix = found.groups()
    return math.ceil(float(number) * 10.0 ** int(exponent or 0) * SUFFIXES[suffix or ""])


def _looking(pod: Mapping[str, Any]) -> bool:
    if not listed(part(pod, "spec"), "initContainers"):
        return False
    statuses = listed(_status(pod), "initContainerStatuses")
    return not statuses or part(part(statuses[0], "state"), "terminated").get("exitCode") != 0


def _begun(pod: Mapping[str, Any]) -> float | None:
    """Start of the first init container, which checks the driver; else of the first container."""
    statuses = listed(_status(pod), "initContainerStatuses") or listed(_status(pod), "containerStatuses")
    state = part(statuses[0], "state") if statuses else {}
    running = part(state, "running") or part(state, "terminated")
    return _seconds(str(running["startedAt"])) if running.get("startedAt") else None


def _seconds(timestamp: str) -> float | None:
    try:
        return datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return None
