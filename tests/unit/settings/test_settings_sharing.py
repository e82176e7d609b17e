"""Drivers and shared GPUs in the settings: what is refused, what is doubtful, what is not."""

from __future__ import annotations

import pytest

from physical_ai.settings import Fault, Overlay, SettingsError, load
from tests.support.cases import in_one_test
from tests.support.gpu_settings import H100, MIXED, RTX, SINGLE, given_settings

A100 = "{sku: Standard_NC24ads_A100_v4, scale: {count: 1}, subnet: 10.40.7.0/26"


PARAMETERS = "driver: {source: operator, moduleParameters: {nvidia-uvm: {uvm_disable_hmm: '1'}}}"


def faults_of(*assignments: str) -> list[Fault]:
    with pytest.raises(SettingsError) as caught:
        given_settings(*assignments)
    return caught.value.faults


REFUSED: list[tuple[tuple[str, ...], str, str, str]] = [
    (
        (f"{H100}.sharing={{timeSlicing: {{replicas: 1}}}}",),
        f"{H100}.sharing.timeSlicing.replicas",
        "do not share a GPU",
        "2",
    ),
    ((f"{H100}.sharing={{mps: {{replicas: 1}}}}",), f"{H100}.sharing.mps.replicas", "do not share a GPU", "2"),
    (
        (f"{H100}.sharing={{mps: {{replicas: 2}}, timeSlicing: {{replicas: 2}}}}",),
        f"{H100}.sharing.mps",
        "not both",
        "null",
    ),
    (
        (f"{H100}.sharing={{mps: {{replicas: 2}}, mig: {{strategy: single, profiles: {{1g.12gb: 7}}}}}}",),
        f"{H100}.sharing.mps",
        "MIG instances",
        "timeSlicing",
    ),
    ((f"{RTX}.sharing={{mps: {{replicas: 2}}}}",), f"{RTX}.sharing.mps", "host has partitioned", "timeSlicing"),
    ((f"{RTX}.sharing={SINGLE}",), f"{RTX}.sharing.mig", "can't partition a vGPU", "timeSlicing"),
    (
        (f"{H100}.sharing={{mig: {{strategy: single, profiles: {{1g.10gb: 7}}}}}}",),
        f'{H100}.sharing.mig.profiles["1g.10gb"]',
        "not a MIG profile of the H100 NVL",
        "1g.12gb",
    ),
    (
        (f"{H100}.sharing={{mig: {{strategy: single, profiles: {{1g.12gb: 3, 3g.47gb: 1}}}}}}",),
        f"{H100}.sharing.mig.profiles",
        "one profile",
        "mixed",
    ),
    (
        (f"{H100}.sharing={{mig: {{strategy: single, profiles: {{3g.47gb: 3}}}}}}",),
        f"{H100}.sharing.mig.profiles",
        "at most 2",
        "Fewer",
    ),
    (
        (f"{H100}.sharing={{mig: {{strategy: mixed, profiles: {{4g.47gb: 1, 2g.24gb: 2}}}}}}",),
        f"{H100}.sharing.mig.profiles",
        "8 compute slices",
        "Fewer",
    ),
    (
        (f"{H100}.sharing={{mig: {{strategy: mixed, profiles: {{3g.47gb: 2, 1g.12gb: 1}}}}}}",),
        f"{H100}.sharing.mig.profiles",
        "9 memory slices",
        "Fewer",
    ),
    (
        (f"{H100}.sharing={{mig: {{strategy: mixed, profiles: {{}}}}}}",),
        f"{H100}.sharing.mig.profiles",
        "No profile",
        "null",
    ),
    (
        (
            f"{H100}.sharing={{mps: {{replicas: 2, failRequestsGreaterThanOne: false}}}}",
            "gpuOperator.version=v26.3.3",
        ),
        f"{H100}.sharing.mps.failRequestsGreaterThanOne",
        "only true with MPS",
        "true",
    ),
    ((f"{H100}.sharing={MIXED}", "gpuOperator.migStrategy=single"), "gpuOperator.migStrategy", "different", '""'),
    (("gpuOperator.migStrategy=none",), "gpuOperator.migStrategy", "CUDA fails", "single"),
    (("gpuOperator.migStrategy=mixed",), "gpuOperator.migStrategy", "no Pod finds them", "single"),
    (
        (f"{RTX}=null", f"{H100}.sharing={{mps: {{replicas: 2}}}}", "gpuOperator.migStrategy=mixed"),
        "gpuOperator.migStrategy",
        "rejects MPS",
        "single",
    ),
    (
        (f"{RTX}=null", f"{H100}.sharing={SINGLE}", "gpuOperator.migStrategy=none"),
        "gpuOperator.migStrategy",
        "for",
        "single",
    ),
    (("gpuOperator.version=v26.7.9",), "gpuOperator.version", "not a GPU Operator release", "v26.7"),
    (("gpuOperator.version=26.7.0",), "gpuOperator.version", "is not a GPU Operator release, like v26.7.1", ""),
    (("gpuOperator.nri=true", "gpuOperator.cdi=false"), "gpuOperator.nri", "needs CDI", "cdi: true"),
    (("gpuOperator.nri=true", "gpuOperator.version=v25.10.1"), "gpuOperator.nri", "has no NRI plugin", "nri: false"),
    (("gpuOperator.driver.version=595.58.03",), "gpuOperator.driver.version", "GRID driver", "595.91.07"),
    (("gpuOperator.driver.version='580'",), "gpuOperator.driver.version", "is a branch", "580."),
    (("gpuOperator.driver.precompiled=true",), "gpuOperator.driver.precompiled", "by branch alone", '"580"'),
    ((f"{H100}.driver.version='595'",), f"{H100}.driver.version", "is a branch", "595.91.07"),
    ((f"{H100}.driver.version=595.58.03",), f"{H100}.driver.version", "vGPU sizes only", "595.91.07"),
    ((f"{RTX}.driver.version=580.173.02",), f"{RTX}.driver.version", "datacenter driver", "580.105.08"),
    ((f"{RTX}.driver.version=595.58.30",), f"{RTX}.driver.version", "not a known build", "595.58.03"),
    (
        (f"{RTX}.driver={{source: aks, version: 595.91.07}}",),
        f"{RTX}.driver.version",
        "node image decides",
        "Omit it",
    ),
    ((f"{RTX}.driver={{source: aks, moduleType: open}}",), f"{RTX}.driver.moduleType", "no effect", "Omit it"),
    (
        (f"{H100}.driver.moduleParameters={{nvidia_uvm: {{uvm_disable_hmm: '1'}}}}",),
        f"{H100}.driver.moduleParameters.nvidia_uvm",
        "not a module",
        "nvidia-uvm",
    ),
    ((f"{H100}.secureBoot=true", f"{H100}.driver.source=aks"), f"{H100}.secureBoot", "Ubuntu", "osSku: AzureLinux"),
    ((f"{H100}.secureBoot=true",), f"{H100}.secureBoot", "not signed", "precompiled: true"),
    ((f"{RTX}.secureBoot=true",), f"{RTX}.secureBoot", "not signed", "false"),
    ((f"{RTX}.secureBoot=true", f"{RTX}.driver.source=aks"), f"{RTX}.secureBoot", "installs no GPU driver", "false"),
    (
        ("gpuOperator.driverOwner=ClusterPolicy", f"{RTX}.osSku=Ubuntu2204"),
        f"{RTX}.osSku",
        "alternate",
        "NVIDIADriver",
    ),
    (
        ("gpuOperator.driverOwner=ClusterPolicy", f"{H100}.driver.version=595.91.07"),
        f"{H100}.driver.version",
        "one driver for all pools",
        "NVIDIADriver",
    ),
    (
        ("gpuOperator.driverOwner=ClusterPolicy", f"pools.a100={A100}, {PARAMETERS}}}"),
        "pools.a100.driver.moduleParameters",
        "those of pool h100gpu",
        "the same on all pools",
    ),
    (
        ("gpuOperator.driverOwner=ClusterPolicy", f"{H100}.driver.moduleType=open"),
        f"{H100}.driver.moduleType",
        "auto, not open",
        "NVIDIADriver",
    ),
    ((f"{RTX}.driver.source=operator",), f"{RTX}.driver.source", "virtual and needs a GRID driver", "grid, aks"),
    ((f"{H100}.driver.source=grid",), f"{H100}.driver.source", "it has a full GPU", "operator, aks"),
    ((f"{H100}.osSku=AzureLinux",), f"{H100}.osSku", "with driver source 'operator'", "Ubuntu"),
    (
        (f"{RTX}.labels={{nvidia.com/gpu.deploy.driver: 'true'}}",),
        f'{RTX}.labels["nvidia.com/gpu.deploy.driver"]',
        "set by the program to 'false'",
        "driver.source",
    ),
    (
        (f"{RTX}.labels={{physical-ai/gpu-driver: operator}}",),
        f"{RTX}.labels.physical-ai/gpu-driver",
        "set by the program to 'grid'",
        "driver.source",
    ),
    (
        (f"{H100}.labels={{nvidia.com/device-plugin.config: mine}}",),
        f'{H100}.labels["nvidia.com/device-plugin.config"]',
        "is set by the program",
        "Omit",
    ),
]


