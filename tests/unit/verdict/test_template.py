"""Deployment templates of recorded resources: ids, scopes, secrets, computed values, and ARM's limits of size."""

from __future__ import annotations

import json
from typing import Any

from workbench.verdict.model import Hidden, Plan, Recorded
from workbench.verdict.template import LARGEST_TEMPLATE, MOST_RESOURCES, plan

SUBSCRIPTION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-1111-4111-8111-111111111111"
GROUP = "rg-dev"
BASE = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{GROUP}/providers"
IDENTITY = f"{BASE}/Microsoft.ManagedIdentity/userAssignedIdentities/id-dev"
PRINCIPAL = "8405511a-5e51-5450-bbea-bdf3428f83c7"


def group(name: str = GROUP) -> Recorded:
    return Recorded("azure-native:resources:ResourceGroup", "group", {"resourceGroupName": name, "location": "westus2"})


def network() -> Recorded:
    inputs = {
        "resourceGroupName": GROUP,
        "virtualNetworkName": "vnet-dev",
        "location": "westus2",
        "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
    }
    return Recorded("azure-native:network:VirtualNetwork", "network", inputs)


def subnet() -> Recorded:
    inputs = {
        "resourceGroupName": GROUP,
        "virtualNetworkName": "vnet-dev",
        "subnetName": "snet-system",
        "addressPrefix": "10.0.0.0/24",
    }
    recorded = f"{BASE}/Microsoft.Network/virtualNetworks/v/subnets/snet-system"
    return Recorded("azure-native:network:Subnet", "subnet", inputs, recorded)


def identity() -> Recorded:
    inputs = {"resourceGroupName": GROUP, "resourceName": "id-dev", "location": "westus2"}
    return Recorded(
        "azure-native:managedidentity:UserAssignedIdentity", "identity", inputs, "", {PRINCIPAL: "principalId"}
    )


def role(scope: str) -> Recorded:
    inputs = {
        "scope": scope,
        "roleAssignmentName": "83917b85-2ecc-5e04-b624-c1369e2d0d85",
        "principalId": PRINCIPAL,
        "roleDefinitionId": f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/x",
    }
    return Recorded("azure-native:authorization:RoleAssignment", "role", inputs)


def planned(*recorded: Recorded) -> Plan:
    return plan(recorded, SUBSCRIPTION, "westus2", "dev-westus2")


def nested(found: Plan, number: int = 0) -> list[dict[str, Any]]:
    """Resources of the nested deployments of a request."""
    outer = found.deployments[number].template["resources"]
    inside = [each for each in outer if each["type"] == "Microsoft.Resources/deployments"]
    return [resource for each in inside for resource in each["properties"]["template"]["resources"]]


