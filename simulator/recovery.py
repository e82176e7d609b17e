"""Finds what a creation has made when the run that asked for it did not live to hear so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simulator.azure import Cloud
from simulator.kubernetes.client import ApiError, Client, UnknownKind, Unreachable

RELEASE = "kubernetes:helm.sh/v3:Release"


def made(type: str, inputs: Mapping[str, Any], cloud: Cloud, clients: Iterable[Client]) -> str | None:
    """Id of the object that a creation with these inputs has left behind, or None when it left nothing."""
    if type.startswith("azure-native:"):
        id = cloud.resource_id(type, inputs)
        return id if id is not None and cloud.exists(id) else None
    if type.startswith("kubernetes:"):
        return next((id for id in (_in_cluster(client, type, inputs) for client in clients) if id is not None), None)
    return None


def _in_cluster(client: Client, type: str, inputs: Mapping[str, Any]) -> str | None:
    try:
        if type == RELEASE:
            return _release(client, inputs)
        metadata: Mapping[str, Any] = inputs["metadata"]
        path = client.path(inputs["apiVersion"], inputs["kind"], metadata.get("namespace"), metadata["name"])
        found = client.find(path)
    except (ApiError, UnknownKind, Unreachable, KeyError):
        return None
    if found is None:
        return None
    namespace, name = found["metadata"].get("namespace"), found["metadata"]["name"]
    return f"{namespace}/{name}" if namespace else name


def _release(client: Client, inputs: Mapping[str, Any]) -> str | None:
    """Helm records each revision in a Secret of the release's namespace."""
    namespace, name = inputs.get("namespace") or "default", inputs["name"]
    secrets = client.get(f"/api/v1/namespaces/{namespace}/secrets", {"labelSelector": f"owner=helm,name={name}"})
    return f"{namespace}/{name}" if secrets["items"] else None
