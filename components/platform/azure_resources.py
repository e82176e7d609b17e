"""Everything of a platform on Azure that is not inside its cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.aks.cluster import Cluster
from components.aks.gpu_pool import GpuPool
from components.aks.kubernetes_access import KubernetesAccess
from components.aks.runner_pool import RunnerPool
from components.azure.workload_identity import IdentityPlace
from components.data.services import DataServices
from components.network.private_link import PrivateLink
from components.platform.azure import (
    declare_access,
    declare_cluster,
    declare_cpu_pool,
    declare_data_services,
    declare_foundation,
    declare_gpu_pools,
    declare_logs,
    declare_metrics,
    declare_operations,
    declare_runner_pool,
)
from components.platform.common import Common, Foundation
from components.platform.private import (
    PrivateParts,
    declare_gateway_dns,
    declare_monitor_scope,
    declare_private_link,
    declare_private_network,
    image_source,
    private_targets,
)


@dataclass(frozen=True)
class AzureResources:
    """Everything around an AKS cluster, the cluster, and who may use it."""

    foundation: Foundation
    private: PrivateParts
    cluster: Cluster
    access: KubernetesAccess
    gpu_pools: Sequence[GpuPool]
    runner_pool: RunnerPool | None
    data: DataServices | None
    link: PrivateLink | None

    @property
    def identities(self) -> IdentityPlace:
        """Resource group and issuer of the identities of workloads."""
        return IdentityPlace(self.foundation.group.name, self.cluster.oidc_issuer_url)


def declare_azure(common: Common) -> AzureResources:
    """Declares them in the order in which they are created."""
    foundation = declare_foundation(common)
    data = declare_data_services(common, foundation)
    logs, metrics_store = declare_logs(common, foundation), declare_metrics(common, foundation)
    scope = declare_monitor_scope(common, foundation, logs, metrics_store)
    private = declare_private_network(common, foundation)
    declare_gateway_dns(common, foundation)
    link = declare_private_link(common, foundation, private_targets(data, scope, metrics_store))
    cluster = declare_cluster(common, foundation, logs, private)
    cpu, gpu_pools = declare_cpu_pool(common, foundation, cluster), declare_gpu_pools(common, foundation, cluster)
    runner_pool = declare_runner_pool(common, foundation, cluster)
    declare_operations(common, foundation, cluster, logs, metrics=metrics_store, scope=scope)
    access = declare_access(common, foundation, cluster, cpu, image_source(common, data, link))
    return AzureResources(
        foundation=foundation,
        private=private,
        cluster=cluster,
        access=access,
        gpu_pools=gpu_pools,
        runner_pool=runner_pool,
        data=data,
        link=link,
    )
