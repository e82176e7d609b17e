"""Names that AMD's operator gives to objects and reads from them, copied from its source separately from the deployed
code.

Source: ROCm/gpu-operator v1.4.0, api/v1alpha1/deviceconfig_types.go, internal/controllers/device_config_reconciler.go,
internal/utils.go, internal/kmmmodule, internal/nodelabeller, internal/metricsexporter, helm-charts-k8s (README.md,
templates/deployment.yaml, templates/gpu-nfd-default-rule.yaml, charts/kmm); read 2026-11-28.
"""

from __future__ import annotations

NAMESPACE = "kube-amd-gpu"
CONTROLLER = "amd-gpu-operator-gpu-operator-charts-controller-manager"
BUILDER = "amd-gpu-operator-kmm-controller"
"""Deployment names of the operator (`CONTROLLER`) and of Kernel Module Management (`BUILDER`), for a Helm release named
amd-gpu-operator, as in AMD's README.
"""
API_VERSION, KIND = "amd.com/v1alpha1", "DeviceConfig"
FINALIZER = "amd.node.kubernetes.io/deviceconfig-finalizer"
DOCKER_CONFIG = ".dockerconfigjson"
"""Key of a Secret with a registry's login (Kubernetes docs, docker config Secrets)."""
METRICS_PORT = 5000
"""Port of the metrics exporter, if a DeviceConfig names none."""
GPU_LABEL, VIRTUAL_LABEL = "feature.node.kubernetes.io/amd-gpu", "feature.node.kubernetes.io/amd-vgpu"
"""Labels that Node Feature Discovery sets by the NodeFeatureRule of AMD's chart: `GPU_LABEL` on nodes with an AMD GPU,
`VIRTUAL_LABEL` on nodes with a virtual function of an AMD GPU.
"""
PLUGIN_IMAGE = "docker.io/rocm/k8s-device-plugin:latest"
LABELLER_IMAGE = "docker.io/rocm/k8s-device-plugin:labeller-latest"
EXPORTER_IMAGE = "docker.io/rocm/device-metrics-exporter:v1.4.0"
"""Default images of the device plugin, the node labeller and the metrics exporter, for a DeviceConfig that names no
image.
"""


def device_plugin(config: str) -> str:
    """Name of the DaemonSet of a DeviceConfig's device plugin."""
    return f"{config}-device-plugin"


def node_labeller(config: str) -> str:
    return f"{config}-node-labeller"


def metrics_exporter(config: str) -> str:
    return f"{config}-metrics-exporter"
