"""The Azure part of a platform: what exists around the cluster, the cluster, its pools and who may use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pulumi

from components.aks.access import ClusterAccess, ClusterAccessArgs
from components.aks.agent_pool import UserPoolArgs
from components.aks.cluster import Cluster, ClusterArgs
from components.aks.cpu_pool import CpuPool
from components.aks.gpu_pool import GpuPool, GpuPoolArgs
from components.aks.kubernetes_access import KubernetesAccess, KubernetesAccessArgs
from components.aks.maintenance import Maintenance, MaintenanceArgs
from components.aks.runner_pool import RunnerPool
from components.azure.account import azure_tenant
from components.azure.identities import Identities, IdentitiesArgs
from components.azure.resource_group import ResourceGroup, ResourceGroupArgs
from components.data.common import Place
from components.data.services import DataServices, DataServicesArgs
from components.monitoring.azure_metrics import AzureMetrics, AzureMetricsArgs
from components.monitoring.logs import Monitoring, MonitoringArgs
from components.network.monitor_scope import MonitorScope
from components.network.network import Network, NetworkArgs
from components.platform.common import Common, Foundation
from components.platform.private import PrivateParts
from parts.runners.names import POOL as RUNNER_POOL
from parts.runners.names import TAINT
from physical_ai.planning.gateway_certificate import gateway_certificate
from physical_ai.settings import NodePool
from physical_ai.settings.facts.access import admin_groups, grants
from physical_ai.settings.facts.data_services import DataNames, data_facts, managed
from physical_ai.settings.facts.inbound import inbound_rules
from physical_ai.settings.facts.monitor_link import monitor_link
from physical_ai.settings.facts.outbound import SYSTEM_SUBNET, outbound_facts
from physical_ai.settings.facts.pools import CPU_POOL
from physical_ai.settings.facts.private_network import (
    API_SERVER,
    dns_servers,
    private_network,
    service_subnets,
    uses_firewall,
)


def declare_foundation(common: Common) -> Foundation:
    settings, names, region, tags = common.settings, common.names, common.settings.region, common.settings.tags
    group = ResourceGroup(f"{common.name}-rg", ResourceGroupArgs(names.resource_group, region, tags), common.protected)
    subnets = {
        SYSTEM_SUBNET: str(settings.network.system_subnet),
        **{name: str(pool.subnet) for name, pool in settings.pools.items()},
    }
    space, outbound = str(settings.network.address_space), outbound_facts(settings)
    private = private_network(settings)
    firewall = private.firewall if private else None
    network = Network(
        f"{common.name}-network",
        NetworkArgs(
            names=names,
            resource_group_name=group.name,
            location=region,
            tags=tags,
            address_space=space,
            subnets=subnets,
            outbound=outbound,
            service_subnets=service_subnets(settings),
            dns_servers=dns_servers(settings),
            firewall=str(firewall.address) if firewall else None,
            inbound=inbound_rules(settings),
        ),
        common.protected,
    )
    api_server = {key: subnet for key, subnet in network.service_subnet_ids.items() if key == API_SERVER}
    identities = Identities(
        f"{common.name}-identities",
        IdentitiesArgs(
            names=names,
            resource_group_name=group.name,
            location=region,
            tags=tags,
            subscription_id=common.subscription,
            subnet_ids={**network.subnet_ids, **api_server},
        ),
        common.protected,
    )
    return Foundation(group, network, identities)


def declare_logs(common: Common, foundation: Foundation) -> Monitoring:
    """Declares the workspace for logs, before the cluster, whose add-on for the logs of containers names it."""
    settings = common.settings
    return Monitoring(
        f"{common.name}-monitoring",
        MonitoringArgs(
            names=common.names,
            resource_group_name=foundation.group.name,
            location=settings.region,
            tags=settings.tags,
            settings=settings.monitoring,
            link=monitor_link(settings),
        ),
        common.protected,
    )


def declare_metrics(common: Common, foundation: Foundation) -> AzureMetrics | None:
    """Declares the workspace for metrics in Azure, without waiting for the cluster. None where metrics are stored
    elsewhere.
    """
    settings = common.settings
    if settings.monitoring.metrics != "azure":
        return None
    args = AzureMetricsArgs(
        names=common.names,
        resource_group_name=foundation.group.name,
        subscription_id=common.subscription,
        settings=settings,
        secrets=common.secrets,
        link=monitor_link(settings),
    )
    return AzureMetrics(f"{common.name}-metrics", args, common.protected)


def declare_data_services(common: Common, foundation: Foundation) -> DataServices | None:
    """Declares the data services in parallel to the cluster: a database takes as long to create. None where the
    settings name none, or those in the cluster.
    """
    settings = common.settings
    if (given := managed(settings)) is None:
        return None
    names = DataNames(settings.stack, common.subscription)
    place = Place(
        names=names,
        resource_group_name=foundation.group.name,
        location=settings.region,
        tags=settings.tags,
        plan=data_facts(settings, given),
    )
    return DataServices(
        f"{common.name}-data",
        DataServicesArgs(
            place=place,
            settings=given,
            subscription_id=common.subscription,
            tenant_id=azure_tenant(),
            nat_addresses=foundation.network.nat_addresses,
            kubelet_principal_id=foundation.identities.kubelet.principal_id,
        ),
        common.protected,
    )


def declare_cluster(common: Common, foundation: Foundation, logs: Monitoring, private: PrivateParts) -> Cluster:
    settings = common.settings
    return Cluster(
        f"{common.name}-cluster",
        ClusterArgs(
            names=common.names,
            resource_group_name=foundation.group.name,
            location=settings.region,
            tags=settings.tags,
            settings=settings.cluster,
            network=settings.network,
            system_pool=settings.system_pool,
            system_subnet_id=foundation.network.subnet_ids[SYSTEM_SUBNET],
            nat_addresses=private.node_addresses,
            identities=foundation.identities,
            assignments=foundation.identities.assignments,
            admin_groups=admin_groups(settings.access),
            retry=common.retry,
            metrics=settings.monitoring.metrics == "azure",
            container_logs=logs.workspace.id if settings.monitoring.container_logs is not None else None,
            reads_vaults=gateway_certificate(settings) is not None,
            private_api=private.api,
            behind_firewall=uses_firewall(settings),
            after=private.before_cluster,
        ),
        common.protected,
    )


def declare_cpu_pool(common: Common, foundation: Foundation, cluster: Cluster) -> CpuPool:
    args = _shared_subnet_pool(common, foundation, cluster, CPU_POOL, common.settings.cpu_pool)
    return CpuPool(f"{common.name}-cpu", args, common.protected)


def declare_runner_pool(common: Common, foundation: Foundation, cluster: Cluster) -> RunnerPool | None:
    """Declares the pool of GitHub's runners; None in a stack without runners."""
    given = common.settings.runners
    if given is None:
        return None
    pool = _shared_subnet_pool(common, foundation, cluster, RUNNER_POOL, given.pool)
    return RunnerPool(f"{common.name}-runners", replace(pool, taints=[TAINT]), common.protected)


