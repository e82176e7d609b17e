"""The settings tree: what a stack may configure, and the shape each value must have.

Shapes only. What depends on the world (a size, a region) is judged in `settings.checks`, what depends on
several fields of one object is checked here beside them. Every field carries a description: `physai explain`
and the reference are made from it. YAML keys are the camelCase form of the field names.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

PoolName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]{0,11}$")]
"""ARM's rule for Linux node pools: 1 to 12 lowercase letters and digits, a letter first."""

Share = Annotated[str, StringConstraints(pattern=r"^(0|[1-9]\d{0,3}|[1-9]\d?%|100%|0%)$")]
"""A number of nodes or a percentage of them."""


def _not_a_number(value: object) -> object:
    # ipaddress reads 134744072 as 8.8.8.8, which nobody means.
    if isinstance(value, int):
        raise ValueError(f"{value} is not an address")
    return value


Cidr = Annotated[IPv4Network, BeforeValidator(_not_a_number)]
Address = Annotated[IPv4Address, BeforeValidator(_not_a_number)]

Zone = Literal["1", "2", "3"]
Weekday = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class Model(BaseModel):
    """Frozen and closed: an unknown key is an error. Files are read strictly besides (`settings.validate`)."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, validate_by_name=True, allow_inf_nan=False
    )


class DriverSource(StrEnum):
    """Who installs the NVIDIA driver on a pool's nodes."""

    OPERATOR = "operator"
    GRID = "grid"
    AKS = "aks"


class Priority(StrEnum):
    REGULAR = "Regular"
    SPOT = "Spot"


class Scale(Model):
    """Either a fixed `count`, or `min` and `max` for the cluster autoscaler."""

    count: Annotated[int, Field(ge=0, le=1000)] | None = Field(default=None, description="Fixed number of nodes.")
    min: Annotated[int, Field(ge=0, le=1000)] | None = Field(
        default=None, description="Fewest nodes the autoscaler keeps."
    )
    max: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="Most nodes the autoscaler makes."
    )
    initial: Annotated[int, Field(ge=0, le=1000)] | None = Field(
        default=None,
        description="Nodes at creation of an autoscaled pool; `min` when absent. Later the autoscaler decides.",
    )

    @property
    def is_autoscaled(self) -> bool:
        return self.count is None

    @property
    def initial_count(self) -> int:
        """Nodes the pool is created with."""
        if self.count is not None:
            return self.count
        return self.initial if self.initial is not None else self.min or 0

    @property
    def most(self) -> int:
        """The largest number of nodes the pool can have."""
        return self.count if self.count is not None else self.max or 0

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.count is not None:
            set_too = [n for n in ("min", "max", "initial") if getattr(self, n) is not None]
            if set_too:
                raise ValueError(f"count and {', '.join(set_too)} exclude each other; write null for the ones to drop")
            return self
        if self.min is None or self.max is None:
            raise ValueError("write either count, or both min and max")
        if self.min > self.max:
            raise ValueError(f"min ({self.min}) must not be greater than max ({self.max})")
        if self.initial is not None and not self.min <= self.initial <= self.max:
            raise ValueError(f"initial ({self.initial}) must lie between min ({self.min}) and max ({self.max})")
        return self


class OsDisk(Model):
    """The node's operating system disk. Immutable: a change replaces the pool."""

    type: Literal["Managed", "Ephemeral"] = Field(
        default="Managed", description="Ephemeral lives on the VM's local disk."
    )
    size_gb: Annotated[int, Field(ge=30, le=2048)] | None = Field(
        default=None, description="GiB. Absent: 128 for Managed, the whole local device for Ephemeral."
    )


class Driver(Model):
    source: DriverSource = Field(description="operator (GPU Operator), grid (our GRID DaemonSet) or aks (node image).")


def _price(value: float) -> float:
    if value != -1 and (value <= 0 or round(value, 5) != value):
        raise ValueError(f"{value} must be -1 or a price above zero with at most five decimals")
    return value


