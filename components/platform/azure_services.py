"""Data services, logs and metrics of a stack on Azure, none of which waits for the cluster."""

from __future__ import annotations

from components.aks.cluster import Cluster
from components.azure.account import azure_tenant
from components.azure.subscriptions import Subscriptions
from components.data.common import Place
from components.data.services import DataServices, DataServicesArgs
from components.monitoring.azure_metrics import AzureMetrics, AzureMetricsArgs
from components.monitoring.logs import Monitoring, MonitoringArgs
from components.network.monitor_scope import MonitorScope, MonitorScopeArgs
from components.network.private_link_target import PrivateTarget
from components.platform.azure_network import AzureNetwork
from components.platform.parent import Parent
from physical_ai.settings import Settings
from physical_ai.settings.facts.data_services import DataNames, data_facts, managed
from physical_ai.settings.facts.monitor_link import monitor_link
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.secrets import Secrets


class AzureServices:
    """Services that are created in parallel to the cluster, because a database takes as long to create as a cluster.

    Attributes:
        data: the data services in Azure; None where the settings name no data services, or data services in the
            cluster.
        logs: the workspace for logs; the cluster's add-on for container logs refers to it.
        metrics: the workspace for metrics; None where metrics are stored elsewhere.
        scope: the private link scope of Azure Monitor; None where Azure Monitor is public.
    """

    data: DataServices | None = None
    logs: Monitoring
    metrics: AzureMetrics | None = None
    scope: MonitorScope | None = None

    def __init__(
        self, parent: Parent, settings: Settings, secrets: Secrets, subscriptions: Subscriptions, azure: AzureNetwork
    ) -> None:
        names, group, link = Names(settings.stack), azure.group.name, monitor_link(settings)
        location, tags = settings.region, settings.tags
        if (services := managed(settings)) is not None:
            data_names = DataNames(settings.stack, subscriptions.own)
            place = Place(data_names, group, location, tags, data_facts(settings, services))
            data = DataServicesArgs(
                place=place,
                settings=services,
                subscription_id=subscriptions.own,
                tenant_id=azure_tenant(),
                nat_addresses=azure.network.nat_addresses,
                kubelet_principal_id=azure.identities.kubelet.principal_id,
            )
            self.data = DataServices(f"{parent.name}-data", data, parent.protected)
        logs = MonitoringArgs(names, group, location, tags, settings=settings.monitoring, link=link)
        self.logs = Monitoring(f"{parent.name}-monitoring", logs, parent.protected)
        if settings.monitoring.metrics == "azure":
            metrics = AzureMetricsArgs(
                names=names,
                resource_group_name=group,
                subscription_id=subscriptions.own,
                settings=settings,
                secrets=secrets,
                link=link,
            )
            self.metrics = AzureMetrics(f"{parent.name}-metrics", metrics, parent.protected)
        if link is not None:
            endpoint = {"metrics": self.metrics.endpoint.id} if self.metrics is not None else {}
            scope = MonitorScopeArgs(
                names=names,
                resource_group_name=group,
                location=location,
                tags=tags,
                link=link,
                connected={"logs": self.logs.workspace.id, **endpoint},
                provider=subscriptions.provider(link.scope) if link.scope is not None else None,
            )
            self.scope = MonitorScope(f"{parent.name}-monitor", scope, parent.protected)

    @property
    def private_targets(self) -> list[PrivateTarget]:
        """Services that need a private endpoint if the network is not public."""
        own = (self.data, self.scope, self.metrics)
        return [target for each in own if each is not None for target in each.private_targets]

    def watch(self, cluster: Cluster) -> None:
        """Sends logs and metrics of the cluster to the workspaces."""
        self.logs.watch(cluster.id, self.scope.endpoint.id if self.scope is not None else None)
        if self.metrics is not None:
            self.metrics.watch(cluster.id, cluster.name)
        if self.scope is not None:
            self.scope.configure(cluster.id)
