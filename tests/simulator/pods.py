"""Pods of simulator tests: made in a line, and what became of them."""

from __future__ import annotations

from typing import Any

from simulator.cluster.objects import at
from simulator.kubernetes.client import Client


def create(
    client: Client, name: str, namespace: str, *, annotations: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    """Makes a pod of one container; `requests` are the container's, everything else is the pod's."""
    requests: dict[str, str] = spec.pop("requests", {})
    extended = {key: value for key, value in requests.items() if "/" in key}
    container = {"name": "main", "image": "image", "resources": {"requests": requests, "limits": extended}}
    metadata = {"name": name, "annotations": annotations or {}}
    body = {"metadata": metadata, "spec": {"containers": [container], **spec}}
    return client.request("POST", f"/api/v1/namespaces/{namespace}/pods", body)


def condition(client: Client, name: str, namespace: str) -> dict[str, Any]:
    """The PodScheduled condition, empty as long as no scheduler has judged the pod."""
    pod = client.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
    found: list[dict[str, Any]] = at(pod, "status.conditions", [])
    return next((each for each in found if each["type"] == "PodScheduled"), {})


def host(client: Client, name: str, namespace: str) -> str:
    """The node that a pod is on; empty while it has none."""
    return str(at(client.get(f"/api/v1/namespaces/{namespace}/pods/{name}"), "spec.nodeName", ""))


def events(client: Client, name: str, namespace: str) -> str:
    """All that events say about an object, joined."""
    found = client.get(f"/api/v1/namespaces/{namespace}/events")["items"]
    return "\n".join(each["message"] for each in found if each["involvedObject"].get("name") == name)