@in_one_test(("assignments", "path", "problem", "fix"), REFUSED)
def test_what_cannot_work_is_refused_at_its_path(
    assignments: tuple[str, ...], path: str, problem: str, fix: str
) -> None:
    faults = [fault for fault in faults_of(*assignments) if fault.is_error]
    texts = [f"{fault.where}: {fault.problem} -> {fault.fix}" for fault in faults]
    at_path = [fault for fault in faults if fault.where.replace('"', "") == path.replace('"', "")]
    found = [f for f in at_path if problem in f.problem and fix in (f.fix or "")]
    assert found, texts
    if not assignments[0].endswith("=26.7.0"):  # what is no release's name at all is a matter of spelling
        assert all(f.rule and f.source and f.fix for f in found), texts


ALLOWED = [
    (f"{H100}.sharing={{timeSlicing: {{replicas: 4}}}}", f"{H100}.scale.min=1"),
    (f"{H100}.sharing={{mps: {{replicas: 4}}}}", f"{H100}.capacity.announced=true"),
    (f"{H100}.sharing={SINGLE}", f"{H100}.capacity.announced=true"),
    (f"{H100}.sharing={MIXED}", f"{H100}.scale.min=1"),
    (f"{RTX}.sharing={{timeSlicing: {{replicas: 8}}}}", f"{RTX}.scale.min=1"),
    (
        f"{H100}.sharing={{timeSlicing: {{replicas: 2}}, mig: {{strategy: single, profiles: {{2g.24gb: 3}}}}}}",
        f"{H100}.scale.min=1",
    ),
    (f"{H100}.sharing={MIXED}", 'gpuOperator.migStrategy=""', f"{H100}.scale.min=1"),
    (f"{RTX}.sharing={{timeSlicing: {{replicas: 2}}}}", "gpuOperator.migStrategy=single", f"{RTX}.scale.min=1"),
    (f"{RTX}=null", "gpuOperator.migStrategy=none"),
    ("gpuOperator.driver={version: '580', precompiled: true}", f"{H100}.secureBoot=true"),
    ("gpuOperator.driverOwner=ClusterPolicy",),
    (f"{RTX}.driver.version=595.91.07", f"{RTX}.driver.moduleParameters={{nvidia-uvm: {{uvm_disable_hmm: '1'}}}}"),
    (f"pools.a100={A100}, driver: {{source: operator, version: 595.91.07}}}}",),
]


