"""Each way a setting can be wrong: each message says where, what and what instead, all in one report."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from physical_ai import settings
from physical_ai.findings import Severity
from physical_ai.settings import Overlay, SettingsError, dump, load, load_config
from physical_ai.settings.faults import fault
from physical_ai.settings.models.base import FORMS
from physical_ai.settings.rules.deployers import unnamed_deployers
from tests.support.cases import in_one_test
from tests.unit.settings.settings_faults import expect, faults_of, paths, warned

DEV = "stacks/Pulumi.dev-westus2.yaml"


WRONG_SHAPE = [
    ("pools.h100gpu.scale.mim=0", "pools.h100gpu.scale.mim", "not a setting", "'min'"),
    ("cluster.kubernetes_version=x", "cluster.kubernetes_version", "not a setting", "'kubernetesVersion'"),
    ("pool={}", "pool", "not a setting", "'pools'"),
    ("environment=dev", "environment", "follows from the stack's name", "Remove"),
    ("pools.h100gpu.scale.max='3'", "pools.h100gpu.scale.max", "text; a whole number", "without quotes: 3"),
    ("pools.h100gpu.scale.max=2.5", "pools.h100gpu.scale.max", "not a whole number", "2"),
    ("pools.h100gpu.scale.max=true", "pools.h100gpu.scale.max", "not a whole number", None),
    ("pools.h100gpu.scale.max=1001", "pools.h100gpu.scale.max", "too large", "1000"),
    ("pools.h100gpu.scale.min=-1", "pools.h100gpu.scale.min", "too small", "0"),
    ("protect='yes'", "protect", "neither true nor false", "true"),
    ("protect=1", "protect", "neither true nor false", "true"),
    ("systemPool.zones=[1]", "systemPool.zones[0]", "not text", '"1"'),
    ("systemPool.zones='1'", "systemPool.zones", "is not a list", '["1"]'),
    ("systemPool=4", "systemPool", "a map of settings", "{sku: Standard_D4ds_v5, scale: {min: 0, max: 2}}"),
    ("cluster.tier=standard", "cluster.tier", "not possible", "'Standard'"),
    ("pools.h100gpu.driver.source=gird", "pools.h100gpu.driver.source", "not possible", "'grid'"),
    ("pools.h100gpu.subnet=10.40.1.1/26", "pools.h100gpu.subnet", "first address", "10.40.1.0/26"),
    ("pools.h100gpu.subnet=10.40.1", "pools.h100gpu.subnet", "not an IPv4 range", "CIDR"),
    ("network.dnsServiceIp=134744072", "network.dnsServiceIp", "not an IPv4 address", "10.41.0.10"),
    ("pools.h100gpu.subnet=7", "pools.h100gpu.subnet", "not an IPv4 range", "CIDR"),
    ("network.dnsServiceIp=here", "network.dnsServiceIp", "not an IPv4 address", "10.41.0.10"),
    ("pools.GPU_Pool={}", "pools.GPU_Pool", "not a node pool's name", "'gpupool'"),
    ("pools.averyveryverylongname={}", "pools.averyveryverylongname", "not a node pool's name", "'averyveryver'"),
    ("cpuPool.upgrade.maxSurge='half'", "cpuPool.upgrade.maxSurge", "percentage", None),
    ("cluster.kubernetesVersion='latest'", "cluster.kubernetesVersion", "Kubernetes version in quotes", '"1.36"'),
    ("pools.h100gpu.spot.maxPrice=1.234567", "pools.h100gpu.spot.maxPrice", "five decimals", None),
    ("pools.h100gpu.spot.maxPrice=0", "pools.h100gpu.spot.maxPrice", "above zero", None),
    ("pools.h100gpu.spot.maxPrice='9'", "pools.h100gpu.spot.maxPrice", "a number is expected", "9"),
    ("monitoring.dailyQuotaGb=0", "monitoring.dailyQuotaGb", "at least 0.023", None),
    ("pools.h100gpu.maxPods=9", "pools.h100gpu.maxPods", "too small", "10"),
    ("tags.a={b: c}", "tags.a", "not text", None),
    ("access.principals=[{principalId: me}]", "access.principals[0].principalId", "Entra object id", None),
    ("pools.h100gpu.scale.min=3", "pools.h100gpu.scale", "must not be greater than max", None),
    ("pools.h100gpu.scale.initial=5", "pools.h100gpu.scale", "must lie between", None),
    ("pools.h100gpu.scale.count=1", "pools.h100gpu.scale", "exclude each other", None),
    ("pools.h100gpu.scale.max=null", "pools.h100gpu.scale", "both min and max", None),
    ("cpuPool.upgrade.maxSurge='0'", "cpuPool.upgrade", "Exactly one", None),
    ("pools.h100gpu.sku=null", "pools.h100gpu.sku", "missing", "physai sizes"),
    ("network=null", "network", "missing", "Add it"),
]


@in_one_test(("assignment", "path", "problem", "fix"), WRONG_SHAPE)
def test_a_value_of_the_wrong_shape(assignment: str, path: str, problem: str, fix: str | None) -> None:
    expect(faults_of(assignment), path, problem, fix)


AGAINST_THE_WORLD = [
    ("pools.rtxprogpu.sku=Standard_NC144ds_xl_RTXPRO6000BSE_v5", "pools.rtxprogpu.sku", "not a VM size", "BSE_v6"),
    ("pools.rtxprogpu.sku=Standard_NC128ds_xl_RTXPRO6000BSE_v6", "pools.rtxprogpu.sku", "no longer deploys", "NC144ds"),
    ("pools.rtxprogpu.driver.source=operator", "pools.rtxprogpu.driver.source", "does not work", "grid, aks"),
    ("pools.h100gpu.sku=Standard_D8ds_v5", "pools.h100gpu.sku", "has no GPU", "physai sizes"),
    ("systemPool.sku=Standard_NC40ads_H100_v5", "systemPool.sku", "would waste it", "without a GPU"),
    ("systemPool.osDisk.sizeGb=200", "systemPool.osDisk.sizeGb", "does not fit", "150"),
    ("systemPool.sku=Standard_D4s_v5", "systemPool.sku", "no local disk", "Managed"),
    ("pools.rtxprogpu.osSku=AzureLinux", "pools.rtxprogpu.osSku", "does not work", "Ubuntu, Ubuntu2204"),
    ("pools.h100gpu.osSku=AzureLinux", "pools.h100gpu.osSku", "driver source 'operator'", "Ubuntu"),
    ("systemPool.zones=['1', '1']", "systemPool.zones", "twice", '["1"]'),
    ("cluster.kubernetesVersion=1.63", "cluster.kubernetesVersion", "not a Kubernetes version", "1.36"),
    ("systemPool.sku=Standard_B4ms", "systemPool.sku", "too small for a system pool", "Standard_D4ds_v5"),
    ("systemPool.scale.count=0", "systemPool.scale.count", "at least one node", "1"),
    ("systemPool.maxPods=29", "systemPool.maxPods", "at least 30 Pods", "30"),
    ("cpuPool.scale={count: 0, min: null, max: null}", "cpuPool.scale", "could not run", "1"),
    ("cluster.apiAccess.authorizedIpRanges=[10.0.0.0/8]", "cluster.apiAccess.authorizedIpRanges[0]", "public", None),
    ("cluster.apiAccess.authorizedIpRanges=[0.0.0.0/0]", "cluster.apiAccess.authorizedIpRanges", "restrict", "20.30"),
    (
        "cluster.apiAccess.authorizedIpRanges=[0.0.0.0/1, 128.0.0.0/1]",
        "cluster.apiAccess.authorizedIpRanges",
        "restrict nothing",
        "20.30",
    ),
    (
        "cluster.apiAccess.authorizedIpRanges=[8.8.8.8, 8.8.8.8]",
        "cluster.apiAccess.authorizedIpRanges[1]",
        "twice",
        "Remove",
    ),
    ("osmo.serviceUrl=http://osmo.contoso.com", "osmo.serviceUrl", "the agents' token", "https://"),
    ("cluster.upgrades.nodeOsWindow.utcOffset='+15:00'", "cluster.upgrades.nodeOsWindow.utcOffset", "offset", "+14:00"),
    ("tags={'a/b': c}", "tags.a/b", "can't contain /", "'ab'"),
    ("tags={azure-x: c}", "tags.azure-x", "Azure reserves", "prefix"),
    ("tags={Project: c}", "tags.Project", "ignores case", "one of them"),
]


@in_one_test(("assignment", "path", "problem", "fix"), AGAINST_THE_WORLD)
def test_a_value_that_azure_would_refuse(assignment: str, path: str, problem: str, fix: str | None) -> None:
    expect(faults_of(assignment), path, problem, fix)


@in_one_test(
    ("assignment", "path", "problem"),
    [
        (
            "pools.h100gpu.labels={physical-ai/gpu-driver: operator}",
            "pools.h100gpu.labels.physical-ai/gpu-driver",
            "itself",
        ),
        ("pools.h100gpu.taints=['nvidia.com/gpu=present:NoSchedule']", "pools.h100gpu.taints[0]", "itself"),
        ("pools.h100gpu.zones=['1']", "pools.h100gpu.zones", "differs by subscription"),
        ("pools.rtxprogpu.osDisk={type: Ephemeral, sizeGb: 256}", "pools.rtxprogpu.osDisk.sizeGb", "complete NVMe"),
        ("pools.h100gpu={priority: Regular, spot: {maxPrice: 3}}", "pools.h100gpu.spot.maxPrice", "no effect"),
        ("cluster.autoscaler.maxNodeProvisionMinutes=10", "cluster.autoscaler.maxNodeProvisionMinutes", "driver build"),
        (
            "cluster.apiAccess.authorizedIpRanges=[192.0.2.1]",
            "cluster.apiAccess.authorizedIpRanges[0]",
            "documentation",
        ),
        (
            "cluster.apiAccess.authorizedIpRanges=[20.1.2.0/23]",
            "cluster.apiAccess.authorizedIpRanges[0]",
            "512 addresses",
        ),
        (
            "cluster.apiAccess.authorizedIpRanges=[20.9.0.0/24, 20.1.3.0/24, 20.1.2.0/24]",
            "cluster.apiAccess.authorizedIpRanges[1]",
            "20.1.2.0/23, which several",
        ),
        ("protect=true", "protect", "open to the whole internet"),
    ],
)
def test_doubtful_choices_warn_and_load(assignment: str, path: str, problem: str) -> None:
    expect(warned(assignment), path, problem)


def test_a_size_changed_above_is_blamed_not_the_driver_source_below_it() -> None:
    found = faults_of("pools.h100gpu.sku=Standard_NC144ds_xl_RTXPRO6000BSE_v6")
    expect(found, "pools.h100gpu.sku", "Driver source 'operator' does not work", "grid, aks")


def test_pools_may_not_take_the_names_every_cluster_uses() -> None:
    pool = "{sku: Standard_NC40ads_H100_v5, driver: {source: operator}, scale: {count: 1}, subnet: 10.40.9.0/27}"
    for name in ("system", "cpu"):
        expect(faults_of(f"pools.{name}={pool}"), f"pools.{name}", "every cluster has", f"'{name}gpu'")


def test_limits_of_a_cluster_warn() -> None:
    pools = {f"p{i}": {**GPU, "subnet": f"10.40.{i}.0/27"} for i in range(10, 110)}
    assert any("AKS accepts 100" in f.problem for f in load_config("dev-westus2", config(pools)).warnings)
    big = {"p": {**GPU, "scale": {"count": 1000}, "subnet": "10.40.16.0/20"}}
    found = load_config("dev-westus2", {**config(big), "network": {**NETWORK, "podCidr": "10.128.0.0/12"}})
    assert any("AKS accepts 1000 in a cluster of tier Free" in fault.problem for fault in found.warnings)


NETWORK = {"addressSpace": "10.40.0.0/16", "systemSubnet": "10.40.0.0/24"}
GPU: dict[str, Any] = {
    "sku": "Standard_NC40ads_H100_v5",
    "driver": {"source": "operator"},
    "scale": {"count": 1},
}


def config(pools: dict[str, Any]) -> dict[str, Any]:
    return {"network": NETWORK, "pools": {"h100gpu": None, "rtxprogpu": None, **pools}}


def test_more_than_fifty_tags_or_two_hundred_ranges_are_too_many() -> None:
    tags = ", ".join(f"t{i}: x" for i in range(60))
    expect(faults_of(f"tags={{{tags}}}"), "tags", "Azure accepts 50")
    ranges = ", ".join(f"8.8.{i}.0/24" for i in range(201))
    path = "cluster.apiAccess.authorizedIpRanges"
    expect(faults_of(f"{path}=[{ranges}]"), path, "AKS accepts 200")
    long = faults_of(f"tags.long={'x' * 257}", f"tags.{'n' * 513}=x")
    assert paths(long) == ["tags.long", f"tags.{'n' * 513}"]


def test_a_principal_with_a_duplicate_role_is_refused() -> None:
    one = "principalId: 11111111-2222-3333-4444-555555555555"
    expect(faults_of(f"access.principals=[{{{one}}}, {{{one}}}]"), "access.principals[1]", "twice")
    assert not warned(f"access.principals=[{{{one}}}, {{{one}, role: admin}}]")


def test_an_examples_address_is_a_warning_until_azure_is_meant() -> None:
    loaded = load("prod-westus2")
    assert [fault.severity for fault in loaded.warnings if fault.stand_in] == [Severity.WARNING] * 2
    with pytest.raises(SettingsError) as caught:
        loaded.for_azure()
    assert [fault.where for fault in caught.value.faults] == [
        f"physical-ai:cluster.apiAccess.authorizedIpRanges[{index}]" for index in (0, 1)
    ]
    assert "your offices' and CI runners' public ranges" in str(caught.value)
    assert "warning" not in str(caught.value)


def test_other_warnings_do_not_keep_a_stack_from_azure() -> None:
    own = Overlay.assign(["cluster.apiAccess.authorizedIpRanges=[]"])
    loaded = load("prod-westus2", [own])
    assert loaded.warnings
    loaded.for_azure()


def test_a_deployer_is_an_object_id_and_is_listed_once() -> None:
    own = "11111111-1111-1111-1111-11111111111a"
    wrong = "access.deployers=[{principalId: platform-team}]"
    expect(faults_of(wrong), "access.deployers[0].principalId", "Entra object id")
    twice = f"access.deployers=[{{principalId: {own}}}, {{principalId: {own.upper()}, principalType: User}}]"
    expect(faults_of(twice), "access.deployers[1]", "listed twice", "Keep one")


def test_a_stack_without_deployers_is_refused_before_azure_with_the_lines_to_write() -> None:
    (fault,) = unnamed_deployers(load("dev-westus2"))
    assert fault.where.endswith("access.deployers")
    assert "principalType: User" in str(fault)
    named = Overlay.assign(["access.deployers=[{principalId: 11111111-1111-1111-1111-111111111111}]"])
    assert unnamed_deployers(load("dev-westus2", [named])) == []


def test_all_faults_are_reported_at_once_those_of_shape_and_those_of_rules() -> None:
    found = faults_of(
        "pools.h100gpu.scale.mim=1",
        "pools.h100gpu.driver.source=gird",
        "pools.h100gpu.subnet=10.40.2.0/26",
        "pools.rtxprogpu.sku=Standard_NC128ds_xl_RTXPRO6000BSE_v6",
        "pools.rtxprogpu.taints=['x:NoSchedule']",
        "cluster.tier=free",
        "tags={'a/b': c}",
    )
    assert set(paths(found)) == {
        "pools.h100gpu.scale.mim",
        "pools.h100gpu.driver.source",
        "pools.h100gpu.subnet",
        "pools.rtxprogpu.sku",
        "pools.rtxprogpu.taints[0]",
        "cluster.tier",
        "tags.a/b",
    }


@pytest.mark.parametrize(
    "assignment", ["network=null", "cluster=null", "systemPool=null", "pools.h100gpu=5", "pools=null", "cpuPool.sku=1"]
)
def test_a_broken_section_brings_no_faults_about_made_up_values(assignment: str) -> None:
    assert set(paths(faults_of(assignment))) == {assignment.partition("=")[0]}


def test_what_a_pool_lacks_is_reported_in_the_stack_file() -> None:
    with pytest.raises(SettingsError) as caught:
        load_config("dev-westus2", {"network": NETWORK})
    assert {(fault.file, fault.where) for fault in caught.value.faults} == {
        (DEV, "physical-ai:pools.h100gpu.subnet"),
        (DEV, "physical-ai:pools.rtxprogpu.subnet"),
    }


def test_a_fault_prints_file_line_path_problem_and_fix() -> None:
    found = fault("stacks/a.yaml", "pools.x.sku", "'y' is not a VM size.", "Did you mean 'z'?", line=3)
    assert str(found) == "stacks/a.yaml:3: pools.x.sku\n  'y' is not a VM size.\n  Did you mean 'z'?"
    assert "warning: " in str(fault("a", "b", "c").as_warning())
    assert str(SettingsError([found, found])).count("stacks/a.yaml:3") == 2


def test_dump_speaks_yaml_and_loads_again() -> None:
    for stack in settings.existing():
        loaded = load(stack).settings
        data = dump(loaded)
        assert data["cluster"]["kubernetesVersion"] == loaded.cluster.kubernetes_version
        own = {key: value for key, value in data.items() if key not in ("environment", "region")}
        assert load_config(stack, own).settings == loaded


def test_every_pattern_has_a_description() -> None:
    patterns = set(re.findall(r'"pattern": ("(?:[^"\\\\]|\\\\.)*")', json.dumps(settings.Settings.model_json_schema())))
    assert {json.loads(each) for each in patterns} <= set(FORMS)
