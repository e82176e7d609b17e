"""Ends of connections: Pods, addresses, and entities that no policy of the cluster can select."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network


@dataclass(frozen=True)
class Pod:
    """A Pod with its own address."""

    namespace: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    ports: Mapping[str, int] = field(default_factory=dict[str, int])
    """Numbers of its ports by name."""
    space: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of its namespace beside the one with the name, which Kubernetes sets."""
    on_host: bool = False
    """True where it has its node's address: no policy selects or names it."""


@dataclass(frozen=True)
class Address:
    """An address outside of the cluster."""

    text: str


@dataclass(frozen=True)
class Entity:
    """A node, a Pod on the node's network, or the API server, which neither selectors nor `ipBlock` can select."""

    name: str


Party = Pod | Address | Entity
INTERNET = "Internet"
"""Every address that is not of a virtual network (a service tag)."""
Source = IPv4Network | str
"""Source of a packet as a security group sees it: a network, or a service tag."""
