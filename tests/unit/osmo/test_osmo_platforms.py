"""Platforms made of pools: where their pods go, what they may ask for, and what the service makes of them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import yaml

from physical_ai.catalog.aks import SPOT_KEY
from physical_ai.planning import osmo_service as values
from physical_ai.planning.osmo_platforms import CAPABILITIES
from physical_ai.settings import SettingsError
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.osmo import platforms
from physical_ai.settings.facts.pools import CPU_POOL, node_taints
from tests.support.cases import in_one_test
from tests.support.gpu_settings import given_settings
from tests.support.osmo_matching import counts
from tests.support.osmo_recordings import ROOT, helm_merged
from tests.support.stacks import sweep
from workbench.osmo.lint import check_text, of_stack
from workbench.osmo.service.configuration import Configuration, load
from workbench.osmo.service.stack_config import loaded_config

A10 = (
    "pools.a10gpu={sku: Standard_NV36ads_A10_v5, driver: {source: grid}, scale: {min: 0, max: 1}, subnet: 10.40.3.0/26"
)
STACKS = ("dev-westus2", "staging-westus2", "prod-westus2", "prod-swedencentral", "prod-southeastasia", "seed-westus2")
KEPT = ("dev-westus2", "prod-southeastasia")
"""Stacks of `make test`."""


def configured(*assignments: str) -> Configuration:
    return load(loaded_config(given_settings(*assignments).settings))


def names(*assignments: str) -> list[str]:
    return [item.name for item in platforms(given_settings(*assignments).settings)]


def test_each_pool_becomes_a_platform_and_an_added_one_too() -> None:
    assert names() == ["cpu", "h100", "rtxpro"]
    assert names(f"{A10}}}") == ["cpu", "h100", "rtxpro", "a10"]


def test_a_second_pool_of_a_gpu_is_called_after_itself_and_renames_nothing() -> None:
    second = "pools.h100spot={sku: Standard_NC80adis_H100_v5, driver: {source: operator}, scale: {min: 0, max: 1}"
    assert names(f"{second}, subnet: 10.40.3.0/26}}") == ["cpu", "h100", "rtxpro", "h100spot"]


def test_a_platform_can_be_given_a_name() -> None:
    assert names("osmo.platforms={h100gpu: {name: train}}") == ["cpu", "train", "rtxpro"]


def test_resources_of_several_names_are_several_platforms() -> None:
    mixed = "pools.h100gpu.sharing={mig: {strategy: mixed, profiles: {1g.12gb: 3, 3g.47gb: 1}}}"
    config = configured(mixed)
    assert list(config.pool("default").platforms) == ["cpu", "h100-1g-12gb", "h100-3g-47gb", "rtxpro"]
    template = config.pool("default").platforms["h100-3g-47gb"].parsed_pod_template
    assert request(template) == {"nvidia.com/mig-3g.47gb": "{{USER_GPU}}"}


def request(template: dict[str, Any]) -> dict[str, str]:
    task = next(item for item in template["spec"]["containers"] if item["name"] == "{{USER_CONTAINER_NAME}}")
    return {key: value for key, value in task["resources"]["limits"].items() if key.startswith("nvidia.com/")}


def test_a_shared_gpu_that_is_renamed_is_requested_by_its_name() -> None:
    config = configured("pools.h100gpu.sharing={timeSlicing: {replicas: 4, rename: true}}")
    platform = config.pool("default").platforms["h100"]
    assert request(platform.parsed_pod_template) == {"nvidia.com/gpu.shared": "{{USER_GPU}}"}


@pytest.mark.parametrize(
    "extra", [(), ("pools.h100gpu.taints=[dedicated=vision:NoSchedule, maintenance=soon:NoExecute]",)]
)
def test_a_platform_takes_the_nodes_of_its_pool_and_no_others(extra: tuple[str, ...]) -> None:
    settings = given_settings(*extra).settings
    pool = load(loaded_config(settings)).pool("default")
    nodes: dict[str, tuple[dict[str, str], list[dict[str, str]]]] = {"cpu": ({"agentpool": CPU_POOL}, [])}
    for facts in platforms(settings)[1:]:
        node_pool = settings.pools[facts.pool]
        taints = [split_taint(taint) for taint in node_taints(node_pool)]
        labels = {**pool_labels(facts.pool, node_pool), "agentpool": facts.pool}
        nodes[facts.name] = (labels, [{"key": k, "value": v, "effect": e} for k, v, e in taints])
    for name, platform in pool.platforms.items():
        taken = [
            node
            for node, (labels, taints) in nodes.items()
            if counts(platform.labels, platform.tolerations, labels, taints)
        ]
        assert taken == [name]


@pytest.mark.parametrize("priority", ["Regular", "Spot"])
def test_the_spot_taint_is_tolerated_where_there_is_one(priority: str) -> None:
    platform = configured(f"pools.h100gpu.priority={priority}").pool("default").platforms["h100"]
    assert (SPOT_KEY in {item.key for item in platform.tolerations}) == (priority == "Spot")


@pytest.mark.parametrize("stack", sweep(STACKS, KEPT))
def test_what_is_written_is_what_the_service_reads(stack: str) -> None:
    from physical_ai.settings import load as load_stack

    settings = load_stack(stack).settings
    config = load(loaded_config(settings))
    assert config.missing == []
    for name in config.pool_names:
        pool = config.pool(name)
        assert pool.default_platform in pool.platforms
        assert config.scheduler(pool.backend).scheduler_name == "kai-scheduler"
        for platform in pool.platforms.values():
            assert all(not item.is_about_nodes for item in platform.parsed_resource_validations)
            assert len(platform.parsed_resource_validations) > 3
    assert check_text(values.as_yaml(settings), "values.yaml", of_stack(settings)).findings == []


def workflow(platform: str, resource: str) -> str:
    return f"""workflow:
  name: example
  timeout: {{exec_timeout: 1h}}
  resources:
    default: {{platform: {platform}{resource}}}
  tasks:
  - name: t
    image: registry.example/t:1@sha256:{"0" * 64}
    command: [x]
    environment: {{NVIDIA_DRIVER_CAPABILITIES: all}}
