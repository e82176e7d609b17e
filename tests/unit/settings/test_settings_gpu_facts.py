"""What follows from settings about drivers and shared GPUs, and the verdicts on their versions."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from physical_ai.catalog.compat import check_values
from physical_ai.settings import Pool, existing, load
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.rules.compat import judge
from tests.support.cases import in_one_test
from tests.support.gpu_settings import H100, MIXED, RTX, SINGLE, given_settings

TODAY = datetime.date(2026, 11, 20)


def pool(**sharing: Any) -> Pool:
    return Pool.model_validate(
        {
            "sku": "Standard_NC80adis_H100_v5",
            "driver": {"source": "operator"},
            "scale": {"count": 1},
            "subnet": "10.0.0.0/24",
            "sharing": sharing,
        }
    )


RESOURCES: list[tuple[dict[str, Any], dict[str, int]]] = [
    ({}, {"nvidia.com/gpu": 2}),
    ({"timeSlicing": {"replicas": 4}}, {"nvidia.com/gpu": 8}),
    ({"timeSlicing": {"replicas": 4, "rename": True}}, {"nvidia.com/gpu.shared": 8}),
    ({"mps": {"replicas": 3}}, {"nvidia.com/gpu": 6}),
    ({"mig": {"strategy": "single", "profiles": {"1g.12gb": 7}}}, {"nvidia.com/gpu": 14}),
    (
        {"mig": {"strategy": "mixed", "profiles": {"1g.12gb": 3, "3g.47gb": 1}}},
        {"nvidia.com/mig-1g.12gb": 6, "nvidia.com/mig-3g.47gb": 2},
    ),
    (
        {"mig": {"strategy": "mixed", "profiles": {"3g.47gb": 2}}, "timeSlicing": {"replicas": 2, "rename": True}},
        {"nvidia.com/mig-3g.47gb.shared": 8},
    ),
]


@pytest.mark.parametrize(("sharing", "resources"), RESOURCES)
def test_sharing_decides_what_a_node_offers(sharing: dict[str, Any], resources: dict[str, int]) -> None:
    assert gpu_facts.gpu_resources(pool(**sharing)) == resources


def test_the_global_strategy_is_derived_and_empty_where_pools_differ() -> None:
    same, differ = given_settings().settings, given_settings(f"{H100}.sharing={MIXED}").settings
    mixed = given_settings(f"{H100}.sharing={MIXED}", f"{RTX}=null").settings
    assert [gpu_facts.mig_strategy(item) for item in (same, differ, mixed)] == ["single", "", "mixed"]
    assert all("flags" not in config for config in gpu_facts.device_plugin_configs(same).values())
    configs = gpu_facts.device_plugin_configs(differ)
    assert {key: config["flags"]["migStrategy"] for key, config in configs.items()} == {
        "default": "single",
        "h100gpu": "mixed",
        "rtxprogpu": "single",
    }


def test_each_pool_has_its_own_device_plugin_configuration() -> None:
    settings = given_settings(f"{RTX}.sharing={{timeSlicing: {{replicas: 4}}}}").settings
    configs = gpu_facts.device_plugin_configs(settings)
    assert configs["default"] == configs["h100gpu"] == {"version": "v1"}
    assert configs["rtxprogpu"]["sharing"]["timeSlicing"] == {
        "renameByDefault": False,
        "failRequestsGreaterThanOne": True,
        "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
    }


def test_the_device_plugin_shares_what_mig_offers_not_what_sharing_makes_of_it() -> None:
    sharing = "{timeSlicing: {replicas: 2, rename: true}, mig: {strategy: mixed, profiles: {3g.47gb: 2}}}"
    configs = gpu_facts.device_plugin_configs(given_settings(f"{H100}.sharing={sharing}").settings)
    assert configs["h100gpu"]["sharing"]["timeSlicing"]["resources"] == [
        {"name": "nvidia.com/mig-3g.47gb", "replicas": 2}
    ]


def test_the_mig_manager_runs_only_for_pools_that_cut_their_gpus() -> None:
    assert gpu_facts.mig_manager_config(given_settings().settings) is None
    settings = given_settings(f"{H100}.sharing={SINGLE}").settings
    assert gpu_facts.mig_manager_config(settings) == {
        "version": "v1",
        "mig-configs": {
            "all-disabled": [{"devices": "all", "mig-enabled": False}],
            "h100gpu": [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.12gb": 7}}],
        },
    }
    labels = {name: pool_labels(name, pool) for name, pool in settings.pools.items()}
    assert labels["h100gpu"]["nvidia.com/mig.config"] == "h100gpu"
    assert "nvidia.com/mig.config" not in labels["rtxprogpu"]
    assert labels["rtxprogpu"]["nvidia.com/gpu.deploy.mig-manager"] == "false"
    assert all(labels[name]["nvidia.com/device-plugin.config"] == name for name in labels)


def test_versions_and_modules_of_a_pool_come_from_the_pool_or_the_operator() -> None:
    settings = given_settings(f"{H100}.driver.moduleType=open").settings
    h100, rtx = settings.pools["h100gpu"], settings.pools["rtxprogpu"]
    assert gpu_facts.driver_version(settings, h100) == settings.gpu_operator.driver.version
    assert gpu_facts.driver_version(settings, rtx) == settings.grid_driver.version
    assert (gpu_facts.module_type(settings, h100), gpu_facts.module_type(settings, rtx)) == ("open", "open")
    own = given_settings(f"{H100}.driver.version=595.91.07").settings
    assert gpu_facts.driver_version(own, own.pools["h100gpu"]) == "595.91.07"


def test_tolerations_of_all_pools_hold_every_taint_once() -> None:
    settings = given_settings(f"{H100}.taints=['team=a:NoSchedule']").settings
    keys = [item["key"] for item in gpu_facts.all_tolerations(settings)]
    assert sorted(keys) == ["kubernetes.azure.com/scalesetpriority", "nvidia.com/gpu", "team"]


@in_one_test("stack", existing())
def test_committed_stacks_have_no_version_error_but_for_records_of_the_past(stack: str) -> None:
    settings = load(stack).settings
    errors = [item.rule for item in judge(settings, TODAY) if item.severity == "error"]
    assert bool(errors) == settings.record, errors


def test_a_verdict_is_reported_once_with_its_pools_and_the_setting_to_change() -> None:
    settings = given_settings("gpuOperator.version=v25.3.4", f"{H100}.driver.version=570.148.08").settings
    judged = judge(settings, TODAY, running="v26.3.3")
    rules = {item.rule: item for item in judged}
    assert len(rules) == len({(item.rule, item.problem) for item in judged})
    assert rules["operator-end-of-support"].pools == ("h100gpu", "rtxprogpu")
    assert rules["operator-end-of-support"].where == "gpuOperator.version"
    assert rules["driver-mig-bug"].where == f"{H100}.driver.version"
    assert rules["upgrade-downgrade"].pools == ()
    severities = [item.severity for item in judged]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)


def test_without_gpu_pools_the_operator_and_the_cluster_are_judged_all_the_same() -> None:
    none = given_settings(f"{H100}=null", f"{RTX}=null", "gpuOperator.version=v25.3.4").settings
    judged = {item.rule: (item.where, item.pools) for item in judge(none, TODAY)}
    assert judged["operator-end-of-support"] == ("gpuOperator.version", ())
    assert judged["kubernetes-too-new"] == ("cluster.kubernetesVersion", ())
    assert "driver-unlisted" not in judged


def test_the_derived_strategy_is_a_value_that_the_chart_takes() -> None:
    for assignments in ((), (f"{H100}.sharing={MIXED}",)):
        strategy = gpu_facts.mig_strategy(given_settings(*assignments).settings)
        assert not any(each.is_error for each in check_values("v26.7.0", {"mig": {"strategy": strategy}}))
