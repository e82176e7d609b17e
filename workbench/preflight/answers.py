"""Requests to Azure and its answers as a protocol, so that tests can use a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


class Unanswered(Exception):
    """Error if Azure gave no usable answer; the text has the request and the reason."""


@dataclass(frozen=True)
class Subscription:
    id: str
    name: str
    state: str
    """`Enabled`, or why it can't be used: Warned, PastDue, Disabled, Deleted."""


@dataclass(frozen=True)
class Usage:
    """One quota of Microsoft.Compute in one region, in vCPU."""

    used: int
    limit: int


@dataclass(frozen=True)
class SizeOffer:
    """A VM size as one subscription may use it in one region."""

    family: str
    vcpus: int | None
    gpus: int | None
    spot: bool | None
    """True where it may be Spot; None if Azure does not specify it."""
    zones: tuple[str, ...]
    """Zones that offer it to this subscription."""
    refused: str | None = None
    """Azure's reason why the subscription may not use it in the region, such as NotAvailableForSubscription."""
    capabilities: Mapping[str, str] = field(default_factory=dict[str, str])
    """All capabilities by name, as `CachedDiskBytes`: what Azure does not list, the size does not have."""


@dataclass(frozen=True)
class PostgresOffer:
    """Features of PostgreSQL Flexible Server that a subscription can use for new servers in one region; None if Azure
    does not say.
    """

    refused: str | None
    """Reason why it may have none there; None where it may."""
    zone_redundant: bool | None
    geo_backup: bool | None
    zone_redundant_and_geo: bool | None
    sizes: Mapping[str, tuple[str, ...]]
    """Modes of a standby by compute size, as `Standard_D2ds_v5` → `SameZone`; empty where Azure lists no sizes."""
    versions: tuple[str, ...]


@dataclass(frozen=True)
class TypeOffer:
    """A resource type in the subscription's list of providers."""

    versions: tuple[str, ...]
    locations: tuple[str, ...]
    """Regions by their long names, as `West US 2`."""
    zones: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Zones by region; a region is missing where Azure does not say."""


@dataclass(frozen=True)
class Permission:
    """The caller's rights: patterns of allowed actions, without those in `denied`."""

    allowed: tuple[str, ...]
    denied: tuple[str, ...]


@dataclass(frozen=True)
class Version:
    """A Kubernetes minor version in which AKS creates clusters in a region."""

    minor: str
    patches: tuple[str, ...]
    preview: bool
    plans: tuple[str, ...] = ()
    """Support plans of clusters with it, as `AKSLongTermSupport`; empty where Azure does not say."""


class Azure(Protocol):
    """One subscription, with the caller's rights. Each method raises `Unanswered` if Azure gives no answer."""

    def subscription(self) -> Subscription: ...
    def usages(self, region: str) -> Mapping[str, Usage]:
        """Quotas of Microsoft.Compute in a region, by `name.value`."""
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
        """Reason why a resource of a type can't have this name, such as that the name is taken elsewhere; None if it
        can.
        """
        ...

    def exists(self, group: str, kind: str, name: str) -> bool:
        """True if a resource group of the subscription contains the resource."""
        ...

    def postgres(self, region: str) -> PostgresOffer:
        """Features of the PostgreSQL service for new servers in a region."""
        ...

    def kubernetes(self, region: str) -> Sequence[Version]: ...
