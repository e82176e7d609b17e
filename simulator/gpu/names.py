"""Label, annotation and resource names of the GPU stack."""

from __future__ import annotations

from simulator.cluster.names import NVIDIA, SIMULATOR

NFD = "feature.node.kubernetes.io/"

DEPLOY = f"{NVIDIA}gpu.deploy."
OPERANDS = f"{DEPLOY}operands"
DEPLOY_DRIVER = f"{DEPLOY}driver"
DEPLOY_MIG_MANAGER = f"{DEPLOY}mig-manager"
PRESENT = f"{NVIDIA}gpu.present"
DRIVER_OWNER = f"{NVIDIA}gpu-operator.driver.owner"
WORKLOAD_CONFIG = f"{NVIDIA}gpu.workload.config"
DEVICE_PLUGIN_CONFIG = f"{NVIDIA}device-plugin.config"
PRODUCT = f"{NVIDIA}gpu.product"
MIG_CAPABLE = f"{NVIDIA}mig.capable"
MIG_CONFIG = f"{NVIDIA}mig.config"
MIG_STATE = f"{NVIDIA}mig.config.state"
MPS_CAPABLE = f"{NVIDIA}mps.capable"
VGPU_PRESENT = f"{NVIDIA}vgpu.present"
VGPU_HOST_DRIVER = f"{NVIDIA}vgpu.host-driver-version"

GPU_COUNT, GPU_MEMORY = f"{NVIDIA}gpu.count", f"{NVIDIA}gpu.memory"
GPU_REPLICAS, GPU_SHARING = f"{NVIDIA}gpu.replicas", f"{NVIDIA}gpu.sharing-strategy"
DRIVER_VERSION, MIG_STRATEGY = f"{NVIDIA}cuda.driver-version.full", f"{NVIDIA}mig.strategy"
DISCOVERED = frozenset(
    {
        *(PRODUCT, GPU_COUNT, GPU_MEMORY, GPU_REPLICAS, GPU_SHARING, DRIVER_VERSION, MIG_STRATEGY, MIG_CAPABLE),
        *(MPS_CAPABLE, VGPU_PRESENT, VGPU_HOST_DRIVER),
    }
)
"""Labels that NFD sets on nodes on behalf of GFD. NFD removes these labels when NFD is uninstalled
(NVIDIA/k8s-device-plugin README, GFD; kubernetes-sigs/node-feature-discovery, the hook of its chart that runs
`nfd-master -prune`).
"""

UPGRADE_STATE = f"{NVIDIA}gpu-driver-upgrade-state"
UPGRADE_SKIP = f"{NVIDIA}gpu-driver-upgrade.skip"
SKIP_DRAIN = f"{NVIDIA}gpu-driver-upgrade-drain.skip"
"""Label of Pods that a drain for a driver upgrade does not evict."""
UPGRADE_ENABLED = f"{NVIDIA}gpu-driver-upgrade-enabled"
"""Annotation of nodes whose driver the upgrade controller manages."""

UPGRADE_REQUESTED = f"{NVIDIA}gpu-driver-upgrade-requested"
"""Annotation of nodes for which somebody requests a complete driver upgrade, even if the driver is not outdated."""
SAFE_LOAD = f"{NVIDIA}gpu-driver-upgrade.driver-wait-for-safe-load"
"""Annotation of nodes whose driver Pod waits for the node to be cleared before it loads its modules."""
INITIALLY_CORDONED = f"{NVIDIA}gpu-driver-upgrade.node-initial-state.unschedulable"
"""Annotation of nodes that were cordoned before their driver upgrade began."""
COMPLETION_START = f"{NVIDIA}gpu-driver-upgrade-wait-for-pod-completion-start-time"
VALIDATION_START = f"{NVIDIA}gpu-driver-upgrade-validation-start-time"
"""Annotations of a node with a time in seconds since the epoch. COMPLETION_START: the node began to wait for Pods to
finish. VALIDATION_START: the node began to wait for validation.
"""

OS_ID = f"{NFD}system-os_release.ID"
OS_VERSION = f"{NFD}system-os_release.VERSION_ID"
KERNEL = f"{NFD}kernel-version.full"
GPU_PCI = tuple(f"{NFD}{name}.present" for name in ("pci-10de", "pci-0302_10de", "pci-0300_10de"))
"""NFD's labels for a device, a 3D controller and a VGA controller of NVIDIA. A node is a GPU node if any of the three
labels is `true`.
"""

LAST_APPLIED = f"{NVIDIA}last-applied-hash"

MIG_CAPABLE_PRODUCTS = ("h100", "a100", "a30")
"""Products assumed MIG-capable unless a `mig.capable` label contradicts."""

STACK = "gpu-stack"
"""Value of the annotation `played-by` for objects that this simulation of the GPU stack runs."""
LEGACY_MOUNT = f"{SIMULATOR}legacy-mount"
"""Annotation that is `true` on a node with the marker file and the bind mount of an older set-up. With both, the
operator uses the driver of the host.
"""
MODEL_TIME = f"{SIMULATOR}model-time"
"""Annotation of nodes whose driver upgrade has timers: simulated time of the last round, in seconds since the epoch."""
NOT_READY = f"{SIMULATOR}not-ready"
"""Annotation of nodes with the reason why the kubelet is not ready. KWOK leaves a node with this annotation
NotReady.
"""
