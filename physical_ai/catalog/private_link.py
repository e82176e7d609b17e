"""Private Link: the zone that resolves each kind of private endpoint, and what Azure asks of the subnets around it."""

from __future__ import annotations

from collections.abc import Mapping

ZONES: Mapping[str, str] = {
    "vault": "privatelink.vaultcore.azure.net",
    "blob": "privatelink.blob.core.windows.net",
    "dfs": "privatelink.dfs.core.windows.net",
    "registry": "privatelink.azurecr.io",
    "postgresqlServer": "privatelink.postgres.database.azure.com",
    "redisEnterprise": "privatelink.redis.azure.net",
}
"""Private DNS zone by the sub-resource of a private endpoint (Azure docs, private-link/private-endpoint-dns, public
cloud). Azure Managed Redis has another zone than the Enterprise tiers of Azure Cache for Redis."""

AZURE_DNS = "168.63.129.16"
"""Resolver of every virtual network; reachable from inside only (Azure docs, what-is-ip-address-168-63-129-16)."""

RESOLVER_DELEGATION = "Microsoft.Network/dnsResolvers"
API_SERVER_DELEGATION = "Microsoft.ContainerService/managedClusters"

GATEWAY_SUBNET = "GatewaySubnet"
"""The name that a VPN gateway's subnet must have."""
VPN_AUDIENCE = "c632b3df-fb67-4d84-bdcf-b95ad541b5c8"
"""Entra application of the Azure VPN Client that Microsoft registered (Azure docs, point-to-site-entra-gateway)."""


def api_server_zone(region: str, *, integrated: bool) -> str:
    """Zone of a private API server's name, of which a cluster may have a subdomain (AKS docs, private-clusters).

    Args:
        region: the cluster's.
        integrated: API server VNet integration instead of a private endpoint.
    """
    return f"{'private' if integrated else 'privatelink'}.{region}.azmk8s.io"
