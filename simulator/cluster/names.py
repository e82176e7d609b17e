"""Names that several parts of the simulated cluster use."""

from __future__ import annotations

NVIDIA = "nvidia.com/"
GPU = f"{NVIDIA}gpu"

STARTUP_TAINTS = "startup-taint.cluster-autoscaler.kubernetes.io/"
"""Key prefix of startup taints, which are removed once their node is ready (kubernetes/autoscaler
utils/taints/taints.go).
"""

NIC_LABEL = "feature.node.kubernetes.io/pci-15b3.present"
"""Label that Node Feature Discovery sets on nodes with one of NVIDIA's network cards."""
DRIVER_WAIT_LABEL = "network.nvidia.com/operator.mofed.wait"
"""Label of nodes with a network card of NVIDIA: `false` once the card's driver works (Mellanox/network-operator
v26.7.0-rc.2, pkg/nodeinfo/attributes.go).
"""

SIMULATOR = "simulator.physical-ai/"
RUN_BY = f"{SIMULATOR}played-by"
"""Annotation of Pods with the name of the simulator component that runs their containers. KWOK ignores such Pods
(kwok.yaml).
"""
NETWORKS_FOUND = f"{SIMULATOR}networks-found"
"""Annotation of Pods that request secondary networks, set when all these networks exist. KWOK may then start the Pod
(kwok.yaml).
"""
RUNS = f"{SIMULATOR}runs"
"""Annotation of Pods with the program that the container runs."""
HOST_DRIVER = f"{SIMULATOR}host-driver"
"""Annotation of nodes with the version of the NVIDIA driver on the host, whoever installed it."""
HOST_MODULES = f"{SIMULATOR}host-modules"
"""Annotation of nodes with the value `proprietary` if the host's driver uses proprietary kernel modules; nodes without
it use the open modules.
"""
NETWORK_DRIVER = f"{SIMULATOR}network-driver"
"""Annotation of nodes whose network card driver a container has installed; the value is the container's image."""
SECURE_BOOT = f"{SIMULATOR}secure-boot"
PHYSICAL_HOST = f"{SIMULATOR}physical-host"
"""Annotation of nodes with the name of the machine's physical host, as Hyper-V reports it to its guests."""
MACHINE = f"{SIMULATOR}machine"
"""Annotation of nodes without an instance type: the catalogue's name of the server."""
BOOTS = f"{SIMULATOR}boots"
"""Annotation of nodes whose value changes with each reboot."""
