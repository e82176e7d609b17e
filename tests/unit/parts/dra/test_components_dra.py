"""The DRA driver as the program declares it: order, options, and what a changed claim does."""

from __future__ import annotations

from typing import Any

from tests.unit.conftest import Simulate

COUNT = {"count": 1, "min": None, "max": None, "initial": None}
GIVEN: dict[str, Any] = {
    "pools": {"h100gpu": {"allocation": "dra", "scale": COUNT}},
    "dra": {"claims": {"large": {"memoryGb": 80}}, "namespaces": {"robotics": {"quota": {"any": 1}}}},
}


def test_nothing_of_it_is_declared_without_such_a_pool(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {})
    assert not [each for each in found.resources if "dra-driver" in each.name or "claimed" in each.name]


def test_the_driver_comes_after_the_operator_and_before_the_gate(simulate: Simulate) -> None:
    found = simulate("dev-westus2", GIVEN)
    release = found.resource("Release", "physical-ai-dra-driver-release")
    assert release.inputs["namespace"] == "gpu-operator"
    assert release.inputs["chart"] == "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu"
    # Its Pods wait for the driver, and the gate of the GPUs for them.
    assert release.inputs["skipAwait"] is True
    operator = found.resource("Release", "physical-ai-gpu-operator-release")
    assert operator.urn in release.options.depends_on
    assert found.exports["releases"]["dra-driver-nvidia-gpu"]["namespace"] == "gpu-operator"


def test_claims_come_after_their_class_and_namespace_and_are_replaced_by_a_change(simulate: Simulate) -> None:
    found = simulate("prod-westus2", GIVEN)
    [template] = [each for each in found.of_type("ResourceClaimTemplate") if each.inputs["metadata"]["name"] == "large"]
    [device_class] = found.of_type("DeviceClass")
    [namespace] = [each for each in found.of_type("Namespace") if each.inputs["metadata"]["name"] == "robotics"]
    assert {device_class.urn, namespace.urn} <= set(template.options.depends_on)
    assert template.options.replace_on_changes == ("spec",)
    assert template.options.delete_before_replace is True
    assert not template.options.protect
    assert namespace.options.protect
