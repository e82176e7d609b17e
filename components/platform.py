"""The platform: every component of one stack, and the order they come in."""

from __future__ import annotations

from typing import Any

import pulumi

from components.access import ClusterAccess, ClusterAccessArgs, grants
from components.account import azure_account
from components.cluster import Cluster, ClusterArgs
from components.cluster_target import ClusterTarget
from components.cpu_pool import CpuPool, CpuPoolArgs
from components.gpu_admission import GpuAdmission, GpuAdmissionArgs
from components.gpu_gate import GpuGate, GpuGateArgs
from components.gpu_operator import NAMESPACE, GpuOperator, GpuOperatorArgs
from components.gpu_pool import GpuPool, GpuPoolArgs
from components.grid_driver import GridDriver, GridDriverArgs
from components.identities import Identities, IdentitiesArgs
from components.kubernetes_access import KubernetesAccess, KubernetesAccessArgs
from components.maintenance import Maintenance, MaintenanceArgs
from components.monitoring import Monitoring, MonitoringArgs
from components.namespaces import Namespaces, NamespacesArgs
from components.naming import Names
from components.network import SYSTEM_SUBNET, Network, NetworkArgs
from components.osmo import Osmo, OsmoArgs
from components.resource_group import ResourceGroup, ResourceGroupArgs
from components.role_propagation import wait_for_roles
from physical_ai.catalog.osmo import KAI_NAMESPACE
from physical_ai.readiness import expected_pools
from physical_ai.settings import Settings
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts.osmo import platforms
from physical_ai.settings.facts.pools import gpu_profile_driver, gpus_per_node, node_taints
from physical_ai.settings.plans.gpu_operator import CHART
from physical_ai.settings.plans.osmo_service import chart_values, values_files
from physical_ai.settings.secrets import Secrets


