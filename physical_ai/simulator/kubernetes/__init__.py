"""Stand-in for Pulumi's Kubernetes plugin, against a real API server."""

from physical_ai.simulator.kubernetes.client import ApiError, Client, UnknownKind, Unreachable
from physical_ai.simulator.kubernetes.options import ChartSource, KubernetesOptions
from physical_ai.simulator.kubernetes.provider import Kubernetes, kubernetes_provider
from physical_ai.simulator.kubernetes.rendering import RenderedCharts

__all__ = [
    "ApiError",
    "ChartSource",
    "Client",
    "Kubernetes",
    "KubernetesOptions",
    "RenderedCharts",
    "UnknownKind",
    "Unreachable",
    "kubernetes_provider",
]
