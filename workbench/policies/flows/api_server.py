"""Judgement of connections to the cluster's API server, from nodes and from the internet.

A public API server accepts every address, unless authorized ranges are set. Authorized ranges must include the address
with which nodes leave the network (AKS docs, api-server-authorized-ip-ranges). The name of a private API server is in a
private DNS zone, which AKS creates and links if the setting is `system` (AKS docs, private-clusters).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.policies.flows.identity import of_type
from workbench.policies.flows.names import zone_is_seen
from workbench.policies.flows.verdicts import Verdict
from workbench.policies.model import Resource, Unknown, known, known_list, known_map

CLUSTER, PUBLIC_ADDRESS = "azure-native:containerservice:ManagedCluster", "azure-native:network:PublicIPAddress"
NODES_ONLY = "0.0.0.0/32"
"""Authorized range that stands for the public address of AKS's load balancer (AKS docs,
api-server-authorized-ip-ranges, "Special case").
"""
PORT = 443
HOST = "*.azmk8s.io"
"""Pattern that the names of all API servers match (AKS docs, outbound-rules-control-egress)."""


@dataclass(frozen=True)
class ApiServer:
    cluster: Resource
    is_private: bool
    """True if nodes reach the API server at an address of their network."""
    is_endpoint: bool = False
    """True if this address is a private endpoint, whose own route comes before those of route tables."""

    def lets_in_nodes(self, resources: Sequence[Resource]) -> Verdict:
        """Verdict on the connection from the nodes: a public API server must accept the nodes' address, and the name of
        a private API server must resolve.
        """
        access = known_map(self.cluster.inputs.get("apiServerAccessProfile"))
        if self.is_private:
            zone = access.get("privateDNSZone")
            if known(zone, "system") in ("system", "none") and not isinstance(zone, Unknown):
                return Verdict(True, f"private DNS zone of AKS ({known(zone, 'system')})", self.cluster)
            return zone_is_seen(zone, self.cluster, resources)
        return self._by_ranges(access.get("authorizedIPRanges"), resources)

    def _by_ranges(self, given: Any, resources: Sequence[Resource]) -> Verdict:
        if isinstance(given, Unknown):
            return Verdict(None, f"authorized ranges of {self.cluster.name}", self.cluster)
        ranges = known_list(given)
        if not ranges or NODES_ONLY in ranges:
            return Verdict(True, f"public access to {self.cluster.name}", self.cluster)
        nodes = of_type(resources, PUBLIC_ADDRESS)
        if any(each.urn in self.cluster.options.depends_on for each in nodes):
            return Verdict(True, f"authorized ranges of {self.cluster.name}", self.cluster)
        if not nodes:
            return Verdict(None, f"addresses of nodes in the authorized ranges of {self.cluster.name}", self.cluster)
        return Verdict(False, f"authorized ranges of {self.cluster.name}, without the nodes' address", self.cluster)

    def lets_in_anybody(self) -> Verdict:
        """Verdict on a connection from any address on the internet."""
        access = known_map(self.cluster.inputs.get("apiServerAccessProfile"))
        if known(access.get("enablePrivateCluster")) is True:
            return Verdict(False, f"no public address of {self.cluster.name}", self.cluster)
        if access.get("authorizedIPRanges"):
            return Verdict(False, f"authorized ranges of {self.cluster.name}", self.cluster)
        return Verdict(True, f"public access to {self.cluster.name}", self.cluster)


def api_server(resources: Sequence[Resource]) -> ApiServer | None:
    """The API server of the stack's cluster; None if the stack does not create the cluster."""
    for cluster in of_type(resources, CLUSTER):
        access = known_map(cluster.inputs.get("apiServerAccessProfile"))
        is_private, is_integrated = (
            known(access.get(key)) is True for key in ("enablePrivateCluster", "enableVnetIntegration")
        )
        return ApiServer(cluster, is_private or is_integrated, is_private and not is_integrated)
    return None
