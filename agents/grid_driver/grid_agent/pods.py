"""Pods as the API server shows them -> facts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from grid_agent.facts import OPERANDS, Pod

Json = dict[str, Any]
RESOURCES = "nvidia.com/"


def pod_from(pod: Mapping[str, Any]) -> Pod:
    metadata, status = pod["metadata"], _status(pod)
    return Pod(
        namespace=str(metadata["namespace"]),
        name=str(metadata["name"]),
        uid=str(metadata.get("uid", "")),
        app=_app(pod),
        phase=str(status.get("phase", "Pending")),
        terminating="deletionTimestamp" in metadata,
        looking=_looking(pod),
        begun=_begun(pod),
        gpus=sum(_asked(pod)),
    )


def is_operand(pod: Mapping[str, Any]) -> bool:
    """One of the operator's pods that see the driver and has not ended."""
    return _app(pod) in OPERANDS and _lives(pod)


def wants_gpus(pod: Mapping[str, Any]) -> bool:
    return _lives(pod) and any(_asked(pod))


def _app(pod: Mapping[str, Any]) -> str:
    return str(_part(pod["metadata"], "labels").get("app", ""))


def _lives(pod: Mapping[str, Any]) -> bool:
    return _status(pod).get("phase") not in ("Succeeded", "Failed")


def _part(owner: Mapping[str, Any], name: str) -> Json:
    found: Json = owner.get(name) or {}
    return found


def _status(pod: Mapping[str, Any]) -> Json:
    return _part(pod, "status")


def _listed(owner: Mapping[str, Any], name: str) -> list[Json]:
    found: list[Json] = owner.get(name) or []
    return found


def _asked(pod: Mapping[str, Any]) -> Iterator[int]:
    spec = _part(pod, "spec")
    for container in (*_listed(spec, "containers"), *_listed(spec, "initContainers")):
        for name, amount in _part(_part(container, "resources"), "limits").items():
            if name.startswith(RESOURCES):
                yield int(amount)


def _looking(pod: Mapping[str, Any]) -> bool:
    if not _listed(_part(pod, "spec"), "initContainers"):
        return False
    statuses = _listed(_status(pod), "initContainerStatuses")
    return not statuses or _part(_part(statuses[0], "state"), "terminated").get("exitCode") != 0


def _begun(pod: Mapping[str, Any]) -> float | None:
    """Start of the first init container, which checks the driver; else of the first container."""
    statuses = _listed(_status(pod), "initContainerStatuses") or _listed(_status(pod), "containerStatuses")
    state = _part(statuses[0], "state") if statuses else {}
    running = _part(state, "running") or _part(state, "terminated")
    return _seconds(str(running["startedAt"])) if running.get("startedAt") else None


def _seconds(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()
