"""AKS and disruption budgets: upgrades that it refuses, drains that time out, and what a forced upgrade passes over."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from simulator.azure import ArmError
from simulator.azure.rules.upgrade_budgets import unsatisfiable
from simulator.node_drain import beside, blocked
from tests.support.azure_fakes import Azure, HandClock
from tests.support.cases import in_one_test

KEPT = "Drain node aks-gpu-0 failed when evicting pod x failed with Too Many Requests error."


def budget(spec: dict[str, Any], pods: int = 1, **status: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "x"}}
    return {
        "metadata": {"namespace": "slurm", "name": "workers"},
        "spec": {"selector": selector, **spec},
        "status": {"expectedPods": pods, "disruptionsAllowed": 0, **status},
    }


def forced(until: str | None) -> dict[str, Any]:
    override = {"forceUpgrade": True, **({"until": until} if until else {})}
    return {"upgradeSettings": {"overrideSettings": override}}


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    """A cluster of 1.35 with one pool."""
    found = Azure(tmp_path / "azure.json")
    found.network()
    found.identities()
    found.cluster(kubernetesVersion="1.35")
    found.pool(orchestratorVersion="1.35", upgradeSettings={"maxSurge": "1", "drainTimeoutInMinutes": 7})
    return found


def raise_control_plane(azure: Azure, **more: Any) -> None:
    azure.put("ManagedCluster", **azure.cluster_inputs(kubernetesVersion="1.36", **more))


def raise_pool(azure: Azure) -> Any:
    settings = {"maxSurge": "1", "drainTimeoutInMinutes": 7}
    return azure.pool(orchestratorVersion="1.36", upgradeSettings=settings)


@in_one_test(
    ("spec", "pods", "says"),
    [
        ({"maxUnavailable": 0}, 3, "PDB slurm/workers has maxUnavailable == 0 can't proceed with put operation"),
        ({"maxUnavailable": 0}, 0, "maxUnavailable == 0"),
        ({"maxUnavailable": "0%"}, 3, "maxUnavailable == 0"),
        ({"minAvailable": 1}, 1, "PDB slurm/workers has minAvailable(1) >= expectedPods(1)"),
        ({"minAvailable": 5}, 3, "minAvailable(5) >= expectedPods(3)"),
        ({"minAvailable": "100%"}, 3, "minAvailable(3) >= expectedPods(3)"),
        ({"minAvailable": "50%"}, 1, "minAvailable(1) >= expectedPods(1)"),
        ({"minAvailable": 1}, 2, ""),
        ({"minAvailable": "50%"}, 2, ""),
        ({"minAvailable": 0}, 0, ""),
        ({"maxUnavailable": 1}, 1, ""),
        ({"maxUnavailable": "10%"}, 1, ""),
    ],
)
def test_budgets_that_never_let_go(spec: dict[str, Any], pods: int, says: str) -> None:
    found = unsatisfiable(budget(spec, pods))
    assert (says in found) if says else not found


def test_an_upgrade_of_the_control_plane_is_refused_and_names_the_budgets(azure: Azure) -> None:
    azure.host.disruption = [budget({"maxUnavailable": 0}), budget({"minAvailable": 1})]
    with pytest.raises(ArmError) as error:
        raise_control_plane(azure)
    assert error.value.refusal.code == "UnsatisfiablePDB"
    assert "2 errors occurred:\n\t* PDB slurm/workers has maxUnavailable == 0" in error.value.refusal.message
    assert "forceUpgrade in upgradeSettings.overrideSettings" in error.value.refusal.message


def test_what_is_no_upgrade_is_not_refused(azure: Azure) -> None:
    azure.host.disruption = [budget({"maxUnavailable": 0})]
    azure.put("ManagedCluster", **azure.cluster_inputs(kubernetesVersion="1.35", tags={"a": "b"}))
    settings = {"maxSurge": "1", "drainTimeoutInMinutes": 7}
    azure.pool(orchestratorVersion="1.35", upgradeSettings=settings, nodeLabels={"team": "a"})


def test_a_pool_is_refused_for_budgets_of_other_pools_too(azure: Azure) -> None:
    raise_control_plane(azure)
    azure.host.disruption = [budget({"maxUnavailable": 0})]
    with pytest.raises(ArmError, match="UnsatisfiablePDB"):
        raise_pool(azure)


def test_a_node_image_is_refused_as_well(azure: Azure) -> None:
    azure.host.disruption = [budget({"maxUnavailable": 0})]
    with pytest.raises(ArmError, match="UnsatisfiablePDB"):
        azure.cloud.upgrade_node_image(azure.cluster_id, "h100gpu")


def _in(**delta: int) -> str:
    """A time from now, as ARM writes it. By the clock of the fakes."""
    return (
        datetime.datetime.fromtimestamp(HandClock().seconds, datetime.UTC) + datetime.timedelta(**delta)
    ).isoformat()


@pytest.mark.parametrize(
    ("until", "passes"), [(_in(days=1), True), (_in(days=-1), False), (None, False), ("soon", False)]
)
def test_a_forced_upgrade_needs_a_time_that_has_not_passed(azure: Azure, until: str | None, passes: bool) -> None:
    azure.host.disruption = [budget({"maxUnavailable": 0})]
    if passes:
        raise_control_plane(azure, **forced(until))
    else:
        with pytest.raises(ArmError, match="UnsatisfiablePDB"):
            raise_control_plane(azure, **forced(until))


def test_nodes_follow_the_version_after_a_drain(azure: Azure) -> None:
    raise_control_plane(azure)
    found = raise_pool(azure)
    assert found.outputs["currentOrchestratorVersion"].startswith("1.36.")
    assert "drain h100gpu 7" in azure.host.calls
    (node,) = azure.host.nodes[azure.cluster_id, "h100gpu"]
    assert node["status"]["nodeInfo"]["kubeletVersion"].startswith("v1.36.")


def test_a_drain_that_times_out_fails_the_pool_and_keeps_the_version(azure: Azure) -> None:
    raise_control_plane(azure)
    azure.host.keeps = KEPT
    found = raise_pool(azure)
    assert (found.state, found.outputs["provisioningState"]) == ("Failed", "Failed")
    assert found.outputs["currentOrchestratorVersion"] == "1.35.5"
    why = azure.cloud.failure(found)
    assert (why.code, why.message) == ("UpgradeFailed", KEPT)
    (node,) = azure.host.nodes[azure.cluster_id, "h100gpu"]
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.35.5"
    azure.host.keeps = ""
    assert raise_pool(azure).state == "Succeeded", "once the budget lets go, the next attempt goes through"


def test_a_forced_upgrade_drains_without_the_budgets(azure: Azure) -> None:
    raise_control_plane(azure, **forced(_in(days=1)))
    azure.host.keeps = KEPT
    assert raise_pool(azure).state == "Succeeded"
    assert not [call for call in azure.host.calls if call.startswith("drain")]


def test_a_node_image_that_cannot_be_rolled_out_stays_as_it_was(azure: Azure) -> None:
    before = azure.cloud.get(f"{azure.cluster_id}/agentPools/h100gpu")
    assert before is not None
    azure.host.keeps = KEPT
    failed = azure.cloud.upgrade_node_image(azure.cluster_id, "h100gpu")
    assert (failed.state, failed.outputs["nodeImageVersion"]) == ("Failed", before.outputs["nodeImageVersion"])
    azure.host.keeps = ""
    done = azure.cloud.upgrade_node_image(azure.cluster_id, "h100gpu")
    assert done.state == "Succeeded"
    assert done.outputs["nodeImageVersion"] > before.outputs["nodeImageVersion"]
    (node,) = azure.host.nodes[azure.cluster_id, "h100gpu"]
    label = node["metadata"]["labels"]["kubernetes.azure.com/node-image-version"]
    assert label == done.outputs["nodeImageVersion"]


def pod(ready: bool = True, **more: Any) -> dict[str, Any]:
    state = {"phase": "Running", "conditions": [{"type": "Ready", "status": str(ready)}]}
    metadata = {"namespace": "slurm", "name": "x-0", "labels": {"app": "x"}, **more.pop("metadata", {})}
    return {"metadata": metadata, "spec": {"nodeName": "aks-gpu-0"}, "status": {**state, **more}}


@in_one_test(
    ("given", "of", "kept"),
    [
        (pod(), budget({"minAvailable": 1}), True),
        (pod(), budget({"minAvailable": 1}, 2, disruptionsAllowed=1), False),
        (pod(metadata={"ownerReferences": [{"kind": "DaemonSet"}]}), budget({"minAvailable": 1}), False),
        (pod(metadata={"labels": {"app": "y"}}), budget({"minAvailable": 1}), False),
        (pod(metadata={"namespace": "other"}), budget({"minAvailable": 1}), False),
        (pod(phase="Succeeded"), budget({"minAvailable": 1}), False),
        (pod(phase="Pending"), budget({"minAvailable": 1}), False),
        (pod(ready=False), budget({"minAvailable": 1}, desiredHealthy=1, currentHealthy=0), True),
        (pod(ready=False), budget({"minAvailable": 1}, desiredHealthy=1, currentHealthy=1), False),
        (pod(ready=False), budget({"minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}), False),
    ],
)
def test_which_pods_a_budget_keeps(given: dict[str, Any], of: dict[str, Any], kept: bool) -> None:
    message = blocked([given], [of])
    assert bool(message) == kept
    if kept:
        assert "Too Many Requests" in message
        assert "slurm/x-0 blocked by pdb workers" in message


def test_another_operating_system_is_a_drain_that_the_next_request_resumes(azure: Azure) -> None:
    """AKS reimages the nodes for it, within budgets (AKS docs, upgrade-os-version and http-proxy)."""

    def sku(name: str) -> Any:
        azure.host.calls.clear()
        return azure.pool(orchestratorVersion="1.35", osSKU=name, upgradeSettings={"drainTimeoutInMinutes": 7})

    def image() -> str:
        (node,) = azure.host.nodes[azure.cluster_id, "h100gpu"]
        return node["metadata"]["labels"]["kubernetes.azure.com/node-image-version"]

    before = image()
    azure.host.keeps = KEPT
    assert sku("Ubuntu2204").state == "Failed"
    assert image() == before
    azure.host.keeps = ""
    assert sku("Ubuntu2204").state == "Succeeded"
    assert "drain h100gpu 7" in azure.host.calls
    assert image() != before
    sku("Ubuntu2204")
    assert "drain h100gpu 7" not in azure.host.calls


def test_a_drain_that_fails_has_evicted_the_other_pods_of_the_node() -> None:
    def pod(name: str, node: str, app: str = "y", owner: str = "ReplicaSet") -> dict[str, Any]:
        return {
            "metadata": {
                "namespace": "slurm", "name": name, "labels": {"app": app}, "ownerReferences": [{"kind": owner}],
            },
            "spec": {"nodeName": node},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }  # fmt: skip

    pods = [pod("kept", "a", "x"), pod("beside", "a"), pod("of-the-node", "a", owner="DaemonSet"), pod("later", "b")]
    found = beside(pods, [budget({"maxUnavailable": 0})], "a")
    assert [each["metadata"]["name"] for each in found] == ["beside"]
