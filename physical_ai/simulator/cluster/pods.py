"""Statuses of simulated Pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.simulator.cluster.objects import Json, at, timestamp

COMPLETED = (0, "")


def ended(pod: Mapping[str, Any], exits: Mapping[str, tuple[int, str]] | None = None) -> Json:
    """The status of a Pod whose containers have just ended.

    Args:
        exits: Exit codes and last messages of its containers, by name; those that are not named completed.
    """
    now = timestamp()
    exits = exits or {}
    statuses: list[Json] = []
    for container in pod["spec"]["containers"]:
        code, message = exits.get(container["name"], COMPLETED)
        reason = "Error" if code else "Completed"
        times = {"startedAt": at(pod, "status.startTime", now), "finishedAt": now}
        statuses.append(
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": False,
                "restartCount": 0,
                "state": {"terminated": {"exitCode": code, "reason": reason, "message": message, **times}},
            }
        )
    failed = any(code for code, _ in exits.values())
    return {"phase": "Failed" if failed else "Succeeded", "containerStatuses": statuses}
