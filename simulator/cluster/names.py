"""Names that more than one model of the simulated cluster uses."""

from __future__ import annotations

NVIDIA = "nvidia.com/"
GPU = f"{NVIDIA}gpu"

STARTUP_TAINTS = "startup-taint.cluster-autoscaler.kubernetes.io/"
"""How the key of a taint begins that goes when its node has started (kubernetes/autoscaler utils/taints/taints.go)."""

NIC_LABEL = "feature.node.kubernetes.io/pci-15b3.present"
"""On nodes with a network card of NVIDIA's: Node Feature Discovery sets it."""
DRIVER_WAIT_LABEL = "network.nvidia.com/operator.mofed.wait"
"""On nodes with such a card: `false` once its driver works (Mellanox/network-operator v26.7.0-rc.2,
pkg/nodeinfo/attributes.go)."""

SIMULATOR = "simulator.physical-ai/"
RUN_BY = f"{SIMULATOR}played-by"
NETWORKS_FOUND = f"{SIMULATOR}networks-found"
"""Annotation of a Pod that names networks: its sandbox can be made."""
"""On Pods: the model that runs their containers. KWOK leaves such Pods alone (kwok.yaml)."""
RUNS = f"{SIMULATOR}runs"
"""On Pods: the program that the container runs."""
HOST_DRIVER = f"{SIMULATOR}host-driver"
"""On nodes: version of the driver that is installed on the host, whatever installed it."""
HOST_MODULES = f"{SIMULATOR}host-modules"
"""On nodes: `proprietary` where that driver's kernel modules are; they are the open ones otherwise."""
NETWORK_DRIVER = f"{SIMULATOR}network-driver"
"""On nodes: the image of the driver of the network cards that a container has installed."""
SECURE_BOOT = f"{SIMULATOR}secure-boot"
PHYSICAL_HOST = f"{SIMULATOR}physical-host"
"""On nodes: name of the physical host that the machine is on, as Hyper-V reports it to its guests."""
MACHINE = f"{SIMULATOR}machine"
"""On nodes without an instance type: the catalogue's name of the server."""
BOOTS = f"{SIMULATOR}boots"
"""On nodes: any new value is a reboot."""
