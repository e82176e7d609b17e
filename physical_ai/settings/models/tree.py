"""The settings tree: everything that a stack can configure, and the type of each value.

The models contain types, and checks on several fields of one object. Checks that need the catalogue (a size, a region)
or other settings are in `physical_ai.settings.rules`. Every field has a description, which `physai explain` and the
reference show. YAML keys are the field names in camelCase.
"""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from parts.amd.model import AmdGpuOperator
from parts.cluster_services.model import LoadBalancer, Storage
from parts.dra.model import Dra
from parts.network_operator.model import NetworkOperator
from parts.runners.model import Runners
from parts.slurm.model import Slurm
from physical_ai.settings.models.admission import Admission
from physical_ai.settings.models.base import Cidr, EntraId, Model, of_azure, written
from physical_ai.settings.models.data_services import DataServices
from physical_ai.settings.models.first_gpu import TimeToFirstGpu
from physical_ai.settings.models.gpu import GpuOperator
from physical_ai.settings.models.grid_driver import GridDriver
from physical_ai.settings.models.health import Health
from physical_ai.settings.models.monitoring import Monitoring
from physical_ai.settings.models.network import Isolation, Network
from physical_ai.settings.models.node_pools import NodePool, Pool, PoolName
from physical_ai.settings.models.osmo import Osmo
from physical_ai.settings.models.parts import Parts
from physical_ai.settings.models.preflight import Preflight
from physical_ai.settings.models.private_network import PrivateNetwork
from physical_ai.settings.models.target import Target

Weekday = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
UtcOffset = Annotated[str, written(r"^[+-]\d{2}:\d{2}$", 'an offset from UTC in quotes, like "+01:00"')]
KubernetesVersion = Annotated[
    str, written(r"^1\.\d{2}(\.\d{1,2})?$", 'a Kubernetes version in quotes, like "1.36" or "1.36.3"')
]
ProfileName = Annotated[str, written(r"^[a-z0-9][a-z0-9.-]*$", "a profile's name, like seed-2026-02")]


class ApiAccess(Model):
    """Access to the Kubernetes API server."""

    authorized_ip_ranges: tuple[Cidr, ...] = Field(
        default=(),
        description="Public CIDRs that reach the API server; empty leaves it open to the internet. The"
        " addresses of the NAT gateways are always added when any is set.",
    )
    run_command: bool = Field(
        default=False,
        description="Allow `az aks command invoke`, which runs commands in the cluster from outside of these ranges and"
        " of a private network.",
    )


class Autoscaler(Model):
    """Profile of the cluster autoscaler, in whole minutes, the only unit that AKS accepts."""

    max_node_provision_minutes: Annotated[int, Field(ge=1, le=120)] = Field(
        default=30,
        description="A node without its GPU by then is deleted and recreated; must be longer than a driver build.",
    )
    scale_down_unneeded_minutes: Annotated[int, Field(ge=1, le=240)] = Field(
        default=15, description="Idle time before removal."
    )
    scale_down_delay_after_add_minutes: Annotated[int, Field(ge=1, le=240)] = Field(
        default=15, description="Time after a scale-up before scale-down resumes."
    )


class Window(Model):
    """A maintenance window, weekly or monthly."""

    day: Weekday = Field(description="Day of the week.")
    week: Literal["First", "Second", "Third", "Fourth", "Last"] | None = Field(
        default=None, description="Week of the month, for one window a month; absent: every week."
    )
    start_hour: Annotated[int, Field(ge=0, le=23)] = Field(description="Hour of the day, 0 to 23, in utcOffset.")
    duration_hours: Annotated[int, Field(ge=4, le=24)] = Field(default=4, description="4 to 24.")
    utc_offset: UtcOffset = Field(default="+00:00", description="±HH:MM.")


def _stays_on_its_minor(value: object) -> object:
    if value in ("rapid", "stable"):
        raise ValueError(
            f"'{value}' lets AKS upgrade to the next minor, after which it rejects every update of the cluster as "
            "a downgrade to kubernetesVersion; write patch, node-image or none, and raise kubernetesVersion yourself"
        )
    return value


Channel = Annotated[Literal["patch", "node-image", "none"], BeforeValidator(_stays_on_its_minor)]


def _moment(value: object) -> object:
    """Validates a time, which must have a UTC offset.

    ARM would read a time without an offset as UTC, while the user may have meant local time.
    """
    if isinstance(value, datetime.datetime):  # YAML has parsed the time already
        value = value.isoformat()
    if not isinstance(value, str):
        raise ValueError("write a time, such as 2026-12-01T04:00:00Z")
    try:
        moment = datetime.datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"'{value}' is not a time; write one such as 2026-12-01T04:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError(f"'{value}' lacks the distance to UTC; write {value}Z for UTC")
    return value


