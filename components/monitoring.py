"""The logs and metrics of the control plane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import monitor, operationalinsights

from physical_ai.settings import Monitoring as MonitoringSettings
from physical_ai.settings.facts.naming import Names

CONTROL_PLANE_LOGS = ("cluster-autoscaler", "guard", "kube-audit-admin", "kube-controller-manager")
"""AKS log categories. `kube-audit-admin` is the audit log without reads, a tenth of `kube-audit`; `guard` is the Entra
login, `cluster-autoscaler` explains why a GPU pool does not grow."""


@dataclass(frozen=True)
class MonitoringArgs:
    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    cluster_id: pulumi.Input[str]
    settings: MonitoringSettings


class Monitoring(pulumi.ComponentResource):
    """A Log Analytics workspace with the logs and metrics of the cluster's control plane."""

    workspace: operationalinsights.Workspace

    def __init__(self, name: str, args: MonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Monitoring", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.workspace = operationalinsights.Workspace(
            f"{name}-workspace",
            workspace_name=args.names.workspace,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            sku=operationalinsights.WorkspaceSkuArgs(name="PerGB2018"),
            retention_in_days=args.settings.retention_days,
            workspace_capping=operationalinsights.WorkspaceCappingArgs(daily_quota_gb=args.settings.daily_quota_gb),
            opts=child,
        )
        # Deleted on its own, not with the cluster: ARM keeps a deleted resource's diagnostic settings, and they would
        # apply again to a cluster of the same name.
        monitor.DiagnosticSetting(
            f"{name}-control-plane",
            name="control-plane",
            resource_uri=args.cluster_id,
            workspace_id=self.workspace.id,
            log_analytics_destination_type="Dedicated",
            logs=[
                monitor.DiagnosticsLogSettingsArgs(category=category, enabled=True) for category in CONTROL_PLANE_LOGS
            ],
            metrics=[monitor.DiagnosticsMetricSettingsArgs(category="AllMetrics", enabled=True)],
            opts=child,
        )
        self.register_outputs({"workspaceId": self.workspace.id})