def _shared_subnet_pool(
    common: Common, foundation: Foundation, cluster: Cluster, name: str, pool: NodePool
) -> UserPoolArgs:
    return UserPoolArgs(
        pool_name=name,
        resource_group_name=foundation.group.name,
        cluster=cluster.managed_cluster,
        kubernetes_version=common.settings.cluster.pools_version,
        subnet_id=foundation.network.subnet_ids[SYSTEM_SUBNET],
        tags=common.settings.tags,
        pool=pool,
        retry=common.retry,
        guard=cluster.upgrade_guard,
    )


def declare_gpu_pools(common: Common, foundation: Foundation, cluster: Cluster) -> list[GpuPool]:
    settings, aks, subnets = common.settings, cluster.managed_cluster, foundation.network.subnet_ids
    group, version, tags = foundation.group.name, settings.cluster.pools_version, settings.tags
    return [
        GpuPool(
            f"{common.name}-{name}",
            GpuPoolArgs(
                name=name,
                pool=pool,
                resource_group_name=group,
                cluster=aks,
                kubernetes_version=version,
                subnet_id=subnets[name],
                subnet_assignment=foundation.identities.subnet_assignments[name],
                tags=tags,
                retry=common.retry,
                guard=cluster.upgrade_guard,
            ),
            common.protected,
        )
        for name, pool in settings.pools.items()
    ]


def declare_operations(
    common: Common,
    foundation: Foundation,
    cluster: Cluster,
    logs: Monitoring,
    *,
    metrics: AzureMetrics | None,
    scope: MonitorScope | None,
) -> None:
    """Declares when AKS may upgrade the cluster, and the destinations of its logs and metrics."""
    settings, group = common.settings, foundation.group.name
    Maintenance(
        f"{common.name}-maintenance",
        MaintenanceArgs(group, cluster.managed_cluster, settings.cluster.upgrades, common.retry),
        common.protected,
    )
    logs.watch(cluster.id, scope.endpoint.id if scope is not None else None)
    if metrics is not None:
        metrics.watch(cluster.id, cluster.name)
    if scope is not None:
        scope.configure(cluster.id)


def declare_access(
    common: Common, foundation: Foundation, cluster: Cluster, cpu: CpuPool, images: Sequence[pulumi.Resource]
) -> KubernetesAccess:
    """Roles on the cluster and, once these, the cpu pool and the source of images exist, the provider for all resources
    in it.

    It does not wait for GPU pools: one for which Azure has no capacity must not leave the others' cluster empty.
    """
    roles = ClusterAccess(
        f"{common.name}-access",
        ClusterAccessArgs(cluster.id, common.subscription, grants(common.settings.access)),
        # Not protected: roles are withdrawn in production too.
        common.unprotected,
    )
    after = [*roles.assignments, cpu.node_pool, *images]
    return KubernetesAccess(
        f"{common.name}-kubernetes",
        KubernetesAccessArgs(foundation.group.name, cluster.managed_cluster, common.names.cluster, after),
        common.protected,
    )
