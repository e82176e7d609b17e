"""Limits on the number of resources in a region, as the usages of a resource provider list them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from simulator.azure.state import AzureState


@dataclass(frozen=True)
class Counted:
    """One usage: the kind of resource that it counts, Azure's default limit, and the error code beyond the limit."""

    kind: str
    most: int
    code: str


_NETWORK = 1000
COUNTED: Mapping[str, Mapping[str, Counted]] = {
    "microsoft.network": {
        "PublicIPAddresses": Counted("PublicIPAddress", _NETWORK, "PublicIPCountLimitReached"),
        "StandardSkuPublicIpAddresses": Counted("PublicIPAddress", _NETWORK, "StandardSkuPublicIPCountLimitReached"),
        "VirtualNetworks": Counted("VirtualNetwork", _NETWORK, "VnetCountLimitReached"),
        "NetworkSecurityGroups": Counted("NetworkSecurityGroup", 5000, "NetworkSecurityGroupCountLimitReached"),
        "RouteTables": Counted("RouteTable", 200, "RouteTableCountLimitReached"),
        "NatGateways": Counted("NatGateway", _NETWORK, "NatGatewayCountLimitReached"),
        "PrivateEndpoints": Counted("PrivateEndpoint", _NETWORK, "PrivateEndpointCountLimitReached"),
        "VirtualNetworkGateways": Counted("VirtualNetworkGateway", _NETWORK, "VirtualNetworkGatewayCountLimitReached"),
    },
    "microsoft.storage": {
        "StorageAccounts": Counted("StorageAccount", 250, "MaxStorageAccountsCountPerSubscriptionExceeded")
    },
    "microsoft.containerservice": {"ManagedClusters": Counted("ManagedCluster", 100, "QuotaExceeded")},
}
"""Usages by resource provider in lower case, and by name (limits: Azure docs, subscription service limits; assumed)."""


def numbers(namespace: str, name: str, place: str, azure: AzureState) -> tuple[int, int]:
    """Used amount and limit of a usage in a region."""
    counted = COUNTED[namespace.lower()][name]
    others, most = azure.restrictions.counts.get(name, (0, azure.quota.get(name, counted.most)))
    return others + sum(each.location == place for each in azure.of_kind(counted.kind)), most


def exhausted(kind: str, place: str, azure: AzureState) -> Iterator[tuple[str, Counted, int]]:
    """Usages that leave no room for one more resource of a kind in a region: name, row, and limit."""
    for namespace, rows in COUNTED.items():
        for name, counted in rows.items():
            if counted.kind == kind:
                used, most = numbers(namespace, name, place, azure)
                if 0 <= most <= used:
                    yield name, counted, most
