"""Reports about the simulated clusters of a failed test, for failures that cannot be repeated on another machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from simulator.cluster.objects import at, is_ready, name
from simulator.kubernetes.client import ApiError, Client, Unreachable
from simulator.processes import running

EVENTS, LOG_LINES, WIDTH = 40, 12, 240


def reports(folder: Path) -> dict[str, str]:
    """Texts by title, one for each control plane that runs below `folder`."""
    found: dict[str, str] = {}
    for kubeconfig in sorted(folder.rglob("admin.kubeconfig")):
        plane = kubeconfig.parent
        if live := running(plane):
            found[f"cluster in {plane.relative_to(folder)}"] = "\n".join(
                [f"processes: {', '.join(sorted(live))}", *_objects(kubeconfig), *_logs(plane)]
            )
    return found


def _objects(kubeconfig: Path) -> list[str]:
    try:
        client = Client(kubeconfig, timeout=10)
        nodes, pods, events = (client.get(f"/api/v1/{kind}")["items"] for kind in ("nodes", "pods", "events"))
    except (ApiError, Unreachable, httpx.HTTPError, OSError) as problem:
        return [f"no answer: {problem}"]
    recent = sorted(events, key=lambda each: str(each.get("lastTimestamp") or ""))[-EVENTS:]
    return [*map(_node, nodes), *map(_pod, pods), *map(_event, recent)]


def _node(node: dict[str, Any]) -> str:
    taints = [str(taint["key"]) for taint in at(node, "spec.taints", [])]
    gpus = {key: count for key, count in at(node, "status.allocatable", {}).items() if "/" in key}
    return f"node {name(node)} ready={is_ready(node)} since={at(node, 'metadata.creationTimestamp')} {taints} {gpus}"


def _pod(pod: dict[str, Any]) -> str:
    waits = [
        f"{each['type']}: {each.get('reason', '')} {each.get('message', '')}"
        for each in at(pod, "status.conditions", [])
        if each["status"] != "True"
    ]
    where = f"{at(pod, 'metadata.namespace')}/{name(pod)}"
    return f"pod {where} {at(pod, 'status.phase')} on {at(pod, 'spec.nodeName', 'no node')} {waits}"[:WIDTH]


def _event(event: dict[str, Any]) -> str:
    about = at(event, "involvedObject.name")
    return f"event {event.get('lastTimestamp')} {about} {event.get('reason')}: {event.get('message')}"[:WIDTH]


def _logs(plane: Path) -> list[str]:
    lines: list[str] = []
    for log in sorted(plane.glob("*.log")):
        lines += [f"{log.stem}: {line[:WIDTH]}" for line in log.read_text(errors="replace").splitlines()[-LOG_LINES:]]
    return lines