"""


@pytest.mark.parametrize("stack", sweep(STACKS, KEPT))
def test_default_resources_fit_a_node_of_each_platform(stack: str) -> None:
    from physical_ai.settings import load as load_stack

    context = of_stack(load_stack(stack).settings)
    for name, facts in context.facts.items():
        result = check_text(workflow(name, ", gpu: 1" if facts.has_gpu else ""), "w.yaml", context)
        assert result.findings == []
        container = result.objects[0].pods[0]["spec"]["containers"][0]
        limits = container["resources"]["limits"]
        assert int(limits["cpu"]) <= facts.share.cpus
        assert int(limits["memory"].removesuffix("Gi")) <= facts.share.memory_gib
        assert int(limits["ephemeral-storage"].removesuffix("Gi")) <= facts.share.storage_gib


def test_the_pod_of_a_gpu_task_has_its_gpu_its_capabilities_and_its_node() -> None:
    (group,) = check_text(workflow("rtxpro", ", gpu: 1"), "w.yaml", of_stack(given_settings().settings)).objects
    (pod,) = group.pods
    container = pod["spec"]["containers"][0]
    env = {item["name"]: item.get("value") for item in container["env"]}
    assert pod["spec"]["nodeSelector"] == {"agentpool": "rtxprogpu"}
    assert [item["key"] for item in pod["spec"]["tolerations"]] == ["nvidia.com/gpu", SPOT_KEY]
    assert container["resources"]["requests"]["nvidia.com/gpu"] == "1"
    assert env[CAPABILITIES] == "all"
    assert "NVIDIA_VISIBLE_DEVICES" not in env
    assert pod["spec"]["serviceAccountName"] == "osmo-workflow"
    assert {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}} in pod["spec"]["volumes"]


def test_the_template_forces_the_capabilities_whatever_the_workflow_sets() -> None:
    text = workflow("h100", ", gpu: 1").replace("CAPABILITIES: all", "CAPABILITIES: 'compute,utility'")
    (group,) = check_text(text, "w.yaml", of_stack(given_settings().settings)).objects
    env = group.pods[0]["spec"]["containers"][0]["env"]
    assert [item["value"] for item in env if item["name"] == CAPABILITIES] == ["all"]


def test_a_cpu_task_names_no_gpu_at_all() -> None:
    (group,) = check_text(workflow("cpu", ""), "w.yaml", of_stack(given_settings().settings)).objects
    assert "nvidia.com" not in json.dumps(group.pods[0]["spec"]["containers"][0]["resources"])


def test_queues_have_quotas_and_rights() -> None:
    given = ("osmo.queues=perPool", "osmo.platforms={h100gpu: {quota: {guarantee: 2, maximum: 4, weight: 3}}}")
    config = configured(*given)
    assert config.pool_names == ["default", "h100", "rtxpro"]
    gpu = config.pool("h100").resources.gpu
    assert gpu is not None
    assert (gpu.guarantee, gpu.maximum, gpu.weight) == (2, 4, 3)
    assert list(config.pool("h100").platforms) == ["cpu", "h100"]
    assert config.pool("h100").default_platform == "h100"
    policies = values.chart_values(given_settings(*given).settings)["services"]["configs"]["roles"]["osmo-user"][
        "policies"
    ]
    assert policies[1]["resources"] == ["pool/default", "pool/h100", "pool/rtxpro"]


def chart_defaults() -> dict[str, Any]:
    """What is recorded of the chart's own values, as a tree."""
    tree: dict[str, Any] = {}
    for path, default, *_ in json.loads((ROOT / "chart-values-service.json").read_text())["keys"]:
        here = tree
        *steps, last = path.split(".")
        for step in steps:
            found = here.setdefault(step, {})
            here = found if isinstance(found, dict) else {}
        here[last] = default
    chart = tree["services"]["configs"]["pools"]["default"]
    # Recorded by rendering: the platform that Helm keeps.
    chart.setdefault("platforms", {})["default"] = {}
    return tree


