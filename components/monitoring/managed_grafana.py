"""Managed Grafana over a metrics workspace: its identity, its users, and the private endpoint through which it reads a
workspace without public access.
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import dashboard, managedidentity

from components.azure.roles import assign_role
from physical_ai.catalog.aks import Role
from physical_ai.catalog.private_link import PROMETHEUS
from physical_ai.settings import Settings
from physical_ai.settings.facts.naming import Names

GRAFANA_ROLES = {"admin": Role.GRAFANA_ADMIN, "editor": Role.GRAFANA_EDITOR, "viewer": Role.GRAFANA_VIEWER}
_REQUEST = "Dashboards of the stack"


@dataclass(frozen=True)
class GrafanaArgs:
    """Inputs of `Grafana`. `is_closed`: True where neither the workspace nor Grafana can be reached from the
    internet.
    """

    names: Names
    resource_group_name: pulumi.Input[str]
    subscription_id: str
    settings: Settings
    workspace_id: pulumi.Input[str]
    is_closed: bool


def managed_grafana(name: str, args: GrafanaArgs, parent: pulumi.Resource) -> dashboard.Grafana:
    """Declares Grafana. Login is through Entra; without an assigned role nobody can log in."""
    child = pulumi.ResourceOptions(parent=parent)
    identity, reader = _reading_identity(name, args, child)
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
            public_network_access="Disabled" if args.is_closed else "Enabled",
            zone_redundancy="Enabled" if args.settings.monitoring.grafana.zone_redundant else "Disabled",
            grafana_integrations=dashboard.GrafanaIntegrationsArgs(
                azure_monitor_workspace_integrations=[
                    dashboard.AzureMonitorWorkspaceIntegrationArgs(
                        azure_monitor_workspace_resource_id=args.workspace_id
                    )
                ]
            ),
        ),
        opts=pulumi.ResourceOptions(
            parent=parent,
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
            opts=child,
        )
    if args.is_closed:
        _private_way(name, args, grafana, parent)
    return grafana


def _reading_identity(
    name: str, args: GrafanaArgs, child: pulumi.ResourceOptions
) -> tuple[managedidentity.UserAssignedIdentity, pulumi.Resource]:
    """Grafana's identity, and the assignment of its right to read the workspace."""
    identity = managedidentity.UserAssignedIdentity(
        f"{name}-grafana-identity",
        resource_name_=args.names.identity("grafana"),
        resource_group_name=args.resource_group_name,
        location=args.settings.region,
        tags=args.settings.tags,
        opts=child,
    )
    reader = assign_role(
        f"{name}-grafana-reads",
        role=Role.MONITORING_DATA_READER,
        scope=args.workspace_id,
        principal_id=identity.principal_id,
        principal_type="ServicePrincipal",
        subscription_id=args.subscription_id,
        opts=child,
    )
    return identity, reader


def _private_way(name: str, args: GrafanaArgs, grafana: dashboard.Grafana, parent: pulumi.Resource) -> None:
    """Declares a private endpoint through which Grafana reads the metrics workspace. Grafana runs outside the stack's
    virtual network, so it cannot use the endpoint there.

    The workspace's owner has to approve the connection once.
    """
    dashboard.ManagedPrivateEndpoint(
        f"{name}-grafana-way",
        managed_private_endpoint_name="metrics",
        workspace_name=grafana.name,
        resource_group_name=args.resource_group_name,
        location=args.settings.region,
        tags=args.settings.tags,
        private_link_resource_id=args.workspace_id,
        private_link_resource_region=args.settings.region,
        group_ids=[PROMETHEUS],
        request_message=_REQUEST,
        opts=pulumi.ResourceOptions(
            parent=parent,
            replace_on_changes=["privateLinkResourceId", "groupIds"],
            delete_before_replace=True,
        ),
    )
