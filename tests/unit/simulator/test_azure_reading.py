"""What a refresh makes of inputs where Azure's answer has changed, as azure-native does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.azure import AzureNative
from simulator.azure.data import mappings
from simulator.azure.reading import merged
from simulator.wire import Request
from tests.support.azure_fakes import NETWORK, Azure
from tests.support.cases import in_one_test


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.platform()
    return made


def refreshed(azure: Azure, kind: str, id: str, before: dict[str, Any]) -> dict[str, Any]:
    """Inputs after a refresh of a resource whose state is `before`, as `cloud.resources()` has it."""
    request = Request("urn", mappings()[kind].token, "thing", id=id)
    return AzureNative(azure.cloud).read(request, before["outputs"], before["inputs"])[2]


def test_a_pool_of_its_own_is_added_to_the_inputs_of_its_cluster(azure: Azure) -> None:
    before = azure.cloud.resources()[azure.cluster_id]
    azure.put("AgentPool", **azure.pool_inputs())
    after = refreshed(azure, "ManagedCluster", azure.cluster_id, before)
    (system,) = before["inputs"]["agentPoolProfiles"]
    first, second = after["agentPoolProfiles"]
    assert first == system, "what Azure has set by itself in the program's own pool is no input"
    assert (second["name"], second["vmSize"]) == ("h100gpu", azure.pool_inputs()["vmSize"])
    assert not {"provisioningState", "nodeImageVersion", "eTag"} & second.keys(), "read-only"
    rest = {key: value for key, value in after.items() if key != "agentPoolProfiles"}
    assert rest == {key: value for key, value in before["inputs"].items() if key != "agentPoolProfiles"}


def test_an_autoscaled_count_is_all_that_changes_in_a_pool(azure: Azure) -> None:
    scale = {"enableAutoScaling": True, "minCount": 1, "maxCount": 5, "count": 1}
    made = azure.put("AgentPool", **azure.pool_inputs(**scale))
    before = azure.cloud.resources()[made.id]
    azure.cloud.autoscale(azure.cluster_id, "h100gpu", 3)
    assert refreshed(azure, "AgentPool", made.id, before) == {**before["inputs"], "count": 3}


def test_an_address_shows_the_gateway_that_uses_it(azure: Azure) -> None:
    id = azure.id(f"{NETWORK}/publicIPAddresses/pip")
    gateway = azure.id(f"{NETWORK}/natGateways/nat")
    before = azure.cloud.resources()[id]
    assert "natGateway" not in before["outputs"], "it was put before the gateway"
    assert refreshed(azure, "PublicIPAddress", id, before)["natGateway"] == {"id": gateway}


@in_one_test(
    ("given", "before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1, "set": 2}, {"a": 1, "set": 2}, {"a": 1}),
        ({"a": 1}, {"a": 1, "set": 2}, {"a": 1, "set": 3}, {"a": 1, "set": 3}),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, {"a": {"b": 5, "c": 2}}, {"a": {"b": 5}}),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}, {"a": 1}),
        ([1], [1, 2], [1, 2], [1]),
        ([1], [1], [1, 2], [1, 2]),
        ([1, 2], [1, 2], [1], [1]),
        (
            [{"n": "x"}],
            [{"n": "x", "s": 1}],
            [{"n": "y", "s": 1}, {"n": "x", "s": 1}],
            [{"n": "y"}, {"n": "x", "s": 1}],
        ),
        ("old", "old", "new", "new"),
    ],
)
def test_a_difference_between_two_answers_is_applied_to_the_inputs(
    given: Any, before: Any, after: Any, expected: Any
) -> None:
    assert merged(given, before, after) == expected