class Spot(Model):
    """What a Spot pool pays. Immutable."""

    max_price: Annotated[float, AfterValidator(_price)] = Field(
        default=-1, description="USD an hour, at most five decimals; -1 pays up to the on-demand price."
    )


class Upgrade(Model):
    """How AKS replaces nodes on an upgrade. Never sent for Spot pools, which ARM refuses."""

    max_surge: Share = Field(
        default="0", description="Extra nodes during an upgrade, a number or a percentage; needs the quota for them."
    )
    max_unavailable: Share = Field(
        default="1", description="Nodes that may be away during an upgrade when nothing is surged."
    )
    drain_timeout_minutes: Annotated[int, Field(ge=1, le=1440)] = Field(
        default=30, description="Minutes to wait for a drain."
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        zero = ("0", "0%")
        if (self.max_surge in zero) == (self.max_unavailable in zero):
            raise ValueError("exactly one of maxSurge and maxUnavailable must be above zero")
        return self


class NodePool(Model):
    """What every node pool has."""

    sku: str = Field(description="VM size, as listed by `physai sizes`.")
    scale: Scale = Field(description="How many nodes.")
    zones: tuple[Zone, ...] = Field(default=(), description="Availability zones; empty leaves the choice to Azure.")
    os_sku: Literal["Ubuntu", "Ubuntu2204", "AzureLinux"] = Field(
        default="Ubuntu", description="Node operating system."
    )
    os_disk: OsDisk = Field(default_factory=OsDisk, description="Operating system disk.")
    max_pods: Annotated[int, Field(ge=10, le=250)] = Field(default=110, description="Pods a node may run; immutable.")
    upgrade: Upgrade = Field(default_factory=Upgrade, description="How upgrades replace nodes.")


class Pool(NodePool):
    """A GPU node pool: one GPU model, one driver source."""

    driver: Driver = Field(description="Who installs the driver; immutable.")
    priority: Priority = Field(
        default=Priority.REGULAR, description="Regular, or Spot for evictable capacity; immutable."
    )
    spot: Spot = Field(default_factory=Spot, description="Only read when priority is Spot.")
    subnet: Cidr = Field(description="CIDR of the pool's own subnet, inside network.addressSpace.")
    labels: dict[str, str] = Field(default_factory=dict, description="Node labels beside those the driver source sets.")
    taints: tuple[str, ...] = Field(default=(), description="Taints beside the GPU taint, as key=value:Effect.")

    @property
    def is_spot(self) -> bool:
        return self.priority is Priority.SPOT


class Network(Model):
    mode: Literal["public"] = Field(
        default="public", description="How the cluster is reached; public is the only mode today."
    )
    address_space: Cidr = Field(description="The virtual network's CIDR, private (RFC 1918).")
    system_subnet: Cidr = Field(description="Subnet of the system and cpu pools.")
    pod_cidr: Cidr = Field(description="Overlay range for pods; not routed, must overlap nothing.")
    service_cidr: Cidr = Field(description="Range for Services; not routed, must overlap nothing.")
    dns_service_ip: Address = Field(description="Cluster DNS address, inside serviceCidr and not its first.")


class ApiAccess(Model):
    """Who may reach the Kubernetes API server's address."""

    authorized_ip_ranges: tuple[Cidr, ...] = Field(
        default=(),
        description="Public CIDRs that reach the API server; empty leaves it open to the internet. The NAT gateway's"
        " own address is always added when any is set.",
    )
    private: bool = Field(default=False, description="No public address; reserved for the private network mode.")


class Autoscaler(Model):
    """Cluster-wide autoscaler profile. Whole minutes, the only unit AKS takes."""

    max_node_provision_minutes: Annotated[int, Field(ge=1, le=120)] = Field(
        default=30, description="A node without its GPU by then is deleted and made anew; must fit a driver build."
    )
    scale_down_unneeded_minutes: Annotated[int, Field(ge=1, le=240)] = Field(
        default=15, description="Idle time before removal."
    )
    scale_down_delay_after_add_minutes: Annotated[int, Field(ge=1, le=240)] = Field(
        default=15, description="Rest after an add."
    )


class Window(Model):
    """A weekly maintenance window."""

    day: Weekday = Field(description="Day of the week.")
    start_hour: Annotated[int, Field(ge=0, le=23)] = Field(description="Hour of the day, 0 to 23, in utcOffset.")
    duration_hours: Annotated[int, Field(ge=4, le=24)] = Field(default=4, description="4 to 24.")
    utc_offset: Annotated[str, StringConstraints(pattern=r"^[+-]\d{2}:\d{2}$")] = Field(
        default="+00:00", description="±HH:MM."
    )


class Upgrades(Model):
    """What AKS may upgrade on its own, and when."""

    channel: Literal["rapid", "stable", "patch", "node-image", "none"] = Field(
        default="patch", description="Kubernetes."
    )
    node_os_channel: Literal["None", "NodeImage", "SecurityPatch"] = Field(
        default="NodeImage",
        description="Node images. Unmanaged is not offered: in-place kernel patches break built drivers.",
    )
    kubernetes_window: Window = Field(description="When Kubernetes upgrades may start.")
    node_os_window: Window = Field(description="When node images may change; every node is reimaged then.")


class Cluster(Model):
    kubernetes_version: Annotated[str, StringConstraints(pattern=r"^1\.\d{2}(\.\d{1,2})?$")] = Field(
        description="Minor (1.36: AKS picks the patch) or exact version."
    )
    tier: Literal["Free", "Standard", "Premium"] = Field(description="Control plane tier; Standard has an SLA.")
    api_access: ApiAccess = Field(default_factory=ApiAccess, description="Reach of the API server.")
    autoscaler: Autoscaler = Field(default_factory=Autoscaler, description="Cluster autoscaler profile.")
    upgrades: Upgrades = Field(description="Channels and maintenance windows.")


class ClusterAdmin(Model):
    """A person, group or workload that administers the cluster from inside."""

    principal_id: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")] = (
        Field(description="Entra object id.")
    )
    principal_type: Literal["User", "Group", "ServicePrincipal"] = Field(
        default="Group", description="Kind of principal."
    )
    role: Literal["admin", "reader"] = Field(
        default="admin", description="RBAC Cluster Admin or RBAC Reader on the cluster."
    )


