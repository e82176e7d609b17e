"""Settings of networks that give Pods an additional interface, such as one for each rail."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from physical_ai.settings.models.base import Address, Cidr, Model, NamespaceName, written
from physical_ai.settings.models.node_pools import PoolName

NetworkName = Annotated[
    str,
    written(r"^[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?$", "the name of a network: lower-case letters, digits and hyphens"),
]
"""Name of an IPPool, a MacvlanNetwork and the MacvlanNetwork's NetworkAttachmentDefinition."""
InterfaceName = Annotated[
    str,
    written(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$", "the name of an interface: at most 15 characters, like ens2f0np0"),
]
"""Name of a network interface: at most 15 characters in Linux (include/uapi/linux/if.h, IFNAMSIZ)."""


class PodNetwork(Model):
    """A network of Pods: the hosts' interface, and the addresses that Pods get on it."""

    interface: InterfaceName = Field(description="Interface of the hosts that Pods share, as the hosts call it.")
    subnet: Cidr = Field(description="Addresses of Pods on this network, apart from those that devices on it have.")
    addresses_per_node: Annotated[int, Field(ge=1, le=65536)] = Field(
        default=16, description="Addresses that each node gives to its Pods."
    )
    gateway: Address | None = Field(default=None, description="Router of the subnet, which no Pod gets.")
    mtu: Annotated[int, Field(ge=1280, le=9216)] | None = Field(
        default=None, description="Largest packet; absent: that of the interface."
    )
    mode: Literal["bridge", "private", "vepa", "passthru"] = Field(
        default="bridge",
        description="bridge: Pods of one node reach each other. private: they do not. vepa: through the switch."
        " passthru: one Pod has the interface.",
    )
    pools: tuple[PoolName, ...] = Field(
        default=(), description="GPU pools whose nodes have the interface; empty: all of them."
    )
    namespace: NamespaceName = Field(
        default="osmo-workflows", description="Namespace of the Pods that name the network."
    )