def test_helm_adds_nothing_to_the_platforms_and_validations() -> None:
    settings = given_settings().settings
    merged = helm_merged(chart_defaults(), values.chart_values(settings))["services"]["configs"]
    assert list(merged["pools"]["default"]["platforms"]) == ["cpu", "h100", "rtxpro"]
    assert merged["pools"]["default"]["common_resource_validations"] == ["amounts"]
    assert merged["pools"]["default"]["default_platform"] == "cpu"
    config = values.configuration(settings)
    for name, template in config["podTemplates"].items():
        assert merged["podTemplates"][name] == template


def test_without_null_the_charts_platform_would_remain() -> None:
    given = values.chart_values(given_settings().settings)
    del given["services"]["configs"]["pools"]["default"]["platforms"]["default"]
    merged = helm_merged(chart_defaults(), given)["services"]["configs"]
    assert merged["pools"]["default"]["platforms"]["default"] == {}


def test_the_values_are_yaml_without_anchors() -> None:
    text = values.as_yaml(given_settings().settings)
    assert yaml.safe_load(text) == values.chart_values(given_settings().settings)
    assert "&id" not in text


@in_one_test(
    ("assignments", "path", "problem"),
    [
        (("osmo.platforms={h100: {}}",), "osmo.platforms.h100", "There is no pool 'h100'"),
        (
            ("osmo.platforms={h100gpu: {name: rtxpro}, rtxprogpu: {name: rtxpro}}",),
            "osmo.platforms.rtxprogpu.name",
            "both be",
        ),
        (("osmo.platforms={h100gpu: {name: cpu}}",), "osmo.platforms.h100gpu.name", "'cpu'"),
        (("osmo.platforms={h100gpu: {name: default}}",), "osmo.platforms.h100gpu.name", "'default'"),
        (("osmo.platforms={h100gpu: {quota: {guarantee: 1}}}",), "osmo.platforms.h100gpu.quota", "belongs to a queue"),
        (
            ("osmo.queues=perPool", "osmo.platforms={h100gpu: {quota: {guarantee: 3, maximum: 2}}}"),
            "osmo.platforms.h100gpu.quota.maximum",
            "no more than 2",
        ),
        (("osmo.timeouts={execDefault: 4d}",), "osmo.timeouts.execDefault", "longer than the maximum"),
        (("osmo.timeouts={execDefault: 90}",), "osmo.timeouts.execDefault", ""),
        (("osmo.serviceUrl=osmo.example.com",), "osmo.serviceUrl", ""),
        (("osmo.mode=everything",), "osmo.mode", "everything"),
    ],
)
def test_what_cannot_be_is_refused_at_its_path(assignments: tuple[str, ...], path: str, problem: str) -> None:
    with pytest.raises(SettingsError) as refused:
        given_settings(*assignments)
    faults = [fault for fault in refused.value.faults if fault.where.startswith(path)]
    assert faults
    assert problem in faults[0].problem


@pytest.mark.parametrize(
    ("assignment", "problem"),
    [
        ("osmo.login=dev", "no secret"),
        ("osmo.timeouts={execMax: 8d}", "hangs"),
        ("osmo.platforms={h100gpu: {privileged: true}}", "baseline"),
    ],
)
def test_what_is_doubtful_is_a_warning(assignment: str, problem: str) -> None:
    assert any(problem in warning.problem for warning in given_settings(assignment).warnings)


def test_platforms_are_made_without_jinja() -> None:
    modules = "workbench.osmo.service.stack_config, workbench.osmo.service.configuration"
    code = f"import sys; sys.modules['jinja2'] = None; import {modules}"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_values_in_several_files_are_the_values() -> None:
    settings = given_settings().settings
    merged: dict[str, Any] = {}
    for text in values.values_files(settings).values():
        merged = _laid(merged, yaml.safe_load(text))
    assert merged == values.chart_values(settings)


def _laid(base: dict[str, Any], top: dict[str, Any]) -> dict[str, Any]:
    """As Helm lays files of values over each other: maps merged, the rest replaced; nulls stay until the chart's."""
    result = dict(base)
    for key, value in top.items():
        below = result.get(key)
        result[key] = _laid(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return result
