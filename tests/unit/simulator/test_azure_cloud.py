"""The cloud as a whole: what it keeps, and what a kill at any moment leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from simulator.azure import ArmError
from simulator.azure.store import Store
from simulator.wire import Refused
from tests.support.azure_fakes import SPOT, Azure, MemoryHost


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.platform()
    return made


def test_cluster_starts_its_control_plane_and_its_system_nodes(azure: Azure) -> None:
    assert azure.host.clusters == {azure.cluster_id: "1.36.3"}
    assert len(azure.host.names("system")) == 2


def test_labels_and_taints_of_a_pool_reach_its_nodes_in_place(azure: Azure) -> None:
    azure.pool()
    azure.pool(nodeLabels={"team": "robots"}, nodeTaints=[])
    (node,) = azure.host.nodes[(azure.cluster_id, "h100gpu")]
    assert node["metadata"]["labels"]["team"] == "robots"
    assert "physical-ai/gpu-driver" not in node["metadata"]["labels"]
    assert node["spec"]["taints"] == []


def test_spot_pool_is_returned_with_its_label_and_taint_once(azure: Azure) -> None:
    bare = {"scaleSetPriority": "Spot", "nodeLabels": {}, "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"]}
    for change in (bare, SPOT):
        outputs = azure.pool(agentPoolName="spot", **change).outputs
        assert outputs["nodeLabels"] == {"kubernetes.azure.com/scalesetpriority": "spot"}
        assert outputs["nodeTaints"].count("kubernetes.azure.com/scalesetpriority=spot:NoSchedule") == 1
        assert "upgradeSettings" not in outputs


def test_minor_means_its_newest_patch_once(azure: Azure) -> None:
    outputs = azure.pool(orchestratorVersion="1.35").outputs
    assert (outputs["orchestratorVersion"], outputs["currentOrchestratorVersion"]) == ("1.35", "1.35.5")
    (node,) = azure.host.nodes[(azure.cluster_id, "h100gpu")]
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.35.5"


def test_pools_of_one_subnet_never_share_an_address(azure: Azure) -> None:
    azure.pool(agentPoolName="one", count=3)
    azure.pool(agentPoolName="two", count=3)
    azure.pool(agentPoolName="one", count=5)
    addresses = [node["status"]["addresses"][0]["address"] for nodes in azure.host.nodes.values() for node in nodes]
    assert len(set(addresses)) == len(addresses) == 10
    assert "10.100.1.4" in addresses


def test_deleting_a_pool_removes_its_nodes_and_the_cluster_everything(azure: Azure) -> None:
    azure.pool()
    azure.cloud.delete(f"{azure.cluster_id}/agentPools/h100gpu")
    assert azure.host.names("h100gpu") == []
    azure.cloud.delete(azure.cluster_id)
    assert azure.host.clusters == {}
    assert not [r for r in azure.cloud.resources(inline=True).values() if "AgentPool" in r["type"]]


def test_existing_id_is_not_created_again(azure: Azure) -> None:
    with pytest.raises(Refused, match="cannot create already existing resource '/subscriptions/"):
        azure.cluster()
    with pytest.raises(Refused, match="already existing"):
        azure.cloud.put("AgentPool", azure.pool_inputs(agentPoolName="system"), creating=True)


def test_resources_are_what_was_put_and_inline_ones_on_request(azure: Azure) -> None:
    plain, everything = azure.cloud.resources(), azure.cloud.resources(inline=True)
    assert set(everything) - set(plain) == {f"{azure.cluster_id}/agentPools/system"}
    assert plain[azure.cluster_id]["type"] == "azure-native:containerservice:ManagedCluster"


def test_resource_id_is_the_one_a_creation_has(azure: Azure) -> None:
    made = azure.pool()
    token = "azure-native:containerservice:AgentPool"
    assert azure.cloud.resource_id(token, azure.pool_inputs()) == made.id
    assert azure.cloud.resource_id(token, {"resourceName": "aks"}) is None
    assert azure.cloud.resource_id("azure-native:web:WebApp", {"name": "x"}) is None
    assignment = {"scope": f"{azure.cluster_id}/", "roleAssignmentName": "n"}
    expected = f"{azure.cluster_id}/providers/Microsoft.Authorization/roleAssignments/n"
    assert azure.cloud.resource_id("RoleAssignment", assignment) == expected


def test_unmodelled_type_is_refused_by_name(azure: Azure) -> None:
    with pytest.raises(Refused, match="no model of azure-native:web:WebApp; it has"):
        azure.cloud.put("azure-native:web:WebApp", {})


def test_file_holds_no_secret(azure: Azure) -> None:
    principal = {"servicePrincipalProfile": {"clientId": "msi", "secret": "hunter2-in-the-clear"}}
    azure.put("ManagedCluster", **azure.cluster_inputs(**principal))
    assert "hunter2" not in azure.path.read_text()
    assert "msi" in azure.path.read_text()


def test_host_failure_leaves_nothing_behind_and_another_try_works(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    azure.identities()
    azure.host.fail = {"apply_nodes"}
    with pytest.raises(Refused, match="apply_nodes failed"):
        azure.cluster()
    assert not azure.cloud.exists(azure.cluster_id)
    assert azure.host.clusters == {}
    azure.host.fail = set()
    azure.cluster()
    azure.host.fail = {"apply_nodes"}
    with pytest.raises(Refused):
        azure.pool()
    azure.host.fail = set()
    assert azure.pool().state == "Succeeded"


class SlowHost(MemoryHost):
    """Lets a test act while the host is busy with `apply_nodes`."""

    meanwhile: Callable[[], None] = staticmethod(lambda: None)

    def apply_nodes(self, cluster_id: str, pool: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        call, self.meanwhile = self.meanwhile, lambda: None
        call()
        super().apply_nodes(cluster_id, pool, nodes)


def test_one_operation_at_a_time_on_a_pool_but_pools_move_side_by_side(tmp_path: Path) -> None:
    host = SlowHost()
    azure = Azure(tmp_path / "azure.json", host=host)
    azure.platform()
    refused: list[str] = []

    def meanwhile() -> None:
        for change in (lambda: azure.pool(count=2), lambda: azure.put("ManagedCluster", **azure.cluster_inputs())):
            try:
                change()
            except ArmError as error:
                refused.append(error.refusal.code)
        azure.pool(agentPoolName="other")

    host.meanwhile = meanwhile
    azure.pool()
    assert refused == ["OperationNotAllowed", "OperationNotAllowed"]
    assert len(host.names("other")) == 1


def test_pools_created_from_many_threads_are_all_there(azure: Azure) -> None:
    errors: list[BaseException] = []

    def create(number: int) -> None:
        try:
            azure.pool(agentPoolName=f"p{number}")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert all(len(azure.host.names(f"p{number}")) == 1 for number in range(8))


class Killed(BaseException):
    """The process ends here."""


def run(azure: Azure, start: int = 0) -> int | None:
    """Builds, changes and thins out a platform; the step at which the process was killed, if it was."""
    steps: list[Callable[[], object]] = [
        azure.network,
        azure.identities,
        lambda: azure.put("ManagedCluster", **azure.cluster_inputs()),
        azure.pool,
        lambda: azure.pool(agentPoolName="gone"),
        lambda: azure.pool(count=3, nodeLabels={"team": "robots"}),
        lambda: azure.cloud.delete(f"{azure.cluster_id}/agentPools/gone"),
    ]
    for number, step in enumerate(steps[start:], start):
        try:
            step()
        except Killed:
            return number
    return None


def outcome(azure: Azure) -> object:
    nodes = {pool: azure.host.nodes[(cluster, pool)] for cluster, pool in azure.host.nodes}
    states = {id: (r["state"], r["inputs"]) for id, r in azure.cloud.resources(inline=True).items()}
    return {pool: found for pool, found in nodes.items() if found}, states


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.deep)])
def test_killed_at_any_moment_it_converges_to_the_same(
    every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each moment in `make test-deep`, at one of seven in `make test`."""
    whole = Azure(tmp_path / "whole.json")
    assert run(whole) is None
    countdown = [0]

    def tick() -> None:
        countdown[0] -= 1
        if countdown[0] == 0:
            raise Killed

    def around(method: Callable[..., None]) -> Callable[..., None]:
        def wrapped(*args: Any, **kwargs: Any) -> None:
            tick()
            method(*args, **kwargs)
            tick()

        return wrapped

    monkeypatch.setattr(Store, "save", around(Store.save))
    for verb in ("create", "apply_nodes", "grant"):
        monkeypatch.setattr(MemoryHost, verb, around(getattr(MemoryHost, verb)))
    moments = 1 - every
    while True:
        moments += every
        azure = Azure(tmp_path / f"{moments}.json")
        countdown[0] = moments
        killed_at = run(azure)
        countdown[0] = 0
        if killed_at is None:
            break
        azure.reopen()
        azure.cloud.settle()
        assert all(resource["state"] == "Succeeded" for resource in azure.cloud.resources(inline=True).values())
        assert run(azure, killed_at) is None
        assert outcome(azure) == outcome(whole), f"killed at moment {moments}, step {killed_at}"
    assert moments > 50


def test_deletion_cut_off_is_finished_on_the_next_opening(azure: Azure, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(self: MemoryHost, cluster_id: str) -> None:
        raise Killed

    monkeypatch.setattr(MemoryHost, "delete", killed)
    with pytest.raises(Killed):
        azure.cloud.delete(azure.cluster_id)
    monkeypatch.undo()
    azure.reopen()
    azure.cloud.settle()
    assert not azure.cloud.exists(azure.cluster_id)
    assert azure.host.clusters == {}