class Access(Model):
    deployer_type: Literal["User", "ServicePrincipal"] = Field(
        default="User", description="What runs `pulumi up`: a person (laptop) or a service principal (CI)."
    )
    principals: tuple[ClusterAdmin, ...] = Field(default=(), description="Roles on the cluster beside the deployer's.")


def _quota(value: float) -> float:
    if value != -1 and value < 0.023:
        raise ValueError(f"{value} must be -1 or at least 0.023")
    return value


class Monitoring(Model):
    retention_days: Annotated[int, Field(ge=30, le=730)] = Field(
        default=30, description="Days Log Analytics keeps logs."
    )
    daily_quota_gb: Annotated[float, AfterValidator(_quota)] = Field(default=-1, description="Daily cap; -1 for none.")


class Settings(Model):
    """Everything one stack configures. The stack name `<env>-<region>` gives `environment` and `region`."""

    environment: str = Field(description="From the stack name: the part before the first hyphen.")
    region: str = Field(description="From the stack name: the Azure region.")
    tags: dict[str, str] = Field(
        default_factory=dict, description="Azure tags; identities keep those they were made with."
    )
    protect: bool = Field(
        default=False, description="Refuse deletion and replacement of everything but roles on the cluster."
    )
    network: Network = Field(description="Addresses.")
    cluster: Cluster = Field(description="Control plane.")
    access: Access = Field(default_factory=Access, description="Who may do what inside the cluster.")
    monitoring: Monitoring = Field(default_factory=Monitoring, description="Log Analytics.")
    system_pool: NodePool = Field(description="Pool for critical add-ons, tainted CriticalAddonsOnly.")
    cpu_pool: NodePool = Field(description="Untainted pool for operators, schedulers and CPU tasks.")
    pools: dict[PoolName, Pool] = Field(description="GPU node pools by name.")

    @property
    def stack(self) -> str:
        return f"{self.environment}-{self.region}"
