"""A hub and a zone that others own, in another subscription: what the deployment does there, and what it leaves."""

from __future__ import annotations

from typing import Any

from physical_ai.catalog.aks import Role
from tests.support.recording import Recording
from tests.unit.components.test_components_private import CLUSTER, HUB, PEERED, network, only, waits_for
from tests.unit.conftest import Simulate
from workbench.mocks.azure_answers import SUBSCRIPTION
from workbench.policies import Resource, evaluate

OTHER = "99999999-0000-4000-8000-000000000009"
FAR_HUB = HUB.replace(SUBSCRIPTION, OTHER)
ZONE = f"/subscriptions/{OTHER}/resourceGroups/rg-dns/providers/Microsoft.Network/privateDnsZones"
ZONE_ID = f"{ZONE}/privatelink.westus2.azmk8s.io"


def behind_hub(**api: Any) -> dict[str, Any]:
    return network("private", hub={**PEERED, "virtualNetworkId": FAR_HUB}, apiServer={"dnsZone": ZONE_ID, **api})


def provider_of(stack: Recording, resource: Resource) -> Any:
    urn = str(resource.options.provider).rpartition("::")[0]
    found = [each for each in stack.resources if each.type == "pulumi:providers:azure-native" and each.urn == urn]
    return found[0].inputs["subscriptionId"] if found else None


def zone_roles(stack: Recording) -> list[Resource]:
    return [each for each in stack.of_type("RoleAssignment") if each.inputs["scope"] == ZONE_ID]


def test_an_existing_zone_gets_the_role_before_the_cluster_and_no_links(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", behind_hub())
    (role,) = zone_roles(stack)
    assert role.inputs["roleDefinitionId"] == (
        f"/subscriptions/{OTHER}/providers/Microsoft.Authorization/roleDefinitions/{Role.PRIVATE_DNS_ZONE_CONTRIBUTOR}"
    )
    cluster = stack.of_type(CLUSTER)[0]
    assert cluster.inputs["apiServerAccessProfile"]["privateDNSZone"] == ZONE_ID
    assert {role.name, "physical-ai-api-zone-network-role"} <= waits_for(cluster)
    assert not stack.of_type("PrivateZone")
    assert not stack.of_type("VirtualNetworkLink")
    assert provider_of(stack, role) == OTHER
    assert [each for each in evaluate(stack.stack) if "zone" in each.rule] == []


def test_a_role_that_someone_else_gives_is_not_assigned_and_its_command_is_an_output(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", behind_hub(zoneRole="given"))
    assert not zone_roles(stack)
    assert "physical-ai-api-zone-network-role" in waits_for(stack.of_type(CLUSTER)[0])
    command = stack.exports["network"]["zoneRoleCommand"]
    assert command.startswith("az role assignment create --role 'Private DNS Zone Contributor'")
    assert ZONE_ID in command
    assert "<" not in command


def test_the_hubs_side_is_created_in_its_own_subscription(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", behind_hub())
    own, theirs = (
        only(stack, "VirtualNetworkPeering", virtualNetworkName=name)
        for name in ("vnet-physical-ai-dev-westus2", "hub")
    )
    assert provider_of(stack, theirs) == OTHER
    assert provider_of(stack, own) is None
    assert theirs.inputs["remoteVirtualNetwork"]["id"].startswith(f"/subscriptions/{SUBSCRIPTION}/")
    providers = stack.of_type("azure-native")
    assert [each.inputs["subscriptionId"] for each in providers if each.inputs.get("subscriptionId")] == [OTHER]
    assert "network" not in stack.exports


def test_a_stack_with_a_hub_of_its_own_subscription_has_no_other_provider(simulate: Simulate) -> None:
    stack = simulate("dev-westus2", network("private", hub=PEERED))
    assert provider_of(stack, only(stack, "VirtualNetworkPeering", virtualNetworkName="hub")) is None


def test_the_hubs_owner_gets_the_command_for_its_side(simulate: Simulate) -> None:
    hub = {**PEERED, "virtualNetworkId": FAR_HUB, "peerBack": False}
    command = simulate("dev-westus2", network("private", hub=hub)).exports["network"]["hubPeeringCommand"]
    words = command.split()
    assert words[:5] == ["az", "network", "vnet", "peering", "create"]
    given = dict(zip(words[5::2], words[6::2], strict=False))
    assert (given["--subscription"], given["--resource-group"], given["--vnet-name"]) == (OTHER, "rg-hub", "hub")
    assert given["--remote-vnet"].endswith("/virtualNetworks/vnet-physical-ai-dev-westus2")
    assert words[-1] == "--allow-gateway-transit"
