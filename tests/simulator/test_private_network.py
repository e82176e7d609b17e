"""Private stacks: what the preview of a move says is replaced, and what is there after a deployment from nothing.

The API server of the simulator is on loopback in every mode, so that nothing here shows that packets pass a VPN or a
private endpoint; what Azure refuses of the network around it is refused here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.home import Home
from simulator.simulation import Simulation
from tests.simulator.physai import physai

PRIVATE: Mapping[str, Any] = {
    "network": {
        "mode": "private",
        "private": {
            "endpointSubnet": "10.40.3.0/26",
            "resolver": {"subnet": "10.40.3.96/28"},
            "vpn": {
                "gatewaySubnet": "10.40.3.64/27",
                "clientRange": "192.168.200.0/24",
                "tenantId": "22222222-2222-4222-8222-222222222222",
            },
        },
    },
    "dataServices": {"source": "azure"},
    "monitoring": {"metrics": "azure"},
}
STACK = "dev-westus2"
ZONE = f"{STACK}.privatelink.westus2.azmk8s.io"


@pytest.fixture
def private(tmp_path: Path) -> tuple[str, ...]:
    """Arguments that name the stack with these settings laid over it."""
    settings = tmp_path / "private.yaml"
    settings.write_text(yaml.safe_dump(dict(PRIVATE)))
    return (STACK, "-f", str(settings))


def of_type(simulation: Simulation, name: str) -> list[Mapping[str, Any]]:
    return [each for each in simulation.cloud_resources().values() if each["type"].rpartition(":")[2] == name]


@pytest.mark.deep  # in `make test`: what is replaced in test_components_private.py, the words in test_cli_moves.py
@pytest.mark.usefixtures("running")
def test_the_preview_of_a_move_says_that_the_cluster_is_replaced_and_why(private: tuple[str, ...]) -> None:
    found = physai("preview", *private, "--json").json
    changes = {each["name"]: each for each in found["changes"]}
    title = "The API server becomes private. Services of Azure are closed to the internet."
    assert found["networkMove"]["title"] == title
    assert "cluster physical-ai-cluster-aks with everything in it" in found["networkMove"]["replaced"][0]
    cluster = changes["physical-ai-cluster-aks"]
    assert (cluster["op"], cluster["nodesLost"]) == ("replace", 1)
    assert "apiServerAccessProfile.enablePrivateCluster" in cluster["replacedBecauseOf"]
    assert changes["physical-ai-network-vnet"]["op"] == "update"
    kept = ("physical-ai-rg-group", "physical-ai-network-nat", "physical-ai-network-subnet-system")
    assert not set(kept) & set(changes)


@pytest.mark.deep
def test_a_stack_moves_to_a_private_network_without_waiting_for_what_its_cluster_takes_along(
    home: Home, private: tuple[str, ...]
) -> None:
    """The pool of the platform's Pods goes before the scheduler's release, whose hook would wait for a node."""
    before = physai("up", STACK, "--json")
    after = physai("up", *private, "--json")
    assert after.json["releases"] == before.json["releases"]
    assert all(after.pool(name)["ready"] == after.pool(name)["nodes"] for name in ("h100gpu", "rtxprogpu"))
    (cluster,) = of_type(Simulation(STACK, home), "ManagedCluster")
    assert cluster["outputs"]["privateFQDN"].endswith(ZONE)
    physai("down", STACK)


@pytest.mark.deep
def test_a_private_stack_comes_up_with_its_data_services_closed(home: Home, private: tuple[str, ...]) -> None:
    answer = physai("up", *private, "--json")
    assert all(answer.pool(name)["ready"] == answer.pool(name)["nodes"] for name in ("h100gpu", "rtxprogpu"))
    simulation = Simulation(STACK, home)
    (cluster,) = of_type(simulation, "ManagedCluster")
    assert cluster["outputs"]["privateFQDN"].endswith(ZONE)
    endpoints = of_type(simulation, "PrivateEndpoint")
    states = {
        each["privateLinkServiceConnectionState"]["status"]
        for endpoint in endpoints
        for each in endpoint["outputs"]["privateLinkServiceConnections"]
    }
    # Five data services, the private link scope, queries of metrics, and Grafana.
    assert (len(endpoints), states) == (8, {"Approved"})
    assert len(of_type(simulation, "PrivateLinkScopedResource")) == 3
    for kind in ("StorageAccount", "Registry", "RedisEnterprise"):
        assert [each["inputs"]["publicNetworkAccess"] for each in of_type(simulation, kind)] == ["Disabled"]
    assert physai("preview", *private, "--json").json["changes"] == []
    physai("down", STACK)
    # It is removed with the last resource.
    assert not simulation.folder.exists()
