"""The settings tree: everything that a stack can configure, and the type of each value.

The models contain types, and checks on several fields of one object. Checks that need the catalogue (a size, a region)
or other settings are in `physical_ai.settings.rules`. Every field has a description, which `physai explain` and the
reference show. YAML keys are the field names in camelCase.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from parts.amd.model import AmdGpuOperator
from parts.cluster_services.model import LoadBalancer, Storage
from parts.dra.model import Dra
from parts.network_operator.model import NetworkOperator
from parts.runners.model import Runners
from parts.slurm.model import Slurm
from physical_ai.settings.models.access import Access
from physical_ai.settings.models.admission import Admission
from physical_ai.settings.models.base import Model, of_azure, written
from physical_ai.settings.models.cluster import Cluster
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

ProfileName = Annotated[str, written(r"^[a-z0-9][a-z0-9.-]*$", "a profile's name, like seed-2026-02")]
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