Moment = Annotated[str, BeforeValidator(_moment)]


class Upgrades(Model):
    """Settings of automatic upgrades by AKS, and of the times at which they may take place."""

    channel: Channel = Field(
        default="patch", description="Kubernetes: patch and node-image keep the minor of kubernetesVersion."
    )
    node_os_channel: Literal["None", "NodeImage", "SecurityPatch"] = Field(
        default="NodeImage",
        description="Node images. Unmanaged is not offered: in-place kernel patches break built drivers.",
    )
    force_until: Moment | None = Field(
        default=None,
        description="Upgrades that begin before this time, 2026-12-01T04:00:00Z, pass over disruption budgets and drain"
        " each node whatever runs there; after it, they respect them again. Absent: AKS refuses an upgrade while a"
        " budget of the cluster allows no eviction.",
    )
    kubernetes_window: Window = Field(description="Time in which Kubernetes upgrades may start.")
    node_os_window: Window = Field(description="Time in which node images may change; every node is reimaged then.")

    @property
    def forced_until(self) -> datetime.datetime | None:
        """Time until which an upgrade ignores PodDisruptionBudgets; None if no upgrade ignores them."""
        return datetime.datetime.fromisoformat(self.force_until) if self.force_until else None


class Cluster(Model):
    kubernetes_version: KubernetesVersion = Field(
        description="Minor (1.36: AKS picks the patch) or exact version. Of an existing cluster: what it has."
    )
    nodes_version: KubernetesVersion | None = Field(
        default=None,
        description="Version of the node pools, where it differs: at most kubernetesVersion and at most three minors"
        " older. Absent: kubernetesVersion. For upgrades in two steps, the control plane first.",
    )
    azure_tier: Literal["Free", "Standard", "Premium"] | None = Field(
        default=None, alias="tier", description="Control plane tier; Standard has an SLA."
    )
    support_plan: Literal["KubernetesOfficial", "AKSLongTermSupport"] = Field(
        default="KubernetesOfficial",
        description="AKSLongTermSupport: security fixes for a year after the community's support ends; on the tier"
        " Premium.",
    )
    api_access: ApiAccess = Field(default_factory=ApiAccess, description="Reach of the API server.")
    autoscaler: Autoscaler = Field(default_factory=Autoscaler, description="Cluster autoscaler profile.")
    azure_upgrades: Upgrades | None = Field(
        default=None, alias="upgrades", description="Channels and maintenance windows."
    )

    @property
    def long_term(self) -> bool:
        return self.support_plan == "AKSLongTermSupport"

    @property
    def tier(self) -> Literal["Free", "Standard", "Premium"]:
        """Pricing tier of an AKS cluster. Raises NotAzure for an existing cluster."""
        return of_azure("cluster.tier", self.azure_tier)

    @property
    def upgrades(self) -> Upgrades:
        """Upgrade settings of an AKS cluster. Raises NotAzure for an existing cluster."""
        return of_azure("cluster.upgrades", self.azure_upgrades)

    @property
    def pools_version(self) -> str:
        """Kubernetes version of the node pools."""
        return self.nodes_version or self.kubernetes_version


class Deployer(Model):
    """A group, person or pipeline that deploys the stack."""

    principal_id: EntraId = Field(description="Entra object id.")
    principal_type: Literal["User", "Group", "ServicePrincipal"] = Field(
        default="Group", description="Kind of principal; a pipeline's identity is a ServicePrincipal."
    )


class ClusterPrincipal(Model):
    """A person, group or workload with a role inside the cluster."""

    principal_id: EntraId = Field(description="Entra object id.")
    principal_type: Literal["User", "Group", "ServicePrincipal"] = Field(
        default="Group", description="Kind of principal."
    )
    role: Literal["admin", "reader", "drift-reader"] = Field(
        default="reader",
        description="reader: RBAC Reader on the cluster. drift-reader: also what drift detection reads of roles,"
        " admission policies and drivers, but no Secrets; a Group or ServicePrincipal. admin: RBAC Cluster Admin.",
    )


class Access(Model):
    deployers: tuple[Deployer, ...] = Field(
        default=(),
        description="Principals that deploy the stack, and are administrators of the cluster: groups through the"
        " cluster's own list of admin groups, others through RBAC Cluster Admin. A deployment to Azure needs"
        " at least one.",
    )
    principals: tuple[ClusterPrincipal, ...] = Field(
        default=(), description="Further roles on the cluster, such as administrators for emergencies, and readers."
    )


ChartSourceName = Literal["repository", "cache"]


class Charts(Model):
    """Settings of the source of Helm charts. The catalogue pins versions and checksums of the charts."""

    source: ChartSourceName = Field(
        default="repository",
        description="A deployment installs verified archives only. repository: it downloads those that are missing and"
        " records a checksum that is not known yet. cache: it downloads none, `physai charts pull` did.",
    )


