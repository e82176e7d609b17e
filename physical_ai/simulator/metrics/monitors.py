"""The PodMonitors that a stack declares."""

from __future__ import annotations

from physical_ai.simulator.cluster.objects import Json
from physical_ai.simulator.kubernetes.client import Client, base_path

API_GROUPS = ("monitoring.coreos.com/v1", "azmonitoring.coreos.com/v1")
"""Of the Prometheus operator, and of Azure's add-on, which ignores the former's objects."""


def pod_monitors(client: Client) -> list[Json]:
    """The PodMonitors of both API groups, in all namespaces; empty where neither is served."""
    found: list[Json] = []
    for group in API_GROUPS:
        if client.resource(group, "PodMonitor") is not None:
            found += client.get(f"{base_path(group)}/podmonitors")["items"]
    return found
