"""Stand-in for Pulumi's Kubernetes plugin, against a real API server."""

from simulator.kubernetes.client import ApiError, Client, UnknownKind, Unreachable
from simulator.kubernetes.options import ChartSource, KubernetesOptions
from simulator.kubernetes.provider import Kubernetes, kubernetes_provider

__all__ = [
    "ApiError",
    "ChartSource",
    "Client",
    "Kubernetes",
    "KubernetesOptions",
    "UnknownKind",
    "Unreachable",
    "kubernetes_provider",
]
