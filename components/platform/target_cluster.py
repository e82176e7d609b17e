"""The cluster that a stack is installed in: an AKS cluster with its Azure resources, or an existing cluster.

No other component module depends on the kind of cluster: the Azure resources are declared completely or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi

from components.aks.access import ClusterAccess, ClusterAccessArgs
from components.aks.kubernetes_access import KubernetesAccess, KubernetesAccessArgs
from components.azure.account import azure_subscription
from components.azure.role_propagation import wait_for_roles
from components.azure.subscriptions import Subscriptions
from components.azure.workload_identity import IdentityPlace
from components.kubernetes.cluster_cleanup import ClusterCleanup, ClusterCleanupArgs
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.existing_cluster import ExistingCluster, ExistingClusterArgs
from components.network.gateway_dns import GatewayDns, GatewayDnsArgs
from components.network.private_link import PrivateLink, PrivateLinkArgs
from components.platform.azure_cluster import AzureCluster
from components.platform.azure_network import AzureNetwork
from components.platform.azure_services import AzureServices
from components.platform.parent import Parent
from components.platform.private_network import PrivateNetwork
from physical_ai.planning.cleanup import NodeMarks, cleanup_plan, found_before
from physical_ai.readiness.existing import FIELD_MANAGER, PATCH_ANNOTATIONS, STACK_LABEL, NodeChange
from physical_ai.readiness.existing_record import MARK_LABEL
from physical_ai.settings import Loaded, Settings
from physical_ai.settings.facts.access import grants
from physical_ai.settings.facts.data_services import pulls_from_registry_only
from physical_ai.settings.facts.gateway_dns import gateway_record
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.private_network import ENDPOINTS, existing_zones, private_network
from physical_ai.settings.rules.subscription import elsewhere
from physical_ai.settings.secrets import Secrets
from physical_ai.settings.target import existing_cluster, leaves_nothing


class AzureResources:
    """The AKS cluster, the Azure resources around it, and the roles on it, in the order in which they are created.

    Attributes:
        link: private endpoints; None in the mode public, where services have public endpoints.
        access: Kubernetes provider for all objects in the cluster. It waits for the roles on the cluster, the cpu pool,
            and the registry from which Pods pull images.
    """

    network: AzureNetwork
    services: AzureServices
    private: PrivateNetwork
    link: PrivateLink | None = None
    aks: AzureCluster
    access: KubernetesAccess

    def __init__(
        self, parent: Parent, settings: Settings, secrets: Secrets, subscription: str, retry: pulumi.ErrorHook
    ) -> None:
        subscriptions = Subscriptions(parent.name, subscription, parent.unprotected)
        self.network = AzureNetwork(parent, settings, subscription)
        self.services = AzureServices(parent, settings, secrets, subscriptions, self.network)
        self.private = PrivateNetwork(parent, settings, subscriptions, self.network)
        if (record := gateway_record(settings)) is not None:
            dns = GatewayDnsArgs(record, self.network.zones)
            GatewayDns(f"{parent.name}-gateway-dns", dns, parent.unprotected)
        targets = self.services.private_targets
        if private_network(settings) is not None and targets:
            link = PrivateLinkArgs(
                targets=targets,
                subnet_id=self.network.network.service_subnet_ids[ENDPOINTS],
                location=settings.region,
                zone=self.network.zones,
                existing_zones=existing_zones(settings),
            )
            self.link = PrivateLink(f"{parent.name}-private-link", link, parent.protected)
        self.aks = AzureCluster(
            parent, settings, retry, azure=self.network, services=self.services, private=self.private
        )
        self.services.watch(self.aks.cluster)
        roles = ClusterAccess(
            f"{parent.name}-access",
            ClusterAccessArgs(self.aks.cluster.id, subscription, grants(settings.access)),
            # Not protected: roles are withdrawn in production too.
            parent.unprotected,
        )
        access = KubernetesAccessArgs(
            resource_group_name=self.network.group.name,
            cluster=self.aks.cluster.managed_cluster,
            cluster_name=Names(settings.stack).cluster,
            # Not the GPU pools: one for which Azure has no capacity must not leave the others' cluster empty.
            after=[*roles.assignments, self.aks.cpu_pool.node_pool, *self._images(settings)],
        )
        self.access = KubernetesAccess(f"{parent.name}-kubernetes", access, parent.protected)

    @property
    def identities(self) -> IdentityPlace:
        """Resource group and token issuer of the workload identities."""
        return IdentityPlace(self.network.group.name, self.aks.cluster.oidc_issuer_url)

    @property
    def endpoints_ready(self) -> list[pulumi.Resource]:
        """Private endpoints and the DNS registrations of their names; empty in the mode public."""
        return list(self.link.ready) if self.link is not None else []

    def _images(self, settings: Settings) -> list[pulumi.Resource]:
        """Resources that must exist before Pods can pull images, if Pods pull from the stack's registry only; otherwise
        an empty list.
        """
        data = self.services.data
        if data is None or not pulls_from_registry_only(settings):
            return []
        return [*data.registry.ready, *self.endpoints_ready]


@dataclass(frozen=True)
class TargetCluster:
    """The cluster that a stack is installed in: access to the cluster, and its resources and outputs.

    Attributes:
        settled: outputs that become known when the node pools exist, or when their creation has failed.
        azure: the Azure resources around an AKS cluster; None for an existing cluster.
        outputs: the stack's outputs about the cluster.
    """

    kubeconfig: pulumi.Output[str]
    target: ClusterTarget
    settled: Sequence[pulumi.Input[str]] = ()
    azure: AzureResources | None = None
    outputs: Mapping[str, Any] = field(default_factory=dict[str, Any])


def subscription_of(loaded: Loaded) -> str:
    """Id of the Azure subscription in which the stack is deployed; empty for a stack on an existing cluster.

    Raises:
        pulumi.RunError: no subscription is selected, or the settings name another subscription than the selected one.
    """
    if existing_cluster(loaded.settings) is not None:
        return ""
    subscription = azure_subscription()
    if faults := elsewhere(loaded, subscription):
        raise pulumi.RunError("\n".join(map(str, faults)))
    return subscription


def target_cluster(parent: Parent, loaded: Loaded, secrets: Secrets, subscription: str) -> TargetCluster:
    """The existing cluster that the settings name, or an AKS cluster with all Azure resources around it."""
    settings, retry = loaded.settings, wait_for_roles(f"{parent.name}-role-propagation")
    given = existing_cluster(settings)
    if given is None or given.context is None:
        return _on_azure(AzureResources(parent, settings, secrets, subscription, retry), retry)
    cluster = ExistingCluster(
        f"{parent.name}-cluster",
        ExistingClusterArgs(settings, loaded.plan, given.context, given.kubeconfig),
        parent.unprotected,
    )
    labels = {STACK_LABEL: settings.stack, MARK_LABEL: cluster.mark}
    target = ClusterTarget(
        provider=cluster.provider,
        kubeconfig=cluster.kubeconfig,
        cluster=None,
        retry=retry,
        after=cluster.changed,
        labels=labels,
    )
    if leaves_nothing(settings):
        target = _cleaned(parent, loaded, target, cluster)
    return TargetCluster(cluster.kubeconfig, target, outputs={"cluster": given.context})


def _cleaned(parent: Parent, loaded: Loaded, target: ClusterTarget, cluster: ExistingCluster) -> ClusterTarget:
    """Declares the cleanup release in an existing cluster. When the release is deleted, it removes what the stack has
    left in the cluster.

    Returns `target` with the release in `after`: all other objects are created after the release, and so deleted before
    it.
    """
    charts = {chart.name for chart in loaded.plan.charts}
    plan = cleanup_plan(loaded.settings, charts, [_marks(change) for change in cluster.classes])
    before = found_before(cluster.found.definitions, cluster.found.nodes, FIELD_MANAGER)
    args = ClusterCleanupArgs(target, plan, before)
    cleanup = ClusterCleanup(f"{parent.name}-cleanup", args, parent.protected)
    return replace(target, after=[*target.after, cleanup.release])


def _marks(change: NodeChange) -> NodeMarks:
    return NodeMarks(change.node, change.labels, PATCH_ANNOTATIONS, change.taints)


def _on_azure(azure: AzureResources, retry: pulumi.ErrorHook) -> TargetCluster:
    cluster, kubeconfig = azure.aks.cluster, azure.access.kubeconfig
    return TargetCluster(
        kubeconfig=kubeconfig,
        target=ClusterTarget(azure.access.provider, kubeconfig, cluster.managed_cluster, retry),
        settled=[pool.settled for pool in azure.aks.gpu_pools],
        azure=azure,
        outputs={
            "resourceGroup": azure.network.group.name,
            "cluster": cluster.name,
            "oidcIssuerUrl": cluster.oidc_issuer_url,
            "natAddresses": azure.private.node_addresses,
            "kubeconfig": kubeconfig,
        },
    )
