"""GPUs by resource claims in the settings: what is refused, what is doubtful, what is not."""

from __future__ import annotations

import pytest

from physical_ai.settings.facts import gpu
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.osmo import gpu_capacity, platforms
from physical_ai.settings.facts.summary import pool_summary
from tests.support.cases import in_one_test
from tests.support.dra_settings import ALONE, CLAIMS, POOL
from tests.support.gpu_settings import H100, RTX, given_settings
from tests.unit.settings.settings_faults import expect, faults_of, warned

HERE = f"{H100}.allocation"
RTX_COUNT = f"{RTX}.scale={{count: 1, min: null, max: null, initial: null}}"
A100 = (
    "pools.a100={sku: Standard_NC24ads_A100_v4, scale: {count: 1}, subnet: 10.40.7.0/26, driver: {source: aks},"
    " allocation: dra, priority: Regular}"
)


def namespaces(quota: str) -> str:
    return f"dra.namespaces={{robotics: {{quota: {quota}}}}}"


@in_one_test(
    ("assignments", "where", "problem", "fix"),
    [
        ((*POOL, "cluster.kubernetesVersion='1.33'"), HERE, "need Kubernetes 1.34, not 1.33", "1.34"),
        ((*POOL, "cluster.nodesVersion='1.33'"), HERE, "need Kubernetes 1.34, not 1.33", "1.34"),
        ((*POOL, "gpuOperator.version=v25.3.4"), HERE, "tested up to 1.33", "v26.3.3"),
        ((*POOL, "gpuOperator.version=v25.10.1"), HERE, "no Kubernetes version that is known", "v26.3.3"),
        ((*POOL, f"{H100}.driver.version=570.148.08"), HERE, "570.158.01 or later, not 570.148.08", "driver.version"),
        ((f"{RTX}.allocation=dra", RTX_COUNT), f"{RTX}.allocation", "works with the vGPUs", "devicePlugin"),
        (
            (*POOL, f"{H100}.sharing={{mig: {{strategy: single, profiles: {{1g.12gb: 7}}}}}}"),
            f"{H100}.sharing.mig",
            "not verified",
            "mig: null",
        ),
        (
            (*POOL, f"{H100}.sharing={{timeSlicing: {{replicas: 2}}}}"),
            f"{H100}.sharing.timeSlicing",
            "Only the device plugin reads sharing.timeSlicing",
            "timeSlice",
        ),
        (
            (*POOL, f"{H100}.sharing={{mps: {{replicas: 2}}}}"),
            f"{H100}.sharing.mps",
            "Only the device plugin reads sharing.mps",
            "null",
        ),
        (
            (*POOL, "osmo.platforms.h100gpu={name: claimed}"),
            "osmo.platforms.h100gpu",
            "KAI counts what nodes offer",
            "Omit it",
        ),
        (
            (*POOL, A100),
            "pools.a100",
            "looks for the driver under /run/nvidia/driver (pool h100gpu), not /",
            "driver.source",
        ),
        ((f"{H100}.allocation=dra",), HERE, "adds no node for a claim", "scale.count"),
        ((CLAIMS,), "dra", "No pool offers its GPUs by claims", "allocation: dra"),
        ((*POOL, "dra.claims={big: {memoryGb: 120}}"), "dra.claims.big", "GPUs of the stack: h100", "less"),
        ((*POOL, "dra.claims={new: {architecture: Blackwell}}"), "dra.claims.new", "h100 (Hopper, 100 GB)", "less"),
        ((*POOL, "dra.claims={two: {gpus: 2}}"), "dra.claims.two", "the largest has 1", "At most 1"),
        ((*POOL, "dra.claims={one: {gpu: h200}}"), "dra.claims.one", "has a GPU 'h200'", "h100"),
        ((*POOL, "dra.claims={h100: {}}"), "dra.claims.h100", "belongs to the claim for a whole GPU", "Another name"),
        ((*POOL, namespaces("{h10: 1}")), "dra.namespaces", "has a GPU 'h10'", "h100"),
        ((*POOL, "dra.namespaces={gpu-operator: {}}"), "dra.namespaces", "belongs to the platform", "Another"),
        ((*POOL, "dra.namespaces={kube-system: {}}"), "dra.namespaces", "belongs to the platform", "Another"),
    ],
)
def test_what_cannot_work_is_refused(assignments: tuple[str, ...], where: str, problem: str, fix: str) -> None:
    found = faults_of(*assignments)
    texts = [(each.where, f"{each.problem} -> {each.fix}") for each in found]
    # The fault is reported at the setting that was set last of those that conflict.
    ends = {where, *(assignment.partition("=")[0] for assignment in assignments)}
    assert any(
        (here in ends or any(here.startswith(f"{end}.") for end in ends))
        and problem in text
        and fix in text.partition("->")[2]
        for here, text in texts
    ), texts


@pytest.mark.parametrize(
    ("assignments", "where", "problem"),
    [
        ((*POOL, "cluster.kubernetesVersion='1.35'"), HERE, "may put its device plugin on a node"),
        ((*ALONE, f"{H100}.driver.source=aks"), HERE, "The node image decides the driver"),
        (POOL, HERE, "its validator is never ready"),
        ((*POOL, "dra.claims={large: {memoryGb: 80}}"), "dra.claims", "No namespace has these claims"),
        (
            (*POOL, "dra={claims: {large: {memoryGb: 80}}, namespaces: {robotics: {quota: {h100: 1}}}}"),
            "dra.namespaces.robotics.quota",
            "leaves no GPU for the claim large",
        ),
    ],
)
def test_what_is_doubtful_is_a_warning(assignments: tuple[str, ...], where: str, problem: str) -> None:
    expect(warned(*assignments), where, problem)


def test_a_stack_without_a_device_plugin_has_no_doubts() -> None:
    texts = [each.problem for each in warned(*ALONE, CLAIMS)]
    assert not [text for text in texts if "device plugin" in text or "claim" in text]


def test_gpus_by_claims_are_no_resource_of_a_node() -> None:

    settings = given_settings(*POOL).settings
    pool = settings.pools["h100gpu"]
    assert gpu.gpu_resources(pool) == {}
    assert pool_summary(settings, "h100gpu")["resources"] == {"gpu.nvidia.com": 1}
    assert {item.pool for item in platforms(settings)} == {"cpu", "rtxprogpu"}
    assert gpu_capacity(settings) == {"nvidia.com/gpu": settings.pools["rtxprogpu"].scale.most}
    labels = pool_labels("h100gpu", pool)
    assert labels["nvidia.com/gpu.deploy.device-plugin"] == "false"
    assert labels["physical-ai/gpu-allocation"] == "dra"
    other = pool_labels("rtxprogpu", settings.pools["rtxprogpu"])
    assert not {"physical-ai/gpu-allocation", "nvidia.com/gpu.deploy.device-plugin"} & other.keys()
