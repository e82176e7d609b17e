"""What stacks need in Azure, derived from what the program declares."""

from __future__ import annotations

from typing import Any

from physical_ai.settings import load
from tests.support.cases import in_one_test
from tests.support.stacks import azure_stacks
from tests.unit.components.test_components_private import HUB, PEERED
from tests.unit.conftest import Simulate
from tests.unit.preflight.test_private_rights import BEHIND_HUB
from workbench.mocks.azure_answers import SUBSCRIPTION
from workbench.preflight.declared import (
    ASSIGNER,
    EVERY_ACTION,
    DeclaredResource,
    ForeignScope,
    foreign_scopes,
    registrations,
    undescribed,
)
from workbench.preflight.judging import needed_registrations
from workbench.preflight.needs_foreign import foreign_rights, unlisted

OTHER = "00000000-0000-4000-8000-0000000000aa"
FOREIGN = f"/subscriptions/{OTHER}"


def declared(simulate: Simulate, stack: str, overrides: dict[str, Any] | None = None) -> list[DeclaredResource]:
    return [
        DeclaredResource(each.type, each.name, each.inputs, each.options.provider, each.urn)
        for each in simulate(stack, overrides or {}).resources
    ]


@in_one_test("stack", azure_stacks())
def test_the_registrations_that_are_checked_are_those_of_what_is_declared(simulate: Simulate, stack: str) -> None:
    resources = declared(simulate, stack)
    assert undescribed(resources) == []
    assert registrations(resources) == needed_registrations(load(stack).settings)


def test_a_teams_own_resource_of_another_type_is_named_and_the_others_are_judged() -> None:
    own = DeclaredResource("azure-native:batch:Pool", "x", {})
    others = [
        DeclaredResource("azure-native:network:VirtualNetwork", "y", {}),
        DeclaredResource("aws:s3:Bucket", "z", {}),
    ]
    assert undescribed([own, *others]) == [own]
    assert registrations([own, *others]) == registrations(others)


@in_one_test("stack", azure_stacks())
@in_one_test("overrides", [{}], ids=["as committed"])
def test_every_other_subscription_that_a_stack_names_is_asked_about(
    simulate: Simulate, stack: str, overrides: dict[str, Any]
) -> None:
    resources = declared(simulate, stack, overrides)
    scopes = foreign_scopes(resources, [SUBSCRIPTION])
    named = {
        text
        for each in resources
        if each.type.startswith("azure-native:")
        for text in texts(each.inputs)
        if text.lower().startswith("/subscriptions/") and SUBSCRIPTION not in text
    }
    assert named == {each.scope for each in scopes}
    listed = foreign_rights(load(stack).settings, SUBSCRIPTION)
    asked = [each.scope.lower() for each in (*listed, *unlisted(listed, scopes))]
    assert all(any(each.lower().startswith(scope) for scope in asked) for each in named)


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in children for text in texts(each)]


def test_the_zone_of_a_certificate_authority_needs_a_role_and_a_reader(simulate: Simulate) -> None:
    (zone,) = foreign_scopes(declared(simulate, "dev-southeastasia"), [SUBSCRIPTION])
    assert zone.scope.endswith("/dnsZones/contoso.com")
    assert (zone.roles, zone.reads) == ((ASSIGNER,), True)
    listed = foreign_rights(load("dev-southeastasia").settings, SUBSCRIPTION)
    (asked,) = unlisted(listed, [zone])
    assert asked.actions == ("Microsoft.Authorization/roleAssignments/write",)
    assert f'--role "{ASSIGNER}" --scope {zone.scope}' in asked.fix


def in_other(value: dict[str, Any]) -> dict[str, Any]:
    """The same hub in another subscription."""
    hub = {
        **PEERED,
        "virtualNetworkId": HUB.replace(SUBSCRIPTION, OTHER),
        "dnsZones": f"{FOREIGN}/resourceGroups/rg-dns",
    }
    network = {**value["network"], "private": {**value["network"]["private"], "hub": hub}}
    return {**value, "network": network}


def test_a_hub_in_another_subscription_is_peered_linked_and_registered_with(simulate: Simulate) -> None:
    scopes = {
        each.scope: each
        for each in foreign_scopes(declared(simulate, "dev-westus2", in_other(BEHIND_HUB)), [SUBSCRIPTION])
    }
    hub = next(each for scope, each in scopes.items() if scope.endswith("/virtualNetworks/hub"))
    assert hub.roles == ("Network Contributor",)
    assert set(hub.actions) == {
        "Microsoft.Network/virtualNetworks/peer/action",
        "Microsoft.Network/virtualNetworks/join/action",
    }
    group = scopes[f"{FOREIGN}/resourceGroups/rg-hub"]
    assert group.roles == ("Network Contributor",)
    assert group.reads, "the hub's side of the peering is the stack's, and a refresh reads it"
    assert set(EVERY_ACTION["azure-native:network:VirtualNetworkPeering"]) <= set(group.actions)
    zones = [each for scope, each in scopes.items() if "/privateDnsZones/" in scope]
    assert len(zones) == 5
    assert {each.roles for each in zones} == {("Private DNS Zone Contributor",)}
    assert not any(each.reads for each in zones)


def test_an_input_of_an_unknown_kind_is_not_silent() -> None:
    vault = f"{FOREIGN}/resourceGroups/x/providers/Microsoft.KeyVault/vaults/v"
    resource = DeclaredResource(
        "azure-native:storage:StorageAccount", "s", {"encryption": {"keyVault": [{"id": vault}]}}
    )
    assert foreign_scopes([resource], [SUBSCRIPTION]) == [
        ForeignScope(vault, ("Contributor",), (), False, "names it as encryption.keyVault.id", ("StorageAccount s",))
    ]


def test_case_does_not_make_a_subscription_another_one() -> None:
    own = "0000000A-0000-4000-8000-00000000000B"
    scope = f"/subscriptions/{own.lower()}/resourceGroups/x"
    resource = DeclaredResource("azure-native:authorization:RoleAssignment", "r", {"scope": scope})
    assert foreign_scopes([resource], [own]) == []
