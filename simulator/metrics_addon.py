"""Kinds that Azure Monitor's metrics add-on installs in a cluster: its own PodMonitors and ServiceMonitors.

The add-on's agents are not simulated. Source of the kinds' fields: Azure/prometheus-collector,
otelcollector/deploy/addon-chart. The definitions do not list the fields of endpoints, so the API server accepts a wrong
field there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from simulator.cluster.definitions import definition
from simulator.kubernetes.client import APPLY_PATCH, Client
from simulator.kubernetes.definitions import DEFINITIONS
from simulator.pool_nodes import FIELD_MANAGER

GROUP, VERSION = "azmonitoring.coreos.com", "v1"
LIMIT_SECONDS = 30
_LIMIT = {"type": "integer", "format": "int64"}
_ENDPOINTS = {"PodMonitor": "podMetricsEndpoints", "ServiceMonitor": "endpoints"}


def definitions() -> list[dict[str, Any]]:
    """The CustomResourceDefinitions of the add-on's kinds."""
    return [_definition(kind, field) for kind, field in _ENDPOINTS.items()]


def _definition(kind: str, endpoints: str) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    open_object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    spec = {
        "type": "object",
        "required": [endpoints, "selector"],
        "properties": {
            endpoints: {"type": "array", "items": open_object},
            "selector": open_object,
            "namespaceSelector": open_object,
            "jobLabel": {"type": "string"},
            "podTargetLabels": {"type": "array", "items": {"type": "string"}},
            **dict.fromkeys(("labelLimit", "labelNameLengthLimit", "labelValueLengthLimit", "sampleLimit"), _LIMIT),
        },
    }
    schema = {"type": "object", "required": ["spec"], "properties": {"spec": spec}}
    return definition(GROUP, VERSION, kind, plural, schema)


def install(client: Client) -> None:
    """Applies the add-on's definitions, and waits until the API server serves their kinds."""
    serve(client, definitions())


def serve(client: Client, found: Sequence[dict[str, Any]]) -> None:
    """Applies definitions, and waits until the API server serves their kinds."""
    for each in found:
        path = f"{DEFINITIONS}/{each['metadata']['name']}"
        client.patch(path, each, APPLY_PATCH, {"fieldManager": FIELD_MANAGER, "force": "true"})
        _established(client, path)


def _established(client: Client, path: str) -> None:
    until = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < until:
        found: Any = client.get(path)
        conditions: list[dict[str, Any]] = found.get("status", {}).get("conditions") or []
        if any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
            return
        time.sleep(0.05)
    raise TimeoutError(f"{path} is not served after {LIMIT_SECONDS} s")
