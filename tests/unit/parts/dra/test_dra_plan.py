"""The DRA driver's release, the claims and their quotas, and the policies that know of claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from parts.dra.claims import claim_objects
from parts.dra.plan import RELEASE, claimed_node_policies, dra_plan
from physical_ai.planning.gpu_admission import policies
from physical_ai.settings import Overlay, Settings, SettingsError, load
from tests.support.dra_settings import ALONE, CLAIMS, POOL
from tests.support.gpu_settings import H100, given_settings

Json = dict[str, Any]


def claims(settings: Settings) -> dict[tuple[str, str], Json]:
    return {(item["kind"], item["metadata"]["name"]): item for item in claim_objects(settings).claims}


def test_the_driver_is_installed_where_a_pool_is_claimed_and_offers_gpus_there_only() -> None:
    assert "dra" not in given_settings().plan.parts
    plan = given_settings(*POOL, CLAIMS).plan
    values = plan.parts["dra"].release(RELEASE).values
    assert values["gpuResourcesEnabledOverride"] is True
    assert values["resources"] == {"gpus": {"enabled": True}, "computeDomains": {"enabled": False}}
    assert values["nvidiaDriverRoot"] == "/run/nvidia/driver"
    assert values["controller"] == {"affinity": None}
    assert values["kubeletPlugin"]["nodeSelector"] == {"physical-ai/gpu-allocation": "dra"}
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in values["kubeletPlugin"][
        "tolerations"
    ]
    assert values["featureGates"] == {"TimeSlicingSettings": True}
    assert "dra-driver-nvidia-gpu" in [each.name for each in plan.charts]


def test_the_driver_looks_where_the_pool_has_its_driver() -> None:
    values = given_settings(*ALONE, f"{H100}.driver.source=aks").plan.parts["dra"].release(RELEASE).values
    assert values["nvidiaDriverRoot"] == "/"
    assert "featureGates" not in values


def test_the_operator_installs_its_device_plugin_only_where_a_pool_needs_it() -> None:
    assert "enabled" not in given_settings(*POOL).plan.gpu.values["devicePlugin"]
    assert given_settings(*ALONE).plan.gpu.values["devicePlugin"]["enabled"] is False


@pytest.mark.parametrize(
    ("text", "where", "problem"),
    [
        ("gpuResourcesEnabledOverride: false", "gpuResourcesEnabledOverride", "pools.<pool>.allocation"),
        ("kubeletPlugin: {nodeSelector: {a: b}}", "kubeletPlugin.nodeSelector", "pools.<pool>.allocation"),
        ("kubeletPlugins: {}", "kubeletPlugins", "kubeletPlugin"),
        ("nvidiaCtkPath: /usr/bin", "nvidiaCtkPath", "installs its own hook"),
        ("resourceApiVersion: v1", "resourceApiVersion", "Leave it out: "),
    ],
)
def test_values_that_follow_from_settings_or_have_no_effect_are_refused(
    tmp_path: Path, text: str, where: str, problem: str
) -> None:
    (tmp_path / "dra").mkdir()
    (tmp_path / "dra" / "dra-driver-nvidia-gpu-values.yaml").write_text(text)
    faults = dra_plan(given_settings(*POOL).settings, tmp_path)[1]
    assert [(each.where, problem in str(each)) for each in faults if each.where == where][:1] == [(where, True)]


def test_a_claim_is_a_template_or_one_for_all_pods() -> None:
    found = claims(given_settings(*POOL, CLAIMS).settings)
    assert set(found) == {
        ("ResourceQuota", "gpu-claims"),
        ("ResourceClaimTemplate", "h100"),
        ("ResourceClaimTemplate", "large"),
        ("ResourceClaim", "turns"),
        ("ResourceClaimTemplate", "gpu-acceptance-1"),
    }
    request = found["ResourceClaimTemplate", "large"]["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    assert request["deviceClassName"] == "gpu.nvidia.com"
    assert [each["cel"]["expression"] for each in request["selectors"]] == [
        "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80G')) >= 0",
        "device.attributes['gpu.nvidia.com'].architecture == 'Hopper'",
    ]
    config = found["ResourceClaim", "turns"]["spec"]["devices"]["config"][0]["opaque"]
    assert config["driver"] == "gpu.nvidia.com"
    assert config["parameters"]["sharing"] == {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Long"}}


def test_a_quota_leaves_no_other_class_to_escape_to() -> None:
    hard = claims(given_settings(*POOL, CLAIMS).settings)["ResourceQuota", "gpu-claims"]["spec"]["hard"]
    assert hard == {
        "h100.gpu.physical-ai.deviceclass.resource.k8s.io/devices": "1",
        "gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "2",
        "mig.nvidia.com.deviceclass.resource.k8s.io/devices": "0",
        "vfio.gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "0",
    }
    free = given_settings(*POOL, "dra.namespaces={robotics: {}}").settings
    assert ("ResourceQuota", "gpu-claims") not in claims(free)


def test_a_claim_of_one_kind_of_gpu_selects_it() -> None:
    [policy] = [
        item
        for item in policies(given_settings(*POOL, CLAIMS).settings)
        if (item["metadata"]["name"], item["kind"]) == ("gpu-placement", "ValidatingAdmissionPolicy")
    ]
    [variable] = [each for each in policy["spec"]["variables"] if each["name"] == "claims"]
    assert '"robotics/large": "H100 NVL"' in variable["expression"]


def test_nodes_keep_the_label_against_the_device_plugin_where_kubernetes_can_do_so() -> None:
    assert [item["kind"] for item in claimed_node_policies(given_settings(*POOL).settings)] == [
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
    ]
    assert claimed_node_policies(given_settings(*POOL, "cluster.kubernetesVersion='1.35'").settings) == []
    assert claimed_node_policies(given_settings().settings) == []


def test_a_mistake_names_its_path() -> None:
    with pytest.raises(SettingsError, match="claim"):
        given_settings(*POOL, "dra.claims={Large: {}}")


def test_servers_of_an_existing_cluster_give_their_gpus_by_claims_as_well() -> None:
    overlay = Overlay.assign(["pools.rtxpro.allocation=dra", "charts.source=repository"])
    settings = load("onprem-lab", [overlay]).settings
    (device_class,) = claim_objects(settings).classes
    assert device_class["metadata"]["name"] == "rtxpro.gpu.physical-ai"
    templates = {item["metadata"]["name"] for item in claim_objects(settings).claims}
    assert {"gpu-acceptance-1", "gpu-acceptance-8"} <= templates
