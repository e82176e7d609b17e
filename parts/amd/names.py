"""The supported release of the AMD GPU Operator, and the names that depend on it."""

from __future__ import annotations

CHART = "gpu-operator-charts"
"""AMD's name of the chart (helm-charts-k8s/Chart.yaml); NVIDIA's is gpu-operator."""
CAUSES = "amd_causes.yaml"
"""File with causes of closed gates on nodes with AMD GPUs."""
ADMISSION = "gpu-admission.yaml"
"""File with the admission policy about Pods with AMD GPUs."""
RELEASE = "amd-gpu-operator"
NAMESPACE = "kube-amd-gpu"
"""Namespace of the release and of everything that the operator creates (helm-charts-k8s/README.md)."""
CONTROLLER = f"{RELEASE}-{CHART}-controller-manager"
"""Name of the operator's Deployment."""
BUILDER = f"{RELEASE}-kmm-controller"
"""Name of the Deployment of Kernel Module Management, which builds and loads the driver."""

API_VERSION, KIND = "amd.com/v1alpha1", "DeviceConfig"
FINALIZER = "amd.node.kubernetes.io/deviceconfig-finalizer"
REGISTRY_SECRET = "amd-driver-registry"  # noqa: S105 - a name
DOCKER_CONFIG = ".dockerconfigjson"
"""Key of the login in a registry's Secret, and part of the Secret's type (Kubernetes docs, docker config Secrets)."""
METRICS_PORT = 5000
"""Port of the device metrics exporter."""
NFD_LABELS = ("feature.node.kubernetes.io/amd-gpu", "feature.node.kubernetes.io/amd-vgpu")
"""Node labels that the chart's rule for Node Feature Discovery sets: `amd-gpu` for a whole GPU, `amd-vgpu` for a
virtual function, as in Azure's VMs.
"""

PLUGIN_IMAGE, LABELLER_IMAGE = (
    "docker.io/rocm/k8s-device-plugin:latest",
    "docker.io/rocm/k8s-device-plugin:labeller-latest",
)
"""Images of the device plugin and the node labeller, unless settings name others."""


def images(version: str) -> tuple[str, ...]:
    """Images of the Pods that run with release `version` of the operator. The images of the device plugin and of the
    node labeller are left out, because settings can replace them.

    Source: ROCm/gpu-operator helm-charts-k8s/README.md of v1.4.0, values; internal/metricsexporter/metricsexporter.go.
    The exporter has the same tag as the operator.
    """
    own = (
        "gpu-operator",
        "gpu-operator-utils",
        "device-metrics-exporter",
        "kernel-module-management-operator",
        "kernel-module-management-webhook-server",
        "kernel-module-management-worker",
    )
    others = ("docker.io/library/busybox:1.36", "gcr.io/kaniko-project/executor:v1.23.2")
    return (*(f"docker.io/rocm/{each}:{version}" for each in own), *others)


def device_plugin(config: str) -> str:
    """Name of the DaemonSet with the device plugin of a DeviceConfig."""
    return f"{config}-device-plugin"


def node_labeller(config: str) -> str:
    return f"{config}-node-labeller"


def metrics_exporter(config: str) -> str:
    return f"{config}-metrics-exporter"
