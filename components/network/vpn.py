"""A point-to-site VPN gateway with Entra as the login."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import network

from physical_ai.catalog.private_link import VPN_AUDIENCE
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.models.private_network import Vpn as VpnSettings


@dataclass(frozen=True)
class VpnArgs:
    """Inputs of `Vpn`. `zones` are the availability zones of the region; the gateway's address is in all of them."""

    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    zones: Sequence[str]
    subnet_id: pulumi.Input[str]
    settings: VpnSettings


class Vpn(pulumi.ComponentResource):
    """VPN gateway that users of the Azure VPN Client connect to. Azure needs half an hour or more to create it."""

    gateway: network.VirtualNetworkGateway

    def __init__(self, name: str, args: VpnArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Vpn", name, {}, opts)
        tenant = args.settings.tenant_id
        address = network.PublicIPAddress(
            f"{name}-address",
            public_ip_address_name=args.names.vpn_address,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            sku=network.PublicIPAddressSkuArgs(name="Standard"),
            zones=list(args.zones) or None,
            public_ip_allocation_method="Static",
            public_ip_address_version="IPv4",
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.gateway = network.VirtualNetworkGateway(
            f"{name}-gateway",
            virtual_network_gateway_name=args.names.vpn_gateway,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            gateway_type="Vpn",
            vpn_type="RouteBased",
            sku=network.VirtualNetworkGatewaySkuArgs(name=args.settings.sku, tier=args.settings.sku),
            ip_configurations=[
                network.VirtualNetworkGatewayIPConfigurationArgs(
                    name="default",
                    private_ip_allocation_method="Dynamic",
                    public_ip_address=network.SubResourceArgs(id=address.id),
                    subnet=network.SubResourceArgs(id=args.subnet_id),
                )
            ],
            vpn_client_configuration=network.VpnClientConfigurationArgs(
                vpn_client_address_pool=network.AddressSpaceArgs(address_prefixes=[str(args.settings.client_range)]),
                # OpenVPN is the only protocol with Entra logins, and Entra the only login offered here.
                vpn_client_protocols=["OpenVPN"],
                vpn_authentication_types=["AAD"],
                aad_tenant=f"https://login.microsoftonline.com/{tenant}",
                aad_audience=VPN_AUDIENCE,
                aad_issuer=f"https://sts.windows.net/{tenant}/",
            ),
            opts=pulumi.ResourceOptions(parent=self, custom_timeouts=pulumi.CustomTimeouts(create="90m", delete="60m")),
        )
        self.register_outputs({"gatewayId": self.gateway.id})
