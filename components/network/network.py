"""The virtual network: one subnet for the system and cpu pools, one for each GPU pool, and the NAT gateways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import network

from components.network.api_reach import keep_api_server
from physical_ai.settings.facts.inbound import InboundRule
from physical_ai.settings.facts.naming import Names, subnet_name
from physical_ai.settings.facts.outbound import SYSTEM_SUBNET, Gateway, OutboundFacts
from physical_ai.settings.facts.private_network import ENDPOINTS, ServiceSubnet


@dataclass(frozen=True)
class Outbound:
    """A NAT gateway for subnets.

    Attributes:
        gateway_id: ARM id of the gateway.
        guard: hook that checks a subnet's change to this gateway.
    """

    gateway_id: pulumi.Output[str]
    guard: pulumi.ResourceHook


@dataclass(frozen=True)
class NetworkArgs:
    """Inputs of `Network`.

    `subnets`: address range (CIDR) of each subnet, by the subnet's name: `system`, or the name of a GPU pool's subnet.
    `service_subnets`: subnets that hold no nodes.
    `dns_servers`: addresses of DNS servers; empty for Azure's own DNS.
    `firewall`: next hop of the nodes' route to the internet; None if the nodes use NAT gateways.
    """

    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    address_space: str
    subnets: Mapping[str, str]
    outbound: OutboundFacts
    service_subnets: Sequence[ServiceSubnet] = ()
    dns_servers: Sequence[str] = ()
    firewall: str | None = None
    inbound: Sequence[InboundRule] = ()
    """Rules of the subnets' security group for traffic from outside the virtual network."""


