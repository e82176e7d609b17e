"""Requests to the Kubernetes stand-in, and the objects in them."""

from __future__ import annotations

from typing import Any

from simulator.wire import Request


def request(kind: str = "core/v1:ConfigMap", name: str = "thing", **fields: Any) -> Request:
    token = f"kubernetes:{kind}"
    return Request(urn=f"urn:pulumi:dev::demo::{token}::{name}", type=token, name=name, **fields)


def config_map(namespace: str, name: str = "settings", **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def pod_spec(**extra: Any) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}], **extra}
