"""Simulated Kubernetes provider of Pulumi, against a real API server.

The provider itself is imported from `kubernetes.provider`, because a cluster's controllers need only the client.
"""

from simulator.kubernetes.client import ApiError, Client, UnknownKind, Unreachable
from simulator.kubernetes.options import ChartSource, KubernetesOptions
from simulator.kubernetes.rendering import RenderedCharts

__all__ = [
    "ApiError",
    "ChartSource",
    "Client",
    "KubernetesOptions",
    "RenderedCharts",
    "UnknownKind",
    "Unreachable",
]
