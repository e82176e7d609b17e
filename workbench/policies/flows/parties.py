"""Ends of connections: Pods, addresses, and entities that no NetworkPolicy can select."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Network


@dataclass(frozen=True)
class Pod:
    """A Pod as an end of connections, described by the labels that selectors match."""

    namespace: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    ports: Mapping[str, int] = field(default_factory=dict[str, int])
    """Numbers of the Pod's ports by name."""
    space: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of the Pod's namespace, without `kubernetes.io/metadata.name`, which Kubernetes sets itself."""
    on_host: bool = False
    """True if the Pod has its node's address, so that no NetworkPolicy selects or allows it."""


@dataclass(frozen=True)
class Address:
    """An address outside of the cluster."""

    text: str


@dataclass(frozen=True)
class Entity:
    """An end of connections that is a node, a Pod on its node's network, or the API server. No selector of a
    NetworkPolicy matches it; with Cilium, no `ipBlock` does either.
    """

    name: str


@cache
def network_of(address: str) -> IPv4Network:
    """Network of one address."""
    return IPv4Network(address)


Party = Pod | Address | Entity
INTERNET = "Internet"
"""Service tag of all addresses outside of the virtual network."""
Source = IPv4Network | str
"""Source of a packet in a security group's rules: a network, or the name of a service tag."""
