"""What Azure is asked, and what it answers. Everything behind one protocol, so that a recording can stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class Unanswered(Exception):
    """Azure gave no usable answer; the text says to what, and why."""


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
    """Whether it may be Spot; None where Azure does not say."""
    zones: tuple[str, ...]
    """Zones that offer it to this subscription."""
    refused: str | None = None
    """Why the subscription may not use it in the region at all, in Azure's word, as NotAvailableForSubscription."""


@dataclass(frozen=True)
class Permission:
    """What the caller may do on the subscription: patterns of actions, less those of `denied`."""

    allowed: tuple[str, ...]
    denied: tuple[str, ...]


@dataclass(frozen=True)
class Version:
    """A Kubernetes minor that AKS makes clusters of in a region."""

    minor: str
    patches: tuple[str, ...]
    preview: bool


class Azure(Protocol):
    """One subscription, as the caller sees it. Each question raises `Unanswered` where Azure gives no answer."""

    def subscription(self) -> Subscription: ...
    def usages(self, region: str) -> Mapping[str, Usage]:
        """Quotas of Microsoft.Compute by `name.value`."""
        ...

    def sizes(self, region: str) -> Mapping[str, SizeOffer]:
        """VM sizes by name."""
        ...

    def providers(self) -> Mapping[str, str]:
        """Registration states by namespace, as `Microsoft.ContainerService` → `Registered`."""
        ...

    def permissions(self) -> Sequence[Permission]: ...
    def kubernetes(self, region: str) -> Sequence[Version]: ...
