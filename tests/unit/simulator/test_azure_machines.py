"""Azure's API for the machines of a pool, and its impact reports, as the commands of health use them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from simulator.azure import ArmEndpoint
from simulator.azure.impacts import Impacts
from tests.support.azure_fakes import Azure
from workbench.health.arm import Answer, Refused
from workbench.health.replacement.machines import Machines

SCALED: dict[str, Any] = {"enableAutoScaling": True, "minCount": 1, "maxCount": 5, "count": 2}
VERSION = {"api-version": "2025-01-01-preview"}
IMPACT = "/subscriptions/s/providers/Microsoft.Impact/workloadImpacts/one"


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.platform()
    return made


def endpoint(azure: Azure, caller: str = "") -> ArmEndpoint:
    return ArmEndpoint(azure.cloud, caller or azure.cloud.directory.deployer, azure.path.with_name("impacts.json"))


def machines(azure: Azure, caller: str = "") -> Machines:
    made = endpoint(azure, caller)

    def arm(method: str, path: str, parameters: Mapping[str, str], body: Any) -> Answer:
        return Answer(*made(method, path, parameters, body))

    return Machines(arm, azure.cluster_id)


def vms(azure: Azure) -> dict[str, str]:
    nodes = azure.host.nodes[azure.cluster_id, "h100gpu"]
    return {node["metadata"]["name"]: node["status"]["nodeInfo"]["systemUUID"] for node in nodes}


def test_a_deleted_machine_goes_by_name_the_count_falls_and_its_successor_is_another_machine(azure: Azure) -> None:
    azure.pool(count=3)
    before = vms(azure)
    first, second, third = before
    assert machines(azure).delete("h100gpu", second)
    assert vms(azure) == {first: before[first], third: before[third]}
    assert machines(azure).pool("h100gpu").count == 2
    assert machines(azure).resize("h100gpu", 3)
    after = vms(azure)
    assert set(after) == set(before)
    assert after[second] != before[second]
    assert (after[first], after[third]) == (before[first], before[third])


def test_an_autoscaled_pool_is_brought_back_to_its_minimum(azure: Azure) -> None:
    azure.pool(**{**SCALED, "minCount": 2})
    name = azure.host.names("h100gpu")[0]
    assert machines(azure).delete("h100gpu", name)
    state = machines(azure).pool("h100gpu")
    assert (state.count, state.autoscaled, state.least, state.is_settled) == (1, True, 2, True)
    assert machines(azure).resize("h100gpu", 2)
    assert machines(azure).pool("h100gpu").count == 2


def test_a_missing_machine_counts_as_deleted_and_a_missing_pool_does_not(azure: Azure) -> None:
    azure.pool()
    assert machines(azure).delete("h100gpu", "aks-h100gpu-0-vmss000009")
    with pytest.raises(Refused, match="Could not find the agentpool: other"):
        machines(azure).pool("other")


def test_a_restart_reaches_the_nodes_machine(azure: Azure) -> None:
    azure.pool(count=2)
    (_, second) = azure.host.nodes[azure.cluster_id, "h100gpu"]
    assert machines(azure).restart(second["spec"]["providerID"])
    assert azure.host.calls[-1] == f"restart {second['metadata']['name']}"
    with pytest.raises(Refused, match="NotFound"):
        machines(azure).restart(second["spec"]["providerID"][:-1] + "7")


def test_who_may_not_delete_machines_is_refused_by_name(azure: Azure) -> None:
    azure.pool()
    with pytest.raises(Refused, match=r"AuthorizationFailed.*agentPools/deleteMachines/action") as refused:
        machines(azure, "55555555-5555-4555-8555-555555555555").delete("h100gpu", azure.host.names("h100gpu")[0])
    assert refused.value.code == "AuthorizationFailed"
    assert len(azure.host.names("h100gpu")) == 1


def report(**changes: Any) -> dict[str, Any]:
    properties = {
        "startDateTime": "2026-11-01T12:00:00Z",
        "impactCategory": "Resource.Hpc.Unhealthy.XID79FallenOffBus",
        "impactDescription": "Xid 79",
        "impactedResourceId": "/subscriptions/s/x",
        "additionalProperties": {"PhysicalHostName": "GGBB90904476"},
    }
    return {"properties": {**properties, **changes}}


def test_a_report_is_kept_and_its_name_is_used_once(azure: Azure) -> None:
    send = endpoint(azure)
    assert send("GET", IMPACT, VERSION, None)[0] == 404
    assert send("PUT", IMPACT, VERSION, report())[0] == 200
    assert send("GET", IMPACT, VERSION, None)[1]["properties"]["impactCategory"].endswith("XID79FallenOffBus")
    assert send("PUT", IMPACT, VERSION, report())[0] == 400
    assert list(Impacts(azure.path.with_name("impacts.json")).all()) == ["one"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"impactDescription": None}, "impactDescription is required"),
        ({"startDateTime": "yesterday"}, "not a time"),
        ({"additionalProperties": {}}, "PhysicalHostName is required"),
        ({"additionalProperties": {"PhysicalHostName": "a b"}}, "alphanumeric"),
        ({"additionalProperties": {"PhysicalHostName": "a", "serialNumber": "1"}}, "case-sensitive"),
    ],
)
def test_a_report_that_azure_would_refuse_is_refused(azure: Azure, changes: dict[str, Any], message: str) -> None:
    status, body = endpoint(azure)("PUT", IMPACT, VERSION, report(**changes))
    assert status == 400
    assert message in body["error"]["message"]


def test_a_request_without_a_version_is_refused(azure: Azure) -> None:
    assert endpoint(azure)("PUT", IMPACT, {}, report())[1]["error"]["code"] == "MissingApiVersionParameter"
