"""The AKS cluster: its control plane and the pool its critical add-ons run on."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import authorization, containerservice

from components.aks.agent_pool import ignored_changes, node_pool_properties, system_upgrade_settings
from components.aks.upgrade_budgets import budgets_let_go
from components.azure.identities import Identities
from physical_ai.catalog.vault_secrets import ADDON, ADDON_CONFIG
from physical_ai.settings import Autoscaler, NodePool
from physical_ai.settings import Cluster as ClusterSettings
from physical_ai.settings import Network as NetworkSettings
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.pools import SYSTEM_POOL, SYSTEM_TAINT
from physical_ai.settings.facts.private_network import IMMUTABLE_CLUSTER_PROPERTIES
from physical_ai.settings.facts.telemetry import METRIC_LABELS


@dataclass(frozen=True)
class PrivateApi:
    """Settings of a private API server.

    Attributes:
        dns_zone: id of a private DNS zone, or AKS's keyword `system` or `none`.
        has_public_name: True where the API server also has a public DNS name.
        subnet_id: subnet that contains the API server's address; None for a private endpoint.
    """

    dns_zone: pulumi.Input[str]
    has_public_name: bool
    subnet_id: pulumi.Input[str] | None = None


@dataclass(frozen=True)
class ClusterArgs:
    """Inputs of `Cluster`.

    `nat_addresses`: public IPv4 addresses of the nodes.
    `retry`: hook that repeats the creation until the role assignments are in effect.
    """

    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    settings: ClusterSettings
    network: NetworkSettings
    system_pool: NodePool
    system_subnet_id: pulumi.Input[str]
    nat_addresses: Sequence[pulumi.Output[str]]
    identities: Identities
    assignments: Sequence[authorization.RoleAssignment]
    admin_groups: Sequence[str]
    retry: pulumi.ErrorHook
    spot_first: bool = False
    """True to have the autoscaler grow pools in the order of the ConfigMap of `AutoscalerOrder`."""
    metrics: bool = False
    """True to have Azure Monitor's add-on collect metrics."""
    container_logs: pulumi.Input[str] | None = None
    """Id of the Log Analytics workspace for the output of containers; None if the output is not collected."""
    reads_vaults: bool = False
    """True to install AKS's add-on that mounts secrets from key vaults into Pods."""
    private_api: PrivateApi | None = None
    """Settings of the private API server; None if the API server has a public address."""
    behind_firewall: bool = False
    """True where the subnets reach the internet through routes to a firewall, not through NAT gateways."""
    after: Sequence[pulumi.Resource] = ()
    """Resources that must exist before the cluster, besides the role assignments: peerings and DNS servers, without
    which nodes cannot join.
    """


