"""Addresses at which a cluster is reached, and from which its nodes reach out: no change cuts the API server off."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from physical_ai.readiness.waiting import GATES_VARIABLE
from simulator.azure.data import schema, tables
from simulator.azure.data.tables import Amendment
from simulator.simulation import Simulation
from tests.simulator.physai import physai
from tests.support.workflow_files import script

RANGES = ("--set", "cluster.apiAccess.authorizedIpRanges=[20.1.2.0/24]")
CHANGED = (*RANGES, "--set", "tags.team=vision", "--set", "pools.h100gpu.labels={team: vision}")
AZURE_ONLY = ("--exclude", "**$kubernetes:**", "--exclude-dependents")
OWN = "52.1.2.3/32"
NEW = ("--set", "network.outbound.form=zone-redundant")
PREPARED = ("--set", "network.outbound.form=nonzonal", "--set", "network.outbound.next=zone-redundant")
SENT = "2024-05-01"
SUBNET = "physical-ai-network-subnet-system"


def cluster(simulation: Simulation) -> dict[str, Any]:
    (found,) = (each for each in simulation.cloud_resources().values() if each["type"].endswith(":ManagedCluster"))
    return dict(found["inputs"])


def authorized(simulation: Simulation) -> list[str]:
    return cluster(simulation)["apiServerAccessProfile"]["authorizedIPRanges"]


def az(simulation: Simulation, *arguments: str) -> Any:
    """`az aks show` and `az aks update` of the simulated cluster."""
    if arguments[1] == "show":
        return authorized(simulation)
    inputs = {**cluster(simulation), "apiServerAccessProfile": {"authorizedIPRanges": arguments[-1].split(",")}}
    with simulation.azure() as azure:
        azure.put("azure-native:containerservice:ManagedCluster", inputs)
    return {}


@pytest.mark.deep
def test_the_api_server_stays_reachable_while_addresses_change(
    deployed: Simulation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    the_runner_reaches_it_from_the_first_read_to_the_last(deployed, monkeypatch, tmp_path)
    refused = physai("up", *CHANGED, *PREPARED, expect=1).err
    assert "'StandardV2' is not one of" in refused, "it is not published at the API version that is sent"
    with accepting_standard_v2(monkeypatch):
        subnets_change_their_gateway_once_it_accepts_its_address()


@contextmanager
def accepting_standard_v2(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """An Azure that takes StandardV2 below the API version in which it is published, as its NAT team says."""
    more = tuple(
        Amendment(
            kind, "2024-05-01", "sku.name", ("StandardV2",), "", "Azure/azure-cli#31245", "believed", "2025-04-11"
        )
        for kind in ("NatGateway", "PublicIPAddress")
    )
    with monkeypatch.context() as patch:
        known = tables.amendments()
        patch.setattr(tables, "amendments", lambda: (*known, *more))
        forget()
        yield
    forget()


def forget() -> None:
    tables.table.cache_clear()
    schema.cache_clear()


def the_runner_reaches_it_from_the_first_read_to_the_last(
    deployed: Simulation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its address is there when the cluster is read, and no plan ever shows it."""
    physai("up", *RANGES)
    declared = authorized(deployed)
    runner: Any = script("runner_address")
    monkeypatch.setattr(runner, "az", lambda *arguments: az(deployed, *arguments))
    monkeypatch.setattr(runner, "own_address", lambda: IPv4Address(OWN.removesuffix("/32")))
    names, note = runner.Names("dev-westus2"), tmp_path / "address"

    runner.add(names, note)
    assert authorized(deployed) == [*declared, OWN]
    assert physai("preview", "--json", *RANGES).json["changes"] == [], "a plan shows the runner's address"

    with monkeypatch.context() as patch:
        patch.setenv(GATES_VARIABLE, "skip")
        physai("up", *CHANGED, *AZURE_ONLY, "--continue-on-error")
    assert authorized(deployed) == declared, "what this step is for: the cluster's own update removes the address"
    runner.add(names, note)
    physai("up", *CHANGED, "--continue-on-error")
    assert authorized(deployed) == [*declared, OWN], "the runner lost the API server in the middle of a deployment"

    runner.remove(names, note)
    assert authorized(deployed) == declared
    assert physai("preview", "--json", *CHANGED).json["changes"] == []


def subnets_change_their_gateway_once_it_accepts_its_address() -> None:
    """Another form of the NAT gateways: never before the API server accepts the nodes' new address."""
    refused = physai("up", *CHANGED, *NEW, expect=1).err
    assert f"The nodes of {SUBNET} would lose their API server" in refused
    assert "network.outbound.next" in refused, "the message has no way out"

    assert physai("up", "--json", *CHANGED, *PREPARED).json["changes"] == {"update": 1}, "only the cluster's ranges"
    moved = physai("up", "--json", *CHANGED, *NEW)
    assert moved.json["changes"] == {"update": 4, "delete": 2}
    last, cluster = moved.err.index("updated Subnet physical-ai-network-subnet-rtxprogpu"), "updated ManagedCluster"
    assert last < moved.err.index(cluster) < moved.err.index("deleted NatGateway physical-ai-network-nat")
    assert physai("preview", "--json", "--refresh", "--expect-no-changes", *CHANGED, *NEW).json["changes"] == []
