"""Settings of a node pool: size, scale, disk, and for GPU pools driver, sharing, priority, subnet."""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from physical_ai.settings.models.base import Cidr, Model, of_azure, written
from physical_ai.settings.models.capacity import Capacity, is_empty
from physical_ai.settings.models.gpu import DriverVersion, ModuleType, Sharing
from physical_ai.settings.models.grid_driver import UpgradePolicy
from physical_ai.settings.models.kubelet import Kubelet
from physical_ai.settings.models.usual_load import UsualLoad

PoolName = Annotated[
    str,
    written(
        r"^[a-z][a-z0-9]{0,11}$", "a node pool's name: 1 to 12 lowercase letters and digits, beginning with a letter"
    ),
]
"""Name of a node pool, by ARM's rule for Linux: 1 to 12 lowercase letters and digits, beginning with a letter."""

Share = Annotated[
    str,
    written(r"^(0|[1-9]\d{0,3}|[1-9]\d?%|100%|0%)$", 'a number of nodes or a percentage in quotes, like "1" or "33%"'),
]
"""Number of nodes, or a percentage of them."""

Zone = Literal["1", "2", "3"]
Allocation = Literal["devicePlugin", "dra"]


MANAGED_DISK_GIB = 128
"""GiB of a managed OS disk without a configured size; the same as AKS's default."""


class DriverSource(StrEnum):
    """Installer of the NVIDIA driver on a pool's nodes."""

    OPERATOR = "operator"
    GRID = "grid"
    AKS = "aks"
    HOST = "host"


class Priority(StrEnum):
    REGULAR = "Regular"
    SPOT = "Spot"


class Scale(Model):
    """Number of nodes: either a fixed `count`, or `min` and `max` for the cluster autoscaler."""

    count: Annotated[int, Field(ge=0, le=1000)] | None = Field(default=None, description="Fixed number of nodes.")
    min: Annotated[int, Field(ge=0, le=1000)] | None = Field(
        default=None, description="Fewest nodes the autoscaler keeps."
    )
    max: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="Maximum number of nodes that the autoscaler creates."
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
        """Number of nodes with which the pool is created."""
        if self.count is not None:
            return self.count
        return self.initial if self.initial is not None else self.min or 0

    @property
    def least(self) -> int:
        """The smallest number of nodes the pool can have."""
        return self.count if self.count is not None else self.min or 0

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

    type: Literal["Managed", "Ephemeral"] = Field(default="Managed", description="Ephemeral is on the VM's local disk.")
    size_gb: Annotated[int, Field(ge=30, le=2048)] | None = Field(
        default=None, description=f"GiB. Absent: {MANAGED_DISK_GIB} for Managed, the whole local device for Ephemeral."
    )


class Driver(Model):
    """Settings of the NVIDIA driver on one pool's nodes."""

    source: DriverSource = Field(
        description="operator (GPU Operator), grid (our GRID DaemonSet), aks (node image) or host (installed on the"
        " nodes of an existing cluster beforehand); immutable."
    )
    version: DriverVersion | None = Field(
        default=None,
        description="Build. Absent: gpuOperator.driver.version for operator, gridDriver.version for grid. Never for"
        " aks and host, where the node image decides.",
    )
    module_type: ModuleType | None = Field(
        default=None,
        description="Kernel modules; absent: gpuOperator.driver.moduleType, or gridDriver.moduleType for grid.",
    )
    module_parameters: dict[str, dict[str, str]] = Field(
        default_factory=dict, description='Kernel module parameters by module, as nvidia-uvm: {uvm_disable_hmm: "1"}.'
    )
    upgrade_policy: UpgradePolicy | None = Field(
        default=None, description="GPU Pods that block a driver change; absent: gridDriver.upgradePolicy. For grid."
    )

    @property
    def is_operator(self) -> bool:
        return self.source is DriverSource.OPERATOR

    @property
    def is_grid(self) -> bool:
        return self.source is DriverSource.GRID


def _price(value: float) -> float:
    if value != -1 and (value <= 0 or round(value, 5) != value):
        raise ValueError(f"{value} must be -1 or a price above zero with at most five decimals")
    return value


class Spot(Model):
    """Settings of a Spot pool's price limit. Immutable."""

    max_price: Annotated[float, AfterValidator(_price)] = Field(
        default=-1, description="USD an hour, at most five decimals; -1 pays up to the on-demand price."
    )


