"""Protocol of the requests to Azure, and the types of its answers. Tests use a recording in place of Azure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


class Unanswered(Exception):
    """Error if Azure gave no usable answer; the text has the request and the reason."""


class NotThere(Unanswered):
    """Error if something does not exist, or if the login may not see it."""


@dataclass(frozen=True)
class Subscription:
    id: str
    name: str
    state: str
    """State of the subscription: `Enabled`, or the reason why it cannot be used: Warned, PastDue, Disabled or Deleted.
    """


@dataclass(frozen=True)
class Usage:
    """One quota of Microsoft.Compute in one region, in vCPU."""

    used: int
    limit: int


@dataclass(frozen=True)
class SizeOffer:
    """Azure's offer of one VM size to one subscription in one region."""

    family: str
    vcpus: int | None
    gpus: int | None
    spot: bool | None
    """True if VMs of this size may be Spot; None if Azure does not say."""
    zones: tuple[str, ...]
    """Availability zones in which the subscription may use the size."""
    refused: str | None = None
    """Azure's reason why the subscription may not use the size in the region, such as NotAvailableForSubscription; None
    if it may use the size.
    """
    capabilities: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values of the size's capabilities by name, such as `CachedDiskBytes`; only capabilities that Azure lists."""


@dataclass(frozen=True)
class PostgresOffer:
    """Features of PostgreSQL Flexible Server that a subscription can use for new servers in one region. A feature is
    None if Azure does not say.
    """

    refused: str | None
    """Azure's reason why the subscription may not create servers in the region; None if it may create servers."""
    zone_redundant: bool | None
    geo_backup: bool | None
    zone_redundant_and_geo: bool | None
    sizes: Mapping[str, tuple[str, ...]]
    """High-availability modes by compute size, such as `Standard_D2ds_v5` → `SameZone`; empty if Azure
    lists no sizes.
    """
    versions: tuple[str, ...]


@dataclass(frozen=True)
class Sku:
    """A size or redundancy that a service offers a subscription."""

    type: str
    """Resource type without the provider, as `storageAccounts`."""
    name: str
    kind: str
    """Kind of the resource, as `StorageV2`; empty where the service has no kinds."""
    locations: tuple[str, ...]
    refused: str = ""
    """Azure's reason why the subscription may not use this size or redundancy; empty if it may."""


@dataclass(frozen=True)
class TypeOffer:
    """Azure's offer of one resource type to the subscription."""

    versions: tuple[str, ...]
    locations: tuple[str, ...]
    """Regions by their display names, such as `West US 2`."""
    zones: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Availability zones by region. A region is missing if Azure lists no zones for it."""


@dataclass(frozen=True)
class Permission:
    """Rights that the caller has through one role: the action patterns in `allowed`, less those in `denied`."""

    allowed: tuple[str, ...]
    denied: tuple[str, ...]
    condition: str = ""
    """Condition under which the rights count, in Azure's language; empty for rights without a condition."""


@dataclass(frozen=True)
class Version:
    """A Kubernetes minor version in which AKS creates clusters in a region."""

    minor: str
    patches: tuple[str, ...]
    preview: bool
    plans: tuple[str, ...] = ()
    """Support plans that clusters of this version can have, such as `AKSLongTermSupport`; empty if Azure
    does not say.
    """


class Azure(Protocol):
    """One subscription, with the caller's rights. Each method raises `Unanswered` if Azure gives no answer."""

    def subscription(self) -> Subscription: ...
    def usages(self, region: str) -> Mapping[str, Usage]:
        """Quotas of Microsoft.Compute in a region, by Azure's name of the quota (`name.value`)."""
        ...

    def sizes(self, region: str) -> Mapping[str, SizeOffer]:
        """VM sizes in a region, by name."""
        ...

    def providers(self) -> Mapping[str, str]:
        """Registration states of resource providers by namespace, such as `Microsoft.ContainerService` →
        `Registered`.
        """
        ...

    def api_versions(self) -> Mapping[str, Sequence[str]]:
        """API versions that Azure serves, by resource type, such as `Microsoft.Network/natGateways`."""
        ...

    def feature(self, namespace: str, name: str) -> str:
        """Registration state of a preview feature of the subscription, such as `Registered`."""
        ...

    def permissions(self, scope: str = "") -> Sequence[Permission]:
        """The caller's rights on a resource or resource group, given by its id; on the subscription by default."""
        ...

    def name_refused(self, kind: str, name: str) -> str | None:
        """Azure's reason why a resource of the type `kind` cannot have this name, for example because the name is
        taken; None if the name is possible.
        """
        ...

    def exists(self, group: str, kind: str, name: str) -> bool:
        """True if a resource group of the subscription contains a resource of the type `kind` with this name."""
        ...

    def postgres(self, region: str) -> PostgresOffer:
        """Features of the PostgreSQL service for new servers in a region."""
        ...

    def kubernetes(self, region: str) -> Sequence[Version]: ...