def test_a_group_is_of_the_subscription_and_what_is_in_it_in_a_nested_deployment() -> None:
    (deployment,) = planned(subnet(), network(), group()).deployments
    first, second = deployment.template["resources"]
    assert (first["type"], first["name"]) == ("Microsoft.Resources/resourceGroups", GROUP)
    assert second["resourceGroup"] == GROUP
    assert second["dependsOn"] == [f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{GROUP}"]
    assert second["properties"]["expressionEvaluationOptions"] == {"scope": "inner"}
    names = [each["name"] for each in second["properties"]["template"]["resources"]]
    assert names == ["vnet-dev", "vnet-dev/snet-system"]
    assert deployment.body()["properties"]["mode"] == "Incremental"


def test_bodies_have_arms_paths_and_the_version_that_the_sdk_sends() -> None:
    here = {each["type"]: each for each in nested(planned(group(), network(), subnet()))}
    assert here["Microsoft.Network/virtualNetworks/subnets"]["properties"] == {"addressPrefix": "10.0.0.0/24"}
    assert here["Microsoft.Network/virtualNetworks"]["apiVersion"] == "2024-05-01"
    assert "resourceGroupName" not in json.dumps(list(here.values()))


def test_a_version_that_a_resource_is_sent_with_is_kept() -> None:
    sent = Recorded(
        "azure-native:network:NatGateway",
        "nat",
        {"resourceGroupName": GROUP, "natGatewayName": "ng", "azureApiVersion": "2025-01-01"},
    )
    (resource,) = nested(planned(sent))
    assert resource["apiVersion"] == "2025-01-01"
    assert "azureApiVersion" not in resource


def test_an_id_of_the_recording_becomes_the_one_that_the_resource_will_have() -> None:
    assigned = role(subnet().recorded_id)
    found = {each["type"]: each for each in nested(planned(group(), network(), subnet(), identity(), assigned))}
    made = found["Microsoft.Authorization/roleAssignments"]
    assert made["scope"] == f"{BASE}/Microsoft.Network/virtualNetworks/vnet-dev/subnets/snet-system"
    assert set(made["dependsOn"]) == {made["scope"], IDENTITY, made["scope"].rpartition("/subnets/")[0]}


def test_what_azure_computes_is_a_reference() -> None:
    made = nested(planned(identity(), role(IDENTITY)))[-1]
    assert made["properties"]["principalId"] == f"[reference('{IDENTITY}', '2023-01-31').principalId]"


def test_a_computed_address_within_a_text_is_joined_and_a_longer_one_is_another() -> None:
    address = Recorded(
        "azure-native:network:PublicIPAddress",
        "address",
        {"resourceGroupName": GROUP, "publicIpAddressName": "pip"},
        "",
        {"203.0.113.7": "ipAddress"},
    )
    rule = Recorded(
        "azure-native:network:SecurityRule",
        "rule",
        {
            "resourceGroupName": GROUP,
            "networkSecurityGroupName": "nsg",
            "securityRuleName": "r",
            "sourceAddressPrefixes": ["203.0.113.7/32", "203.0.113.70/32"],
        },
    )
    prefixes = nested(planned(address, rule))[-1]["properties"]["sourceAddressPrefixes"]
    assert prefixes[0].startswith("[concat(reference(")
    assert prefixes[0].endswith(".ipAddress, '/32')]")
    assert prefixes[1] == "203.0.113.70/32"


def test_a_text_that_begins_with_a_bracket_is_no_expression() -> None:
    inputs = {"resourceGroupName": GROUP, "workspaceName": "w", "tags": {"note": "[secret]"}}
    (made,) = nested(planned(Recorded("azure-native:operationalinsights:Workspace", "w", inputs)))
    assert made["tags"] == {"note": "[[secret]"}


def test_a_secret_is_a_parameter_with_a_placeholder() -> None:
    server = Recorded(
        "azure-native:dbforpostgresql:Server",
        "server",
        {"resourceGroupName": GROUP, "serverName": "psql", "administratorLoginPassword": Hidden()},
    )
    (deployment,) = planned(server).deployments
    assert deployment.template["parameters"] == {"secret1": {"type": "secureString"}}
    assert deployment.parameters["secret1"]["value"].startswith("Placeholder")
    (made,) = nested(planned(server))
    assert made["properties"]["administratorLoginPassword"] == "[parameters('secret1')]"


def test_what_is_in_another_subscription_is_in_a_deployment_there() -> None:
    zone = f"/subscriptions/{OTHER}/resourceGroups/rg-dns/providers/Microsoft.Network/dnsZones/contoso.com"
    (deployment,) = planned(group(), identity(), role(zone)).deployments
    there = next(each for each in deployment.template["resources"] if each.get("subscriptionId"))
    assert (there["subscriptionId"], there["resourceGroup"]) == (OTHER, "rg-dns")
    assert there["properties"]["template"]["resources"][0]["scope"] == zone
    assert "in-rg-dev" in str(there["dependsOn"])


def test_a_role_on_the_subscription_is_at_its_scope() -> None:
    (deployment,) = planned(group(), identity(), role(f"/subscriptions/{SUBSCRIPTION}")).deployments
    kinds = [each["type"] for each in deployment.template["resources"]]
    assert kinds.count("Microsoft.Authorization/roleAssignments") == 1


def test_more_resources_than_a_template_may_have_are_in_several() -> None:
    many = [
        Recorded(
            "azure-native:network:RouteTable", f"r{each}", {"resourceGroupName": GROUP, "routeTableName": f"r{each}"}
        )
        for each in range(MOST_RESOURCES + 1)
    ]
    (deployment,) = planned(group(), *many).deployments
    inside = [each for each in deployment.template["resources"] if "resourceGroup" in each]
    counts = [len(each["properties"]["template"]["resources"]) for each in inside]
    assert counts == [MOST_RESOURCES, 1]
    assert len({each["name"] for each in inside}) == 2


def test_what_is_larger_than_a_template_may_be_is_in_several_requests() -> None:
    many = [
        Recorded(
            "azure-native:monitor:DataCollectionRule",
            f"r{each}",
            {"resourceGroupName": GROUP, "dataCollectionRuleName": f"r{each}", "description": "x" * 900_000},
        )
        for each in range(6)
    ]
    found = planned(group(), *many)
    assert len(found.deployments) == 2
    for each in found.deployments:
        assert len(json.dumps(each.template)) < LARGEST_TEMPLATE
        assert each.template["resources"][0]["type"] == "Microsoft.Resources/resourceGroups"
    assert len({each.name for each in found.deployments}) == 2


def test_nested_deployments_count_toward_the_size_of_a_request() -> None:
    tags = {f"tag-{each}": "x" * 200 for each in range(49)}
    many = [
        Recorded(
            "azure-native:network:NetworkSecurityGroup",
            f"nsg-{each}",
            {"resourceGroupName": f"rg-{each}", "networkSecurityGroupName": f"nsg-{each}", "tags": tags},
        )
        for each in range(388)
    ]
    found = planned(*(group(f"rg-{each}") for each in range(388)), *many)
    assert sum(each.resources for each in found.deployments) == len(found.subjects)
    assert all(len(json.dumps(each.body(), separators=(",", ":"))) < LARGEST_TEMPLATE for each in found.deployments)


def test_a_resource_that_is_too_large_and_one_of_an_unknown_type_are_named() -> None:
    large = Recorded(
        "azure-native:monitor:DataCollectionRule",
        "large",
        {"resourceGroupName": GROUP, "dataCollectionRuleName": "r", "description": "x" * (1 << 20)},
    )
    new = Recorded("azure-native:compute:Disk", "disk", {"resourceGroupName": GROUP})
    found = planned(group(), large, new)
    assert [name for name, _ in found.left_out] == ["Disk disk", "Microsoft.Insights/dataCollectionRules large"]
