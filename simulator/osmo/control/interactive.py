"""Answers of the service to `osmo workflow exec`, `port-forward`, `webserver` and `rsync`.

The order of its refusals is that of the service (NVIDIA/OSMO 6.3.1 src/service/core/workflow/workflow_service.py, from
`action_request_helper` on): the workflow, rsync's switch, whether it runs, the backend's router, the task. Nothing is
forwarded: the answer is the address at which the two sides would meet.
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
    """Requirements of ConfigMap mode on the file, and the calls that need it."""
    return safe_yaml.load(FILE.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Running:
    """A workflow that has Pods: its pool, and the phase of each task's Pod."""

    pool: str
    tasks: Mapping[str, str] = field(default_factory=dict[str, str])


class Refusal(Exception):
    """Raised where the service answers with an error, with its HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


Look = Callable[[str], Running | None]
"""The workflow with an id, if Pods of it exist."""


def running(pods: list[Json]) -> Running | None:
    """State of the Pods of one workflow."""
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
    """The answer to one call.

    Args:
        call: exec, portforward, webserver or rsync.
        configs: The service's file of configuration.
        entry: What the caller asks for, as a query.

    Raises:
        Refusal
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
    """Address at which the two sides meet, by the pool's backend. Raises Refusal where there is none."""
    backend = str(configs.get("pools", {}).get(pool, {}).get("backend", ""))
    address = str(configs.get("backends", {}).get(backend, {}).get("router_address") or "")
    if not address:
        raise Refusal(500, f"Internal server error: Backend {backend} has no router!")
    return address