class Settings(Model):
    """All settings of a stack. The stack name `<env>-<region>` determines `environment` and `region`."""

    environment: str = Field(description="Part of the stack name before the first hyphen.")
    region: str = Field(description="Azure region, from the stack name.")
    profile: ProfileName | None = Field(
        default=None,
        description="Architecture that overrides environment and region: a file of stacks/layers/profile. Only a"
        " stack file, -f or --set can select one.",
    )
    record: bool = Field(
        default=False,
        description="The stack documents a past architecture for simulation: what Azure has retired since is a"
        " warning, and the stack is never deployed to Azure.",
    )
    tags: dict[str, str] = Field(
        default_factory=dict, description="Azure tags; identities keep those they were created with."
    )
    protect: bool = Field(
        default=False, description="Refuse deletion and replacement of everything but roles on the cluster."
    )
    target: Target = Field(default_factory=Target, description="Cluster in which the platform is installed.")
    azure_network: Network | None = Field(default=None, alias="network", description="Addresses.")
    cluster: Cluster = Field(description="Control plane.")
    access: Access = Field(default_factory=Access, description="Principals with roles inside the cluster.")
    preflight: Preflight = Field(
        default_factory=Preflight, description="Questions to Azure before a deployment's first resource."
    )
    monitoring: Monitoring = Field(default_factory=Monitoring, description="Logs, metrics, alerts.")
    time_to_first_gpu: TimeToFirstGpu = Field(
        default_factory=TimeToFirstGpu, description="Budget for the time until a Pod has a GPU; none by default."
    )
    charts: Charts = Field(default_factory=Charts, description="Source of Helm charts.")
    gpu_operator: GpuOperator = Field(description="NVIDIA GPU Operator.")
    network_operator: NetworkOperator | None = Field(
        default=None, description="NVIDIA Network Operator; absent: not installed. Pools with a fabric need it."
    )
    dra: Dra = Field(default_factory=Dra, description="GPUs by resource claims, of pools with allocation: dra.")
    amd_gpu_operator: AmdGpuOperator | None = Field(
        default=None, description="AMD GPU Operator, for pools of AMD's GPUs; absent: not installed."
    )
    grid_driver: GridDriver = Field(description="Driver of vGPU pools, which our agent installs on the host.")
    admission: Admission = Field(default_factory=Admission, description="Requirements on GPU Pods of any origin.")
    health: Health = Field(default_factory=Health, description="Health of GPU nodes.")
    osmo: Osmo = Field(default_factory=Osmo, description="NVIDIA OSMO.")
    data_services: DataServices | None = Field(
        default=None, description="Database, cache, storage, vault and registry for OSMO's control plane; absent: none."
    )
    runners: Runners | None = Field(
        default=None,
        description="Self-hosted GitHub runners in the cluster, for pipelines of a private stack; absent: none.",
    )
    slurm: Slurm | None = Field(
        default=None, description="A Slurm cluster on GPU pools of its own, by SchedMD's operator; absent: none."
    )
    storage: Storage = Field(
        default_factory=Storage, description="Storage of a cluster without a cloud; nothing is installed by default."
    )
    load_balancer: LoadBalancer = Field(
        default_factory=LoadBalancer,
        description="Addresses of Services in a cluster without a cloud; nothing is installed by default.",
    )
    parts: Parts = Field(
        default_factory=Parts,
        description="Optional parts with a setting of their own here; none by default.",
        # The section is not shown where no part has a setting in it.
        exclude=not Parts.model_fields,
    )
    azure_system_pool: NodePool | None = Field(
        default=None, alias="systemPool", description="Pool for critical add-ons, tainted CriticalAddonsOnly."
    )
    cpu_pool: NodePool = Field(description="Untainted pool for operators, schedulers and CPU tasks.")
    pools: dict[PoolName, Pool] = Field(description="GPU node pools by name.")

    @property
    def network(self) -> Network:
        """Virtual network of the stack. Raises NotAzure for an existing cluster."""
        return of_azure("network", self.azure_network)

    @property
    def system_pool(self) -> NodePool:
        """System pool of an AKS cluster. Raises NotAzure for an existing cluster."""
        return of_azure("systemPool", self.azure_system_pool)

    @property
    def isolation(self) -> Isolation:
        """Restrictions on the addresses that Pods may reach."""
        return self.azure_network.isolation if self.azure_network is not None else Isolation()

    @property
    def private(self) -> PrivateNetwork | None:
        """Settings of private endpoints and of access from outside; None for a stack without such settings."""
        return self.azure_network.private if self.azure_network is not None else None

    @property
    def stack(self) -> str:
        return f"{self.environment}-{self.region}"
