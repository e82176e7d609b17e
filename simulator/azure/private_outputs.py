"""Outputs of Azure for peerings, private endpoints and private DNS, in addition to their inputs."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Mapping
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import Json, get, table
from simulator.azure.state import SUCCEEDED, AzureState, Resource

APPROVED = {"status": "Approved", "description": "Auto-Approved", "actionsRequired": "None"}
PENDING = {"status": "Pending", "description": "Please approve", "actionsRequired": "None"}


def route_table(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    rows = [
        {"id": f"{resource.id}/routes/{route.get('name')}", "provisioningState": SUCCEEDED, **route}
        for route in outputs.get("routes", [])
    ]
    return {"routes": rows, "subnets": []}


def peering(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    """State of a virtual network peering: Connected once the other network has a peering back, otherwise Initiated.

    For a network outside the simulator, the peering back is assumed to exist.
    """
    remote = str(get(resource.body, "properties.remoteVirtualNetwork.id"))
    answered = any(
        ids.same(get(each.body, "properties.remoteVirtualNetwork.id"), ids.parent(resource.id))
        for each in azure.children(remote, "VirtualNetworkPeering")
    )
    connected = answered or azure.get(remote, "VirtualNetwork") is None
    return {"peeringState": "Connected" if connected else "Initiated"}


def private_endpoint(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    """Outputs of a private endpoint: its connections with their states, its DNS names and its network interface. A
    connection with automatic approval is Approved, because the deployer may approve it in the stack's own subscription;
    a connection with manual approval is Pending.
    """
    found: Json = {}
    for name, state in (("privateLinkServiceConnections", APPROVED), ("manualPrivateLinkServiceConnections", PENDING)):
        found[name] = [
            {
                **each,
                "id": f"{resource.id}/{name}/{each.get('name')}",
                "privateLinkServiceConnectionState": state,
                "provisioningState": SUCCEEDED,
            }
            for each in outputs.get(name, [])
        ]
    nic = outputs.get("customNetworkInterfaceName") or f"{ids.name(resource.id)}.nic.{resource.serial}"
    root = resource.id.rsplit("/", 2)[0]
    return {
        **found,
        "customDnsConfigs": [{"fqdn": ids.name(resource.id), "ipAddresses": [_address(resource, azure)]}],
        "networkInterfaces": [{"id": f"{root}/networkInterfaces/{nic}"}],
    }


def _address(resource: Resource, azure: AzureState) -> str:
    subnet = azure.get(get(resource.body, "properties.subnet.id"), "Subnet")
    network = ipaddress.ip_network(str(get(subnet.body if subnet else {}, "properties.addressPrefix") or "10.0.0.0/24"))
    number = int(hashlib.sha256(ids.key(resource.id).encode()).hexdigest(), 16)
    return str(network[4 + number % (network.num_addresses - 5)])


def zone(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {
        "internalId": "",
        "maxNumberOfRecordSets": 25000,
        "maxNumberOfVirtualNetworkLinks": 1000,
        "maxNumberOfVirtualNetworkLinksWithRegistration": 100,
        "numberOfRecordSets": 1,
        "numberOfVirtualNetworkLinks": len(list(azure.children(resource.id, "VirtualNetworkLink"))),
        "numberOfVirtualNetworkLinksWithRegistration": 0,
    }


def link(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {"virtualNetworkLinkState": "Completed"}


def private_name(cluster: Mapping[str, Any], prefix: str, place: str) -> str:
    """DNS name of a private API server; empty for a public API server. The name is in the private DNS zone that the
    cluster's request names or, if it names none, in the zone that AKS creates.

    Args:
        cluster: the cluster's properties.
    """
    access = table(cluster, "apiServerAccessProfile")
    if not get(access, "enablePrivateCluster"):
        return ""
    zone_id = str(get(access, "privateDNSZone") or "system")
    if "/" in zone_id:
        return f"{prefix}.{ids.name(zone_id)}"
    return f"{prefix}.{'private' if get(access, 'enableVnetIntegration') else 'privatelink'}.{place}.azmk8s.io"


def views(network: Resource, azure: AzureState) -> list[Json]:
    """Peerings as the GET of their virtual network shows them."""
    return [{"id": each.id, **each.outputs} for each in azure.children(network.id, "VirtualNetworkPeering")]
