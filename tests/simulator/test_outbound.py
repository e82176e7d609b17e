"""Another form of the NAT gateways: never before the API server accepts the nodes' new address."""

from __future__ import annotations

from physical_ai.simulator.simulation import Simulation
from tests.simulator.physai import physai

RANGES = ("--set", "cluster.apiAccess.authorizedIpRanges=[20.1.2.0/24]")
NEW = ("--set", "network.outbound.form=zone-redundant")
PREPARED = ("--set", "network.outbound.form=nonzonal", "--set", "network.outbound.next=zone-redundant")
SUBNET = "physical-ai-network-subnet-system"


def test_subnets_change_their_gateway_once_the_api_server_accepts_its_address(deployed: Simulation) -> None:
    assert physai("up", "--json", *RANGES).json["changes"] == {"update": 1}

    for command in ("preview", "up"):
        refused = physai(command, *RANGES, *NEW, expect=1).err
        assert f"The nodes of {SUBNET} would lose their API server" in refused
        assert "network.outbound.next" in refused, "the message has no way out"

    assert physai("up", "--json", *RANGES, *PREPARED).json["changes"] == {"update": 1}, "only the cluster's ranges"
    moved = physai("up", "--json", *RANGES, *NEW)
    assert moved.json["changes"] == {"update": 4, "delete": 2}
    last, cluster = moved.err.index("updated Subnet physical-ai-network-subnet-rtxprogpu"), "updated ManagedCluster"
    assert last < moved.err.index(cluster) < moved.err.index("deleted NatGateway physical-ai-network-nat")
    assert physai("preview", "--json", "--refresh", "--expect-no-changes", *RANGES, *NEW).json["changes"] == []
