"""Settings of the network: addresses, and how nodes reach the internet."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from physical_ai.settings.models.base import Address, Cidr, Model
from physical_ai.settings.models.private_network import PrivateNetwork

NetworkMode = Literal["public", "hybrid", "private"]
OutboundForm = Literal["zone-redundant", "zonal", "nonzonal"]


class Outbound(Model):
    """Settings of the NAT gateways. The API server sees nodes under the public addresses of these gateways."""

    form: OutboundForm | None = Field(
        default=None,
        description="zone-redundant: one StandardV2 gateway. zonal: a Standard gateway in each zone, for the subnets"
        " whose nodes are in that zone only. nonzonal: one Standard gateway, in a zone that Azure selects. Absent:"
        " nonzonal if no pool sets zones; otherwise zonal, and zone-redundant once the program sends gateways with an"
        " API version that is published with StandardV2, in a region that has it.",
    )
    next: OutboundForm | None = Field(
        default=None,
        description="The form to change to: its gateways and addresses are created, and the API server accepts the"
        " addresses, while the subnets keep the present form. The first of two steps.",
    )


class Isolation(Model):
    """Restrictions, by NetworkPolicies, on the addresses that Pods may reach."""

    platform: Literal["off", "deny"] = Field(
        default="off",
        description="deny: osmo-control-plane, kai-scheduler, gpu-operator, network-operator, monitoring and nvsentinel"
        " too send and accept only what is named, as osmo-workflows and osmo-operator always do. off: what was"
        " installed there by hand keeps its network.",
    )
    task_ranges: tuple[Cidr, ...] = Field(
        default=(),
        description="Private CIDRs that tasks of workflows may reach, such as a file server's, or a control plane's in"
        " another network. They reach no other private address but private endpoints, and no metadata service.",
    )

    @property
    def denies(self) -> bool:
        return self.platform == "deny"


class Network(Model):
    mode: NetworkMode = Field(
        default="public",
        description="Services that are reached from the internet. public: the API server and the data services. hybrid:"
        " the API server only. private: neither. A change from or to private replaces the cluster.",
    )
    address_space: Cidr = Field(description="The virtual network's CIDR, private (RFC 1918).")
    system_subnet: Cidr = Field(description="Subnet of the system and cpu pools.")
    pod_cidr: Cidr = Field(description="Overlay range for pods; not routed, must not overlap other ranges.")
    service_cidr: Cidr = Field(description="Range for Services; not routed, must not overlap other ranges.")
    outbound: Outbound = Field(default_factory=Outbound, description="Access of nodes to the internet.")
    dns_service_ip: Address = Field(description="Cluster DNS address, inside serviceCidr and not its first.")
    isolation: Isolation = Field(default_factory=Isolation, description="Addresses that Pods may reach.")
    private: PrivateNetwork | None = Field(
        default=None, description="Private endpoints and ways in; needed by the modes hybrid and private."
    )
