"""Azure Monitor's managed Prometheus: where metrics are kept, alerts are evaluated and dashboards are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_azure_native import alertsmanagement, dashboard, monitor

from components.monitoring.managed_grafana import GrafanaArgs, managed_grafana
from components.network.private_link_target import PrivateTarget
from physical_ai.catalog.private_link import GRAFANA, PROMETHEUS
from physical_ai.settings import Settings
from physical_ai.settings.facts.monitor_link import MonitorLink
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.settings.models.monitoring import AlertSeverity, Receiver
from physical_ai.settings.secrets import Secrets
from physical_ai.telemetry.rendering import INTERVAL_SECONDS, azure_rule_groups, iso_minutes

STREAM = "Microsoft-PrometheusMetrics"
DESTINATION = "MonitoringAccount"
SHORT_NAME_LENGTH = 12
"""ARM's limit on the length of an action group's short name, in characters."""


@dataclass(frozen=True)
class AzureMetricsArgs:
    """Inputs of `AzureMetrics`. `link`: private path to Azure Monitor; None if Azure Monitor is reached through its
    public endpoints.
    """

    names: Names
    resource_group_name: pulumi.Input[str]
    subscription_id: str
    settings: Settings
    secrets: Secrets
    link: MonitorLink | None


class AzureMetrics(pulumi.ComponentResource):
    """An Azure Monitor workspace with Managed Grafana.

    The method `watch` sends a cluster's metrics to the workspace and declares the alert rules.

    Attributes:
        workspace: the workspace, which keeps metrics for 18 months.
        endpoint: the data collection endpoint, which receives the metrics.
        grafana: the Managed Grafana; None if the settings switch it off.
        private_targets: the resources that are read through private endpoints only.
    """

    workspace: monitor.AzureMonitorWorkspace
    endpoint: monitor.DataCollectionEndpoint
    grafana: dashboard.Grafana | None
    private_targets: tuple[PrivateTarget, ...] = ()

    def __init__(self, name: str, args: AzureMetricsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:AzureMetrics", name, {}, opts)
        self._name, self._args, self._child = name, args, pulumi.ResourceOptions(parent=self)
        is_closed = args.link is not None and args.link.reads_inside_only
        self.workspace = monitor.AzureMonitorWorkspace(
            f"{name}-workspace",
            azure_monitor_workspace_name=args.names.monitor_workspace,
            resource_group_name=args.resource_group_name,
            location=args.settings.region,
            tags=args.settings.tags,
            # The switch concerns queries only; the data collection endpoint decides who may send.
            public_network_access="Disabled" if is_closed else None,
            opts=self._child,
        )
        self.endpoint = monitor.DataCollectionEndpoint(
            f"{name}-endpoint",
            data_collection_endpoint_name=args.names.data_collection,
            resource_group_name=args.resource_group_name,
            location=args.settings.region,
            tags=args.settings.tags,
            kind="Linux",
            network_acls=monitor.DataCollectionEndpointNetworkAclsArgs(
                public_network_access="Enabled" if args.link is None else "Disabled"
            ),
            opts=self._child,
        )
        self.grafana = self._grafana(is_closed) if args.settings.monitoring.grafana.enabled else None
        if is_closed:
            grafana = [] if self.grafana is None else [PrivateTarget("grafana", self.grafana.id, GRAFANA)]
            self.private_targets = (PrivateTarget("metrics", self.workspace.id, PROMETHEUS), *grafana)
        self.register_outputs({"workspaceId": self.workspace.id})

    def watch(self, cluster_id: pulumi.Input[str], cluster_name: pulumi.Input[str]) -> None:
        """Sends the metrics of a cluster to the workspace, and evaluates the alert rules over them."""
        self._collect(cluster_id)
        self._rules(cluster_name, self._receivers(self._name, self._args))

    def _grafana(self, is_closed: bool) -> dashboard.Grafana:
        args = GrafanaArgs(
            names=self._args.names,
            resource_group_name=self._args.resource_group_name,
            subscription_id=self._args.subscription_id,
            settings=self._args.settings,
            workspace_id=self.workspace.id,
            is_closed=is_closed,
        )
        return managed_grafana(self._name, args, self)

    def _collect(self, cluster_id: pulumi.Input[str]) -> None:
        """Declares the data collection rule and its association with the cluster, which send the metrics of the
        cluster's add-on to the workspace. Both have to be in the workspace's region.
        """
        name, args, own = self._name, self._args, self._args.names.data_collection
        rule = monitor.DataCollectionRule(
            f"{name}-collection",
            data_collection_rule_name=own,
            resource_group_name=args.resource_group_name,
            location=args.settings.region,
            tags=args.settings.tags,
            kind="Linux",
            data_collection_endpoint_id=self.endpoint.id,
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
            resource_uri=cluster_id,
            data_collection_rule_id=rule.id,
            opts=self._child,
        )

    def _receivers(self, name: str, args: AzureMetricsArgs) -> dict[AlertSeverity, list[pulumi.Input[str]]]:
        """Ids of the action groups that an alert notifies, by the alert's severity. Each receiver in the settings has
        one action group.
        """
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

    def _rules(self, cluster_name: pulumi.Input[str], groups: Mapping[AlertSeverity, list[pulumi.Input[str]]]) -> None:
        name, args = self._name, self._args
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
                cluster_name=cluster_name,
                interval=iso_minutes(INTERVAL_SECONDS // 60),
                enabled=True,
                rules=rendered,
                opts=self._child,
            )
