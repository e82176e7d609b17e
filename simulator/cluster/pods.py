"""Statuses of simulated Pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.cluster.objects import Json, at, timestamp

COMPLETED = (0, "")


def ended(pod: Mapping[str, Any], exits: Mapping[str, tuple[int, str]] | None = None) -> Json:
    """The status of a Pod whose containers have just ended.

    Args:
        exits: Exit codes and last messages by container name; a container that is not listed ended with code 0.
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


def running(pod: Mapping[str, Any]) -> Json:
    """The status of a Pod whose containers are running and ready."""
    now = timestamp()
    statuses = [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": "",
            "ready": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        for each in pod["spec"]["containers"]
    ]
    return {"phase": "Running", "startTime": at(pod, "status.startTime", now), "containerStatuses": statuses}


def stopped(pod: Mapping[str, Any], container: str, code: int, message: str) -> Json:
    """The status of a Pod whose init container has just failed. The Pod's other containers never start."""
    now = timestamp()
    end = {"exitCode": code, "reason": "Error", "message": message, "startedAt": now, "finishedAt": now}

    def status(given: Mapping[str, Any], state: Json) -> Json:
        shown = {"name": given["name"], "image": given["image"], "imageID": "", "ready": False, "restartCount": 0}
        return {**shown, "state": state}

    waiting = {"waiting": {"reason": "PodInitializing"}}
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
    init: list[Json] = at(pod, "spec.initContainers", [])
    return {
        "phase": "Failed",
        "initContainerStatuses": [
            status(each, {"terminated": end} if each["name"] == container else done) for each in init
        ],
        "containerStatuses": [status(each, waiting) for each in pod["spec"]["containers"]],
    }
