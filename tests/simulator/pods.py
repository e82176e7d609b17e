"""Pods of simulator tests: made in a line, what became of them, and their end."""

from __future__ import annotations

from typing import Any

from simulator.cluster.objects import at
from simulator.kubernetes.client import Client

WORKLOADS = ("apps/v1/{}/daemonsets", "apps/v1/{}/deployments", "apps/v1/{}/statefulsets", "batch/v1/{}/jobs")
"""Paths below `/apis` of the kinds that make Pods; `{}` stands for the namespace."""


def create(
    client: Client,
    name: str,
    namespace: str,
    *,
    annotations: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """Makes a pod of one container; `requests` are the container's, everything else is the pod's."""
    requests: dict[str, str] = spec.pop("requests", {})
    extended = {key: value for key, value in requests.items() if "/" in key}
    container = {"name": "main", "image": "image", "resources": {"requests": requests, "limits": extended}}
    metadata = {"name": name, "annotations": annotations or {}, "labels": labels or {}}
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


def end_all(client: Client, namespace: str) -> None:
    """Deletes the Pods of a namespace and what makes them, so that none of them takes room on nodes of later tests.

    The namespace stays: for its deletion, the controller manager lists and deletes every kind that the API server has,
    which costs more than most of the tests that have a namespace of their own.
    """
    place, how = f"namespaces/{namespace}", {"gracePeriodSeconds": "0", "propagationPolicy": "Background"}
    for path in (*(f"/apis/{each.format(place)}" for each in WORKLOADS), f"/api/v1/{place}/pods"):
        client.request("DELETE", path, params=how)
