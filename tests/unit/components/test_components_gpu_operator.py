"""The GPU Operator as the program declares it: order, options, and what reaches the cluster."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
import pytest
import yaml

from physical_ai.catalog import newest_release
from physical_ai.catalog.compat import check_driver, check_values
from physical_ai.planning.plan import make_plan
from physical_ai.planning.release_upgrade import installed_version, refusal
from physical_ai.settings import load
from tests.support.recording import Recording
from tests.unit.conftest import Simulate
from workbench.policies import Resource

MODULES = {"pools": {"h100gpu": {"driver": {"moduleParameters": {"nvidia-uvm": {"uvm_disable_hmm": "1"}}}}}}
MIG = {"pools": {"h100gpu": {"sharing": {"mig": {"strategy": "mixed", "profiles": {"1g.12gb": 7}}}}}}
PREFIX = "physical-ai-gpu-operator"


def release(recording: Recording) -> Resource:
    return recording.resource("Release", f"{PREFIX}-release")


def config_maps(recording: Recording) -> dict[str, Resource]:
    found = [each for each in recording.of_type("ConfigMap") if each.name.startswith(PREFIX)]
    return {each.inputs["metadata"]["name"]: each for each in found}


def inside(recording: Recording) -> list[Resource]:
    return [each for each in recording.resources if each.custom and each.type.startswith("kubernetes:")]


NGC = "https://helm.ngc.nvidia.com/nvidia"


def test_release_is_pinned_named_patient_and_leaves_its_traces(simulate: Simulate, stack_name: str) -> None:
    inputs, settings = release(simulate(stack_name)).inputs, load(stack_name).settings
    version = settings.gpu_operator.version
    repository = {"chart": "gpu-operator", "version": version, "repositoryOpts": {"repo": NGC}}
    wanted: dict[str, Any] = {
        "name": "gpu-operator",
        "namespace": "gpu-operator",
        **(repository if settings.charts.source == "repository" else {"chart": f".charts/gpu-operator-{version}.tgz"}),
        "timeout": 1800,
        "atomic": False,
        "cleanupOnFail": False,
        "skipAwait": False,
        "createNamespace": False,
    }
    assert {key: inputs[key] for key in wanted} == wanted
    assert set(inputs) - {"compat"} == {*wanted, "values"}  # the SDK's own mark


def test_values_and_drivers_are_those_of_the_plan(simulate: Simulate, stack_name: str) -> None:
    recording, settings = simulate(stack_name), load(stack_name).settings
    plan = make_plan(settings).gpu
    assert release(recording).inputs["values"] == plan.values
    sent = {each.inputs["metadata"]["name"]: each.inputs["spec"] for each in recording.of_type("NVIDIADriver")}
    assert sent == {pool: driver.spec for pool, driver in plan.drivers.items()}
    assert check_values(settings.gpu_operator.version, release(recording).inputs["values"]) == []
    assert [check_driver(settings.gpu_operator.version, spec) for spec in sent.values()] == [[]] * len(sent)
    assert {name: each.inputs["data"] for name, each in config_maps(recording).items()} == plan.config_maps


def test_namespace_allows_privileged_pods_and_is_created_first(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    namespace = recording.resource("Namespace", "gpu-operator")
    assert namespace.inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    theirs = [each for each in recording.of_type("ConfigMap") if each.inputs["metadata"]["namespace"] == "gpu-operator"]
    assert theirs
    for each in [release(recording), *theirs]:
        assert namespace.urn in each.options.depends_on


def test_config_maps_precede_the_release_and_drivers_after_it(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", MODULES)
    maps, driver = config_maps(recording), recording.resource("NVIDIADriver", "h100gpu")
    assert set(maps) == {"gpu-pool-configs", "gpu-driver-modules-h100gpu"}
    assert {each.urn for each in maps.values()} <= set(release(recording).options.depends_on)
    assert {release(recording).urn, maps["gpu-driver-modules-h100gpu"].urn} <= set(driver.options.depends_on)
    assert maps["gpu-driver-modules-h100gpu"].inputs["data"] == {"nvidia-uvm.conf": "uvm_disable_hmm=1\n"}


def test_mig_layouts_are_mounted_by_the_mig_manager(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", MIG)
    values = release(recording).inputs["values"]
    layouts = config_maps(recording)[values["migManager"]["config"]["name"]].inputs["data"]["config.yaml"]
    assert yaml.safe_load(layouts)["mig-configs"]["h100gpu"][0]["mig-devices"] == {"1g.12gb": 7}
    assert values["mig"] == {"strategy": ""}


def test_everything_inside_is_deleted_with_the_cluster_and_waits_for_its_role(
    simulate: Simulate, azure_stack_name: str
) -> None:
    recording = simulate(azure_stack_name)
    cluster = recording.of_type("ManagedCluster")[0].urn
    provider = recording.resource("kubernetes", "physical-ai-kubernetes-provider")
    objects = [each for each in inside(recording) if each.type != "pulumi:providers:kubernetes"]
    assert {each.type.rpartition(":")[2] for each in objects} >= {"Namespace", "ConfigMap", "Release"}
    for each in objects:
        # The Job with the agents' token is the one object of a protected stack that can be replaced, and so deleted.
        left = provider.options.protect and each.type.endswith(":Job")
        assert each.options.deleted_with == ("" if left else provider.urn), each.name
        assert each.options.replace_with == (cluster, provider.urn), each.name
        # The files of an agent remain when a stack no longer needs them, and are created again when it does.
        again = (f"{each.name}-again",) if each.options.retain_on_delete else ()
        assert recording.hooked[each.urn] == ("physical-ai-role-propagation", *again), each.name
        assert "physical-ai-kubernetes-provider" in each.options.provider, each.name


def test_production_protects_it_all(simulate: Simulate) -> None:
    kept = [each for each in inside(simulate("prod-westus2")) if not each.options.retain_on_delete]
    assert {each.options.protect for each in kept} == {True}


def test_a_driver_is_replaced_where_its_fields_cannot_change(simulate: Simulate) -> None:
    driver = simulate("dev-westus2").resource("NVIDIADriver", "h100gpu")
    assert set(driver.options.replace_on_changes) == {"spec.driverType", "spec.usePrecompiled"}
    assert driver.options.delete_before_replace


def test_a_cluster_policy_leaves_no_driver_resource(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {"gpuOperator": {"driverOwner": "ClusterPolicy"}})
    assert recording.of_type("NVIDIADriver") == []
    driver = release(recording).inputs["values"]["driver"]
    assert (driver["enabled"], driver["version"]) == (True, "580.173.02")


def test_exports_contain_releases_and_what_pools_offer(simulate: Simulate) -> None:
    exports = simulate("dev-westus2", {"pools": {"h100gpu": {"sharing": {"timeSlicing": {"replicas": 4}}}}}).exports
    assert exports["releases"]["gpu-operator"] == {"version": newest_release().version, "namespace": "gpu-operator"}
    h100, rtx = exports["pools"]["h100gpu"], exports["pools"]["rtxprogpu"]
    assert (h100["driverVersion"], h100["sharing"], h100["resources"]) == (
        "580.173.02",
        "timeSlicing",
        {"nvidia.com/gpu": 4},
    )
    assert rtx["driverVersion"] == "595.91.07"
    assert (rtx["sharing"], rtx["resources"]) == ("none", {"nvidia.com/gpu": 1})
    assert h100["labels"]["nvidia.com/device-plugin.config"] == "h100gpu"


def judge(recording: Recording, **old: Any) -> None:
    hook = recording.resource_hooks[f"{PREFIX}-upgrade"]
    answer = hook(pulumi.ResourceHookArgs("urn", "", "release", "t", new_inputs={}, old_inputs=old))
    if answer is not None:
        asyncio.run(answer)  # type: ignore[arg-type]


def test_the_release_refuses_a_downgrade_before_helm_runs(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {"gpuOperator": {"version": "v26.3.3"}})
    assert recording.guarded[release(recording).urn] == (f"{PREFIX}-upgrade",)
    with pytest.raises(pulumi.RunError, match="upgrade-downgrade"):
        judge(recording, chart="gpu-operator", version="v26.7.0")
    judge(recording, chart="gpu-operator", version="v25.10.1")


def test_previews_refuse_it_too(simulate: Simulate) -> None:
    options = simulate("dev-westus2").resource_hooks[f"{PREFIX}-upgrade"].opts
    assert options is not None
    assert options.on_dry_run


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("v26.3.3", "v26.7.0", None),
        ("v26.7.0", "v26.7.0", None),
        ("v26.7.0", "v26.7.1", None),
        ("v26.7.0", "v26.3.3", "upgrade-downgrade"),
        ("v25.3.4", "v26.7.0", "upgrade-skips-line"),
    ],
)
def test_upgrades_are_to_the_next_line_and_never_back(old: str, new: str, rule: str | None) -> None:
    reported = refusal({"chart": "gpu-operator", "version": old}, new)
    assert (reported is None) if rule is None else str(reported).startswith(f"{rule}: ")


def test_a_chart_from_the_cache_has_its_version_in_its_name() -> None:
    assert installed_version({"chart": "/cache/charts/gpu-operator-v26.3.3.tgz"}) == "v26.3.3"
    assert refusal({"chart": "/cache/charts/gpu-operator-v26.7.0.tgz"}, "v26.3.3") is not None
    assert refusal({}, "v26.3.3") is None
    assert refusal(None, "v26.3.3") is None
