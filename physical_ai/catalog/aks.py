"""Properties of every AKS cluster: labels and reservations of its nodes, and ids of Azure's built-in roles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

POOL_LABEL = "kubernetes.azure.com/agentpool"
IMAGE_LABEL = "kubernetes.azure.com/node-image-version"
"""Label with the version of the node image.

AKS sets it on each node. For a pool without nodes, the autoscaler assumes that a new node will have the label.
"""
SHORT_POOL_LABEL = "agentpool"
"""Deprecated label with the name of a node's pool, which AKS still sets, and by which OSMO's platforms select
nodes.
"""
SET_BY_AKS = frozenset({"accelerator", SHORT_POOL_LABEL, "storageprofile", "storagetier"})
"""Labels without a reserved prefix that AKS sets on nodes itself. They are old names of labels below
kubernetes.azure.com (AKS docs, use-labels, deprecated labels).
"""

SPOT_KEY = "kubernetes.azure.com/scalesetpriority"
SPOT_LABEL = (SPOT_KEY, "spot")
SPOT_TAINT = f"{SPOT_KEY}=spot:NoSchedule"
"""Taint of Spot nodes.

AKS adds label and taint to every Spot pool and returns them, so leaving them out would show as drift on each refresh.
"""
SPOT_NOTICE_SECONDS = 30
"""Least number of seconds between the notice of an eviction and the end of a Spot machine (Azure docs,
virtual-machines/spot-vms).
"""

EVICTION_MIB = 100
"""Available memory in MiB below which the kubelet evicts Pods (AKS docs, node-resource-reservations)."""

SERVER_ID = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""Id of the Entra application for which tokens of every AKS API server are issued (AKS docs,
kubelogin-authentication).
"""


class Role(StrEnum):
    """GUIDs of built-in roles, the same in every tenant (Azure built-in roles reference)."""

    CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
    NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"
    PRIVATE_DNS_ZONE_CONTRIBUTOR = "b12aa53e-6015-4669-85d0-8515ebb3ae7f"
    DNS_ZONE_CONTRIBUTOR = "befefa01-2a29-4197-83a8-272ff33ce314"
    MANAGED_IDENTITY_OPERATOR = "f1a07417-d97a-45cb-824c-7a7467783830"
    CLUSTER_USER = "4abbcc35-e782-43d8-92c5-2d3f1bd2253f"
    RBAC_CLUSTER_ADMIN = "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b"
    RBAC_ADMIN = "3498e952-d568-435e-9b2c-8d77e338d7f7"
    RBAC_WRITER = "a7ffa36f-339b-4b5c-8bdf-e2c188b2c0eb"
    RBAC_READER = "7f6c6a51-bcf8-42ba-9220-52d62157d7db"
    KEY_VAULT_SECRETS_OFFICER = "b86a8fe4-44ce-4948-aee5-eccb2c155cd7"
    BLOB_DATA_CONTRIBUTOR = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
    ACR_PULL = "7f951dda-4ed3-4680-a7ca-43fe172d538d"
    KEY_VAULT_SECRETS_USER = "4633458b-17de-408a-b874-0445c86b69e6"
    MONITORING_DATA_READER = "b0d8363b-8ddd-447d-831f-62ca05bff136"
    GRAFANA_ADMIN = "22926164-76b3-42b3-bc55-97df8dab3e41"
    GRAFANA_EDITOR = "a79a5197-3a5c-4973-a920-486035ffd60f"
    GRAFANA_VIEWER = "60921a7e-fef1-4a43-9b16-a26c52ad4769"


ASSIGNED = frozenset(
    {
        Role.NETWORK_CONTRIBUTOR,
        Role.PRIVATE_DNS_ZONE_CONTRIBUTOR,
        Role.DNS_ZONE_CONTRIBUTOR,
        Role.MANAGED_IDENTITY_OPERATOR,
        Role.CLUSTER_USER,
        Role.RBAC_CLUSTER_ADMIN,
        Role.RBAC_READER,
        Role.ACR_PULL,
        Role.BLOB_DATA_CONTRIBUTOR,
        Role.KEY_VAULT_SECRETS_USER,
        Role.KEY_VAULT_SECRETS_OFFICER,
        Role.MONITORING_DATA_READER,
        Role.GRAFANA_ADMIN,
        Role.GRAFANA_EDITOR,
        Role.GRAFANA_VIEWER,
    }
)
"""Roles that the program assigns, and the only ones that a pipeline's identity may assign."""


@dataclass(frozen=True)
class Allocatable:
    """Capacity that a node offers to Pods, apart from devices."""

    millis: int
    memory_mib: int
    disk_bytes: int


def allocatable(vcpus: int, memory_gib: int, disk_gib: int, max_pods: int) -> Allocatable:
    """Capacity of a machine that AKS and its kubelet leave to Pods: vCPUs and memory less AKS's reservations, and nine
    tenths of an OS disk of `disk_gib` GiB.
    """
    memory = memory_gib * 1024 - reserved_mib(memory_gib, max_pods)
    return Allocatable(vcpus * 1000 - reserved_millis(vcpus), memory, disk_gib * 2**30 * 9 // 10)


def reserved_millis(vcpus: int) -> int:
    """Millicores that AKS reserves: 60, 100, 120, 140 for 1, 2, 3, 4 vCPUs, and 10 for each further vCPU."""
    return sum([60, 40, 20, 20][:vcpus]) + max(vcpus - 4, 0) * 10


def reserved_mib(memory_gib: int, max_pods: int) -> int:
    """Memory in MiB that AKS reserves on a node, from Kubernetes 1.29 on: the eviction threshold, plus the smaller of a
    quarter of the memory and 50 MiB + 20 MiB per Pod (AKS docs, node-resource-reservations).
    """
    return min(20 * max_pods + 50, memory_gib * 1024 // 4) + EVICTION_MIB
