"""Azure Monitor's managed Prometheus: where metrics are kept, alerts are evaluated and dashboards are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_azure_native import alertsmanagement, dashboard, managedidentity, monitor

from components.roles import assign_role
from physical_ai.catalog.aks import Role
from physical_ai.settings import Settings
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.settings.models.monitoring import AlertSeverity, Receiver
from physical_ai.settings.secrets import Secrets
from physical_ai.telemetry.rendering import INTERVAL_SECONDS, azure_rule_groups, iso_minutes

STREAM = "Microsoft-PrometheusMetrics"
DESTINATION = "MonitoringAccount"
GRAFANA_ROLES = {"admin": Role.GRAFANA_ADMIN, "editor": Role.GRAFANA_EDITOR, "viewer": Role.GRAFANA_VIEWER}
SHORT_NAME_LENGTH = 12
"""ARM's limit of an action group's short name."""


@dataclass(frozen=True)
class AzureMetricsArgs:
    names: Names
    resource_group_name: pulumi.Input[str]
    subscription_id: str
    cluster_id: pulumi.Input[str]
    cluster_name: pulumi.Input[str]
    settings: Settings
    secrets: Secrets


class AzureMetrics(pulumi.ComponentResource):
    """A workspace that the cluster's metrics flow into, rules over it, receivers, and Managed Grafana.

    Attributes:
        workspace: keeps metrics for 18 months.
        grafana: None where it is switched off.
    """

    workspace: monitor.AzureMonitorWorkspace
    grafana: dashboard.Grafana | None

    def __init__(self, name: str, args: AzureMetricsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:AzureMetrics", name, {}, opts)
        self._child = pulumi.ResourceOptions(parent=self)
        self.workspace = monitor.AzureMonitorWorkspace(
            f"{name}-workspace",
            azure_monitor_workspace_name=args.names.monitor_workspace,
            resource_group_name=args.resource_group_name,
            location=args.settings.region,
            tags=args.settings.tags,
            opts=self._child,
        )
        self._collection(name, args)
        self._rules(name, args, self._receivers(name, args))
        self.grafana = self._grafana(name, args) if args.settings.monitoring.grafana.enabled else None
        self.register_outputs({"workspaceId": self.workspace.id})

    def _collection(self, name: str, args: AzureMetricsArgs) -> None:
        """The way from the cluster's add-on into the workspace. All of it has to be in the workspace's region."""
        group, own = args.resource_group_name, args.names.data_collection
        endpoint = monitor.DataCollectionEndpoint(
            f"{name}-endpoint",
            data_collection_endpoint_name=own,
            resource_group_name=group,
            location=args.settings.region,
            tags=args.settings.tags,
            kind="Linux",
            network_acls=monitor.DataCollectionEndpointNetworkAclsArgs(public_network_access="Enabled"),
            opts=self._child,
        )
        rule = monitor.DataCollectionRule(
            f"{name}-collection",
            data_collection_rule_name=own,
            resource_group_name=group,
            location=args.settings.region,
            tags=args.settings.tags,
            kind="Linux",
            data_collection_endpoint_id=endpoint.id,
            data_sources=monitor.DataCollectionRuleDataSourcesArgs(
                prometheus_forwarder=[
                    monitor.PrometheusForwarderDataSourceArgs(name="PrometheusDataSource", streams=[STREAM])
                ]
            ),
            destinations=monitor.DataCollectionRuleDestinationsArgs(
                monitoring_accounts=[
                    monitor.MonitoringAccountDestinationArgs(name=DESTINATION, account_resource_id=self.workspace.id)
                ]
            ),
            data_flows=[monitor.DataFlowArgs(streams=[STREAM], destinations=[DESTINATION])],
            opts=self._child,
        )
        monitor.DataCollectionRuleAssociation(
            f"{name}-association",
            association_name=own,
            resource_uri=args.cluster_id,
            data_collection_rule_id=rule.id,
            opts=self._child,
        )

    def _receivers(self, name: str, args: AzureMetricsArgs) -> dict[AlertSeverity, list[pulumi.Input[str]]]:
        """Ids of action groups by the severity that they are notified of: one group for each receiver."""
        found: dict[AlertSeverity, list[pulumi.Input[str]]] = {}
        for key, receiver in args.settings.monitoring.receivers.items():
            group = receiver.action_group or self._action_group(name, key, receiver, args).id
            for severity in receiver.severities:
                found.setdefault(severity, []).append(group)
        return found

    def _action_group(self, name: str, key: str, receiver: Receiver, args: AzureMetricsArgs) -> monitor.ActionGroup:
        emails = (
            [
                monitor.MicrosoftCommonEmailReceiverArgs(
                    name=key, email_address=receiver.email, use_common_alert_schema=True
                )
            ]
            if receiver.email
            else None
        )
        hooks = (
            [
                monitor.WebhookReceiverArgs(
                    name=key, service_uri=args.secrets[receiver.webhook_secret], use_common_alert_schema=True
                )
            ]
            if receiver.webhook_secret
            else None
        )
        return monitor.ActionGroup(
            f"{name}-receiver-{key}",
            action_group_name=args.names.action_group(key),
            resource_group_name=args.resource_group_name,
            location="Global",
            tags=args.settings.tags,
            group_short_name=key[:SHORT_NAME_LENGTH],
            enabled=True,
            email_receivers=emails,
            webhook_receivers=hooks,
            opts=self._child,
        )

    def _rules(
        self, name: str, args: AzureMetricsArgs, groups: Mapping[AlertSeverity, list[pulumi.Input[str]]]
    ) -> None:
        for theme, rules in azure_rule_groups(rule_parameters(args.settings), groups).items():
            rendered: Any = rules
            alertsmanagement.PrometheusRuleGroup(
                f"{name}-rules-{theme}",
                rule_group_name=args.names.rule_group(theme),
                resource_group_name=args.resource_group_name,
                location=args.settings.region,
                tags=args.settings.tags,
                # The scope is the workspace; the name restricts the rules to this cluster's series.
                scopes=[self.workspace.id],
                cluster_name=args.cluster_name,
                interval=iso_minutes(INTERVAL_SECONDS // 60),
                enabled=True,
                rules=rendered,
                opts=self._child,
            )

    def _grafana(self, name: str, args: AzureMetricsArgs) -> dashboard.Grafana:
        """Reachable from the internet, with a login through Entra; without roles nobody can log in."""
        identity = managedidentity.UserAssignedIdentity(
            f"{name}-grafana-identity",
            resource_name_=args.names.identity("grafana"),
            resource_group_name=args.resource_group_name,
            location=args.settings.region,
            tags=args.settings.tags,
            opts=self._child,
        )
        reader = assign_role(
            f"{name}-grafana-reads",
            role=Role.MONITORING_DATA_READER,
            scope=self.workspace.id,
            principal_id=identity.principal_id,
            principal_type="ServicePrincipal",
            subscription_id=args.subscription_id,
            opts=self._child,
        )
        grafana = dashboard.Grafana(
            f"{name}-grafana",
            workspace_name=args.names.grafana,
            resource_group_name=args.resource_group_name,
            location=args.settings.region,
            tags=args.settings.tags,
            sku=dashboard.ResourceSkuArgs(name="Standard"),
            identity=dashboard.ManagedServiceIdentityArgs(type="UserAssigned", user_assigned_identities=[identity.id]),
            properties=dashboard.ManagedGrafanaPropertiesArgs(
                api_key="Disabled",
                public_network_access="Enabled",
                zone_redundancy="Enabled" if args.settings.monitoring.grafana.zone_redundant else "Disabled",
                grafana_integrations=dashboard.GrafanaIntegrationsArgs(
                    azure_monitor_workspace_integrations=[
                        dashboard.AzureMonitorWorkspaceIntegrationArgs(
                            azure_monitor_workspace_resource_id=self.workspace.id
                        )
                    ]
                ),
            ),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[reader],
                replace_on_changes=["properties.zoneRedundancy"],
                delete_before_replace=True,
            ),
        )
        for principal in args.settings.monitoring.grafana.principals:
            assign_role(
                f"{name}-{principal.principal_id}-{principal.role}",
                role=GRAFANA_ROLES[principal.role],
                scope=grafana.id,
                principal_id=principal.principal_id,
                principal_type=principal.principal_type,
                subscription_id=args.subscription_id,
                opts=self._child,
            )
        return grafana