class Cluster(pulumi.ComponentResource):
    """A managed cluster with one system pool, Cilium on an overlay network, and Entra as the only way in.

    All other pools are separate resources: AKS rejects or ignores pools added to the inline list later
    (pulumi-azure-native#579, #1686), and editing the list touches every pool (#4264).
    """

    managed_cluster: containerservice.ManagedCluster
    id: pulumi.Output[str]
    name: pulumi.Output[str]
    oidc_issuer_url: pulumi.Output[str]
    upgrade_guard: pulumi.ResourceHook
    """Hook for updates of the cluster and its pools. If PodDisruptionBudgets would make AKS refuse an upgrade, the hook
    fails the update and names them.
    """

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Cluster", name, {}, opts)
        upgrades = args.settings.upgrades
        self.upgrade_guard = budgets_let_go(
            f"{name}-budgets", args.resource_group_name, args.names.cluster, upgrades.forced_until
        )
        self.managed_cluster = containerservice.ManagedCluster(
            f"{name}-aks",
            resource_name_=args.names.cluster,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            dns_prefix=args.names.dns_prefix,
            node_resource_group=args.names.node_resource_group,
            kubernetes_version=args.settings.kubernetes_version,
            sku=containerservice.ManagedClusterSKUArgs(name="Base", tier=args.settings.tier),
            # AKS's default is no support plan; clusters that were created before this setting have none either.
            support_plan=args.settings.support_plan if args.settings.long_term else None,
            identity=containerservice.ManagedClusterIdentityArgs(
                type=containerservice.ResourceIdentityType.USER_ASSIGNED,
                user_assigned_identities=[args.identities.control_plane.id],
            ),
            identity_profile={"kubeletidentity": _kubelet_identity(args.identities)},
            enable_rbac=True,
            disable_local_accounts=True,
            aad_profile=containerservice.ManagedClusterAADProfileArgs(
                managed=True,
                enable_azure_rbac=True,
                # Absent rather than empty: AKS returns no empty list, which a refresh would show as a difference.
                admin_group_object_ids=list(args.admin_groups) or None,
            ),
            oidc_issuer_profile=containerservice.ManagedClusterOIDCIssuerProfileArgs(enabled=True),
            security_profile=containerservice.ManagedClusterSecurityProfileArgs(
                workload_identity=containerservice.ManagedClusterSecurityProfileWorkloadIdentityArgs(enabled=True)
            ),
            api_server_access_profile=_api_access(args),
            network_profile=_network_profile(args.network, behind_firewall=args.behind_firewall),
            auto_scaler_profile=autoscaler_profile(args.settings.autoscaler, ordered=args.spot_first),
            addon_profiles=_addons(args) or None,
            azure_monitor_profile=_metrics_profile() if args.metrics else None,
            auto_upgrade_profile=containerservice.ManagedClusterAutoUpgradeProfileArgs(
                upgrade_channel=upgrades.channel, node_os_upgrade_channel=upgrades.node_os_channel
            ),
            upgrade_settings=_forced(upgrades.forced_until),
            agent_pool_profiles=[
                containerservice.ManagedClusterAgentPoolProfileArgs(
                    name=SYSTEM_POOL,
                    mode="System",
                    vnet_subnet_id=args.system_subnet_id,
                    node_taints=[SYSTEM_TAINT],
                    upgrade_settings=system_upgrade_settings(args.system_pool),
                    **node_pool_properties(args.system_pool, args.settings.pools_version),
                )
            ],
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*args.assignments, *args.after],
                replace_on_changes=list(IMMUTABLE_CLUSTER_PROPERTIES),
                # Only the count is ignored: ignoring the whole list breaks later cluster updates
                # (pulumi-azure-native#2719).
                ignore_changes=ignored_changes(args.system_pool, "agentPoolProfiles[0]."),
                # The name is fixed, so a replacement cannot exist beside the old cluster.
                delete_before_replace=True,
                hooks=pulumi.ResourceHookBinding(on_error=[args.retry], before_update=[self.upgrade_guard]),
            ),
        )
        self.id = self.managed_cluster.id
        self.name = self.managed_cluster.name
        self.oidc_issuer_url = self.managed_cluster.oidc_issuer_profile.apply(_issuer_url)
        self.register_outputs({"name": self.name, "oidcIssuerUrl": self.oidc_issuer_url})


def _forced(until: datetime.datetime | None) -> containerservice.ClusterUpgradeSettingsArgs | None:
    """Setting that makes AKS force upgrades until `until`; None if `until` is None, because ARM ignores the setting
    without an end time.
    """
    if until is None:
        return None
    return containerservice.ClusterUpgradeSettingsArgs(
        override_settings=containerservice.UpgradeOverrideSettingsArgs(force_upgrade=True, until=until.isoformat())
    )


def autoscaler_profile(
    settings: Autoscaler, *, ordered: bool = False
) -> containerservice.ManagedClusterPropertiesAutoScalerProfileArgs:
    """The cluster-wide autoscaler profile; AKS expects durations as text in full minutes, "30m".

    DaemonSets do not count as use: every GPU node runs half a dozen of them and would never be idle.

    Args:
        ordered: True to grow pools by the priorities of a ConfigMap; False for AKS' default, a random choice.
    """
    return containerservice.ManagedClusterPropertiesAutoScalerProfileArgs(
        max_node_provision_time=f"{settings.max_node_provision_minutes}m",
        scale_down_unneeded_time=f"{settings.scale_down_unneeded_minutes}m",
        scale_down_delay_after_add=f"{settings.scale_down_delay_after_add_minutes}m",
        ignore_daemonsets_utilization=True,
        expander="priority" if ordered else None,
    )


