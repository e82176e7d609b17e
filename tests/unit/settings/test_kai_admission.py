"""Pods as the webhooks of the pinned KAI leave them, held against the policies of the stacks.

The policies are evaluated after the webhooks, so it is not the Pod of a file that they see.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog import osmo
from physical_ai.settings import Overlay, Settings, existing, load
from simulator.operators.kai_admission import Options, mutated, options, pod_problem
from simulator.operators.kai_operands import admission_arguments
from tests.support.cases import in_one_test
from tests.support.policy_verdicts import denials

Json = dict[str, Any]
FIXTURES = Path(__file__).parents[2] / "fixtures/osmo/6.3.1/pods"
RETRACTED = "nvidia"
"""The runtime class that v0.20.1 gave every GPU Pod of KAI's, whatever the values said."""


def settings(*assignments: str) -> Settings:
    return load("dev-westus2", [Overlay.assign(list(assignments))] if assignments else []).settings


def stack_options(stack: str = "dev-westus2") -> Options:
    """How the admission of a stack runs: its values, as the chart's Config and then the operator hand them on."""
    (release,) = [each for each in load(stack).plan.osmo if each.name == osmo.KAI_RELEASE]
    given: Json = dict(release.values)
    own = {"gpuSharing": given["global"]["gpuSharing"], **given["admission"]}
    return options(admission_arguments({"spec": {"admission": own}}))


def osmo_pods() -> list[Json]:
    """Every Pod of the recorded workflows."""

    def below(value: Any) -> list[Json]:
        if isinstance(value, list):
            return [pod for each in value for pod in below(each)]
        if not isinstance(value, dict):
            return []
        found = [value] if value.get("kind") == "Pod" else []
        return [*found, *(pod for each in value.values() for pod in below(each))]

    return [pod for path in sorted(FIXTURES.glob("*.json")) for pod in below(json.loads(path.read_text()))]


def pod(annotations: Json | None = None, gpus: str = "", **spec: Any) -> Json:
    container: Json = {
        "name": "main",
        "image": "i",
        **({"resources": {"limits": {"nvidia.com/gpu": gpus}}} if gpus else {}),
    }
    metadata: Json = {"name": "train-0", "namespace": "team", "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"schedulerName": osmo.SCHEDULER, "containers": [container], **spec}}


def asks_for_gpu(made: Json) -> bool:
    return any("nvidia.com/gpu" in each.get("resources", {}).get("limits", {}) for each in made["spec"]["containers"])


def test_the_webhook_changes_no_pod_of_a_recorded_workflow_and_the_policies_admit_it() -> None:
    stack, given, found = settings("admission.gpuPods=deny"), stack_options(), osmo_pods()
    assert [made for made in found if asks_for_gpu(made)], "no recorded Pod requests a GPU"
    for made in found:
        seen = mutated(made, given, "abcdefg")
        assert seen == made
        assert pod_problem(seen, given) == ""
        assert [each for each in denials(stack, seen) if each.policy == "gpu-requests"] == []


def test_a_runtime_class_on_every_gpu_pod_would_refuse_all_of_them() -> None:
    """What the retracted release did: the check above is one that can fail."""
    for made in (each for each in osmo_pods() if asks_for_gpu(each)):
        seen = {**made, "spec": {**made["spec"], "runtimeClassName": RETRACTED}}
        assert [each.policy for each in denials(settings(), seen)] == ["gpu-requests"]


def test_no_stack_lets_the_webhook_inject_a_runtime_class_or_share_a_gpu() -> None:
    stacks = [each for each in existing() if any(item.name == osmo.KAI_RELEASE for item in load(each).plan.osmo)]
    assert stacks
    for stack in stacks:
        given = stack_options(stack)
        assert (given.runtime_class, given.gpu_sharing) == ("", False)


FRACTIONS = ["gpu-fraction", "gpu-memory"]
LATER = [
    "gpu-fraction.limit",
    "gpu-memory.limit",
    "nvidia.com/container.main.gpu-memory.request",
    "nvidia.com/container.main.gpu-memory.limit",
    "nvidia.com/container.main.gpus.devices",
    "kai.scheduler/container.main.gpu-memory.portion.limit",
    "nvidia.cdi.k8s.io/main.gpu-memory.request",
]
"""Of v0.18 and newer."""


@in_one_test("annotation", [*FRACTIONS, *LATER])
@in_one_test("action", ["warn", "deny"])
def test_a_fraction_of_a_gpu_is_refused_in_words(annotation: str, action: str) -> None:
    """Although the webhook has given the Pod NVIDIA_VISIBLE_DEVICES, nobody is told of a variable that nobody wrote."""
    seen = mutated(pod({annotation: "0.5"}), stack_options(), "abcdefg")
    first = denials(settings(f"admission.gpuPods={action}"), seen)[0]
    assert first.policy == "gpu-requests"
    assert f"the annotation {annotation} asks for a fraction of a GPU" in first.message


def test_kai_itself_refuses_a_fraction_while_sharing_is_off() -> None:
    seen = mutated(pod({"gpu-fraction": "0.5"}), stack_options(), "abcdefg")
    assert "while GPU sharing is disabled" in pod_problem(seen, stack_options())


@in_one_test("annotation", [*FRACTIONS, *LATER, "cdi.k8s.io/x", "nvidia.cdi.k8s.io/container.main"])
def test_what_is_refused_at_first_is_not_added_later(annotation: str) -> None:
    before = pod(gpus="1")
    after = pod({annotation: "1"}, gpus="1")
    assert denials(settings(), after, old=before)[0].policy == "gpu-requests"
    # A Pod that is older than the policy can still be changed, or its finalizers could not be removed.
    assert denials(settings(), {**after, "metadata": {**after["metadata"], "labels": {"a": "b"}}}, old=after) == []
    assert denials(settings(), pod({annotation: "2"}, gpus="1"), old=after) != []


def test_an_update_is_not_held_against_what_a_pod_was_created_with() -> None:
    old = pod(runtimeClassName="nvidia")
    assert denials(settings(), old) != []
    assert denials(settings(), {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}, old=old) == []


@pytest.mark.parametrize("device", ["management.nvidia.com/gpu=all", "k8s.device-plugin.nvidia.com/gpu=GPU-1"])
def test_an_annotation_of_the_toolkits_plugin_gives_no_gpu(device: str) -> None:
    (refusal,) = denials(settings(), pod({"nvidia.cdi.k8s.io/container.main": device}))
    assert "gives this Pod devices that it does not request" in refusal.message
