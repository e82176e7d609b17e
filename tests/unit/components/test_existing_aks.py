"""Components for an AKS cluster of somebody's own program: the examples of the page, declared without an engine."""

from __future__ import annotations

import datetime
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest

from physical_ai.repository import ROOT
from physical_ai.settings import Driver, DriverSource, Pool, Scale, SettingsError
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.pools import node_taints
from physical_ai.settings.own_program import own_settings
from workbench.mocks import recorder
from workbench.mocks.recorder import Recorder
from workbench.policies import Resource

EXAMPLES = ROOT / "docs" / "examples"
Declared = Callable[[str], list[Resource]]
H100 = Pool(sku="Standard_NC40ads_H100_v5", scale=Scale(count=1), driver=Driver(source=DriverSource.OPERATOR))
SERVICES = {"kubernetes.azure.com/agentpool": "system"}


@pytest.fixture
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declared:
    """Runs a program in a folder with the examples; what it declares."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(recorder, "PROJECT", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def run(text: str) -> list[Resource]:
        for name in [each for each in sys.modules if (tmp_path / f"{each}.py").exists()]:
            del sys.modules[name]
        (tmp_path / "__main__.py").write_text(text)
        found = Recorder(preview=False)
        recorder.run_program(found, "robots", {}, simulated=True, today=datetime.date(2026, 11, 28))
        return list(found.declared_resources)

    return run


def names(resources: list[Resource], kind: str) -> list[str]:
    return [each.name for each in resources if each.type.endswith(kind)]


def test_a_pool_gets_the_labels_and_taints_of_the_platforms_and_nothing_waits_for_roles(declared: Declared) -> None:
    resources = declared("import gpu_pool\n")
    (pool,) = (each for each in resources if each.type.endswith(":AgentPool"))
    assert pool.inputs["nodeLabels"] == pool_labels("h100", H100)
    assert pool.inputs["nodeTaints"] == node_taints(H100)
    assert "vnetSubnetID" not in pool.inputs
    assert not any("RoleAssignment" in each for each in pool.options.depends_on)


def test_the_stack_is_the_operator_with_a_driver_for_each_pool_in_one_namespace(declared: Declared) -> None:
    resources = declared("import gpu_stack\n")
    (release,) = (each for each in resources if each.type.endswith(":Release"))
    assert (release.inputs["name"], release.inputs["version"]) == ("gpu-operator", "v26.7.1")
    assert names(resources, ":NVIDIADriver") == ["gpus-operator-driver-h100"]
    assert names(resources, ":Namespace") == ["gpus-namespaces-gpu-operator"]
    assert names(resources, ":DaemonSet") == []
    assert [each for each in release.options.depends_on if each.endswith("::h100-nodes")]


def test_services_run_where_the_program_says_and_nowhere_else(declared: Declared) -> None:
    for release in (each for each in declared("import osmo\n") if each.type.endswith(":Release")):
        text = json.dumps(release.inputs["values"], default=str)
        assert '"cpu"' not in text, release.name
        if release.inputs["name"] != "gpu-operator":
            assert release.inputs["values"]["global"]["nodeSelector"] == SERVICES


def test_osmo_is_the_scheduler_and_the_agents_of_the_named_control_plane(declared: Declared) -> None:
    resources = declared("import osmo\n")
    releases = {each.inputs["name"]: each for each in resources if each.type.endswith(":Release")}
    assert set(releases) == {"gpu-operator", "kai-scheduler", "osmo-operator"}
    agents = releases["osmo-operator"].inputs["values"]["global"]
    assert (agents["serviceUrl"], agents["backendName"]) == ("https://osmo.example.com", "robots")
    found = {each.inputs["metadata"]["name"] for each in resources if each.type.endswith(":Namespace")}
    assert found == {"gpu-operator", "kai-scheduler", "osmo-control-plane", "osmo-operator", "osmo-workflows"}


def test_the_grid_driver_comes_alone(declared: Declared) -> None:
    resources = declared("import grid_driver\n")
    assert names(resources, ":Release") == []
    assert names(resources, ":DaemonSet") == ["grid-agent-agent"]


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (
            "from own_cluster import target\nfrom gpu_pool import h100\n"
            "from components.existing_aks import GridDriverAgent, GridDriverAgentArgs\n"
            "GridDriverAgent('grid', GridDriverAgentArgs(target, {'h100': h100}))\n",
            "GridDriverAgentArgs.pools: none of the pools (h100) has the driver source grid",
        ),
        (
            "from own_cluster import target\nfrom gpu_pool import h100\n"
            "from components.existing_aks import GpuStack, GpuStackArgs\n"
            "GpuStack('gpus', GpuStackArgs(target, {'h100': h100}, operator_version='v99.1.0'))\n",
            "(program): gpuOperator.version",
        ),
        (
            "from own_cluster import target\nfrom gpu_pool import h100\n"
            "from components.existing_aks import OsmoBackend, OsmoBackendArgs\n"
            "OsmoBackend('osmo', OsmoBackendArgs(target, {'h100': h100}, 'osmo.example.com', 'x'))\n",
            "(program): osmo.serviceUrl",
        ),
    ],
)
def test_what_a_rule_refuses_is_said_before_anything_is_declared(
    declared: Declared, program: str, problem: str
) -> None:
    with pytest.raises(pulumi.RunError) as refused:
        declared(program)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("region", "pools", "problem"),
    [
        ("westus9", {"h100": H100}, "(program): region"),
        ("westus2", {"H_100": H100}, "(program): pools.H_100"),
        (
            "westus2",
            {"h100": H100.model_copy(update={"sku": "Standard_NC40ads_H100_v4"})},
            "Did you mean 'Standard_NC40",
        ),
        (
            "westus2",
            {"h100": H100.model_copy(update={"driver": Driver(source=DriverSource.GRID)})},
            "'grid' does not work",
        ),
    ],
)
def test_pools_are_held_to_the_rules_for_stacks(region: str, pools: Mapping[str, Pool], problem: str) -> None:
    with pytest.raises(SettingsError) as refused:
        own_settings(region, "1.36", pools, {})
    assert problem in str(refused.value)


def test_no_default_of_the_platforms_pools_reaches_a_pool_of_the_same_name() -> None:
    pools: dict[str, Any] = {"h100gpu": H100, "rtxprogpu": H100}
    settings = own_settings("westus2", "1.36", pools, {})
    assert list(settings.pools) == ["h100gpu", "rtxprogpu"]
    for pool in settings.pools.values():
        assert pool.model_copy(update={"azure_subnet": None}) == H100
