"""A GPU node pool: one GPU model, one driver source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

import pulumi
from pulumi_azure_native import authorization, containerservice

from components.aks.agent_pool import ignored_changes, node_pool_properties, upgrade_settings
from physical_ai.settings import Pool
from physical_ai.settings.facts.capacity import autoscaler_tags
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.pools import (
    IMMUTABLE_POOL_PROPERTIES,
    RESERVATION_PROPERTY,
    driver_facts,
    node_taints,
    sends_upgrade_settings,
)


class GpuProperties(TypedDict):
    """Keyword arguments of `AgentPool` that only GPU pools need."""

    node_labels: dict[str, str]
    node_taints: list[str]
    gpu_profile: containerservice.GPUProfileArgs
    scale_set_priority: str
    scale_set_eviction_policy: NotRequired[str]
    spot_max_price: NotRequired[float]
    upgrade_settings: NotRequired[containerservice.AgentPoolUpgradeSettingsArgs]
    security_profile: containerservice.AgentPoolSecurityProfileArgs
    kubelet_config: NotRequired[containerservice.KubeletConfigArgs]


def gpu_properties(name: str, pool: Pool) -> GpuProperties:
    """Labels, taints, driver, Secure Boot, vTPM, priority, kubelet and upgrade settings of a GPU pool; for a Spot pool
    also the eviction policy and the highest price.

    Evicted Spot nodes are deleted, not deallocated: a deallocated node keeps its quota and breaks the GPU Operator when
    it returns (NVIDIA/gpu-operator#729). Secure Boot is always set explicitly, since few drivers' modules are signed.
    """
    facts = driver_facts(pool)
    properties = GpuProperties(
        node_labels=pool_labels(name, pool),
        node_taints=node_taints(pool),
        gpu_profile=containerservice.GPUProfileArgs(driver=facts.gpu_profile_driver),
        scale_set_priority=pool.priority.value,
        security_profile=containerservice.AgentPoolSecurityProfileArgs(
            enable_secure_boot=pool.secure_boot, enable_vtpm=facts.vtpm
        ),
    )
    if pool.kubelet is not None:
        properties["kubelet_config"] = containerservice.KubeletConfigArgs(
            topology_manager_policy=pool.kubelet.topology_manager_policy,
            cpu_manager_policy=pool.kubelet.cpu_manager_policy,
        )
    if pool.is_spot:
        properties["scale_set_eviction_policy"] = "Delete"
        properties["spot_max_price"] = pool.spot.max_price
    if sends_upgrade_settings(pool):
        properties["upgrade_settings"] = upgrade_settings(pool)
    return properties


@dataclass(frozen=True)
class GpuPoolArgs:
    """Inputs of `GpuPool`.

    The last three are for a platform whose program creates the cluster, too. A program with a cluster that exists omits
    them (docs/existing-aks.md).
    """

    name: str
    """Name of the pool in AKS: 1 to 12 lowercase letters and digits, beginning with a letter."""
    pool: Pool
    """Settings of the pool: size, scale, driver, disk, priority."""
    resource_group_name: pulumi.Input[str]
    """Resource group of the cluster."""
    cluster: containerservice.ManagedCluster
    """Cluster that gets the pool: a resource of the program, or one that `ManagedCluster.get` has read."""
    kubernetes_version: str
    """Kubernetes version of the nodes, such as `1.36`; at most that of the control plane."""
    subnet_id: pulumi.Input[str] | None = None
    """Id of the subnet whose addresses the nodes get; None in a cluster whose network AKS has made."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Azure tags of the pool and its machines."""
    subnet_assignment: authorization.RoleAssignment | None = None
    """Role assignment with which the control plane can join nodes to the subnet; None if it has the right already."""
    reservation_group: pulumi.Input[str] | None = None
    """Id of the capacity reservation group that the machines are from; None for machines that nobody has reserved."""
    after: Sequence[pulumi.Resource] = ()
    """Resources that must exist before the pool, besides its role assignment: reservations, and the right on them."""
    retry: pulumi.ErrorHook | None = None
    """Hook that repeats the creation until the role is in effect."""
    guard: pulumi.ResourceHook | None = None
    """Hook that fails an upgrade which AKS would refuse, and names the PodDisruptionBudgets that block it."""


class GpuPool(pulumi.ComponentResource):
    """An AKS user node pool whose nodes have GPUs of one model and one driver source.

    Attributes:
        settled: output that becomes known when the pool is created, or when its creation has failed under
            `--continue-on-error`.
    """

    node_pool: containerservice.AgentPool
    settled: pulumi.Output[str]

    def __init__(self, name: str, args: GpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:GpuPool", name, {}, opts)
        self.node_pool = containerservice.AgentPool(
            f"{name}-nodes",
            agent_pool_name=args.name,
            resource_group_name=args.resource_group_name,
            resource_name_=args.cluster.name,
            mode="User",
            vnet_subnet_id=args.subnet_id,
            tags={**args.tags, **autoscaler_tags(args.pool)},
            capacity_reservation_group_id=args.reservation_group,
            **node_pool_properties(args.pool, args.kubernetes_version),
            **gpu_properties(args.name, args.pool),
            opts=pulumi.ResourceOptions(
                parent=self,
                # No deleted_with, although the pool is deleted with the cluster: a destroy that fails at the cluster
                # would have removed pools from the state that still run.
                replace_with=[args.cluster],
                depends_on=[*([args.subnet_assignment] if args.subnet_assignment is not None else []), *args.after],
                ignore_changes=ignored_changes(args.pool),
                # The provider treats vmSize, gpuInstanceProfile and public IP tags as immutable; it would send changes
                # of the others as an update, which ARM refuses with PropertyChangeNotAllowed.
                replace_on_changes=[
                    *IMMUTABLE_POOL_PROPERTIES,
                    *([RESERVATION_PROPERTY] if args.reservation_group is not None else []),
                ],
                # The name is fixed, and ARM's PUT of an existing pool is an update.
                delete_before_replace=True,
                # A pool added to a running cluster finds its subnet's role seconds old.
                hooks=pulumi.ResourceHookBinding(
                    on_error=[args.retry] if args.retry is not None else [],
                    before_update=[args.guard] if args.guard is not None else [],
                ),
            ),
        )
        self.settled = self.node_pool.urn.recover(lambda _: args.name)
        # The name as plain text, not as the pool's output: an output of a failed pool would end the program, and with
        # it what does not need the pool.
        self.register_outputs({"nodePoolName": args.name})
