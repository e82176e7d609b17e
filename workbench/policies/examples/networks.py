"""Examples for the rules on private networks."""

from __future__ import annotations

from typing import Any

from workbench.policies.examples.model import Example
from workbench.policies.model import UNKNOWN, Resource
from workbench.policies.networks import (
    COLLECTION_ENDPOINT,
    COLLECTION_RULE,
    GRAFANA,
    METRICS_WORKSPACE,
    PRIVATE_ENDPOINT,
    PRIVATE_ZONE,
    ROLE_ASSIGNMENT,
    ROUTE_TABLE,
    SCOPED,
    VPN_GATEWAY,
    WORKSPACE,
    ZONE_GROUP,
    ZONE_LINK,
)
from workbench.policies.node_pools import MANAGED_CLUSTER

PRIVATE_CLUSTER = Resource(MANAGED_CLUSTER, "aks", {"apiServerAccessProfile": {"enablePrivateCluster": True}})
ENDPOINT = Resource(PRIVATE_ENDPOINT, "vault", {"privateEndpointName": "pep-vault"})
ZONE_NAME = "privatelink.vaultcore.azure.net"

ZONE_ID = f"/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/privateDnsZones/{ZONE_NAME}"
ROLE = Resource(ROLE_ASSIGNMENT, "zone", urn="urn:role")


def _default_route(kind: str) -> dict[str, Any]:
    return {"routes": [{"addressPrefix": "0.0.0.0/0", "nextHopType": kind, "nextHopIpAddress": "10.0.1.4"}]}


EXAMPLES: dict[str, list[Example]] = {
    "routes-to-firewall": [
        Example(ROUTE_TABLE, _default_route("VirtualAppliance"), _default_route("Internet")),
    ],
    "zone-role-before-cluster": [
        Example(
            MANAGED_CLUSTER,
            {"apiServerAccessProfile": {"enablePrivateCluster": True, "privateDNSZone": ZONE_ID}},
            options={"depends_on": (ROLE.urn,)},
            bad_options={"depends_on": ()},
            others=(ROLE,),
        ),
        Example(
            MANAGED_CLUSTER,
            {"apiServerAccessProfile": {"enablePrivateCluster": True, "privateDNSZone": "none"}},
            {"apiServerAccessProfile": {"enablePrivateCluster": True, "privateDNSZone": ZONE_ID}},
        ),
    ],
    "private-means-closed": [
        Example(
            "azure-native:keyvault:Vault",
            {"properties": {"publicNetworkAccess": "Disabled"}},
            {"properties": {"publicNetworkAccess": "Enabled"}},
            others=(ENDPOINT,),
        ),
        Example(
            "azure-native:redisenterprise:RedisEnterprise",
            {"publicNetworkAccess": "Disabled"},
            {"publicNetworkAccess": None},
            others=(PRIVATE_CLUSTER,),
        ),
        # In a public stack the service may be public.
        Example(
            "azure-native:storage:StorageAccount",
            {"publicNetworkAccess": "Enabled"},
            bad_others=(PRIVATE_CLUSTER,),
        ),
    ],
    "private-monitor-closed": [
        Example(
            COLLECTION_ENDPOINT,
            {"networkAcls": {"publicNetworkAccess": "Disabled"}},
            {"networkAcls": {"publicNetworkAccess": "Enabled"}},
            others=(ENDPOINT,),
        ),
        Example(
            METRICS_WORKSPACE,
            {"publicNetworkAccess": "Disabled"},
            {"publicNetworkAccess": None},
            others=(PRIVATE_CLUSTER,),
        ),
        Example(
            WORKSPACE,
            {"publicNetworkAccessForIngestion": "Disabled", "publicNetworkAccessForQuery": "Disabled"},
            {"publicNetworkAccessForIngestion": "Disabled", "publicNetworkAccessForQuery": "Enabled"},
            others=(PRIVATE_CLUSTER, Resource(COLLECTION_RULE, "metrics", {})),
        ),
        # With a public API server, people read from the internet, too.
        Example(GRAFANA, {"properties": {"publicNetworkAccess": "Enabled"}}, bad_others=(PRIVATE_CLUSTER,)),
    ],
    "private-monitor-scoped": [
        Example(
            COLLECTION_ENDPOINT,
            {"networkAcls": {"publicNetworkAccess": "Disabled"}},
            others=(Resource(SCOPED, "metrics", {}),),
            bad_others=(),
        ),
    ],
    "private-endpoint-registered": [
        Example(
            PRIVATE_ENDPOINT,
            {"privateEndpointName": "pep-vault"},
            others=(Resource(ZONE_GROUP, "vault", {"privateEndpointName": "pep-vault"}),),
            bad_others=(Resource(ZONE_GROUP, "blob", {"privateEndpointName": "pep-blob"}),),
        ),
        Example(
            PRIVATE_ENDPOINT,
            {"privateEndpointName": "pep-vault"},
            others=(Resource(ZONE_GROUP, "vault", {"privateEndpointName": UNKNOWN}),),
            bad_others=(),
        ),
    ],
    "private-zone-linked": [
        Example(
            PRIVATE_ZONE,
            {"privateZoneName": ZONE_NAME},
            others=(Resource(ZONE_LINK, "vault", {"privateZoneName": ZONE_NAME}),),
            bad_others=(),
        ),
    ],
    "vpn-entra-only": [
        Example(
            VPN_GATEWAY,
            {"vpnClientConfiguration": {"vpnAuthenticationTypes": ["AAD"]}},
            {"vpnClientConfiguration": {"vpnAuthenticationTypes": ["AAD", "Certificate"]}},
        ),
    ],
}