class Network(pulumi.ComponentResource):
    """A virtual network whose subnets share a security group and reach the internet through NAT gateways.

    Attributes:
        subnet_ids: ARM ids of the nodes' subnets, by the names given in `NetworkArgs.subnets`.
        service_subnet_ids: ARM ids of `NetworkArgs.service_subnets`, by key.
        complete: the subnet that is created last. Other components change the network only after it.
        nat_addresses: public IPv4 addresses of all NAT gateways, including gateways that no subnet uses yet.
    """

    virtual_network: network.VirtualNetwork
    subnet_ids: dict[str, pulumi.Output[str]]
    service_subnet_ids: dict[str, pulumi.Output[str]]
    complete: network.Subnet
    nat_addresses: list[pulumi.Output[str]]

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Network", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.virtual_network = network.VirtualNetwork(
            f"{name}-vnet",
            virtual_network_name=args.names.virtual_network,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            # No inline subnets: a later PUT of the network would remove the subnets that are separate resources.
            address_space=network.AddressSpaceArgs(address_prefixes=[args.address_space]),
            dhcp_options=network.DhcpOptionsArgs(dns_servers=list(args.dns_servers)) if args.dns_servers else None,
            opts=child,
        )
        security_group = network.NetworkSecurityGroup(
            f"{name}-nsg",
            network_security_group_name=args.names.security_group,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            opts=child,
        )
        rules = self._inbound(name, args, security_group)
        self.nat_addresses = []
        used = {gateway: self._gateway(name, args, gateway) for gateway in args.outbound.gateways}
        routes = self._routes(name, args) if args.firewall is not None else None
        self.subnet_ids = self._subnets(name, args, used, security_group.id, routes, after=rules)
        self.service_subnet_ids = self._service_subnets(name, args, security_group.id)
        self.register_outputs({"subnetIds": self.subnet_ids, "natAddresses": self.nat_addresses})

    def _inbound(self, name: str, args: NetworkArgs, group: network.NetworkSecurityGroup) -> list[pulumi.Resource]:
        """Declares the inbound security rules, and returns the last one.

        Each rule is a separate resource, so that updates keep the rules that a landing zone's policy has added to the
        group.

        The rules are created one after the other and before the subnets: ARM refuses a write on a group that is being
        written.
        """
        previous: list[pulumi.Resource] = []
        for rule in args.inbound:
            many = len(rule.sources) > 1
            made = network.SecurityRule(
                f"{name}-{rule.name}",
                security_rule_name=rule.name,
                network_security_group_name=group.name,
                resource_group_name=args.resource_group_name,
                description=rule.reason,
                priority=rule.priority,
                direction="Inbound",
                access="Allow",
                protocol=rule.protocol,
                source_address_prefix=None if many else rule.sources[0],
                source_address_prefixes=list(rule.sources) if many else None,
                source_port_range="*",
                destination_address_prefix="*",
                destination_port_ranges=[str(port) for port in rule.ports],
                # Not protected: a rule is removed in production too, once nothing needs it.
                opts=pulumi.ResourceOptions(parent=self, depends_on=previous, protect=False),
            )
            previous = [made]
        return previous

    def _gateway(self, name: str, args: NetworkArgs, gateway: Gateway) -> Outbound:
        logical = "-".join(filter(None, (name, "nat", gateway.suffix)))
        # A gateway accepts addresses of its own SKU only; both SKUs support static addresses only.
        address = network.PublicIPAddress(
            f"{logical}-address",
            public_ip_address_name=args.names.nat_address(gateway.suffix),
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            sku=network.PublicIPAddressSkuArgs(name=gateway.sku),
            zones=list(gateway.address_zones) or None,
            public_ip_allocation_method="Static",
            public_ip_address_version="IPv4",
            # Once the gateway uses the address, a GET of the address shows the gateway. After a refresh, the next plan
            # would undo this as a change, and its preview would no longer know the address, which is in the cluster's
            # list of authorized ranges.
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["natGateway"]),
        )
        made = network.NatGateway(
            logical,
            nat_gateway_name=args.names.nat_gateway(gateway.suffix),
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            sku=network.NatGatewaySkuArgs(name=gateway.sku),
            zones=list(gateway.zones) or None,
            public_ip_addresses=[network.SubResourceArgs(id=address.id)],
            opts=pulumi.ResourceOptions(parent=self),
        )
        known = address.ip_address.apply(_known_address)
        self.nat_addresses.append(known)
        return Outbound(
            made.id, keep_api_server(f"{logical}-reach", args.resource_group_name, args.names.cluster, known)
        )

    def _routes(self, name: str, args: NetworkArgs) -> network.RouteTable:
        """Declares the route of the nodes to the internet through the firewall (AKS docs, egress-udr)."""
        return network.RouteTable(
            f"{name}-routes",
            route_table_name=args.names.route_table,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            routes=[
                network.RouteArgs(
                    name="internet",
                    address_prefix="0.0.0.0/0",
                    next_hop_type="VirtualAppliance",
                    next_hop_ip_address=args.firewall,
                )
            ],
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _subnets(
        self,
        name: str,
        args: NetworkArgs,
        gateways: Mapping[Gateway, Outbound],
        security_group_id: pulumi.Output[str],
        routes: network.RouteTable | None,
        *,
        after: Sequence[pulumi.Resource],
    ) -> dict[str, pulumi.Output[str]]:
        ids: dict[str, pulumi.Output[str]] = {}
        previous = list(after)
        for key, cidr in args.subnets.items():
            outbound = gateways[args.outbound.by_subnet[key]] if routes is None else None
            subnet = network.Subnet(
                f"{name}-subnet-{key}",
                subnet_name=subnet_name(key),
                resource_group_name=args.resource_group_name,
                virtual_network_name=self.virtual_network.name,
                address_prefix=cidr,
                default_outbound_access=False,
                nat_gateway=network.SubResourceArgs(id=outbound.gateway_id) if outbound is not None else None,
                route_table=network.RouteTableArgs(id=routes.id) if routes is not None else None,
                network_security_group=network.NetworkSecurityGroupArgs(id=security_group_id),
                # In sequence, in both directions: ARM answers a write on a network that is being written
                # with AnotherOperationInProgress, and the provider's own retry covers creation only.
                opts=pulumi.ResourceOptions(
                    parent=self,
                    depends_on=previous,
                    # ARM does not change a subnet in use, so its pool has to be deleted first.
                    replace_on_changes=[] if key == SYSTEM_SUBNET else ["addressPrefix"],
                    delete_before_replace=True,
                    hooks=pulumi.ResourceHookBinding(before_update=[outbound.guard]) if outbound is not None else None,
                ),
            )
            previous = [subnet]
            self.complete = subnet
            ids[key] = subnet.id
        return ids

    def _service_subnets(
        self, name: str, args: NetworkArgs, security_group_id: pulumi.Output[str]
    ) -> dict[str, pulumi.Output[str]]:
        ids: dict[str, pulumi.Output[str]] = {}
        for each in args.service_subnets:
            group = network.NetworkSecurityGroupArgs(id=security_group_id)
            subnet = network.Subnet(
                f"{name}-subnet-{each.key}",
                subnet_name=each.name,
                resource_group_name=args.resource_group_name,
                virtual_network_name=self.virtual_network.name,
                address_prefix=str(each.cidr),
                # A subnet that a service manages has no such property (Azure docs, default-outbound-access).
                default_outbound_access=False if each.key == ENDPOINTS else None,
                network_security_group=group if each.has_security_group else None,
                # Otherwise the security group does not apply to the endpoints.
                private_endpoint_network_policies="NetworkSecurityGroupEnabled" if each.key == ENDPOINTS else None,
                delegations=[network.DelegationArgs(name=each.key, service_name=each.delegation)]
                if each.delegation
                else None,
                opts=pulumi.ResourceOptions(
                    parent=self,
                    depends_on=[self.complete],
                    replace_on_changes=["addressPrefix", "delegations"],
                    delete_before_replace=True,
                ),
            )
            self.complete = subnet
            ids[each.key] = subnet.id
        return ids


def _known_address(address: str | None) -> str:
    """Returns `address`, the IP address that Azure assigned. Raises pulumi.RunError if Azure returned none."""
    if not address:
        raise pulumi.RunError("Azure returned no IP address for a NAT gateway's public address; run the command again.")
    return address
