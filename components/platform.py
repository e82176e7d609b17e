"""The platform: every component of one stack, in the order in which they are created."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.access import ClusterAccess, ClusterAccessArgs
from components.account import azure_subscription
from components.azure_metrics import AzureMetrics, AzureMetricsArgs
from components.cluster import Cluster, ClusterArgs
from components.cluster_target import ClusterTarget
from components.cpu_pool import CpuPool, CpuPoolArgs
from components.drift_reader import DriftReader, DriftReaderArgs
from components.gpu_admission import GpuAdmission, GpuAdmissionArgs
from components.gpu_gate import GpuGate, GpuGateArgs
from components.gpu_operator import GpuOperator, GpuOperatorArgs
from components.gpu_pool import GpuPool, GpuPoolArgs
from components.grid_driver import GridDriver, GridDriverArgs
from components.identities import Identities, IdentitiesArgs
from components.kube_prometheus import KubePrometheus, KubePrometheusArgs, metrics_release
from components.kubernetes_access import KubernetesAccess, KubernetesAccessArgs
from components.maintenance import Maintenance, MaintenanceArgs
from components.monitoring import Monitoring, MonitoringArgs
from components.namespaces import Namespaces, NamespacesArgs
from components.network import Network, NetworkArgs
from components.osmo import Osmo, OsmoArgs
from components.outputs import Deployed, stack_outputs
from components.release_gate import ReleaseGate, ReleaseGateArgs
from components.resource_group import ResourceGroup, ResourceGroupArgs
from components.role_propagation import wait_for_roles
from components.scraping import Scraping, ScrapingArgs
from physical_ai.catalog.monitoring import NAMESPACE as METRICS_NAMESPACE
from physical_ai.catalog.monitoring import RELEASE as METRICS_RELEASE
from physical_ai.catalog.osmo import KAI_NAMESPACE
from physical_ai.readiness import expected_pools
from physical_ai.settings import Loaded
from physical_ai.settings.facts.access import admin_groups, grants
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.osmo import AGENT_TOKEN
from physical_ai.settings.facts.outbound import SYSTEM_SUBNET, outbound_plan
from physical_ai.settings.plans.drift_reader import drift_reader_objects
from physical_ai.settings.plans.gpu_admission import policies
from physical_ai.settings.plans.gpu_operator import CHART
from physical_ai.settings.plans.osmo_backend import osmo_backend
from physical_ai.settings.secrets import Secrets


@dataclass(frozen=True)
class Foundation:
    """The Azure resources that the cluster needs before it can be created."""

    group: ResourceGroup
    network: Network
    identities: Identities


@dataclass(frozen=True)
class Interior:
    """The target for Kubernetes resources: access to the cluster, and the namespaces to install into."""

    kubeconfig: pulumi.Output[str]
    target: ClusterTarget
    namespaces: Mapping[str, kubernetes.core.v1.Namespace]


class Platform(pulumi.ComponentResource):
    """An AKS cluster with its GPU pools and, installed in it, the GPU stack and OSMO.

    Attributes:
        outputs: what the stack exports, by name. Nothing in it is secret.
    """

    outputs: dict[str, Any]

    def __init__(self, name: str, loaded: Loaded, secrets: Secrets, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:index:Platform", name, {}, opts)
        settings = loaded.settings
        self._name, self._settings, self._plan, self._secrets = name, settings, loaded.plan, secrets
        self._backend = osmo_backend(settings, loaded.plan.osmo, has_token=AGENT_TOKEN in secrets)
        self._names = Names(settings.stack)
        self._subscription = azure_subscription()
        self._retry = wait_for_roles(f"{name}-role-propagation")
        # Components pass `protect` on to their children. All get it: a destroy that is refused for one resource
        # continues with the others, and would forget, without deleting them, those that are deleted with the cluster.
        self._protected = pulumi.ResourceOptions(parent=self, protect=settings.protect)
        self._unprotected = pulumi.ResourceOptions(parent=self)

        foundation = self._foundation()
        cluster = self._cluster(foundation)
        cpu, gpu_pools = self._cpu_pool(foundation, cluster), self._gpu_pools(foundation, cluster)
        self._operations(foundation, cluster)
        access = self._access(foundation, cluster, cpu)

        interior = self._interior(cluster, access)
        DriftReader(
            f"{self._name}-drift-reader",
            DriftReaderArgs(interior.target, drift_reader_objects(settings.access)),
            self._unprotected,
        )
        metrics = self._scraping(interior)
        admission = self._admission(interior)
        driver = self._grid_driver(interior)
        operator = self._gpu_operator(interior, driver)
        gate = self._gpu_gate(interior, operator, gpu_pools)
        osmo = self._osmo(foundation, cluster, interior, admission)

        self._release_gate(interior, operator, osmo, metrics)

        found = Deployed(
            resource_group=foundation.group.name,
            cluster=cluster.name,
            oidc_issuer_url=cluster.oidc_issuer_url,
            nat_addresses=foundation.network.nat_addresses,
            kubeconfig=interior.kubeconfig,
            gpus=gate.gpus,
            releases={**metrics_release(self._plan.kube_prometheus), **osmo.versions},
            workflows_principal_id=osmo.workflows.identity.principal_id,
        )
        self.outputs = stack_outputs(settings, found)
        self.register_outputs(self.outputs)

    # Azure

    def _foundation(self) -> Foundation:
        settings, names, region, tags = self._settings, self._names, self._settings.region, self._settings.tags
        group = ResourceGroup(
            f"{self._name}-rg", ResourceGroupArgs(names.resource_group, region, tags), self._protected
        )
        subnets = {
            SYSTEM_SUBNET: str(settings.network.system_subnet),
            **{name: str(pool.subnet) for name, pool in settings.pools.items()},
        }
        space, outbound = str(settings.network.address_space), outbound_plan(settings)
        # Another network mode is another component with `subnet_ids` and `nat_addresses`; the rest does not change.
        network = Network(
            f"{self._name}-network",
            NetworkArgs(names, group.name, region, tags, space, subnets, outbound),
            self._protected,
        )
        identities = Identities(
            f"{self._name}-identities",
            IdentitiesArgs(names, group.name, region, tags, self._subscription, network.subnet_ids),
            self._protected,
        )
        return Foundation(group, network, identities)

    def _cluster(self, foundation: Foundation) -> Cluster:
        settings = self._settings
        return Cluster(
            f"{self._name}-cluster",
            ClusterArgs(
                names=self._names,
                resource_group_name=foundation.group.name,
                location=settings.region,
                tags=settings.tags,
                settings=settings.cluster,
                network=settings.network,
                system_pool=settings.system_pool,
                system_subnet_id=foundation.network.subnet_ids[SYSTEM_SUBNET],
                nat_addresses=foundation.network.nat_addresses,
                identities=foundation.identities,
                assignments=foundation.identities.assignments,
                admin_groups=admin_groups(settings.access),
                retry=self._retry,
                metrics=settings.monitoring.metrics == "azure",
            ),
            self._protected,
        )

    def _cpu_pool(self, foundation: Foundation, cluster: Cluster) -> CpuPool:
        settings, subnet = self._settings, foundation.network.subnet_ids[SYSTEM_SUBNET]
        return CpuPool(
            f"{self._name}-cpu",
            CpuPoolArgs(
                foundation.group.name,
                cluster.managed_cluster,
                settings.cluster.pools_version,
                subnet,
                settings.tags,
                settings.cpu_pool,
                self._retry,
            ),
            self._protected,
        )

    def _gpu_pools(self, foundation: Foundation, cluster: Cluster) -> list[GpuPool]:
        settings, aks, subnets = self._settings, cluster.managed_cluster, foundation.network.subnet_ids
        group, version, tags = foundation.group.name, settings.cluster.pools_version, settings.tags
        return [
            GpuPool(
                f"{self._name}-{name}",
                GpuPoolArgs(
                    name=name,
                    pool=pool,
                    resource_group_name=group,
                    cluster=aks,
                    kubernetes_version=version,
                    subnet_id=subnets[name],
                    subnet_assignment=foundation.identities.subnet_assignments[name],
                    tags=tags,
                    retry=self._retry,
                ),
                self._protected,
            )
            for name, pool in settings.pools.items()
        ]

    def _operations(self, foundation: Foundation, cluster: Cluster) -> None:
        """When AKS may upgrade the cluster, and the destination of the control plane's logs."""
        settings, group = self._settings, foundation.group.name
        Maintenance(
            f"{self._name}-maintenance",
            MaintenanceArgs(group, cluster.managed_cluster, settings.cluster.upgrades, self._retry),
            self._protected,
        )
        Monitoring(
            f"{self._name}-monitoring",
            MonitoringArgs(self._names, group, settings.region, settings.tags, cluster.id, settings.monitoring),
            self._protected,
        )
        if settings.monitoring.metrics == "azure":
            AzureMetrics(
                f"{self._name}-metrics",
                AzureMetricsArgs(
                    self._names, group, self._subscription, cluster.id, cluster.name, settings, self._secrets
                ),
                self._protected,
            )

    def _access(self, foundation: Foundation, cluster: Cluster, cpu: CpuPool) -> KubernetesAccess:
        """Roles on the cluster and, once these and the cpu pool exist, the provider for all resources in it.

        It does not wait for GPU pools: one for which Azure has no capacity must not leave the others' cluster empty.
        """
        roles = ClusterAccess(
            f"{self._name}-access",
            ClusterAccessArgs(cluster.id, self._subscription, grants(self._settings.access)),
            # Not protected: roles are withdrawn in production too.
            self._unprotected,
        )
        after = [*roles.assignments, cpu.node_pool]
        return KubernetesAccess(
            f"{self._name}-kubernetes",
            KubernetesAccessArgs(foundation.group.name, cluster.managed_cluster, self._names.cluster, after),
            self._protected,
        )

    # In the cluster

    def _interior(self, cluster: Cluster, access: KubernetesAccess) -> Interior:
        target = ClusterTarget(access.provider, cluster.managed_cluster, self._retry)
        without = (
            *((KAI_NAMESPACE,) if self._backend is None else ()),
            *((METRICS_NAMESPACE,) if self._plan.kube_prometheus is None else ()),
        )
        created = Namespaces(f"{self._name}-namespaces", NamespacesArgs(target, without), self._protected)
        return Interior(access.kubeconfig, target, created.namespaces)

    def _scraping(self, interior: Interior) -> KubePrometheus | None:
        settings, namespaces, plan = self._settings, interior.namespaces, self._plan.kube_prometheus
        installed = None
        if plan is not None:
            args = KubePrometheusArgs(interior.target, namespaces[METRICS_NAMESPACE], settings, plan, self._secrets)
            installed = KubePrometheus(f"{self._name}-kube-prometheus", args, self._protected)
        if settings.monitoring.is_measured:
            after = [namespaces[OPERATOR_NAMESPACE], *([installed.release] if installed else [])]
            Scraping(f"{self._name}-scraping", ScrapingArgs(interior.target, settings, after), self._protected)
        return installed

    def _admission(self, interior: Interior) -> GpuAdmission:
        args = GpuAdmissionArgs(interior.target, policies(self._settings), list(interior.namespaces.values()))
        return GpuAdmission(f"{self._name}-gpu-admission", args, self._protected)

    def _grid_driver(self, interior: Interior) -> GridDriver:
        args = GridDriverArgs(interior.target, interior.namespaces[OPERATOR_NAMESPACE], self._plan.grid)
        return GridDriver(f"{self._name}-grid-driver", args, self._protected)

    def _gpu_operator(self, interior: Interior, driver: GridDriver) -> GpuOperator:
        # The validator looks for a host's driver once: the agent keeps it off the node until there is one.
        after = [driver.daemon_set] if driver.daemon_set is not None else []
        settings = self._settings
        args = GpuOperatorArgs(
            target=interior.target,
            namespace=interior.namespaces[OPERATOR_NAMESPACE],
            plan=self._plan.gpu,
            version=settings.gpu_operator.version,
            charts=settings.charts.source,
            after=after,
        )
        return GpuOperator(f"{self._name}-gpu-operator", args, self._protected)

    def _gpu_gate(self, interior: Interior, operator: GpuOperator, pools: Sequence[GpuPool]) -> GpuGate:
        return GpuGate(
            f"{self._name}-gpu-gate",
            GpuGateArgs(
                kubeconfig=interior.kubeconfig,
                expected=expected_pools(self._settings),
                timeout_minutes=self._settings.gpu_operator.gate.timeout_minutes,
                after=[operator],
                settled=[pool.settled for pool in pools],
            ),
            self._unprotected,
        )

    def _release_gate(
        self, interior: Interior, operator: GpuOperator, osmo: Osmo, metrics: KubePrometheus | None
    ) -> ReleaseGate:
        namespaces = {CHART: OPERATOR_NAMESPACE, **{name: osmo.versions[name]["namespace"] for name in osmo.releases}}
        after = [operator.release, *osmo.releases.values()]
        if metrics is not None:
            namespaces[METRICS_RELEASE] = METRICS_NAMESPACE
            after.append(metrics.release)
        args = ReleaseGateArgs(interior.kubeconfig, namespaces, after)
        return ReleaseGate(f"{self._name}-release-gate", args, self._unprotected)

    def _osmo(self, foundation: Foundation, cluster: Cluster, interior: Interior, admission: GpuAdmission) -> Osmo:
        return Osmo(
            f"{self._name}-osmo",
            OsmoArgs(
                target=interior.target,
                settings=self._settings,
                backend=self._backend,
                secrets=self._secrets,
                names=self._names,
                resource_group_name=foundation.group.name,
                issuer_url=cluster.oidc_issuer_url,
                kubeconfig=interior.kubeconfig,
                namespaces=interior.namespaces,
                service_values=self._plan.osmo_service,
                admission=[admission],
            ),
            self._protected,
        )
