"""Targets by name, URN and pattern."""

from __future__ import annotations

import pytest

from simulator.errors import UnknownTarget
from simulator.run_options import RunOptions, resolve

POOL = "urn:pulumi:dev::p::physical-ai:azure:GpuPool$azure-native:containerservice:AgentPool::physical-ai-h100gpu-nodes"
NETWORK = "urn:pulumi:dev::p::azure-native:network:VirtualNetwork::physical-ai-network-vnet"
URNS = [POOL, NETWORK]


@pytest.mark.parametrize("target", [POOL, f"{POOL}-new", "**:AgentPool::**"])
def test_urns_and_patterns_are_the_engines_to_resolve(target: str) -> None:
    assert resolve(target, URNS) == [target]


def test_a_name_selects_every_resource_that_has_it() -> None:
    twin = POOL.replace("AgentPool", "Other")
    assert resolve("physical-ai-h100gpu-nodes", [*URNS, twin]) == [POOL, twin]


@pytest.mark.parametrize(("target", "near"), [("physical-ai-h100gpu-node", "h100gpu-nodes"), ("VNET", "network-vnet")])
def test_an_unknown_name_is_answered_with_near_ones(target: str, near: str) -> None:
    with pytest.raises(UnknownTarget, match=rf"(?s)'{target}'.*Did you mean physical-ai-{near}"):
        resolve(target, URNS)


def test_arguments_name_each_target_once() -> None:
    resources = [{"urn": urn} for urn in URNS]
    given = RunOptions(targets=("physical-ai-network-vnet", NETWORK)).arguments(resources)
    assert given == {"target": [NETWORK], "target_dependents": None}
    assert RunOptions().arguments(resources)["target"] is None
    assert "exclude" not in RunOptions().arguments(resources), "a destroy has no such option"
    assert RunOptions(excludes=("**Secret::**",)).arguments(resources)["exclude"] == ["**Secret::**"]
    given = RunOptions(excludes=("**Secret::**",), exclude_dependents=True).arguments(resources)
    assert given["exclude_dependents"] is True
