"""What the GPU Operator is installed with: chart values, driver resources and ConfigMaps, from files and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog.compat import check_driver, check_values
from physical_ai.nested import at
from physical_ai.planning.gpu_operator import MIG_LAYOUTS, POOL_CONFIGS, GpuPlan
from physical_ai.planning.plan import make_plan
from physical_ai.settings import SettingsError, existing, load
from physical_ai.settings.facts import gpu as gpu_facts
from tests.support.cases import in_one_test
from tests.support.gpu_settings import H100, MIXED, RTX, SINGLE, given_settings

CLUSTER_POLICY = "gpuOperator.driverOwner=ClusterPolicy"
RELEASES = ("v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0")
PLACES = ("daemonsets.tolerations", "node-feature-discovery.worker.tolerations")


def plan(*assignments: str) -> GpuPlan:
    return given_settings(*assignments).plan.gpu


def env(entries: list[dict[str, str]]) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in entries}


@in_one_test("stack", existing())
def test_committed_stacks_get_values_that_the_chart_knows_without_a_warning(stack: str) -> None:
    plan = load(stack).plan
    assert list(plan.warnings) == []
    assert check_values(load(stack).settings.gpu_operator.version, plan.gpu.values) == []


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("owner", ["NVIDIADriver", "ClusterPolicy"])
def test_values_and_drivers_fit_every_release_that_was_read(release: str, owner: str) -> None:
    found = plan(f"gpuOperator.version={release}", f"gpuOperator.driverOwner={owner}", f"{H100}.sharing={SINGLE}")
    assert check_values(release, found.values) == []
    assert [check_driver(release, driver.spec) for driver in found.drivers.values()] == [[]] * len(found.drivers)


@pytest.mark.parametrize("place", PLACES)
def test_operands_and_nfd_tolerate_every_taint_of_every_pool_once(place: str) -> None:
    found = plan(f"{H100}.taints=['team=a:NoSchedule']", f"{RTX}.taints=['team=b:NoSchedule','x=y:NoExecute']")
    tolerated = [(item["key"], item["operator"], item["effect"]) for item in at(found.values, place)]
    assert sorted(tolerated) == [
        ("kubernetes.azure.com/scalesetpriority", "Exists", "NoSchedule"),
        ("nvidia.com/gpu", "Exists", "NoSchedule"),
        ("team", "Exists", "NoSchedule"),
        ("x", "Exists", "NoExecute"),
    ]


def test_drivers_tolerate_what_operands_tolerate() -> None:
    found = plan(f"{H100}.taints=['team=a:NoSchedule']")
    assert found.drivers["h100gpu"].spec["tolerations"] == at(found.values, "daemonsets.tolerations")


def test_without_spot_no_pod_tolerates_spot_and_the_gpu_taint_remains() -> None:
    found = plan(f"{H100}.priority=Regular", f"{RTX}.priority=Regular")
    assert {item["key"] for item in at(found.values, "daemonsets.tolerations")} == {"nvidia.com/gpu"}


def test_without_pools_the_list_that_replaces_the_charts_still_has_the_gpu_taint() -> None:
    found = plan(f"{H100}=null", f"{RTX}=null")
    assert [item["key"] for item in at(found.values, "daemonsets.tolerations")] == ["nvidia.com/gpu"]
    assert found.drivers == {}


def test_values_set_what_aks_and_azure_need() -> None:
    values = plan().values
    assert env(at(values, "toolkit.env"))["RUNTIME_CONFIG_SOURCE"] == "file"
    assert env(at(values, "migManager.env")) == {"WITH_REBOOT": "true"}
    assert env(at(values, "validator.plugin.env")) == {"WITH_WORKLOAD": "false"}
    assert values["cdi"] == {"enabled": True, "nriPluginEnabled": False}
    assert values["mig"] == {"strategy": "single"}
    assert at(values, "migManager.enabled") is False
    assert at(values, "nodeStatusExporter.enabled") is True
    assert at(values, "dcgmExporter.serviceMonitor.enabled") is False
    assert at(values, "devicePlugin.config") == {"create": False, "name": POOL_CONFIGS, "default": "default"}
    assert (at(values, "operator.upgradeCRD"), at(values, "operator.cleanupCRD")) == (True, False)


def test_operator_and_nfd_run_on_the_cpu_pool() -> None:
    values, cpu = plan().values, {"kubernetes.azure.com/agentpool": "cpu"}
    for place in ("operator", "node-feature-discovery.master", "node-feature-discovery.gc"):
        assert at(values, place)["nodeSelector"] == cpu


def test_nri_is_written_only_where_the_release_knows_it() -> None:
    assert plan("gpuOperator.version=v25.3.4").values["cdi"] == {"enabled": True}
    with pytest.raises(SettingsError, match=r"gpuOperator\.nri\n  GPU Operator v25\.3\.4 has no NRI plugin"):
        plan("gpuOperator.version=v25.3.4", "gpuOperator.nri=true")


@pytest.mark.parametrize("written_as", ["1.17.8-ubuntu20.04", "v1.17.8-ubuntu20.04"])
def test_toolkit_version_becomes_the_tag_that_nvidia_publishes(written_as: str) -> None:
    assert "version" not in plan().values["toolkit"]
    found = plan(f"gpuOperator.toolkit.version={written_as}", "gpuOperator.version=v25.3.4")
    assert at(found.values, "toolkit.version") == "v1.17.8-ubuntu20.04"


def test_with_driver_resources_the_chart_values_do_not_describe_the_driver() -> None:
    driver = dict(plan().values["driver"])
    assert set(driver.pop("upgradePolicy")) >= {"autoUpgrade", "maxParallelUpgrades", "drain"}
    assert driver == {"enabled": True, "nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}


def test_a_driver_resource_sets_which_driver_its_pool_gets() -> None:
    spec = plan(f"{H100}.driver.moduleType=open").drivers["h100gpu"].spec
    assert (spec["repository"], spec["image"], spec["version"]) == ("nvcr.io/nvidia", "driver", "580.173.02")
    assert (spec["driverType"], spec["kernelModuleType"], spec["usePrecompiled"]) == ("gpu", "open", False)
    assert spec["upgradePolicy"]["maxParallelUpgrades"] == 1
    assert spec["upgradePolicy"]["podDeletion"]["timeoutSeconds"] == 300
    assert "gpuPodDeletion" not in spec["upgradePolicy"]


def test_each_operator_pool_has_its_own_driver_and_others_have_none() -> None:
    found = plan(f"{RTX}.driver.source=aks")
    assert set(found.drivers) == {"h100gpu"}
    assert found.drivers["h100gpu"].spec["nodeSelector"] == {
        "kubernetes.azure.com/agentpool": "h100gpu",
        "physical-ai/gpu-driver": "operator",
    }


def test_a_new_driver_version_keeps_the_resource_and_its_nodes() -> None:
    before, after = plan().drivers["h100gpu"], plan(f"{H100}.driver.version=595.91.07").drivers["h100gpu"]
    changed = {key for key in after.spec if after.spec[key] != before.spec[key]}
    assert (after.name, changed) == (before.name, {"version"})


def test_module_parameters_become_files_and_a_change_of_them_a_new_driver_template() -> None:
    hmm = f'{H100}.driver.moduleParameters={{nvidia-uvm: {{uvm_disable_hmm: "1"}}, nvidia: {{b: "2", a: "1"}}}}'
    found = plan(hmm)
    name = found.drivers["h100gpu"].config_map
    assert name == "gpu-driver-modules-h100gpu"
    assert found.config_maps[name] == {"nvidia.conf": "a=1\nb=2\n", "nvidia-uvm.conf": "uvm_disable_hmm=1\n"}
    assert found.drivers["h100gpu"].spec["kernelModuleConfig"] == {"name": name}
    other = plan(hmm.replace('uvm_disable_hmm: "1"', 'uvm_disable_hmm: "0"'))
    specs = found.drivers["h100gpu"].spec, other.drivers["h100gpu"].spec
    assert {key for key in specs[0] if specs[0][key] != specs[1][key]} == {"env"}


def test_without_module_parameters_there_is_no_config_map_to_wait_for() -> None:
    found = plan()
    assert found.drivers["h100gpu"].config_map is None
    assert set(found.config_maps) == {POOL_CONFIGS}
    assert not {"kernelModuleConfig", "env"} & set(found.drivers["h100gpu"].spec)


def test_a_cluster_policy_owns_one_driver_in_the_chart() -> None:
    hmm = '{nvidia-uvm: {uvm_disable_hmm: "1"}}'
    found = plan(CLUSTER_POLICY, "gpuOperator.driver.moduleType=proprietary", f"{H100}.driver.moduleParameters={hmm}")
    driver = found.values["driver"]
    assert found.drivers == {}
    assert (driver["enabled"], driver["nvidiaDriverCRD"]) == (True, {"enabled": False})
    assert (driver["version"], driver["kernelModuleType"]) == ("580.173.02", "proprietary")
    assert driver["kernelModuleConfig"] == {"name": "gpu-driver-modules"}
    assert found.config_maps["gpu-driver-modules"] == {"nvidia-uvm.conf": "uvm_disable_hmm=1\n"}


def test_a_pools_own_driver_fields_do_nothing_with_a_cluster_policy_and_report_it(tmp_path: Path) -> None:
    file = tmp_path / "values" / "gpu-operator" / "pools" / "h100gpu.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("driver: {upgradePolicy: {maxParallelUpgrades: 2}}")
    (warning,) = make_plan(given_settings(CLUSTER_POLICY).settings, tmp_path / "values").warnings
    assert (warning.where, warning.file) == ("driver", "values/gpu-operator/pools/h100gpu.yaml")


def test_a_cluster_policy_without_an_operator_pool_installs_no_driver() -> None:
    assert (
        plan(CLUSTER_POLICY, f"{H100}.driver.source=aks", f"{H100}.priority=Regular").values["driver"]["enabled"]
        is False
    )


SHARING: list[tuple[str, dict[str, Any]]] = [
    ("{timeSlicing: {replicas: 4}}", {"timeSlicing": 4}),
    ("{mps: {replicas: 3}}", {"mps": 3}),
]


@pytest.mark.parametrize(("sharing", "replicas"), SHARING)
def test_sharing_of_a_pool_is_in_its_own_configuration_only(sharing: str, replicas: dict[str, int]) -> None:
    found = plan(f"{H100}.sharing={sharing}")
    configs = {key: yaml.safe_load(text) for key, text in found.config_maps[POOL_CONFIGS].items()}
    reported = {kind: entry["resources"][0]["replicas"] for kind, entry in configs["h100gpu"]["sharing"].items()}
    assert reported == replicas
    assert "sharing" not in configs["default"]
    assert "sharing" not in configs["rtxprogpu"]


def test_changed_sharing_restarts_what_reads_it() -> None:
    before, after = plan().values, plan(f"{H100}.sharing={{timeSlicing: {{replicas: 4}}}}").values
    changed = {key for key in after if after[key] != before.get(key)}
    assert changed == {"devicePlugin", "gfd"}
    assert env(at(before, "devicePlugin.env")) != env(at(after, "devicePlugin.env"))


def test_a_pool_that_shares_nothing_is_added_without_a_change_of_the_release() -> None:
    second = "pools.a100gpu={sku: Standard_NC24ads_A100_v4, driver: {source: operator}, subnet: 10.40.3.0/26, "
    second += "scale: {count: 1}, osDisk: {type: Managed}}"
    assert plan(second).values == plan().values
    assert "a100gpu" in plan(second).config_maps[POOL_CONFIGS]


def test_single_mig_runs_the_mig_manager_with_the_pools_layout() -> None:
    found = plan(f"{H100}.sharing={SINGLE}")
    assert at(found.values, "migManager.enabled") is True
    assert at(found.values, "migManager.config") == {"create": False, "name": MIG_LAYOUTS, "default": "all-disabled"}
    assert env(at(found.values, "migManager.env"))["WITH_REBOOT"] == "true"
    layouts = yaml.safe_load(found.config_maps[MIG_LAYOUTS]["config.yaml"])["mig-configs"]
    assert set(layouts) == {"all-disabled", "h100gpu"}
    assert found.values["mig"] == {"strategy": "single"}


def test_strategies_that_differ_leave_the_chart_none_and_are_set_in_each_configuration() -> None:
    found = plan(f"{H100}.sharing={MIXED}")
    assert found.values["mig"] == {"strategy": ""}
    strategies = {
        key: yaml.safe_load(text)["flags"]["migStrategy"] for key, text in found.config_maps[POOL_CONFIGS].items()
    }
    assert strategies == {"default": "single", "h100gpu": "mixed", "rtxprogpu": "single"}


def test_a_changed_layout_restarts_the_mig_manager() -> None:
    before = plan(f"{H100}.sharing={SINGLE}").values
    after = plan(f"{H100}.sharing={{mig: {{strategy: single, profiles: {{2g.24gb: 3}}}}}}").values
    assert {key for key in after if after[key] != before[key]} == {"migManager"}


def test_pools_that_differ_in_module_parameters_are_no_match_for_a_cluster_policy() -> None:
    second = "pools.a100gpu={sku: Standard_NC24ads_A100_v4, driver: {source: operator}, subnet: 10.40.3.0/26, "
    second += "scale: {count: 1}, osDisk: {type: Managed}}"
    hmm = f'{H100}.driver.moduleParameters={{nvidia-uvm: {{uvm_disable_hmm: "1"}}}}'
    with pytest.raises(SettingsError, match="one moduleParameters: those of pool"):
        given_settings(CLUSTER_POLICY, second, hmm)
    assert len(given_settings(second, hmm).settings.pools) == 3


@pytest.mark.parametrize("parameters", ['{"uvm x": "1"}', '{uvm_disable_hmm: "1\\n2"}', '{uvm_disable_hmm: ""}'])
def test_a_module_parameter_is_a_word_and_a_line(parameters: str) -> None:
    with pytest.raises(SettingsError, match=r"moduleParameters\.nvidia-uvm"):
        given_settings(f"{H100}.driver.moduleParameters={{nvidia-uvm: {parameters}}}")


def test_all_operands_get_the_same_tolerations_as_the_facts() -> None:
    settings = given_settings().settings
    assert at(make_plan(settings).gpu.values, "daemonsets.tolerations") == gpu_facts.all_tolerations(settings)
