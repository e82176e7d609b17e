"""Azure Monitor Private Link Scope: the resource through which a private network reaches Azure Monitor's workspaces and
endpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import monitor

from components.network.private_link_target import PrivateTarget
from physical_ai.catalog.private_link import MONITOR_SCOPE
from physical_ai.settings.facts.monitor_link import MonitorLink
from physical_ai.settings.facts.naming import Names

CONFIGURATION = "configurationAccessEndpoint"
"""The name that the association of a cluster with a data collection endpoint must have."""


@dataclass(frozen=True)
class MonitorScopeArgs:
    """Inputs of `MonitorScope`. `connected` are the ids of the resources in the scope, by a short name."""

    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    link: MonitorLink
    connected: Mapping[str, pulumi.Input[str]]
    provider: pulumi.ProviderResource | None
    """Azure provider for an existing scope in another subscription; None if the scope is in the stack's own
    subscription.
    """


class MonitorScope(pulumi.ComponentResource):
    """A private link scope that contains the stack's workspaces and endpoints. Where the settings name an existing
    scope, the component adds the workspaces and endpoints to that scope.

    Agents in a private network take their configuration from a data collection endpoint in the scope (Azure docs,
    azure-monitor/containers/kubernetes-monitoring-private-link).

    Attributes:
        endpoint: data collection endpoint from which agents take their configuration.
        private_targets: the scope, if the stack creates it and so has to create its private endpoint; otherwise empty.
        ready: resources that have to exist before agents reach Azure Monitor.
    """

    endpoint: monitor.DataCollectionEndpoint
    private_targets: tuple[PrivateTarget, ...] = ()
    ready: list[pulumi.Resource]

    def __init__(self, name: str, args: MonitorScopeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:MonitorScope", name, {}, opts)
        self._name, child = name, pulumi.ResourceOptions(parent=self)
        self.endpoint = monitor.DataCollectionEndpoint(
            f"{name}-configuration",
            data_collection_endpoint_name=args.names.configuration_endpoint,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            kind="Linux",
            network_acls=monitor.DataCollectionEndpointNetworkAclsArgs(public_network_access="Disabled"),
            opts=child,
        )
        group: pulumi.Input[str] = args.resource_group_name
        scope: pulumi.Input[str]
        if args.link.scope is None:
            made = monitor.PrivateLinkScope(
                f"{name}-scope",
                scope_name=args.names.monitor_scope,
                resource_group_name=args.resource_group_name,
                location="global",
                tags=args.tags,
                access_mode_settings=monitor.AccessModeSettingsArgs(
                    ingestion_access_mode=args.link.ingestion, query_access_mode=args.link.query
                ),
                opts=child,
            )
            scope = made.name
        else:
            made, parts = None, args.link.scope.split("/")
            group, scope = parts[4], parts[8]
        self.ready = self._connect(args, group, scope)
        if made is not None:
            self.private_targets = (PrivateTarget("monitor", made.id, MONITOR_SCOPE, tuple(self.ready)),)
        self.register_outputs({})

    def _connect(
        self, args: MonitorScopeArgs, group: pulumi.Input[str], scope: pulumi.Input[str]
    ) -> list[pulumi.Resource]:
        """Declares the entries of the scope, one after the other: every entry changes the scope, and a scope refuses a
        change while another one is in progress.
        """
        found: list[pulumi.Resource] = []
        for key, resource_id in {**args.connected, "configuration": self.endpoint.id}.items():
            found.append(
                monitor.PrivateLinkScopedResource(
                    f"{self._name}-{key}-connected",
                    name=args.names.scoped(key),
                    scope_name=scope,
                    resource_group_name=group,
                    linked_resource_id=resource_id,
                    opts=pulumi.ResourceOptions(
                        parent=self,
                        provider=args.provider,
                        depends_on=found[-1:],
                        # The resource of an entry can't be changed, and its name is fixed.
                        replace_on_changes=["linkedResourceId"],
                        delete_before_replace=True,
                    ),
                )
            )
        return found

    def configure(self, cluster_id: pulumi.Input[str]) -> None:
        """Makes a cluster's agents take their configuration from the scope's endpoint."""
        monitor.DataCollectionRuleAssociation(
            f"{self._name}-association",
            association_name=CONFIGURATION,
            resource_uri=cluster_id,
            data_collection_endpoint_id=self.endpoint.id,
            opts=pulumi.ResourceOptions(parent=self),
        )
