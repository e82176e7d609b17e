"""Private Link: the DNS zone for each kind of private endpoint, and Azure's requirements on the subnets around it."""

from __future__ import annotations

from collections.abc import Mapping

ZONES: Mapping[str, str] = {
    "vault": "privatelink.vaultcore.azure.net",
    "blob": "privatelink.blob.core.windows.net",
    "dfs": "privatelink.dfs.core.windows.net",
    "registry": "privatelink.azurecr.io",
    "postgresqlServer": "privatelink.postgres.database.azure.com",
    "redisEnterprise": "privatelink.redis.azure.net",
    "grafana": "privatelink.grafana.azure.com",
    "prometheusMetrics": "privatelink.{region}.prometheus.monitor.azure.com",
    "monitor": "privatelink.monitor.azure.com",
    "oms": "privatelink.oms.opinsights.azure.com",
    "ods": "privatelink.ods.opinsights.azure.com",
    "agentsvc": "privatelink.agentsvc.azure-automation.net",
}
"""Names of the private DNS zones for private endpoints (Azure docs, private-link/private-endpoint-dns, public cloud).

The key is the name of the private endpoint's sub-resource. If a sub-resource needs several zones, each zone has a key
of its own (`ZONES_OF_GROUP`). Azure Managed Redis and the Enterprise tiers of Azure Cache for Redis have different
zones. Managed Prometheus has one zone per region for queries.
"""

PROMETHEUS, GRAFANA = "prometheusMetrics", "grafana"
"""Private Link sub-resources of an Azure Monitor workspace (for queries) and of Managed Grafana."""
MONITOR_SCOPE = "azuremonitor"
"""Name of the Private Link sub-resource of an Azure Monitor Private Link Scope."""
ZONES_OF_GROUP: Mapping[str, tuple[str, ...]] = {MONITOR_SCOPE: ("monitor", "oms", "ods", "agentsvc", "blob")}
"""Keys in `ZONES` for each sub-resource that needs several zones, by the name of the sub-resource.

Azure Monitor needs the zone of blobs because agents download solution packs from storage (Azure docs,
azure-monitor/fundamentals/private-link-configure, DNS settings).
"""
MONITOR_SUBNET = 27
"""Prefix length of the smallest subnet for the endpoint of a private link scope; the endpoint needs eleven or more
addresses (Azure docs, azure-monitor/fundamentals/private-link-design, subnet size).
"""

RESOLVER_DELEGATION = "Microsoft.Network/dnsResolvers"
API_SERVER_DELEGATION = "Microsoft.ContainerService/managedClusters"

GATEWAY_SUBNET = "GatewaySubnet"
"""Name that the subnet of a VPN gateway must have."""
VPN_AUDIENCE = "c632b3df-fb67-4d84-bdcf-b95ad541b5c8"
"""Id of the Entra application of the Azure VPN Client, registered by Microsoft (Azure docs,
point-to-site-entra-gateway).
"""


def zones_of(group: str, region: str) -> dict[str, str]:
    """DNS zones of the Private Link sub-resource `group`, by the keys of `ZONES`. Two sub-resources may share a zone.

    >>> zones_of("prometheusMetrics", "westus2")
    {'prometheusMetrics': 'privatelink.westus2.prometheus.monitor.azure.com'}
    """
    return {key: ZONES[key].replace("{region}", region) for key in ZONES_OF_GROUP.get(group, (group,))}


def api_server_zone(region: str, *, integrated: bool) -> str:
    """DNS zone for the name of a private API server; a cluster may also use a subdomain of it (AKS docs,
    private-clusters).

    Args:
        region: region of the cluster.
        integrated: True for API server VNet integration instead of a private endpoint.
    """
    return f"{'private' if integrated else 'privatelink'}.{region}.azmk8s.io"