@in_one_test("assignments", ALLOWED)
def test_valid_settings_are_accepted_without_a_finding(assignments: tuple[str, ...]) -> None:
    loaded = given_settings(*assignments)
    assert [warning for warning in loaded.warnings if warning not in loaded.plan.warnings] == []


def test_two_names_of_one_system_are_one_system() -> None:
    policy = ("gpuOperator.driverOwner=ClusterPolicy", f"{RTX}.osSku=Ubuntu2204")
    jammy = given_settings(*policy, "cluster.kubernetesVersion=1.34")  # where osSku Ubuntu means 22.04
    assert jammy.settings.pools["rtxprogpu"].os_sku == "Ubuntu2204"
    assert "policy-one-os" in {fault.rule for fault in faults_of(*policy, "cluster.kubernetesVersion=1.36")}


DOUBTFUL = [
    ((f"{H100}.sharing={MIXED}",), f"{H100}.sharing", "nvidia.com/mig-1g.12gb"),
    ((f"{H100}.sharing={{timeSlicing: {{replicas: 2, rename: true}}}}",), f"{H100}.sharing", "nvidia.com/gpu.shared"),
    (
        (f"{H100}.sharing={{timeSlicing: {{replicas: 2, failRequestsGreaterThanOne: false}}}}",),
        f"{H100}.sharing.timeSlicing.failRequestsGreaterThanOne",
        "no second GPU",
    ),
    (
        (f"{H100}.sharing={{mps: {{replicas: 2, failRequestsGreaterThanOne: false}}}}",),
        f"{H100}.sharing.mps.failRequestsGreaterThanOne",
        "no second GPU",
    ),
    ((f"{RTX}.driver.moduleType=proprietary",), f"{RTX}.driver.moduleType", "open kernel modules"),
    (
        (f"pools.a100={A100}, driver: {{source: operator}}, osSku: Ubuntu2204}}",),
        "pools.a100.osSku",
        "one node operating system",
    ),
]


@pytest.mark.parametrize(("assignments", "path", "problem"), DOUBTFUL)
def test_what_is_doubtful_is_a_warning(assignments: tuple[str, ...], path: str, problem: str) -> None:
    found = [f for f in given_settings(*assignments).warnings if f.where == path and problem in f.problem]
    assert len(found) == 1


def test_azure_linux_starts_the_driver_of_aks_with_secure_boot() -> None:
    changes = [f"{H100}.osSku=AzureLinux", f"{H100}.driver.source=aks", f"{H100}.secureBoot=true"]
    assert load("dev-westus2", [Overlay.assign(changes)]).settings.pools["h100gpu"].secure_boot


def test_long_term_support_keeps_a_minor_and_needs_the_premium_tier() -> None:
    old, plan = "cluster.kubernetesVersion='1.33'", "cluster.supportPlan=AKSLongTermSupport"

    def rules(*changes: str) -> set[str]:
        loaded = load("dev-westus2", [Overlay.assign(list(changes))])
        return {each.rule for each in loaded.warnings if each.rule.startswith(("kubernetes", "long-term"))}

    assert rules(old, plan, "cluster.tier=Premium") == set()
    with pytest.raises(SettingsError, match="supportPlan: AKSLongTermSupport with tier: Premium"):
        rules(old)
    with pytest.raises(SettingsError, match="Premium"):
        rules(old, plan)