class Platform(pulumi.ComponentResource):
    """An AKS cluster with its GPU pools, and the namespaces the GPU stack is installed into.

    Attributes:
        outputs: what the stack exports, by name. Nothing in it is secret.
        secrets: the stack's secrets by name, for components that log in somewhere. Each is a secret Output, and none
            of them is exported or part of the settings.
        gpu_pools: node pools by name.
        grid_driver: what brings drivers to the hosts of vGPU pools.
        osmo: what runs workflows on them.
        gpu_operator: what brings drivers, and offers GPUs to Kubernetes.
    """

    outputs: dict[str, Any]
    secrets: Secrets

    def __init__(
        self, name: str, settings: Settings, secrets: Secrets, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("physical-ai:index:Platform", name, {}, opts)
        self.secrets = secrets
        names = Names(settings.stack)
        account = azure_account()
        retry = wait_for_roles(f"{name}-role-propagation")
        # Components hand `protect` on to their children. All get it: a destroy that is refused for one resource goes
        # on with the others, and would forget, without deleting them, those that were to go with the cluster.
        guarded = pulumi.ResourceOptions(parent=self, protect=settings.protect)
        region, tags = settings.region, settings.tags

        group = ResourceGroup(f"{name}-rg", ResourceGroupArgs(names.resource_group, region, tags), guarded)
        # Another network mode is another component with `subnet_ids` and `nat_address`; the rest stays as it is.
        network = Network(
            f"{name}-network",
            NetworkArgs(names, group.name, region, tags, str(settings.network.address_space), _subnets(settings)),
            guarded,
        )
        identities = Identities(
            f"{name}-identities",
            IdentitiesArgs(names, group.name, region, tags, account.subscription_id, network.subnet_ids),
            guarded,
        )
        cluster = Cluster(
            f"{name}-cluster",
            ClusterArgs(
                names=names,
                resource_group_name=group.name,
                location=region,
                tags=tags,
                settings=settings.cluster,
                network=settings.network,
                system_pool=settings.system_pool,
                system_subnet_id=network.subnet_ids[SYSTEM_SUBNET],
                nat_address=network.nat_address,
                identities=identities,
                assignments=identities.assignments,
                retry=retry,
            ),
            guarded,
        )
        aks = cluster.managed_cluster
        version = settings.cluster.kubernetes_version
        cpu = CpuPool(
            f"{name}-cpu",
            CpuPoolArgs(group.name, aks, version, network.subnet_ids[SYSTEM_SUBNET], tags, settings.cpu_pool, retry),
            guarded,
        )
        self.gpu_pools = {
            pool_name: GpuPool(
                f"{name}-{pool_name}",
                GpuPoolArgs(
                    name=pool_name,
                    pool=pool,
                    resource_group_name=group.name,
                    cluster=aks,
                    kubernetes_version=version,
                    subnet_id=network.subnet_ids[pool_name],
                    subnet_assignment=identities.subnet_assignments[pool_name],
                    tags=tags,
                    retry=retry,
                ),
                guarded,
            )
            for pool_name, pool in settings.pools.items()
        }
        Maintenance(f"{name}-maintenance", MaintenanceArgs(group.name, aks, settings.cluster.upgrades), guarded)
        Monitoring(
            f"{name}-monitoring",
            MonitoringArgs(names, group.name, region, tags, cluster.id, settings.monitoring),
            guarded,
        )
        # Except roles: withdrawing one has to work in production too.
        access = ClusterAccess(
            f"{name}-access",
            ClusterAccessArgs(cluster.id, account, grants(settings.access, account.object_id)),
            pulumi.ResourceOptions(parent=self),
        )
        nodes = [cpu.node_pool, *(pool.node_pool for pool in self.gpu_pools.values())]
        kubernetes = KubernetesAccess(
            f"{name}-kubernetes",
            KubernetesAccessArgs(group.name, aks, names.cluster, [*access.assignments, *nodes]),
            guarded,
        )
        target = ClusterTarget(kubernetes.provider, aks, retry)
        backend = settings.osmo.mode == "backend"
        namespaces = Namespaces(
            f"{name}-namespaces", NamespacesArgs(target, () if backend else (KAI_NAMESPACE,)), guarded
        ).namespaces
        admission = GpuAdmission(
            f"{name}-gpu-admission", GpuAdmissionArgs(target, settings, list(namespaces.values())), guarded
        )
        self.grid_driver = GridDriver(
            f"{name}-grid-driver", GridDriverArgs(target, namespaces[NAMESPACE], settings), guarded
        )
        agent = [self.grid_driver.daemon_set] if self.grid_driver.daemon_set is not None else []
        self.gpu_operator = GpuOperator(
            # The validator looks at a host once: the agent is there to hold it off until there is a driver.
            f"{name}-gpu-operator",
            GpuOperatorArgs(target, namespaces[NAMESPACE], settings, agent),
            guarded,
        )
        gate = GpuGate(
            f"{name}-gpu-gate",
            GpuGateArgs(
                kubeconfig=kubernetes.kubeconfig,
                expected=expected_pools(settings),
                timeout_minutes=settings.gpu_operator.gate.timeout_minutes,
                after=[self.gpu_operator],
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.osmo = Osmo(
            f"{name}-osmo",
            OsmoArgs(
                target=target,
                settings=settings,
                secrets=secrets,
                names=names,
                resource_group_name=group.name,
                issuer_url=cluster.oidc_issuer_url,
                kubeconfig=kubernetes.kubeconfig,
                namespaces=namespaces,
                service_values=values_files(settings),
                admission=[admission],
            ),
            guarded,
        )
        self.outputs = {
            "resourceGroup": group.name,
            "cluster": cluster.name,
            "oidcIssuerUrl": cluster.oidc_issuer_url,
            "natAddress": network.nat_address,
            "kubeconfig": kubernetes.kubeconfig,
            "releases": {
                CHART: {"version": settings.gpu_operator.version, "namespace": NAMESPACE},
                **self.osmo.versions,
            },
            "pools": {pool_name: pool_summary(settings, pool_name) for pool_name in settings.pools},
            "gpus": gate.gpus,
            "osmo": {
                "mode": settings.osmo.mode,
                "queues": settings.osmo.queues,
                "platforms": {item.name: item.pool for item in platforms(settings)},
                "workflowsPrincipalId": self.osmo.workflows.identity.principal_id,
                "serviceValues": chart_values(settings),
            },
        }
        self.register_outputs(self.outputs)


def _subnets(settings: Settings) -> dict[str, str]:
    pools = {name: str(pool.subnet) for name, pool in settings.pools.items()}
    return {SYSTEM_SUBNET: str(settings.network.system_subnet), **pools}


def pool_summary(settings: Settings, name: str) -> dict[str, Any]:
    """What a reader of the stack's outputs wants to know of a GPU pool; counts are those asked for, not those there."""
    pool = settings.pools[name]
    version = gpu_facts.driver_version(settings, pool)
    return {
        "size": pool.sku,
        "driverSource": pool.driver.source.value,
        # Absent where the node image decides.
        **({"driverVersion": version} if version is not None else {}),
        "gpuDriver": gpu_profile_driver(pool),
        "priority": pool.priority.value,
        "gpusPerNode": gpus_per_node(pool),
        "sharing": gpu_facts.sharing_kind(pool),
        "resources": gpu_facts.offered(settings, pool),
        "nodes": pool.scale.model_dump(exclude_none=True),
        "labels": gpu_facts.pool_labels(name, pool),
        "taints": node_taints(pool),
    }
