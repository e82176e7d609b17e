"""Settings for services that a cluster without a cloud lacks: storage, and addresses for Services of type
LoadBalancer.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from physical_ai.settings.models.base import Cidr, Model, written

AddressRange = Annotated[
    str,
    written(
        r"^\d{1,3}(\.\d{1,3}){3}(/\d{1,2}|-\d{1,3}(\.\d{1,3}){3})$",
        "a range of IPv4 addresses, like 10.0.9.0/28 or 10.0.9.10-10.0.9.20",
    ),
]
HostPath = Annotated[str, written(r"^/[\w./-]*\w$", "an absolute path without a slash at its end")]


def _at_least_one(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        raise ValueError("a pool without addresses gives a Service none; name a range, or remove metallb")
    return value


class Longhorn(Model):
    """Longhorn: replicated block storage on the disks of nodes."""

    replicas: Annotated[int, Field(ge=1, le=10)] = Field(
        default=3, description="Copies of each volume, each on another node."
    )
    nodes: Annotated[int, Field(ge=1)] = Field(
        default=3,
        description="Nodes that hold replicas: those with the label node.longhorn.io/create-default-disk=true. `physai"
        " check` counts them.",
    )
    default_class: bool = Field(
        default=True, description="Gives claims that name no StorageClass a volume of Longhorn."
    )
    reclaim_policy: Literal["Delete", "Retain"] = Field(
        default="Delete", description="Treatment of a volume whose claim is deleted."
    )
    data_path: HostPath = Field(default="/var/lib/longhorn", description="Folder of the replicas on each node.")
    snapshots: bool = Field(
        default=True,
        description="A VolumeSnapshotClass. The cluster needs the snapshot CRDs and controller, which Longhorn"
        " does not include.",
    )
    deletable: bool = Field(
        default=False,
        description="Longhorn refuses to be removed, and keeps its volumes, unless this was deployed before.",
    )


class MetalLb(Model):
    """MetalLB: addresses of the nodes' own network for Services of type LoadBalancer, announced by ARP (layer 2)."""

    addresses: Annotated[tuple[AddressRange, ...], AfterValidator(_at_least_one)] = Field(
        description="Ranges that it assigns. No other device in the nodes' network may use them."
    )
    avoid: tuple[Cidr, ...] = Field(
        default=(),
        description="Ranges that these must not overlap: of Pods, of Services, and of the nodes' own addresses. A stack"
        " with a network of its own adds that.",
    )
    interfaces: tuple[str, ...] = Field(
        default=(), description="Interfaces of the nodes that announce the addresses; empty: all of them."
    )


class Storage(Model):
    longhorn: Longhorn | None = Field(default=None, description="Install Longhorn; absent: the cluster has storage.")


class LoadBalancer(Model):
    metallb: MetalLb | None = Field(default=None, description="Install MetalLB; absent: the cluster has addresses.")


def bounds(text: str) -> tuple[IPv4Address, IPv4Address] | None:
    """First and last address of a range; None where the text is no range.

    >>> bounds("10.0.9.10-10.0.9.20")
    (IPv4Address('10.0.9.10'), IPv4Address('10.0.9.20'))
    """
    try:
        if "/" in text:
            network = IPv4Network(text)
            return network[0], network[-1]
        first, _, last = text.partition("-")
        low, high = IPv4Address(first), IPv4Address(last)
    except ValueError:
        return None
    return (low, high) if low <= high else None
