"""Pods that pull from the stack's registry only: what comes before them, and what is found in the stack."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings.facts.data_services import DataNames, login_server
from tests.support.recording import Recording
from tests.unit.components.test_components_control_plane import PLATFORM
from tests.unit.components.test_components_private import network
from tests.unit.conftest import Simulate
from workbench.mocks.azure_answers import SUBSCRIPTION
from workbench.policies import evaluate

ONLY: dict[str, Any] = {"dataServices": {"source": "azure", "registry": {"only": True}}}
PRIVATE = {**ONLY, **network("private", runnersInside=True)}
POLICY = "MutatingAdmissionPolicy"


def policy(found: Recording, kind: str, name: str) -> dict[str, Any]:
    (spec,) = [each.inputs["spec"] for each in found.of_type(kind) if each.inputs["metadata"]["name"] == name]
    return dict(spec)


def test_pods_may_pull_from_anywhere_unless_the_stack_says_otherwise(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {"dataServices": {"source": "azure"}})
    names = {each.inputs["metadata"]["name"] for each in found.of_type(POLICY)}
    assert "registry-images" not in names


def test_images_are_replaced_by_those_of_the_registry_that_the_stack_creates(simulate: Simulate) -> None:
    found = simulate("dev-westus2", ONLY)
    server = login_server(DataNames("dev-westus2", SUBSCRIPTION))
    assert server == f"{found.of_type('Registry')[0].inputs['registryName']}.azurecr.io"
    for kind, name in ((POLICY, "registry-images"), ("ValidatingAdmissionPolicy", "registry-images-only")):
        spec = policy(found, kind, name)
        assert {"name": "registry", "expression": f'"{server}/"'} in spec["variables"]
        (namespaces,) = spec["matchConstraints"]["namespaceSelector"]["matchExpressions"]
        assert namespaces["operator"] == "NotIn"
        assert "kube-system" in namespaces["values"]
        # Pods of the platform are no exception.
        assert not {"gpu-operator", "osmo-workflows", "osmo-operator", "kai-scheduler"} & set(namespaces["values"])


@pytest.mark.parametrize("overrides", [ONLY, pytest.param(PRIVATE, marks=pytest.mark.deep)])
def test_nothing_in_the_cluster_is_created_before_its_images_can_be_pulled(
    simulate: Simulate, overrides: dict[str, Any]
) -> None:
    found = simulate("dev-westus2", overrides)
    provider = found.resource("kubernetes", "physical-ai-kubernetes-provider")
    ready = {each.urn for kind in ("CacheRule", "PrivateDnsZoneGroup") for each in found.of_type(kind)}
    pull = found.resource("RoleAssignment", "physical-ai-data-images-pull")
    assert ready
    assert {pull.urn, *ready} <= set(provider.options.depends_on)


def test_every_object_of_the_platform_comes_after_the_policies(simulate: Simulate) -> None:
    found = simulate("dev-westus2", ONLY)
    policies = {each.urn for each in found.resources if "registry-images" in each.name and each.custom}
    assert len(policies) == 4
    objects = [each for each in found.resources if "kubernetes-provider" in each.options.provider]
    late = [each.name for each in objects if each.urn not in policies and not policies <= set(each.options.depends_on)]
    assert len(objects) > 50
    assert late == []


@pytest.mark.deep  # in `make test`: the order of images above
def test_osmo_waits_until_the_names_of_its_data_services_resolve(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {**PLATFORM, **network("hybrid")})
    (service,) = (each for each in found.of_type("Release") if each.inputs["name"] == "osmo")
    registrations = {each.urn for each in found.of_type("PrivateDnsZoneGroup")}
    assert len(registrations) == 5
    assert registrations <= set(service.options.depends_on)


@pytest.mark.deep  # in `make test`: the rule's examples in tests/unit/policies
def test_images_that_the_registry_has_no_cache_for_are_found(simulate: Simulate) -> None:
    findings = [each for each in evaluate(simulate("dev-westus2", ONLY).stack) if each.rule == "image-from-elsewhere"]
    assert {each.name for each in findings} >= {"physical-ai-gpu-evidence-machine", "physical-ai-grid-driver-agent"}
    mirrored = {**ONLY, "gridDriver": {"imageRegistry": "quay.io/mirror"}}
    assert "image-from-elsewhere" not in {each.rule for each in evaluate(simulate("dev-westus2", mirrored).stack)}


@pytest.mark.deep  # in `make test`: the rule's examples in tests/unit/policies
def test_a_production_registry_that_pods_can_go_round_is_found(simulate: Simulate) -> None:
    rules = {each.rule for each in evaluate(simulate("prod-westus2", {"dataServices": {"source": "azure"}}).stack)}
    assert "registry-only" in rules
    assert "registry-only" not in {each.rule for each in evaluate(simulate("prod-westus2", ONLY).stack)}
