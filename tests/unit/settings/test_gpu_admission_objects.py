"""Which admission policies for GPU Pods a stack has."""

from __future__ import annotations

from typing import Any

from physical_ai.planning.gpu_admission import policies
from physical_ai.settings import Overlay, Settings, load

Json = dict[str, Any]


def settings(*assignments: str) -> Settings:
    return load("dev-westus2", [Overlay.assign(list(assignments))] if assignments else []).settings


def test_placement_does_not_matter_with_one_kind_of_gpu() -> None:
    found = policies(settings("pools.rtxprogpu=null"))
    assert {item["metadata"]["name"] for item in found if not item["kind"].endswith("Binding")} == {
        "gpu-capabilities",
        "gpu-scheduling",
        "gpu-binding",
        "gpu-requests",
    }


def test_a_policy_that_refuses_cannot_be_bypassed_by_making_it_fail() -> None:
    def policy_failures(*assignments: str) -> dict[str, str]:
        found = [item for item in policies(settings(*assignments)) if item["kind"] == "ValidatingAdmissionPolicy"]
        return {item["metadata"]["name"]: item["spec"]["failurePolicy"] for item in found}

    ways = ("gpu-capabilities", "gpu-placement", "gpu-scheduling", "gpu-binding")
    warns = {**dict.fromkeys(ways, "Ignore"), "gpu-requests": "Fail"}
    assert policy_failures() == warns
    assert policy_failures("admission.gpuPods=deny") == dict.fromkeys(warns, "Fail")


def test_an_action_that_changes_is_another_binding_of_the_same_policy() -> None:
    """The dry run of an update would combine `Warn` and `Deny`, which the API server refuses together."""

    def bindings(action: str) -> dict[str, Json]:
        found = policies(settings(f"admission.gpuPods={action}"))
        return {
            item["metadata"]["name"]: item["spec"]
            for item in found
            if item["kind"] == "ValidatingAdmissionPolicyBinding"
        }

    warns, denies = bindings("warn"), bindings("deny")
    assert all(spec == denies[name] for name, spec in warns.items() if name in denies)
    assert {spec["policyName"] for spec in warns.values()} == {spec["policyName"] for spec in denies.values()}


def test_older_clusters_and_stacks_that_want_it_off_get_nothing_of_it() -> None:
    kinds = {item["kind"] for item in policies(settings("cluster.kubernetesVersion='1.35'"))}
    assert not any(kind.startswith("Mutating") for kind in kinds)
    assert policies(settings("admission.gpuPods=off", "admission.injectCapabilities=false")) == []
