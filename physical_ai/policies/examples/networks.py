"""Examples of the rules on private networks."""

from __future__ import annotations

from physical_ai.policies.examples.model import Example
from physical_ai.policies.model import UNKNOWN, Resource
from physical_ai.policies.networks import PRIVATE_ENDPOINT, PRIVATE_ZONE, VPN_GATEWAY, ZONE_GROUP, ZONE_LINK
from physical_ai.policies.node_pools import MANAGED_CLUSTER

PRIVATE_CLUSTER = Resource(MANAGED_CLUSTER, "aks", {"apiServerAccessProfile": {"enablePrivateCluster": True}})
ENDPOINT = Resource(PRIVATE_ENDPOINT, "vault", {"privateEndpointName": "pep-vault"})
ZONE_NAME = "privatelink.vaultcore.azure.net"

EXAMPLES: dict[str, list[Example]] = {
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
