"""An AKS cluster as you may have one. Replace this file by your own, or read a cluster with `ManagedCluster.get`."""

from __future__ import annotations

import uuid

from pulumi_azure_native import authorization, containerservice, resources

from components.existing_aks import AksTarget, KubernetesAccess, KubernetesAccessArgs

REGION = "westus2"
CLUSTER_ADMIN = "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b"  # Azure Kubernetes Service RBAC Cluster Admin

me = authorization.get_client_config()
group = resources.ResourceGroup("robots", resource_group_name="rg-robots", location=REGION)
cluster = containerservice.ManagedCluster(
    "robots",
    resource_name_="aks-robots",
    resource_group_name=group.name,
    location=REGION,
    dns_prefix="robots",
    kubernetes_version="1.36",
    identity=containerservice.ManagedClusterIdentityArgs(type=containerservice.ResourceIdentityType.SYSTEM_ASSIGNED),
    disable_local_accounts=True,
    enable_rbac=True,
    aad_profile=containerservice.ManagedClusterAADProfileArgs(managed=True, enable_azure_rbac=True),
    network_profile=containerservice.ContainerServiceNetworkProfileArgs(
        network_plugin="azure", network_plugin_mode="overlay"
    ),
    agent_pool_profiles=[
        containerservice.ManagedClusterAgentPoolProfileArgs(
            name="system", mode="System", vm_size="Standard_D8ds_v5", count=2, os_type="Linux"
        )
    ],
)
admin = authorization.RoleAssignment(
    "admin",
    role_assignment_name=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{me.object_id} aks-robots")),
    scope=cluster.id,
    principal_id=me.object_id,
    principal_type="User",  # of a pipeline: ServicePrincipal
    role_definition_id=(
        f"/subscriptions/{me.subscription_id}/providers/Microsoft.Authorization/roleDefinitions/{CLUSTER_ADMIN}"
    ),
)
access = KubernetesAccess("robots", KubernetesAccessArgs(group.name, cluster, cluster_name="aks-robots", after=[admin]))
target = AksTarget(
    region=REGION,
    provider=access.provider,
    kubeconfig=access.kubeconfig,
    services={"kubernetes.azure.com/agentpool": "system"},  # where operators, schedulers and agents run
)
