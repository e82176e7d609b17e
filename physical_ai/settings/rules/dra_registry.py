"""The rules about resource claims by name, each with the source it rests on."""

from __future__ import annotations

from physical_ai.settings.rules.finding import Rule

GRID = Rule("dra-grid", "kubernetes-sigs/dra-driver-nvidia-gpu, supported platforms; Azure/AKS#5785")
DEVICE = Rule("dra-device", "physical_ai/catalog/data/gpu/claim_devices.yaml")
MIG = Rule("dra-mig", "kubernetes-sigs/dra-driver-nvidia-gpu, feature gate DynamicMIG")
SHARING = Rule("dra-sharing", "kubernetes-sigs/dra-driver-nvidia-gpu, GpuConfig")
AUTOSCALER = Rule(
    "dra-autoscaler",
    "kubernetes/autoscaler processors/customresources/gpu_processor.go; --enable-dynamic-resource-allocation",
)
DRIVER = Rule("dra-driver", "Azure/AKS#5785")
KUBERNETES = Rule("dra-kubernetes", "Kubernetes 1.34 release notes, resource.k8s.io/v1")
LABEL_LOST = Rule("dra-label-lost", "NVIDIA/gpu-operator#2288")
RELEASE = Rule("dra-operator", "NVIDIA/cloud-native-docs, platform-support")
VALIDATOR = Rule("dra-validator", "NVIDIA/gpu-operator#2550, #2686")
OSMO = Rule("dra-osmo", "NVIDIA/OSMO, resource requests; KEP-5004, DRA extended resources; KAI Scheduler")
ROOT = Rule("dra-driver-root", "kubernetes-sigs/dra-driver-nvidia-gpu values.yaml, nvidiaDriverRoot")
CLAIM_GPU = Rule("dra-claim-gpu", "docs/resource-claims.md")
CLAIM_IMPOSSIBLE = Rule("dra-claim-impossible", "physical_ai/catalog/data/gpu/claim_devices.yaml")
CLAIM_COUNT = Rule(
    "dra-claim-count", "Kubernetes docs, dynamic resource allocation: the devices of a claim are of one node"
)
NAMESPACE = Rule("dra-namespace", "manifests/namespaces.yaml")
UNUSED = Rule("dra-unused", "docs/resource-claims.md")
