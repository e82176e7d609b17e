"""The AKS cluster of a stack and its pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pulumi

from components.aks.agent_pool import UserPoolArgs
from components.aks.capacity_reservations import (
    CapacityReservations,
    CapacityReservationsArgs,
    PoolReservation,
)
from components.aks.cluster import Cluster, ClusterArgs
from components.aks.cpu_pool import CpuPool
from components.aks.gpu_pool import GpuPool, GpuPoolArgs
from components.aks.maintenance import Maintenance, MaintenanceArgs
from components.aks.runner_pool import RunnerPool
from components.platform.azure_network import AzureNetwork
from components.platform.azure_services import AzureServices
from components.platform.parent import Parent
from components.platform.private_network import PrivateNetwork
from parts.runners.names import POOL as RUNNER_POOL
from parts.runners.names import TAINT
from physical_ai.planning.gateway_certificate import gateway_certificate
from physical_ai.settings import Settings
from physical_ai.settings.facts.access import admin_groups
from physical_ai.settings.facts.capacity import falls_back
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.outbound import SYSTEM_SUBNET
from physical_ai.settings.facts.pools import CPU_POOL
from physical_ai.settings.facts.private_network import uses_firewall


class AzureCluster:
    """The AKS cluster with its node pools and its maintenance windows.

    Attributes:
        runner_pool: the pool of GitHub's runners; None in a stack without runners.
    """

    cluster: Cluster
    cpu_pool: CpuPool
    gpu_pools: Sequence[GpuPool]
    runner_pool: RunnerPool | None = None

    def __init__(
        self,
        parent: Parent,
        settings: Settings,
        retry: pulumi.ErrorHook,
        *,
        azure: AzureNetwork,
        services: AzureServices,
        private: PrivateNetwork,
    ) -> None:
        group, subnets, protected = azure.group.name, azure.network.subnet_ids, parent.protected
        self.cluster = Cluster(
            f"{parent.name}-cluster",
            ClusterArgs(
                names=Names(settings.stack),
                resource_group_name=group,
                location=settings.region,
                tags=settings.tags,
                settings=settings.cluster,
                network=settings.network,
                system_pool=settings.system_pool,
                system_subnet_id=subnets[SYSTEM_SUBNET],
                nat_addresses=private.node_addresses,
                identities=azure.identities,
                assignments=azure.identities.assignments,
                admin_groups=admin_groups(settings.access),
                retry=retry,
                spot_first=bool(falls_back(settings)),
                metrics=settings.monitoring.metrics == "azure",
                container_logs=services.logs.workspace.id if settings.monitoring.container_logs is not None else None,
                reads_vaults=gateway_certificate(settings) is not None,
                private_api=private.api,
                behind_firewall=uses_firewall(settings),
                after=private.before_cluster,
            ),
            protected,
        )
        self._pools(parent, settings, retry, azure)
        maintenance = MaintenanceArgs(group, self.cluster.managed_cluster, settings.cluster.upgrades, retry)
        Maintenance(f"{parent.name}-maintenance", maintenance, protected)

    def _pools(self, parent: Parent, settings: Settings, retry: pulumi.ErrorHook, azure: AzureNetwork) -> None:
        subnets, version = azure.network.subnet_ids, settings.cluster.pools_version
        cpu = UserPoolArgs(
            pool_name=CPU_POOL,
            resource_group_name=azure.group.name,
            cluster=self.cluster.managed_cluster,
            kubernetes_version=version,
            subnet_id=subnets[SYSTEM_SUBNET],
            tags=settings.tags,
            pool=settings.cpu_pool,
            retry=retry,
            guard=self.cluster.upgrade_guard,
        )
        self.cpu_pool = CpuPool(f"{parent.name}-cpu", cpu, parent.protected)
        reservations = self._reservations(parent, settings, azure)
        self.gpu_pools = [
            GpuPool(
                f"{parent.name}-{name}",
                GpuPoolArgs(
                    name=name,
                    pool=pool,
                    resource_group_name=azure.group.name,
                    cluster=self.cluster.managed_cluster,
                    kubernetes_version=version,
                    subnet_id=subnets[name],
                    subnet_assignment=azure.identities.subnet_assignments[name],
                    tags=settings.tags,
                    reservation_group=reservations[name].group_id if name in reservations else None,
                    after=reservations[name].after if name in reservations else (),
                    retry=retry,
                    guard=self.cluster.upgrade_guard,
                ),
                parent.protected,
            )
            for name, pool in settings.pools.items()
        ]
        if (runners := settings.runners) is not None:
            runner = replace(cpu, pool_name=RUNNER_POOL, pool=runners.pool, taints=[TAINT])
            self.runner_pool = RunnerPool(f"{parent.name}-runners", runner, parent.protected)

    def _reservations(self, parent: Parent, settings: Settings, azure: AzureNetwork) -> dict[str, PoolReservation]:
        """Capacity reservations by pool; empty if no pool has one."""
        if all(pool.capacity.reservation is None for pool in settings.pools.values()):
            return {}
        args = CapacityReservationsArgs(
            names=Names(settings.stack),
            resource_group_name=azure.group.name,
            location=settings.region,
            tags=settings.tags,
            subscription_id=azure.subscription,
            principal_id=azure.identities.control_plane.principal_id,
            pools=settings.pools,
        )
        return CapacityReservations(f"{parent.name}-reservations", args, parent.protected).of_pool
