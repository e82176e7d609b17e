"""Names and sources of the rules about GPUs. Findings cite the source."""

from __future__ import annotations

from physical_ai.catalog import sources
from physical_ai.settings.rules.finding import Rule

VALIDATIONS = "NVIDIA/gpu-operator templates/validations.yaml"
SHARING = "NVIDIA/k8s-device-plugin README, shared access to GPUs"
STRATEGIES = "NVIDIA/k8s-device-plugin README, configuration precedence; NVIDIA/gpu-operator assets/state-device-plugin"
MIG_GUIDE = "NVIDIA MIG user guide, supported profiles"
MIXED_OS = "NVIDIA/gpu-operator#1622, #1200, #328"

RELEASE_UNKNOWN = Rule("operator-unknown", sources.RELEASES)
NRI_UNKNOWN = Rule("nri-unknown", sources.RELEASES)
NRI_CRIO = Rule("nri-crio", "NVIDIA GPU Operator docs, cdi: NRI plugin, containerd")
NRI_WITHOUT_CDI = Rule("nri-without-cdi", VALIDATIONS)
DRIVER_KIND = Rule("driver-kind", "Azure compute docs, n-series-driver-setup; NVIDIA/gpu-operator#691")
DRIVER_BUILD = Rule("driver-build", "NVIDIA GPU Operator docs, precompiled-drivers")
DRIVER_OF_AKS = Rule("driver-of-aks", "AKS docs, use-nvidia-gpu; NVIDIA/gpu-operator#525")
DRIVER_MODULE = Rule("driver-module", "NVIDIA GPU Operator docs, custom-driver-params")
OPEN_MODULES = Rule("driver-open-modules", "Azure compute docs, n-series-driver-setup (NCv6)")
TWO_OWNERS = Rule("driver-two-owners", "NVIDIA/gpu-operator#525, #691")
PROGRAMS_LABEL = Rule("label-of-the-program", "docs/settings.md, a node pool")
SECURE_BOOT = Rule("secure-boot", "NVIDIA GPU Operator docs, precompiled-drivers; AKS docs, use-trusted-launch")
POLICY_ONE_DRIVER = Rule("policy-one-driver", "NVIDIA GPU Operator docs, gpu-driver-configuration")
POLICY_ONE_OS = Rule("policy-one-os", MIXED_OS)
ONE_OS = Rule("aks-one-os", "AKS docs, nvidia-gpu-operator")

GRID_CHECKSUM = Rule("grid-checksum", f"{sources.DRIVERS}; microsoft/physical-ai-toolchain#1216")
GRID_ADDRESS = Rule("grid-address", sources.DRIVERS)
GRID_OFFLINE = Rule("grid-offline", "docs/grid-driver.md, without a way out")
GRID_IMAGE = Rule("grid-image", "Docker docs, Docker Hub usage and limits")
GRID_MARKERS = Rule("grid-legacy-markers", "NVIDIA/gpu-operator#377, cmd/nvidia-validator")
GRID_POLICY = Rule("grid-upgrade-policy", "docs/grid-driver.md, another driver")

REPLICAS = Rule("sharing-replicas", f"{SHARING}: replicas of 2 and more")
ONE_WAY = Rule("sharing-one-way", SHARING)
MPS_ON_MIG = Rule("mps-on-mig", f"{SHARING}: MPS for full GPUs only")
MPS_REQUESTS = Rule("mps-requests", "NVIDIA/k8s-device-plugin 0.20 release notes")
REQUESTS = Rule("sharing-requests", SHARING)
EMPTY_POOL = Rule("sharing-empty-pool", "Azure/AKS#4216")
MIG_ON_VGPU = Rule("mig-on-vgpu", "Azure compute docs, n-series-driver-setup (NCv6); NVIDIA vGPU docs")
MIG_SUPPORT = Rule("mig-support", MIG_GUIDE)
MIG_PROFILE = Rule("mig-profile", MIG_GUIDE)
MIG_SINGLE = Rule("mig-single", "NVIDIA/k8s-device-plugin README, MIG strategies")
MIG_LAYOUT = Rule("mig-layout", MIG_GUIDE)
STRATEGY_DIFFERS = Rule("mig-strategy-differs", STRATEGIES)
STRATEGY_MPS = Rule("mig-strategy-mps", f"{SHARING}: no MPS with the strategy mixed")
STRATEGY_POOL = Rule("mig-strategy-pool", "NVIDIA/k8s-device-plugin README, MIG strategies")

QUEUES = Rule("osmo-queues", "NVIDIA/OSMO docs, advanced_config/scheduler: one queue a pool")
OSMO_LOGIN = Rule("osmo-login", "NVIDIA/OSMO deployments/charts/service, gateway.envoy.defaultIdentity")
OSMO_TLS = Rule("osmo-tls", "RFC 6750, OAuth 2.0 bearer tokens, section 5.2: TLS is required")
DNS_APEX = Rule("dns-apex", "RFC 1034, section 3.6.2: a name with a CNAME has no other record")
WORKFLOWS_BASELINE = Rule("osmo-baseline", "manifests/namespaces.yaml; Kubernetes docs, pod-security-standards")

ALERTS = Rule("alert-override", "physical_ai/telemetry/data/rules")
COUNTERS = Rule("dcgm-counter", "physical_ai/catalog/data/gpu/dcgm_fields.yaml; NVIDIA/dcgm-exporter, counters")
ACCEPTANCE_IMAGES = Rule("acceptance-image", "physical_ai/catalog/data/acceptance/images.yaml")
NODE_ADMISSION = Rule(
    "node-admission",
    "KEP-3962, MutatingAdmissionPolicy; kubernetes/autoscaler FAQ, startup taints and max-node-startup-time",
)
INFINIBAND = Rule("infiniband-metrics", "Azure/prometheus-collector, minimal ingestion profile")
FABRIC_SIZE = Rule("fabric-size", "Azure docs, VM naming conventions; VM docs, size series")
FABRIC_OFF = Rule("fabric-off", "Azure/aks-rdma-infiniband; VM docs, ND H100 v5")
FABRIC_OPERATOR = Rule("fabric-operator", "Azure/aks-rdma-infiniband configurations/network-operator")
FABRIC_PLACEMENT = Rule(
    "fabric-placement", "Azure docs, virtual-machine-scale-sets placement groups; InfiniBand on HPC VMs"
)
FABRIC_DRIVER = Rule(
    "fabric-driver", "NVIDIA GPU Operator docs, gpu-operator-rdma; NVIDIA Network Operator docs, platform-support"
)
GRAFANA = Rule("managed-grafana", sources.REGIONS)

HEALTH_STORE = Rule(
    "health-datastore", "NVIDIA/NVSentinel docs, configuration/fault-quarantine, configuration/node-drainer"
)
HEALTH_ALONE = Rule("health-unwatched", "docs/health-modes.md")
HEALTH_POOLS = Rule("health-pools", "NVIDIA DCGM docs, supported environments")
HEALTH_EMPTY = Rule("health-empty-pools", "NVIDIA/NVSentinel fault-quarantine/pkg/breaker")
