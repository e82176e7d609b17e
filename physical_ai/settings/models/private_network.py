"""Settings of networks that are not public: private endpoints, a private API server, and access from outside."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from physical_ai.settings.models.base import Address, Cidr, EntraId, Model, written

VirtualNetworkId = Annotated[
    str,
    written(
        r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Network/virtualNetworks/[^/]+$",
        "the resource id of a virtual network, /subscriptions/…/virtualNetworks/<name>",
    ),
]
ResourceGroupId = Annotated[
    str,
    written(r"^/subscriptions/[^/]+/resourceGroups/[^/]+$", "the resource id of a resource group"),
]
MonitorScopeId = Annotated[
    str,
    written(
        r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/[mM]icrosoft\.[iI]nsights/private[lL]ink[sS]copes/[^/]+$",
        "the resource id of a private link scope of Azure Monitor, /subscriptions/…/privateLinkScopes/<name>",
    ),
]
AccessMode = Literal["PrivateOnly", "Open"]
ApiServerForm = Literal["privateEndpoint", "vnetIntegration"]
ApiServerZone = Annotated[
    str,
    written(
        r"^(stack|system|none|/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Network/privateDnsZones/[^/]+)$",
        "stack, system, none or the resource id of a private DNS zone, /subscriptions/…/privateDnsZones/<name>",
    ),
]


class ApiServer(Model):
    """Settings of a private API server: its connection to the network, and the DNS zone that contains its name."""

    form: ApiServerForm = Field(
        default="privateEndpoint",
        description="privateEndpoint: AKS creates a private endpoint in the system subnet. vnetIntegration: the API"
        " server has an address in a subnet of its own. A change replaces the cluster.",
    )
    dns_zone: ApiServerZone = Field(
        default="stack",
        description="Zone with the API server's name. stack: a zone of this stack, linked to its network and the hub."
        " system: one that AKS creates, linked to the cluster's network only. none: the private address is in public"
        " DNS. The resource id of a zone: an existing one, such as the hub's, also in another subscription. A change"
        " replaces the cluster.",
    )
    zone_role: Literal["assign", "given"] = Field(
        default="assign",
        description="Private DNS Zone Contributor on an existing zone, for the cluster's identity. assign: the"
        " deployment assigns it, before the cluster. given: assigned outside the stack; until then AKS refuses it.",
    )
    subnet: Cidr | None = Field(
        default=None, description="Subnet of the API server, /28 or larger; only with vnetIntegration."
    )


class Resolver(Model):
    """A DNS private resolver, which answers queries for the private zones from VPN clients and outside networks."""

    subnet: Cidr = Field(description="Subnet of the inbound endpoint, /28 to /24, for the resolver only.")


class Vpn(Model):
    """A point-to-site VPN with Entra logins."""

    gateway_subnet: Cidr = Field(description="The subnet GatewaySubnet, /27 or larger.")
    client_range: Cidr = Field(description="Addresses of the clients; must overlap no network that they reach.")
    tenant_id: EntraId = Field(description="Entra tenant whose users may connect.")
    sku: Literal["VpnGw1AZ", "VpnGw2AZ", "VpnGw3AZ"] = Field(default="VpnGw1AZ", description="Size of the gateway.")


class Hub(Model):
    """An existing virtual network with which the stack's network is peered."""

    virtual_network_id: VirtualNetworkId = Field(description="Resource id of the hub's virtual network.")
    address_spaces: tuple[Cidr, ...] = Field(
        min_length=1, description="CIDRs of the hub and of everything reached through it."
    )
    dns_servers: tuple[Address, ...] = Field(
        default=(),
        description="DNS servers of the hub, which become the network's. The stack's zones are linked to the hub, so"
        " that these servers resolve them through Azure's 168.63.129.16.",
    )
    dns_zones: ResourceGroupId | None = Field(
        default=None,
        description="Resource group with the private DNS zones of the data services, if the hub has them already: the"
        " endpoints are registered there, and the stack creates no zones for them. A network can be linked to one zone"
        " of a name only, so a hub for several stacks needs it.",
    )
    peer_back: bool = Field(
        default=True,
        description="Creates the hub's side of the peering, too, in the hub's subscription. false: it is created"
        " outside the stack, before the deployment; `physai check` and the stack's outputs have the command."
        " Until then no traffic passes.",
    )
    use_gateway: bool = Field(
        default=False, description="Reach networks outside through the hub's VPN or ExpressRoute gateway."
    )


class Firewall(Model):
    """A firewall through which nodes reach the internet, instead of NAT gateways."""

    address: Address = Field(description="Private address of the firewall, in the hub.")
    public_addresses: tuple[Address, ...] = Field(
        default=(),
        description="Addresses that the nodes have on the internet behind the firewall: a public API server with"
        " authorizedIpRanges must accept them.",
    )


class MonitorAccess(Model):
    """Settings of access to Azure Monitor: the path by which metrics and container logs reach it, and who may read
    them.
    """

    access: Literal["private", "public"] = Field(
        default="private",
        description="private: a private link scope, to which the network is connected, and no public access. public:"
        " the public endpoints of Azure Monitor, with Entra as the login.",
    )
    ingestion: AccessMode = Field(
        default="PrivateOnly",
        description="Destinations of the network. PrivateOnly: workspaces of the scope. Open: any workspace, such"
        " as an Application Insights resource outside the stack.",
    )
    query: AccessMode | None = Field(
        default=None,
        description="Place of reading logs, metrics and dashboards. PrivateOnly: in the network only, and the network"
        " reads no others. Open: on the internet, too. Absent: PrivateOnly with mode: private, Open with hybrid.",
    )
    scope: MonitorScopeId | None = Field(
        default=None,
        description="Resource id of an existing scope, such as the hub's, which the network already reaches by its DNS"
        " servers: the stack adds its workspaces to it. Absent: a scope of the stack. Networks that share DNS servers"
        " need one scope for all of them.",
    )


class PrivateNetwork(Model):
    """Network of a stack in the modes hybrid and private."""

    endpoint_subnet: Cidr = Field(description="Subnet of the private endpoints, /28 or larger.")
    api_server: ApiServer = Field(
        default_factory=ApiServer, description="The private API server; only with mode: private."
    )
    resolver: Resolver | None = Field(default=None, description="DNS private resolver; absent: none.")
    vpn: Vpn | None = Field(default=None, description="Point-to-site VPN gateway; absent: none.")
    hub: Hub | None = Field(default=None, description="Peering with an existing hub; absent: none.")
    firewall: Firewall | None = Field(
        default=None,
        description="Route of all nodes to the internet (outboundType userDefinedRouting); absent: NAT gateways. A"
        " change replaces the cluster.",
    )
    monitor: MonitorAccess = Field(
        default_factory=MonitorAccess,
        description="Azure Monitor, where the stack sends metrics or logs of containers to it.",
    )
    runners_inside: bool = Field(
        default=False,
        description="Deployments of this stack run inside the network, or in one that is connected to it by other"
        " means: a way in that the stack does not create.",
    )
