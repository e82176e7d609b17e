"""Label, annotation and resource names of the GPU stack, in one place."""

from __future__ import annotations

PREFIX = "nvidia.com/"
NFD = "feature.node.kubernetes.io/"

DEPLOY = f"{PREFIX}gpu.deploy."
OPERANDS = f"{DEPLOY}operands"
DEPLOY_DRIVER = f"{DEPLOY}driver"
DEPLOY_MIG_MANAGER = f"{DEPLOY}mig-manager"
PRESENT = f"{PREFIX}gpu.present"
DRIVER_OWNER = f"{PREFIX}gpu-operator.driver.owner"
WORKLOAD_CONFIG = f"{PREFIX}gpu.workload.config"
DEVICE_PLUGIN_CONFIG = f"{PREFIX}device-plugin.config"
PRODUCT = f"{PREFIX}gpu.product"
MIG_CAPABLE = f"{PREFIX}mig.capable"
MIG_CONFIG = f"{PREFIX}mig.config"
MIG_STATE = f"{PREFIX}mig.config.state"
MPS_CAPABLE = f"{PREFIX}mps.capable"
VGPU_PRESENT = f"{PREFIX}vgpu.present"
VGPU_HOST_DRIVER = f"{PREFIX}vgpu.host-driver-version"

UPGRADE_STATE = f"{PREFIX}gpu-driver-upgrade-state"
UPGRADE_SKIP = f"{PREFIX}gpu-driver-upgrade.skip"
UPGRADE_ENABLED = f"{PREFIX}gpu-driver-upgrade-enabled"
"""An annotation: the upgrade controller manages this node's driver."""

OS_ID = f"{NFD}system-os_release.ID"
OS_VERSION = f"{NFD}system-os_release.VERSION_ID"
KERNEL = f"{NFD}kernel-version.full"
GPU_PCI = tuple(f"{NFD}{name}.present" for name in ("pci-10de", "pci-0302_10de", "pci-0300_10de"))
"""Any of them `true` makes a node a GPU node: NVIDIA devices, 3D controllers, VGA controllers."""

LAST_APPLIED = f"{PREFIX}last-applied-hash"
GPU = f"{PREFIX}gpu"

MIG_CAPABLE_PRODUCTS = ("h100", "a100", "a30")
"""Products taken for MIG-capable as long as no `mig.capable` label says otherwise."""

SIMULATOR = "simulator.physical-ai/"
PLAYED_BY = f"{SIMULATOR}played-by"
"""On pods: this stack runs their containers, KWOK leaves them alone."""
STACK = "gpu-stack"
HOST_DRIVER = f"{SIMULATOR}host-driver"
"""On nodes: version of the driver that is installed on the host, whoever put it there."""
LEGACY_MOUNT = f"{SIMULATOR}legacy-mount"
"""On nodes: `true` says that the seeds' marker and bind mount are there."""
BOOTS = f"{SIMULATOR}boots"
"""On nodes: any new value is a reboot."""
SECURE_BOOT = f"{SIMULATOR}secure-boot"
NOT_READY = f"{SIMULATOR}not-ready"
"""On nodes: why the kubelet is not ready; KWOK does not heal such a node."""
