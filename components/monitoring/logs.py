"""Logs: of the control plane, and of the containers that the settings name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import monitor, operationalinsights

from physical_ai.settings import Monitoring as MonitoringSettings
from physical_ai.settings.facts.monitor_link import MonitorLink
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.models.container_logs import ContainerLogs

CONTROL_PLANE_LOGS = ("cluster-autoscaler", "guard", "kube-audit-admin", "kube-controller-manager")
"""Log categories of the AKS control plane that are sent to the workspace. `cluster-autoscaler` explains why a GPU pool
does not grow; `guard` is the Entra login; `kube-audit-admin` is the audit log without read requests, a tenth of the
volume of `kube-audit`.
"""

LOG_STREAM, LOG_DESTINATION = "Microsoft-ContainerLogV2", "ciworkspace"


@dataclass(frozen=True)
class MonitoringArgs:
    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    settings: MonitoringSettings
    link: MonitorLink | None = None
    """Private path to Azure Monitor; None for its public endpoints."""


class Monitoring(pulumi.ComponentResource):
    """A Log Analytics workspace.

    The method `watch` sends to it the logs and metrics of a cluster's control plane, and the output of containers.
    """

    workspace: operationalinsights.Workspace

    def __init__(self, name: str, args: MonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Monitoring", name, {}, opts)
        self._name, self._args = name, args
        self._child = child = pulumi.ResourceOptions(parent=self)
        link = args.link
        self.workspace = operationalinsights.Workspace(
            f"{name}-workspace",
            workspace_name=args.names.workspace,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            sku=operationalinsights.WorkspaceSkuArgs(name="PerGB2018"),
            retention_in_days=args.settings.retention_days,
            workspace_capping=operationalinsights.WorkspaceCappingArgs(daily_quota_gb=args.settings.daily_quota_gb),
            public_network_access_for_ingestion=None if link is None else "Disabled",
            public_network_access_for_query="Disabled" if link is not None and link.reads_inside_only else None,
            opts=child,
        )
        self.register_outputs({"workspaceId": self.workspace.id})

    def watch(self, cluster_id: pulumi.Input[str], endpoint_id: pulumi.Input[str] | None = None) -> None:
        """Sends the logs of a cluster's control plane to the workspace, and the output of containers through a data
        collection endpoint.
        """
        # Deleted on its own, not with the cluster: ARM keeps a deleted resource's diagnostic settings, and they would
        # apply again to a cluster of the same name.
        monitor.DiagnosticSetting(
            f"{self._name}-control-plane",
            name="control-plane",
            resource_uri=cluster_id,
            workspace_id=self.workspace.id,
            log_analytics_destination_type="Dedicated",
            logs=[
                monitor.DiagnosticsLogSettingsArgs(category=category, enabled=True) for category in CONTROL_PLANE_LOGS
            ],
            metrics=[monitor.DiagnosticsMetricSettingsArgs(category="AllMetrics", enabled=True)],
            opts=self._child,
        )
        if (wanted := self._args.settings.container_logs) is not None:
            self._collect(wanted, cluster_id, endpoint_id)

    def _collect(
        self, wanted: ContainerLogs, cluster_id: pulumi.Input[str], endpoint_id: pulumi.Input[str] | None
    ) -> None:
        """Declares the rule for the container logs that the cluster's add-on collects (learn.microsoft.com, Container
        insights, data collection rules).
        """
        settings = {
            "interval": f"{wanted.interval_minutes}m",
            "namespaceFilteringMode": "Include",
            "namespaces": list(wanted.namespaces),
            "enableContainerLogV2": True,
        }
        source = monitor.ExtensionDataSourceArgs(
            name="ContainerInsightsExtension",
            extension_name="ContainerInsights",
            streams=[LOG_STREAM],
            extension_settings={"dataCollectionSettings": settings},
        )
        rule = monitor.DataCollectionRule(
            f"{self._name}-container-logs",
            data_collection_rule_name=self._args.names.container_logs,
            resource_group_name=self._args.resource_group_name,
            location=self._args.location,
            tags=self._args.tags,
            kind="Linux",
            data_collection_endpoint_id=endpoint_id,
            data_sources=monitor.DataCollectionRuleDataSourcesArgs(extensions=[source]),
            destinations=monitor.DataCollectionRuleDestinationsArgs(
                log_analytics=[
                    monitor.LogAnalyticsDestinationArgs(name=LOG_DESTINATION, workspace_resource_id=self.workspace.id)
                ]
            ),
            data_flows=[monitor.DataFlowArgs(streams=[LOG_STREAM], destinations=[LOG_DESTINATION])],
            opts=self._child,
        )
        monitor.DataCollectionRuleAssociation(
            f"{self._name}-container-logs-association",
            association_name="ContainerInsightsExtension",
            resource_uri=cluster_id,
            data_collection_rule_id=rule.id,
            opts=self._child,
        )
