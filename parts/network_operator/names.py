"""The releases of NVIDIA's Network Operator, the names that depend on them, and resources of network cards.

>>> component_image("v26.7.0", "multus-cni")
{'repository': 'nvcr.io/nvidia/mellanox', 'image': 'multus-cni', 'version': 'network-operator-v26.7.0'}
"""

from __future__ import annotations

import datetime
from functools import cache
from typing import Literal

from physical_ai.catalog.reading import CatalogError, file_label, read_rows, row
from physical_ai.catalog.row import Row, Text
from physical_ai.repository import PARTS

CHART = "network-operator"
RELEASE = "network-operator"
NAMESPACE = "network-operator"

API_VERSION = "mellanox.com/v1alpha1"
KIND = "NicClusterPolicy"
POLICY = "nic-cluster-policy"
"""Name of the NicClusterPolicy: the operator ignores a policy of any other name (Mellanox/network-operator
controllers/nicclusterpolicy_controller.go).
"""

OFED_DRIVERS = PARTS / "network_operator" / "ofed_drivers.yaml"
"""File with the DOCA-OFED driver of each pinned release."""
OFED_BLACKLIST = {"name": "OFED_BLACKLIST_MODULES_FILE", "value": "/host/etc/modprobe.d/blacklist-ofed-modules.conf"}
"""Environment variable of the container that installs the OFED driver. It keeps the node from loading its own kernel
modules instead of the container's (Azure/aks-rdma-infiniband configs/nicclusterpolicy/base;
Mellanox/doca-driver-build#52).
"""

NETWORK_KIND = "MacvlanNetwork"
POOL_API_VERSION, POOL_KIND = "nv-ipam.nvidia.com/v1alpha1", "IPPool"
"""API version and kind of nv-ipam's address pools.

The operator installs the CRD of this kind once a NicClusterPolicy asks for nv-ipam (manifests/state-nv-ipam-cni).
"""
NETWORKS_ANNOTATION = "k8s.v1.cni.cncf.io/networks"
"""Annotation of a Pod with the networks, separated by commas, on which Multus gives the Pod an interface."""

VENDOR = "15b3"
"""PCI vendor id of NVIDIA's network cards."""
NIC_LABEL = f"feature.node.kubernetes.io/pci-{VENDOR}.present"
"""Label that Node Feature Discovery sets on nodes with a network card of NVIDIA.

On Azure, a node whose accelerated networking is a virtual function of such a card has the label too. So the
NicClusterPolicy selects nodes by the names of their pools as well.
"""
DRIVER_WAIT_LABEL = "network.nvidia.com/operator.mofed.wait"
"""Node label that the operator sets to `false` when a node's OFED driver works, or when the operator installs no OFED
driver.
"""

RESOURCE_PREFIX = "rdma"
SHARED_RESOURCE, VF_RESOURCE = f"{RESOURCE_PREFIX}/shared_ib", f"{RESOURCE_PREFIX}/ib"
"""Names of the RDMA resources that Pods request, the same names as in Azure/aks-rdma-infiniband. A Pod with
SHARED_RESOURCE sees all adapters of its node; a Pod with VF_RESOURCE has adapters that no other Pod uses.
"""
SHARED_PODS = 63
"""Largest number of Pods on a node that share its adapters (`rdmaHcaMax` of Azure/aks-rdma-infiniband)."""

Component = Literal[
    "k8s-rdma-shared-dev-plugin", "sriov-network-device-plugin", "multus-cni", "plugins", "nvidia-k8s-ipam"
]
_REGISTRY = "nvcr.io/nvidia/mellanox"

FEATURE = ("Microsoft.ContainerService", "AKSInfinibandSupport")
"""Feature of a subscription, with which AKS creates the nodes of a pool on one InfiniBand fabric (AKS docs,
use-ndv5-gpu; Azure/aks-rdma-infiniband getting-started)."""
MOST_NODES = 100
"""Largest number of nodes of a scale set in one placement group, within which nodes share a fabric (Azure docs,
virtual-machine-scale-sets placement groups).
"""


def component_image(release: str, component: Component) -> dict[str, str]:
    """Fields of a NicClusterPolicy that name a component's image: the tag of every image is the operator's release."""
    return {"repository": _REGISTRY, "image": component, "version": f"network-operator-{release}"}


def ofed_image(release: str) -> dict[str, str]:
    """Repository, image and version of the OFED driver. The operator appends the node's operating system to the
    tag.
    """
    return {"repository": _REGISTRY, "image": "doca-driver", "version": ofed_driver(release)}


class OfedDriver(Row):
    """The DOCA-OFED driver that a release of the operator was tested with."""

    release: Text
    version: Text
    source: Text
    date: datetime.date


@cache
def ofed_driver(release: str) -> str:
    """Version of the driver for a pinned release. Raises CatalogError for a release that the file `OFED_DRIVERS`
    lacks.
    """
    label = file_label(OFED_DRIVERS)
    rows = (row(OfedDriver, each, f"{label}: {each.get('release')}") for each in read_rows(OFED_DRIVERS))
    found = next((each.version for each in rows if each.release == release), None)
    if found is None:
        raise CatalogError(
            f"{label}: {release}\n  The release has no driver.\n  Write a row with its release and version."
        )
    return found