def _addons(args: ClusterArgs) -> dict[str, containerservice.ManagedClusterAddonProfileArgs]:
    found = _logs_addon(args.container_logs) if args.container_logs is not None else {}
    if args.reads_vaults:
        found[ADDON] = containerservice.ManagedClusterAddonProfileArgs(enabled=True, config=ADDON_CONFIG)
    return found


def _logs_addon(workspace: pulumi.Input[str]) -> dict[str, containerservice.ManagedClusterAddonProfileArgs]:
    """Profile of the add-on Container Insights.

    The add-on logs in with the cluster's own identity. The data collection rules that are associated with the cluster
    determine which data it collects.
    """
    config = {"logAnalyticsWorkspaceResourceID": workspace, "useAADAuth": "true"}
    return {"omsagent": containerservice.ManagedClusterAddonProfileArgs(enabled=True, config=config)}


def _metrics_profile() -> containerservice.ManagedClusterAzureMonitorProfileArgs:
    """Profile of Azure Monitor's add-on for metrics. The list of allowed labels is set, because the add-on's
    kube-state-metrics exports labels of objects only if the list has them.
    """
    return containerservice.ManagedClusterAzureMonitorProfileArgs(
        metrics=containerservice.ManagedClusterAzureMonitorProfileMetricsArgs(
            enabled=True,
            kube_state_metrics=containerservice.ManagedClusterAzureMonitorProfileKubeStateMetricsArgs(
                metric_labels_allowlist=METRIC_LABELS
            ),
        )
    )


def _kubelet_identity(identities: Identities) -> containerservice.UserAssignedIdentityArgs:
    return containerservice.UserAssignedIdentityArgs(
        resource_id=identities.kubelet.id,
        client_id=identities.kubelet.client_id,
        object_id=identities.kubelet.principal_id,
    )


def _network_profile(
    network: NetworkSettings, *, behind_firewall: bool
) -> containerservice.ContainerServiceNetworkProfileArgs:
    return containerservice.ContainerServiceNetworkProfileArgs(
        network_plugin="azure",
        network_plugin_mode="overlay",
        network_dataplane="cilium",
        network_policy="cilium",
        load_balancer_sku="standard",
        outbound_type="userDefinedRouting" if behind_firewall else "userAssignedNATGateway",
        pod_cidr=str(network.pod_cidr),
        service_cidr=str(network.service_cidr),
        dns_service_ip=str(network.dns_service_ip),
    )


def _api_access(args: ClusterArgs) -> containerservice.ManagedClusterAPIServerAccessProfileArgs:
    """Settings of access to the API server: for a public API server, the address ranges that may reach it; for a
    private API server, its private endpoint; for both, permission for `az aks command invoke`.

    If the settings name no address range, a public API server accepts all addresses. If they name ranges, the nodes'
    addresses are added: nodes too reach the API server from outside, through the NAT gateways or the firewall.
    """
    access = args.settings.api_access
    if args.private_api is not None:
        return containerservice.ManagedClusterAPIServerAccessProfileArgs(
            disable_run_command=not access.run_command,
            enable_private_cluster=True,
            enable_private_cluster_public_fqdn=args.private_api.has_public_name,
            enable_vnet_integration=True if args.private_api.subnet_id is not None else None,
            private_dns_zone=args.private_api.dns_zone,
            subnet_id=args.private_api.subnet_id,
        )
    own = [str(each) for each in access.authorized_ip_ranges]
    nodes = [address.apply(_single_address_range) for address in args.nat_addresses]
    return containerservice.ManagedClusterAPIServerAccessProfileArgs(
        authorized_ip_ranges=[*own, *nodes] if own else None, disable_run_command=not access.run_command
    )


def _single_address_range(address: str) -> str:
    return f"{address}/32"


def _issuer_url(profile: object) -> str:
    """URL of the token issuer in an OIDC issuer profile.

    The profile has a URL whenever the issuer is enabled, as in every cluster of this project; the SDK's types allow for
    a disabled issuer.
    """
    return getattr(profile, "issuer_url", None) or ""
