"""Settings of the GRID driver: what is refused with which fix, and the document that the agent gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from grid_agent.wanted import wanted_from
from physical_ai.catalog import driver_build, vgpu_model
from physical_ai.catalog.gpu_lookup import builds
from physical_ai.planning.agents import Program
from physical_ai.planning.grid_driver import GridPlan, grid_installer, grid_plan
from physical_ai.readiness import expected_pools
from physical_ai.settings import Fault, Overlay, SettingsError, existing, load
from physical_ai.settings.models.node_pools import DriverSource
from tests.support.cases import in_one_test
from tests.support.gpu_settings import H100, RTX, given_settings

SHA = "a" * 64
OWN = "https://files.example.com/grid/own.run"
PACKAGE = f"{{url: https://mirror.example.com/headers.deb, sha256: {SHA}, kernel: 6.8.0-1052-azure}}"
A10 = "pools.a10={sku: Standard_NV36ads_A10_v5, driver: {source: grid}, subnet: 10.40.3.0/26, scale: {count: 1}}"
OWN_REGISTRY = "gridDriver.imageRegistry=example.azurecr.io/mirror"
MIRROR = "gridDriver.mirror=https://mirror.example.com/grid"


def plan(*assignments: str) -> GridPlan:
    found = grid_plan(given_settings(*assignments).settings)
    assert found is not None
    return found


def wanted(*assignments: str, pool: str = "rtxprogpu") -> dict[str, Any]:
    return dict(plan(*assignments).wanted[pool])


def errors(*assignments: str) -> list[Fault]:
    with pytest.raises(SettingsError) as caught:
        given_settings(*assignments)
    return caught.value.faults


WRONG = [
    (("gridDriver.version=595.58.03",), "gridDriver.version", "checksum", "sha256"),
    ((f"{RTX}.driver.version=595.58.03",), f"{RTX}.driver.version", "checksum", "580.105.08 or 595.91.07"),
    (("gridDriver.version=599.10.01",), "gridDriver.version", "not a known build", "gridDriver.installers.599.10.01"),
    (("gridDriver.version=580.173.02",), "gridDriver.version", "datacenter driver", "580.105.08"),
    (("gridDriver.version='595'",), "gridDriver.version", "is not a GRID build", ""),
    (
        ("gridDriver.version=599.10.01", f"gridDriver.installers={{599.10.01: {{sha256: {SHA}}}}}"),
        "gridDriver.version",
        "address of the installer",
        "url: https",
    ),
    (("gridDriver.offline=true",), "gridDriver.offline", "no mirror", "gridDriver.mirror"),
    (
        (f"gridDriver.installers={{595.91.07: {{sha256: {SHA}}}}}",),
        'gridDriver.installers["595.91.07"].sha256',
        "another checksum",
        "Omit sha256",
    ),
    (("gridDriver.mirror=http://mirror.example.com",), "gridDriver.mirror", "https address of a folder", ""),
    (("gridDriver.mirror=https://me:secret@mirror.example.com/",), "gridDriver.mirror", "without credentials", ""),
    (("gridDriver.mirror=https://mirror.example.com/?sig=x",), "gridDriver.mirror", "without credentials", ""),
    (("gridDriver.installers={595.91.07: {sha256: ABC}}",), "", "64 hexadecimal digits", ""),
    (("gridDriver.upgradePolicy=now",), "gridDriver.upgradePolicy", "not possible", "wait"),
    (("gridDriver.imageRegistry=https://acr.example.com",), "gridDriver.imageRegistry", "is not a registry", ""),
    (("gridDriver.imagePullSecret=Registry_Login",), "gridDriver.imagePullSecret", "is not the name of a Secret", ""),
    (
        ("gridDriver.moduleParameters={nvidia_uvm: {uvm_disable_hmm: '1'}}",),
        "gridDriver.moduleParameters.nvidia_uvm",
        "not a module",
        "nvidia-uvm",
    ),
    ((f"{RTX}.osSku=AzureLinux",), f"{RTX}.osSku", "does not work", "Ubuntu"),
]


@in_one_test(("assignments", "path", "problem", "fix"), WRONG)
def test_what_cannot_work_is_refused_with_its_path_and_a_fix(
    assignments: tuple[str, ...], path: str, problem: str, fix: str
) -> None:
    reported = [f"{fault.where}|{fault.problem}|{fault.fix}" for fault in errors(*assignments)]
    assert any(text.startswith(path) and problem in text and fix in text for text in reported), reported


def test_each_rule_about_files_is_cited_with_its_source() -> None:
    (fault,) = errors("gridDriver.version=595.58.03")
    assert fault.rule == "grid-checksum"
    assert "physical-ai-toolchain#1216" in (fault.source or "")


WARNED = [
    (("gridDriver.moduleType=proprietary",), "gridDriver.moduleType", "driver-open-modules"),
    ((f"{RTX}.driver.moduleType=proprietary",), f"{RTX}.driver.moduleType", "driver-open-modules"),
    (("gridDriver.legacyValidationMarkers=true",), "gridDriver.legacyValidationMarkers", "grid-legacy-markers"),
    ((f"gridDriver.packages=[{PACKAGE}]",), "gridDriver.packages", "grid-offline"),
    ((MIRROR, "gridDriver.offline=true", OWN_REGISTRY), "gridDriver.offline", "grid-offline"),
    (
        (MIRROR, "gridDriver.offline=true", f"gridDriver.packages=[{PACKAGE}]"),
        "gridDriver.imageRegistry",
        "grid-image",
    ),
    (
        (f"gridDriver.installers={{595.91.07: {{sha256: {SHA}, url: '{OWN}'}}}}",),
        'gridDriver.installers["595.91.07"].sha256',
        "grid-checksum",
    ),
]


@pytest.mark.parametrize(("assignments", "path", "rule"), WARNED)
def test_a_doubtful_setting_is_reported(assignments: tuple[str, ...], path: str, rule: str) -> None:
    assert [(fault.where, fault.rule) for fault in given_settings(*assignments).warnings] == [(path, rule)]


@pytest.mark.parametrize(
    ("change", "count", "reported"),
    [
        ((), 100, False),
        ((), 101, True),
        ((OWN_REGISTRY,), 101, False),
        (("gridDriver.imagePullSecret=registry-login",), 101, False),
    ],
)
def test_more_nodes_than_docker_hub_serves_anonymously_are_reported(
    change: tuple[str, ...], count: int, reported: bool
) -> None:
    loaded = given_settings(*change, f"{RTX}.scale.max={count}", f"{RTX}.subnet=10.40.8.0/21")
    assert ("grid-image" in {fault.rule for fault in loaded.warnings}) is reported


@pytest.mark.parametrize("policy", ["drain", "wait"])
def test_an_upgrade_policy_is_for_grid_pools(policy: str) -> None:
    (fault,) = errors(f"{H100}.driver.upgradePolicy={policy}")
    assert (fault.where, fault.rule) == (f"{H100}.driver.upgradePolicy", "grid-upgrade-policy")


def test_production_never_gets_the_legacy_markers() -> None:
    with pytest.raises(SettingsError, match=r"gridDriver\.legacyValidationMarkers"):
        load("prod-westus2", [overlay("gridDriver.legacyValidationMarkers=true")])
    recorded = load("prod-westus2", [overlay("profile=seed-2026-02")])
    assert "gridDriver.legacyValidationMarkers" in {fault.where for fault in recorded.warnings}


def overlay(*assignments: str) -> Overlay:
    return Overlay.assign(assignments)


def test_without_a_grid_pool_nothing_of_it_is_required_or_created() -> None:
    for change in (f"{RTX}=null", f"{RTX}.driver.source=aks"):
        loaded = given_settings(change, "gridDriver.version=595.58.03", "gridDriver.offline=true")
        assert loaded.warnings == []
        assert grid_plan(loaded.settings) is None


def test_the_default_build_is_one_whose_file_is_known() -> None:
    document = wanted()
    build = driver_build("grid", document["version"])
    assert (document["sha256"], document["urls"]) == (build.sha256, [build.url])
    assert build.sha256_source
    assert (document["moduleType"], document["upgrade"], document["present"], document["packageSource"]) == (
        "open",
        "wait",
        True,
        "apt",
    )
    assert document["moduleParameters"] == {"nvidia_uvm": {"uvm_disable_hmm": "1"}}
    assert document["devices"] == ["10de:2bb5"]


def test_a_build_that_the_catalogue_does_not_know_is_used_with_its_file() -> None:
    installers = f"gridDriver.installers={{599.10.01: {{sha256: {SHA}, url: '{OWN}'}}}}"
    document = wanted("gridDriver.version=599.10.01", installers)
    assert (document["version"], document["sha256"], document["urls"]) == ("599.10.01", SHA, [OWN])


def test_a_mirror_is_used_first_and_offline_alone() -> None:
    name = "NVIDIA-Linux-x86_64-595.91.07-grid-azure.run"
    first, second = wanted(MIRROR)["urls"]
    assert first == f"https://mirror.example.com/grid/{name}"
    assert second.startswith("https://download.microsoft.com/")
    assert wanted(f"{MIRROR}/")["urls"] == [first, second]
    offline = wanted(MIRROR, "gridDriver.offline=true", f"gridDriver.packages=[{PACKAGE}]")
    assert offline["urls"] == [first]
    assert offline["packageSource"] == "offline"
    assert [package["kernel"] for package in offline["packages"]] == ["6.8.0-1052-azure"]


def test_offline_an_address_from_the_user_is_used() -> None:
    own = f"gridDriver.installers={{595.91.07: {{url: '{OWN}'}}}}"
    assert wanted(own, "gridDriver.offline=true")["urls"] == [OWN]


def test_a_pool_has_its_own_build_modules_parameters_and_patience() -> None:
    document = wanted(
        f"{RTX}.driver.version=580.105.08",
        f"{RTX}.driver.upgradePolicy=drain",
        f"{RTX}.driver.moduleParameters={{nvidia: {{NVreg_A: '0'}}, nvidia-uvm: {{uvm_disable_hmm: '0'}}}}",
    )
    assert (document["version"], document["upgrade"]) == ("580.105.08", "drain")
    assert document["moduleParameters"] == {
        "nvidia": {"NVreg_A": "0"},
        "nvidia_uvm": {"uvm_disable_hmm": "0"},
    }


def test_modules_are_those_that_the_gpu_has() -> None:
    found = plan(A10)
    assert (found.wanted["a10"]["moduleType"], found.wanted["rtxprogpu"]["moduleType"]) == ("proprietary", "open")
    assert plan(A10, "gridDriver.moduleType=open").wanted["a10"]["moduleType"] == "open"


def test_pools_that_differ_are_listed_separately_and_others_share_one_document() -> None:
    alike = plan(A10.replace("NV36ads_A10_v5", "NC72ds_xl_RTXPRO6000BSE_v6"))
    assert json.loads(alike.document)["version"] == "595.91.07"
    assert json.loads(plan(A10).document)["pools"].keys() == {"a10", "rtxprogpu"}
    assert (alike.versions, plan(A10, f"{RTX}.driver.version=580.105.08").versions) == (
        "595.91.07",
        "a10=595.91.07,rtxprogpu=580.105.08",
    )


@in_one_test("stack", existing())
def test_the_agent_reads_the_document_of_every_stack(stack: str) -> None:
    settings = load(stack).settings
    found = grid_plan(settings)
    assert (found is not None) == any(pool.driver.source is DriverSource.GRID for pool in settings.pools.values())
    if found is None:
        return
    for name, document in found.wanted.items():
        read = wanted_from(json.loads(json.dumps(document)))
        assert settings.pools[name].driver.source is DriverSource.GRID
        assert read.target.sha256
        assert read.target.urls
        assert read.legacy_validation_markers is settings.grid_driver.legacy_validation_markers


def test_the_document_of_the_seed_has_its_driver_modules_and_markers() -> None:
    found = grid_plan(load("seed-westus2").settings)
    assert found is not None
    document = found.wanted["rtxprogpu"]
    assert (document["version"], document["moduleType"], document["legacyValidationMarkers"]) == (
        "580.105.08",
        "proprietary",
        True,
    )
    assert (document["moduleParameters"], document["dkms"]) == ({}, False)


def digest(files: Mapping[str, str], document: str) -> str:
    return Program("files", "test", files).digest(document)


def test_the_agents_digest_follows_files_and_settings() -> None:
    files = {"grid_agent/decide.py": "a", "host/job.sh": "b"}
    first = digest(files, plan().document)
    assert first == digest(dict(reversed(files.items())), plan().document)
    others = {
        digest({**files, "host/job.sh": "c"}, plan().document),
        digest({"grid_agent/decide.py": "a"}, plan().document),
        digest(files, plan("gridDriver.upgradePolicy=drain").document),
        digest(files, plan(f"{RTX}.driver.version=580.105.08").document),
    }
    assert len(others | {first}) == 5


def test_scale_and_priority_of_a_pool_are_nothing_to_its_nodes() -> None:
    assert plan(f"{RTX}.scale.max=7", f"{RTX}.scale.initial=0").document == plan().document
    assert plan(f"{RTX}.priority=Regular").document == plan().document


def test_every_catalogued_installer_is_named_after_its_build() -> None:
    settings = given_settings().settings
    for version, build in builds("grid").items():
        if build.url:
            assert f"-{version}-grid-azure.run" in build.url
            assert grid_installer(settings, version).urls == (build.url,)


def test_what_a_guest_needs_is_known_of_every_virtual_gpu() -> None:
    for model in ("RTX PRO 6000 Blackwell Server Edition", "A10"):
        found = vgpu_model(model)
        assert found is not None
        assert found.modules
    assert vgpu_model("H100 NVL") is None


def test_a_pool_whose_driver_is_removed_promises_no_gpus() -> None:
    settings = given_settings("gridDriver.present=false").settings
    assert {each.pool: dict(each.resources) for each in expected_pools(settings)} == {
        "h100gpu": {"nvidia.com/gpu": 1},
        "rtxprogpu": {},
    }
    assert wanted("gridDriver.present=false")["present"] is False