class Upgrade(Model):
    """Settings of the replacement of nodes by AKS during upgrades.

    The program does not send these settings for Spot pools, because ARM refuses them there.
    """

    max_surge: Share = Field(
        default="0", description="Extra nodes during an upgrade, a number or a percentage; needs the quota for them."
    )
    max_unavailable: Share = Field(
        default="1", description="Nodes that may be unavailable during an upgrade when nothing is surged."
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
    """Settings that every node pool has."""

    sku: str = Field(
        description="VM size, as listed by `physai sizes`; on an existing cluster a server of the catalogue."
    )
    scale: Scale = Field(description="Number of nodes.")
    zones: tuple[Zone, ...] = Field(default=(), description="Availability zones; empty leaves the choice to Azure.")
    os_sku: Literal["Ubuntu", "Ubuntu2204", "AzureLinux"] = Field(
        default="Ubuntu", description="Node operating system."
    )
    os_disk: OsDisk = Field(default_factory=OsDisk, description="Operating system disk.")
    max_pods: Annotated[int, Field(ge=10, le=250)] = Field(default=110, description="Pods a node may run; immutable.")
    upgrade: Upgrade = Field(default_factory=Upgrade, description="Replacement of nodes by upgrades.")
    node_selector: dict[str, str] = Field(
        default_factory=dict,
        description="Labels that select the pool's nodes, which have all of them; on an existing cluster only.",
    )
    tolerate: tuple[str, ...] = Field(
        default=(),
        description="Taints that these nodes have and keep, as key=value:Effect; on an existing cluster only.",
    )


class Fallback(Model):
    """Alternative to a pool that is not available: the pool with other values, or another stack's pool.

    Only `physai obtain` uses it: the command reports the alternative and writes a change of the stack file for review.
    """

    sku: str | None = Field(default=None, description="Another VM size; absent: the pool's.")
    zones: tuple[Zone, ...] | None = Field(default=None, description="Other zones; absent: the pool's.")
    priority: Priority | None = Field(default=None, description="Regular after Spot, for example; absent: the pool's.")
    stack: str | None = Field(
        default=None, description="Another stack, whose cluster OSMO can use instead. Not with other values."
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        others = [name for name in ("sku", "zones", "priority") if getattr(self, name) is not None]
        if self.stack is not None and others:
            raise ValueError(f"stack and {', '.join(others)} exclude each other: the other stack has its own pools")
        if self.stack is None and not others:
            raise ValueError("write at least one of sku, zones, priority and stack")
        return self


def _is_none(value: object) -> bool:
    return value is None


class Pool(NodePool):
    """Settings of a GPU node pool. All its nodes have the same GPU model and the same driver source."""

    driver: Driver = Field(description="Driver and its installer.")
    replaces: str | None = Field(
        default=None,
        exclude_if=_is_none,
        description="Pool of the layers below in whose place this one is: it has its scale, priority, Spot price,"
        " labels and taints, and the other pool is removed. Consumed when the layers are merged.",
    )
    sharing: Sharing = Field(
        default_factory=Sharing, description="Sharing of a GPU by several Pods; nothing: one Pod a GPU."
    )
    fabric: Literal["none", "infiniband"] = Field(
        default="none",
        description="infiniband: Pods reach the InfiniBand adapters of the pool's nodes. Needs networkOperator, and a"
        " VM size that has them.",
    )
    allocation: Allocation = Field(
        default="devicePlugin",
        description="Method by which Pods get GPUs. devicePlugin: nvidia.com/gpu in their limits. dra: resource claims,"
        " which see memory and architecture; without OSMO.",
    )
    kubelet: Kubelet | None = Field(
        default=None, description="Alignment of Pods by NUMA nodes; absent: none, as is AKS's default."
    )
    secure_boot: bool = Field(
        default=False,
        description="Start signed code only; of all drivers, precompiled ones are signed, and AKS's on Azure Linux.",
    )
    priority: Priority = Field(
        default=Priority.REGULAR, description="Regular, or Spot for evictable capacity; immutable."
    )
    spot: Spot = Field(default_factory=Spot, description="Only read when priority is Spot.")
    capacity: Capacity = Field(
        default_factory=Capacity, exclude_if=is_empty, description="Machines beside the pool's own; absent: none."
    )
    azure_subnet: Cidr | None = Field(
        default=None, alias="subnet", description="CIDR of the pool's own subnet, inside network.addressSpace."
    )
    labels: dict[str, str] = Field(default_factory=dict, description="Node labels beside those the driver source sets.")
    fallbacks: tuple[Fallback, ...] = Field(
        default=(), description="Alternatives if the pool is not available, best first; only `physai obtain` reads it."
    )
    usual_load: UsualLoad | None = Field(
        default=None,
        description="What runs on an ordinary day, by which a pull request says whose work a change ends; nothing is"
        " deployed from it.",
    )
    taints: tuple[str, ...] = Field(default=(), description="Taints beside the GPU taint, as key=value:Effect.")

    @property
    def subnet(self) -> IPv4Network:
        """Subnet of a pool on Azure. Raises NotAzure for an existing cluster."""
        return of_azure("pools.subnet", self.azure_subnet)

    @property
    def is_spot(self) -> bool:
        return self.priority is Priority.SPOT

    @property
    def uses_claims(self) -> bool:
        return self.allocation == "dra"
