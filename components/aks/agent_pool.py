"""Node pool properties that are the same for a pool inside the cluster's resource (the system pool) and for a pool that
is a separate resource (all user pools).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

import pulumi
from pulumi_azure_native import containerservice

from physical_ai.settings import MANAGED_DISK_GIB, NodePool, OsDisk
from physical_ai.settings.facts.pools import IMMUTABLE_POOL_PROPERTIES


class NodePoolProperties(TypedDict):
    """Keyword arguments that `AgentPool` and `ManagedClusterAgentPoolProfileArgs` have in common."""

    vm_size: str
    type: str
    os_type: str
    os_sku: str
    os_disk_type: str
    os_disk_size_gb: NotRequired[int]
    max_pods: int
    availability_zones: NotRequired[list[str]]
    orchestrator_version: str
    scale_down_mode: str
    count: int
    enable_auto_scaling: bool
    min_count: NotRequired[int]
    max_count: NotRequired[int]


def node_pool_properties(pool: NodePool, kubernetes_version: str) -> NodePoolProperties:
    """Size, disk, placement and scale of `pool`, as arguments of AKS's node pools. The argument `type` is always sent,
    because AKS has refused Spot pools without it (Azure/bicep-types-az#2217).

    `type` is always sent: without it AKS has refused Spot pools (Azure/bicep-types-az#2217). Nodes that the autoscaler
    removes are deleted, not deallocated: deallocated nodes still count against the quota, and the GPU Operator does not
    work on them after their return (NVIDIA/gpu-operator#729).
    """
    properties = NodePoolProperties(
        vm_size=pool.sku,
        type="VirtualMachineScaleSets",
        os_type="Linux",
        os_sku=pool.os_sku,
        os_disk_type=pool.os_disk.type,
        max_pods=pool.max_pods,
        orchestrator_version=kubernetes_version,
        scale_down_mode="Delete",
        count=pool.scale.initial_count,
        enable_auto_scaling=pool.scale.is_autoscaled,
    )
    size = os_disk_gb(pool.os_disk)
    if size is not None:
        properties["os_disk_size_gb"] = size
    if pool.zones:
        properties["availability_zones"] = list(pool.zones)
    if pool.scale.min is not None and pool.scale.max is not None:
        properties["min_count"] = pool.scale.min
        properties["max_count"] = pool.scale.max
    return properties


def os_disk_gb(disk: OsDisk) -> int | None:
    """GiB of the OS disk to request; None for an ephemeral disk without a size, which then uses the complete local
    device.
    """
    if disk.size_gb is None and disk.type == "Managed":
        return MANAGED_DISK_GIB
    return disk.size_gb


def upgrade_settings(pool: NodePool) -> containerservice.AgentPoolUpgradeSettingsArgs:
    """Upgrade settings of a user pool: surge, unavailable nodes and drain timeout. ARM accepts a value above zero for
    surge or for unavailable nodes, not for both.
    """
    return containerservice.AgentPoolUpgradeSettingsArgs(
        max_surge=pool.upgrade.max_surge,
        max_unavailable=pool.upgrade.max_unavailable,
        drain_timeout_in_minutes=pool.upgrade.drain_timeout_minutes,
    )


def system_upgrade_settings(pool: NodePool) -> containerservice.AgentPoolUpgradeSettingsArgs:
    """Upgrade settings of a system pool: surge and drain timeout.

    AKS accepts no `maxUnavailable` on system pools, not even 0 (AKS docs, upgrade-aks-node-pools-rolling, 2026-05-29).
    """
    return containerservice.AgentPoolUpgradeSettingsArgs(
        max_surge=pool.upgrade.max_surge,
        drain_timeout_in_minutes=pool.upgrade.drain_timeout_minutes,
    )


def ignored_changes(pool: NodePool, prefix: str = "") -> list[str]:
    """Property paths, in camelCase, that updates of the pool ignore. For an autoscaled pool, the list contains the node
    count, which the autoscaler changes; for a pool of fixed size the list is empty.
    """
    return [f"{prefix}count"] if pool.scale.is_autoscaled else []


@dataclass(frozen=True)
class UserPoolArgs:
    """Inputs of `declare_user_pool`.

    `retry`: hook that repeats the creation until newly assigned roles are in effect.
    `guard`: hook that fails an upgrade which AKS would refuse.
    """

    pool_name: str
    resource_group_name: pulumi.Input[str]
    cluster: containerservice.ManagedCluster
    kubernetes_version: str
    subnet_id: pulumi.Input[str]
    tags: Mapping[str, str]
    pool: NodePool
    retry: pulumi.ErrorHook
    guard: pulumi.ResourceHook
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    taints: Sequence[str] = ()


def declare_user_pool(name: str, args: UserPoolArgs, parent: pulumi.Resource) -> containerservice.AgentPool:
    """Declares a user pool without GPUs."""
    return containerservice.AgentPool(
        name,
        agent_pool_name=args.pool_name,
        resource_group_name=args.resource_group_name,
        resource_name_=args.cluster.name,
        mode="User",
        vnet_subnet_id=args.subnet_id,
        tags=args.tags,
        node_labels=dict(args.labels) or None,
        node_taints=list(args.taints) or None,
        upgrade_settings=upgrade_settings(args.pool),
        **node_pool_properties(args.pool, args.kubernetes_version),
        opts=pulumi.ResourceOptions(
            parent=parent,
            replace_with=[args.cluster],
            ignore_changes=ignored_changes(args.pool),
            replace_on_changes=list(IMMUTABLE_POOL_PROPERTIES),
            delete_before_replace=True,
            hooks=pulumi.ResourceHookBinding(on_error=[args.retry], before_update=[args.guard]),
        ),
    )
