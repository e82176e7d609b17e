"""AMD's operator: what is installed for a pool of its GPUs, and what such a pool can't have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from parts.amd import names as amd
from parts.amd.plan import RELEASE, RegistryLogin, amd_plan
from physical_ai.catalog.charts import newest_chart
from physical_ai.nested import at
from physical_ai.planning.gpu_admission import policies
from physical_ai.planning.isolation import isolation_objects
from physical_ai.planning.pod_security import exempt
from physical_ai.settings import SettingsError, load
from simulator.charts import materialise
from tests.support.amd_settings import OPERATOR, STACK, mixed, mixed_settings, planned, supplied
from tests.support.cases import in_one_test
from tests.support.charts import run

TOLERATION = {"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def test_a_pool_has_a_device_config_of_its_own_whose_operands_tolerate_its_taints() -> None:
    plan = planned(taints=["team=vision:NoSchedule"])
    assert list(plan.configs) == ["mi300x"]
    spec = plan.configs["mi300x"]
    assert spec["selector"] == {"kubernetes.azure.com/agentpool": "mi300x"}
    for path in (
        "driver.tolerations",
        "devicePlugin.devicePluginTolerations",
        "devicePlugin.nodeLabellerTolerations",
        "metricsExporter.tolerations",
    ):
        found: list[dict[str, str]] = at(spec, path)
        assert TOLERATION in found, path
        assert "team" in {each["key"] for each in found}, path
    assert at(spec, "driver.upgradePolicy.nodeDrainPolicy.force") is False


def test_nfd_is_there_once_and_nothing_asks_for_a_control_plane_node() -> None:
    plan = supplied().plan
    own = plan.parts["amd"].release(RELEASE).values
    assert at(own, "node-feature-discovery.enabled") is False
    assert at(plan.gpu.values, "nfd.enabled") is not False
    assert TOLERATION in at(plan.gpu.values, "node-feature-discovery.worker.tolerations")
    for component in ("controller", "webhookServer"):
        # The chart only prefers one (ROCm/gpu-operator v1.4.0, charts/kmm/values.yaml).
        assert at(own, f"kmm.{component}").keys() == {"nodeSelector"}


def test_the_chart_renders_operators_on_the_cpu_pool_and_no_device_config(tmp_path: Path) -> None:
    values = planned().release(RELEASE).values
    folder = materialise(amd.CHART, newest_chart(amd.CHART).version, tmp_path)
    printed = run("template", amd.RELEASE, str(folder), "--namespace", amd.NAMESPACE, values=values)
    objects: list[dict[str, Any]] = [item for item in yaml.safe_load_all(printed) if item]
    found = {item["metadata"]["name"]: item for item in objects if item["kind"] == "Deployment"}
    assert {amd.CONTROLLER, amd.BUILDER} <= set(found)
    for item in found.values():
        spec: dict[str, Any] = item["spec"]["template"]["spec"]
        assert spec["nodeSelector"] == {"kubernetes.azure.com/agentpool": "cpu"}
        assert "requiredDuringSchedulingIgnoredDuringExecution" not in spec["affinity"]["nodeAffinity"]
        assert spec["containers"][0]["resources"]["requests"]
        assert {"node-role.kubernetes.io/control-plane"} <= {each["key"] for each in spec["tolerations"]}
    assert not [item for item in objects if item["kind"] == amd.KIND]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("node-feature-discovery: {enabled: true}", "two would fight"),
        ("crds: {defaultCR: {install: true}}", "DeviceConfig of its own"),
        ("controllerManager: {nodeSelectors: {a: b}}", "nodeSelector"),
    ],
)
def test_the_values_file_is_checked(tmp_path: Path, written: str, words: str) -> None:
    file = tmp_path / "amd" / f"{amd.CHART}-values.yaml"
    file.parent.mkdir()
    file.write_text(written)
    _, faults = amd_plan(mixed_settings(), tmp_path)
    assert words in "\n".join(map(str, faults))


def test_the_login_is_what_docker_keeps() -> None:
    login = json.loads(RegistryLogin("contoso.azurecr.io", "drivers", "amdRegistry").document("word"))
    assert login["auths"]["contoso.azurecr.io"]["password"] == "word"


@in_one_test(
    ("assignments", "pool", "path", "words"),
    [
        ([], {}, "pools.mi300x.sku", "Nothing would install the driver"),
        ([OPERATOR], {"driver": {"source": "operator", "version": "580.173.02"}}, "driver.version", "NVIDIA's driver"),
        ([OPERATOR], {"sharing": {"timeSlicing": {"replicas": 2}}}, "pools.mi300x.sharing", "whole AMD GPUs"),
        ([OPERATOR], {"allocation": "dra"}, "allocation", "is NVIDIA's"),
        ([OPERATOR], {"fabric": "infiniband"}, "fabric", "Network Operator is NVIDIA's"),
        ([OPERATOR], {"secureBoot": True}, "secureBoot", "not signed"),
        ([OPERATOR], {"scale": {"count": None, "min": 0, "max": 1}}, "scale.min", "starts the first node"),
        ([OPERATOR], {"driver": {"source": "aks"}}, "driver.source", "does not work"),
        ([OPERATOR], {"osSku": "AzureLinux"}, "osSku", "Ubuntu only"),
        ([OPERATOR, "osmo.platforms={mi300x: {}}"], {}, "osmo.platforms.mi300x", "OSMO asks for nvidia.com/gpu"),
        ([OPERATOR, "health.admit=accepted"], {}, "health.admit", "never be accepted"),
    ],
)
def test_what_cannot_work_is_refused(assignments: list[str], pool: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(SettingsError) as refused:
        mixed(*assignments, **pool)
    text = str(refused.value)
    assert path in text
    assert words in text


ENTRA_ID = "00000000-0000-4000-8000-000000000001"


def test_cert_manager_is_asked_for_unless_the_stack_installs_it() -> None:
    def asked(*assignments: str) -> bool:
        return "amd-cert-manager" in {each.rule for each in supplied(*assignments).warnings}

    tls = "tls: {source: certManager, certManager: {clusterIssuer: corp}}"
    entra = f"entra: {{tenantId: {ENTRA_ID}, clientId: {ENTRA_ID}}}, roles: {{osmo-user: [{ENTRA_ID}]}}"
    access = f"host: osmo.contoso.com, login: entra, {entra}"
    platform = ["dataServices={source: azure}", "osmo.mode=platform"]
    assert asked()
    assert asked(*platform, f"osmo.access={{{access}, tls: {{source: stack}}}}")
    assert not asked(*platform, f"osmo.access={{{access}, {tls}}}")


def test_images_that_the_registry_does_not_cache_are_named() -> None:
    only = ["dataServices={source: azure, registry: {only: true}}", "cluster.kubernetesVersion='1.36'"]

    def found(rule: str, *assignments: str) -> list[str]:
        return [each.problem for each in supplied(*only, *assignments).warnings if each.rule == rule]

    missing = " ".join(found("registry-only"))
    for image in (*amd.images(newest_chart(amd.CHART).version), amd.PLUGIN_IMAGE, amd.LABELLER_IMAGE):
        assert f"pull {image} " in missing
    assert amd.PLUGIN_IMAGE not in " ".join(
        found("registry-only", "amdGpuOperator.devicePluginImage=ghcr.io/contoso/plugin@sha256:0")
    )
    (driver,) = found("amd-driver-image")
    assert "contoso.azurecr.io" in driver
    own = "amdGpuOperator.driver.image=crprodswedencentral0a1b2c3d.azurecr.io/amd/driver"
    assert not found("amd-driver-image", own)
    assert not [each for each in supplied().warnings if each.rule in ("registry-only", "amd-driver-image")]


def test_a_stack_without_such_a_pool_has_nothing_of_it() -> None:
    settings = load(STACK).settings
    assert "amd" not in load(STACK).plan.parts
    assert amd.NAMESPACE not in exempt(settings)
    assert not [each for each in policies(settings) if each["metadata"]["name"].startswith("amd-")]


def test_pods_that_name_their_node_are_checked_for_amds_resource_too() -> None:
    settings = mixed_settings()
    names = [each["metadata"]["name"] for each in policies(settings)]
    assert [name for name in names if name.startswith("amd-gpu-scheduling")]
    assert amd.NAMESPACE in exempt(settings)


def test_its_namespace_is_isolated_like_the_gpu_operators() -> None:
    settings = mixed_settings("network.isolation.platform=deny")
    found = [each for each in isolation_objects(settings, [amd.NAMESPACE]) if each["kind"] == "NetworkPolicy"]
    assert {each["metadata"]["name"] for each in found} == {"default-deny", "operator"}
