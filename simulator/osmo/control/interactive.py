"""Answers of the service to `osmo workflow exec`, `port-forward`, `webserver` and `rsync`.

Requests are checked in the service's order (NVIDIA/OSMO 6.3.1 src/service/core/workflow/workflow_service.py, from
`action_request_helper` on): the workflow, the rsync switch, whether the workflow runs, the backend's router, the task.
Nothing is forwarded: the answer has the address at which the two ends of the connection would meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from physical_ai import safe_yaml
from simulator.cluster.objects import Json, at
from simulator.osmo_names import TASK_LABEL, WORKFLOW_LABEL

FILE = Path(__file__).parents[1] / "data" / "configmap-mode.yaml"
POOL_LABEL = "osmo.pool"


@lru_cache(maxsize=1)
def facts() -> dict[str, Any]:
    """Content of `data/configmap-mode.yaml`: values that OSMO requires in its configuration file, and the API calls
    that need them.
    """
    return safe_yaml.load(FILE.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Running:
    """A workflow that has Pods: its pool, and the Pod phase of each task."""

    pool: str
    tasks: Mapping[str, str] = field(default_factory=dict[str, str])


class Refusal(Exception):
    """Error with the HTTP status and text of the service's answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


Look = Callable[[str], Running | None]
"""Function that returns the workflow with an id; None if the workflow has no Pods."""


def running(pods: list[Json]) -> Running | None:
    """State of one workflow, from the workflow's Pods; None if there are no Pods."""
    if not pods:
        return None
    labels: list[dict[str, str]] = [at(pod, "metadata.labels", {}) for pod in pods]
    phases = {own.get(TASK_LABEL, ""): str(at(pod, "status.phase", "")) for own, pod in zip(labels, pods, strict=True)}
    return Running(labels[0].get(POOL_LABEL, ""), phases)


def selector(workflow: str) -> dict[str, str]:
    return {"labelSelector": f"{WORKFLOW_LABEL}={workflow}"}


def session(
    call: str, workflow: str, task: str, *, look: Look, configs: Mapping[str, Any], entry: Mapping[str, Any]
) -> dict[str, Any]:
    """Answer of OSMO's service to a request for an interactive session with a task: the router's address, and a key.

    Args:
        call: exec, portforward, webserver or rsync.
        configs: The service's configuration file.
        entry: Query parameters of the request.

    Raises:
        Refusal: the service refuses the call.
    """
    found = look(workflow)
    if found is None:
        raise Refusal(400, f"Workflow {workflow} not found.")
    rsync = configs.get("workflow", {}).get("plugins_config", {}).get("rsync", {})
    if call == "rsync" and not rsync.get("enabled", False):
        raise Refusal(403, "Rsync is not enabled for this workflow!")
    if call == "portforward" and not entry.get("task_ports"):
        raise Refusal(400, "No port is provided!")
    phases = set(found.tasks.values())
    if "Running" not in phases:
        if phases <= {"Succeeded", "Failed"}:
            raise Refusal(410, f"Workflow {workflow} is not running!")
        raise Refusal(425, f"Workflow {workflow} is not running yet...")
    address = router(configs, found.pool)
    if task not in found.tasks:
        raise Refusal(404, f"Task {task} does not exist in workflow {workflow}!")
    if found.tasks[task] != "Running":
        waits = found.tasks[task] not in ("Succeeded", "Failed")
        raise Refusal(425 if waits else 404, f"Task {task} is not {'yet ' if waits else ''}running in {workflow}!")
    if urlsplit(address).scheme not in ("ws", "wss"):
        raise Refusal(500, f"Internal server error: Invalid router address: {address}")
    return {"router_address": address, "key": f"{call.upper()}-{workflow}-{task}", "cookie": ""}


def router(configs: Mapping[str, Any], pool: str) -> str:
    """Address of the router of the pool's backend. Both sides of a session connect to the router.

    Raises Refusal if there is none.
    """
    backend = str(configs.get("pools", {}).get(pool, {}).get("backend", ""))
    address = str(configs.get("backends", {}).get(backend, {}).get("router_address") or "")
    if not address:
        raise Refusal(500, f"Internal server error: Backend {backend} has no router!")
    return address
