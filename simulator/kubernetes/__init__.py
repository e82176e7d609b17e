"""Stand-in for Pulumi's Kubernetes plugin, against a real API server.

The provider itself is imported from `kubernetes.provider`: the controllers of a cluster need the client alone.
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
