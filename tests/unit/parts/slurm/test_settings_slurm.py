"""A Slurm cluster: off by default, derived from its pools, and alone on them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from parts.slurm.facts import gres, slurm_pools
from parts.slurm.names import TAINT
from parts.slurm.plan import health_conditions
from physical_ai.catalog.compat import check_chart
from physical_ai.settings import Loaded, Overlay, SettingsError, load
from physical_ai.settings.facts.images import program_images
from physical_ai.settings.facts.osmo import gpu_capacity, platforms
from tests.support.cases import in_one_test

FIXED: dict[str, Any] = {"count": 2, "min": None, "max": None, "initial": None}
H100: dict[str, Any] = {"scale": FIXED, "taints": [TAINT]}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ada@example.com"


def given(pool: dict[str, Any] | None = None, **slurm: Any) -> dict[str, Any]:
    return {"slurm": {"pools": ["h100gpu"], **slurm}, "pools": {"h100gpu": {**H100, **(pool or {})}}}


def loaded(data: dict[str, Any]) -> Loaded:
    return load("dev-westus2", [Overlay("--set", data)])


def problems(data: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(SettingsError) as caught:
        loaded(data)
    return {fault.where.removeprefix("physical-ai:"): fault.problem for fault in caught.value.faults}


def cluster(data: dict[str, Any]) -> dict[str, Any]:
    return dict(loaded(data).plan.parts["slurm"].release("cluster").values)


def test_there_is_none_unless_asked_for() -> None:
    found = loaded({})
    assert "slurm" not in found.plan.parts
    assert "slurm" not in {chart.name for chart in found.plan.charts}


def test_a_pool_becomes_a_node_set_with_all_gpus_of_its_nodes() -> None:
    values = cluster(given())
    assert values["configFiles"] == {"gres.conf": "AutoDetect=nvidia\n"}
    assert values["controller"]["extraConfMap"] == {"GresTypes": ["gpu"]}
    assert values["nodesets"]["slinky"] == {"enabled": False}
    nodes = values["nodesets"]["h100gpu"]
    assert nodes["scalingMode"] == "DaemonSet"
    assert nodes["slurmd"]["resources"] == {"limits": {"nvidia.com/gpu": 1}}
    assert nodes["replicas"] == 2, "the budget of disruptions counts as many Pods as there are nodes"
    assert nodes["extraConfMap"] == {"Gres": ["gpu:1"], "Features": ["h100gpu"]}
    assert nodes["podSpec"]["nodeSelector"] == {"kubernetes.azure.com/agentpool": "h100gpu"}
    tolerated = {(each["key"], each["effect"]) for each in nodes["podSpec"]["tolerations"]}
    assert {("physical-ai/slurm", "NoSchedule"), ("nvidia.com/gpu", "NoSchedule")} <= tolerated


def test_each_pool_is_a_partition_and_the_first_is_the_default_one() -> None:
    both = given(pools=["h100gpu", "second"], maxTime="12:00:00")
    second = {**H100, "sku": "Standard_NC80adis_H100_v5", "driver": {"source": "operator"}, "subnet": "10.40.9.0/24"}
    both["pools"]["second"] = {**second, "priority": "Regular"}
    partitions = cluster(both)["partitions"]
    assert partitions["all"] == {"enabled": False}
    assert partitions["h100gpu"]["nodesets"] == ["h100gpu"]
    assert partitions["h100gpu"]["configMap"] == {"State": "UP", "Default": "YES", "MaxTime": "12:00:00"}
    assert partitions["second"]["configMap"]["Default"] == "NO"
    assert [gres(pool) for pool in slurm_pools(loaded(both).settings).values()] == ["gpu:1", "gpu:2"]


def test_the_operator_drains_in_slurm_what_health_cordons() -> None:
    operator = loaded(given()).plan.parts["slurm"].release("operator").values
    assert operator["propagatedNodeConditions"] == health_conditions()
    assert {"GpuMemWatch", "GpuAllWatch", "SysLogsXIDError"} <= set(health_conditions())
    assert operator["operator"]["namespaces"] == "slurm"


def test_osmo_gives_no_work_to_pools_of_slurm() -> None:
    before, after = loaded({}).settings, loaded(given()).settings
    assert "h100gpu" in {item.pool for item in platforms(before)}
    assert "h100gpu" not in {item.pool for item in platforms(after)}
    assert {item.name for item in platforms(after)} < {item.name for item in platforms(before)}
    assert sum(gpu_capacity(after).values()) == sum(gpu_capacity(before).values()) - before.pools["h100gpu"].scale.most


def test_health_leaves_the_pods_of_slurmd_to_slurm() -> None:
    health = {"mode": "drain", "datastoreSecret": "store"}
    for data, ours in ((given(), True), ({"pools": {"h100gpu": {"scale": FIXED}}}, False)):
        measured = {**data, "health": health, "monitoring": {"metrics": "azure"}}
        sentinel = loaded(measured).plan.parts["nvsentinel"].release("release").values
        assert sentinel["node-drainer"]["systemNamespaces"].endswith("|slurm)$") is ours


def test_a_login_pod_has_no_public_address() -> None:
    assert cluster(given())["loginsets"] == {"slinky": {"enabled": False}}
    login = cluster(given(login={"sshKeys": [KEY]}))["loginsets"]["slinky"]
    assert login["rootSshAuthorizedKeys"] == KEY
    assert login["service"] == {"spec": {"type": "ClusterIP"}}


def test_every_image_is_named_with_a_tag_and_is_of_a_registry_that_is_cached() -> None:
    only = {"cluster": {"kubernetesVersion": "1.36"}, "dataServices": {"source": "azure", "registry": {"only": True}}}
    data = {**given(login={"sshKeys": [KEY]}), **only}
    found: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            block = cast("dict[str, Any]", value)
            if "repository" in block:
                found.append(f"{block['repository']}:{block['tag']}")
            for each in block.values():
                collect(each)

    collect(cluster(data))
    named = program_images(loaded(data).settings)
    assert set(found) < set(named)
    assert {each.rpartition(":")[2] for each in found} == {"26.05-ubuntu26.04"}
    faults = [each.problem for each in loaded(data).warnings if "can't pull" in each.problem]
    assert not [each for each in faults if "slinkyproject" in each], "ghcr.io is cached unless upstreams say otherwise"
    data["dataServices"]["registry"]["upstreams"] = ["nvcr.io", "registry.k8s.io"]
    data["osmo"] = {"mode": "namespaces"}  # images of its charts are of ghcr.io, too
    faults = [each.problem for each in loaded(data).warnings if "can't pull" in each.problem]
    assert sum("slinkyproject" in each for each in faults) == 6


def test_both_charts_know_every_key() -> None:
    for each in loaded(given(login={"sshKeys": [KEY]})).plan.parts["slurm"].releases:
        assert check_chart(each.chart.name, each.chart.version, each.values) == []
        assert check_chart(each.chart.name, each.chart.version, {**each.values, "unknownKey": True})


@in_one_test(
    ("data", "where", "problem"),
    [
        (given(pools=["h100"]), "slurm.pools[0]", "There is no GPU pool 'h100'"),
        (given(pools=["h100gpu", "h100gpu"]), "slurm.pools[1]", "is listed twice"),
        (given({"taints": []}), "pools.h100gpu.taints", "Other Pods could take the GPUs"),
        (given({"sharing": {"timeSlicing": {"replicas": 4}}}), "pools.h100gpu.sharing", "shares its GPUs"),
        (given({"scale": {"min": 0, "max": 2}}), "pools.h100gpu.scale", "its jobs would wait indefinitely"),
        (
            {**given(), "osmo": {"platforms": {"h100gpu": {"name": "train"}}}},
            "osmo.platforms.h100gpu",
            "so OSMO has no platform for it",
        ),
        ({"pools": {"h100gpu": {"taints": [TAINT]}}}, "pools.h100gpu.taints", "nothing would run there"),
        (given(maxTime="7 days"), "slurm.maxTime", "a time of Slurm"),
        (given(pools=[]), "slurm.pools", ""),
        (given(login={"sshKeys": ["PRIVATE"]}), "slurm.login.sshKeys[0]", "public key"),
    ],
)
def test_what_slurm_can_not_use_is_refused(data: dict[str, Any], where: str, problem: str) -> None:
    found = problems(data)
    assert where in found, found
    assert problem in found[where]


def test_gpus_of_another_vendor_are_refused() -> None:
    pool = {**H100, "sku": "Standard_ND96isr_MI300X_v5", "priority": "Regular"}
    assert any("detects NVIDIA's GPUs" in problem for problem in problems(given(pool)).values())


def test_a_pool_that_grows_by_pods_that_wait_is_doubted() -> None:
    found = loaded(given({"scale": {"count": None, "min": 1, "max": 4, "initial": None}}))
    assert any("the pool stays at its min, 1" in warning.problem for warning in found.warnings)


def test_the_budget_that_keeps_aks_from_every_upgrade_is_named() -> None:
    """The operator makes it, so no policy about declared budgets sees it."""
    (found,) = [each for each in loaded(given()).warnings if each.rule == "slurm-upgrade-budget"]
    assert "slurm/slurm-workers-pdb-slurm with maxUnavailable 0" in found.problem
    assert "cluster.upgrades.forceUntil" in (found.fix or "")
    forced = {**given(), "cluster": {"upgrades": {"forceUntil": "2026-12-01T04:00:00Z"}}}
    assert not [each for each in loaded(forced).warnings if each.rule == "slurm-upgrade-budget"]
    assert not [each for each in loaded({}).warnings if each.rule == "slurm-upgrade-budget"]
