"""`physai check` of private stacks: rights on the network and on what others own, and names that are taken."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.findings import Finding, Severity
from physical_ai.settings import Overlay, Settings, load
from physical_ai.settings.facts.data_services import DataNames
from physical_ai.subscription.needs import ACTIONS, DATA_ACTIONS, METRICS_ACTIONS
from physical_ai.subscription.needs_private import private_actions
from tests.support.azure_subscription import FIXTURES, SUBSCRIPTION, Answers
from tests.unit.components.test_components_private import HUB, PEERED, RESOLVER, VPN, network
from tests.unit.conftest import Simulate
from workbench.preflight import AzureRest, check

TODAY = datetime.date(2026, 11, 21)
DATA: dict[str, Any] = {"dataServices": {"source": "azure"}}
ZONES = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-dns"
WITH_VPN = {**DATA, **network("private", vpn=VPN, resolver=RESOLVER)}
BEHIND_HUB = {**DATA, **network("private", hub={**PEERED, "dnsZones": ZONES})}
ZONE_TYPES = {"azure-native:privatedns:PrivateZone", "azure-native:privatedns:VirtualNetworkLink"}
NAMES = DataNames("dev-westus2", SUBSCRIPTION)


def settings(overrides: Mapping[str, Any]) -> Settings:
    given = [f"{key}={json.dumps(value)}" for key, value in overrides.items()]
    return load("dev-westus2", [Overlay.assign(given)] if given else []).settings


class Azure:
    """Answers from the files; `at` has permissions by the scope they are asked on, `taken` names by who has them."""

    def __init__(self, *, at: Mapping[str, str] | None = None, taken: Mapping[str, bool] | None = None) -> None:
        self.subscription, self.taken = Answers(permissions="permissions-owner.json"), taken or {}
        for scope, role in (at or {}).items():
            address = f"{scope}/providers/Microsoft.Authorization/permissions"
            self.subscription.put(address, FIXTURES / f"permissions-{role}.json")

    def exchange(self, method: str, path: str, _: Mapping[str, str], body: Any) -> tuple[int, Any, Mapping[str, str]]:
        if method == "POST":
            assert path.endswith("/checkNameAvailability")
            if body["name"] in self.taken:
                return 200, {"nameAvailable": False, "reason": "AlreadyExists", "message": "already taken."}, {}
            return 200, {"nameAvailable": True}, {}
        assert "/resourceGroups/rg-physical-ai-dev-westus2/" in path
        return (200 if self.taken[path.rpartition("/")[2]] else 404), {}, {}

    def findings(self, topic: str, overrides: Mapping[str, Any]) -> list[Finding]:
        azure = AzureRest(self.subscription, SUBSCRIPTION, self.exchange)
        found = check(settings(overrides), azure, lambda name: f"/usr/bin/{name}", TODAY)
        return [each for each in found if each.rule == topic]


def problems(found: list[Finding]) -> list[tuple[str, str]]:
    return [(each.where, each.problem) for each in found if each.severity is Severity.ERROR]


@pytest.mark.parametrize("overrides", [WITH_VPN, BEHIND_HUB])
def test_every_resource_of_a_private_stack_has_its_rights_listed(simulate: Simulate, overrides: dict[str, Any]) -> None:
    declared = {each.type for each in simulate("dev-westus2", overrides).resources}
    own = private_actions(settings(overrides))
    assert {each for each in declared if each.startswith("azure-native:")} <= {*ACTIONS, *DATA_ACTIONS, *own}
    assert set(own) <= declared


def test_a_public_stack_needs_none_of_them() -> None:
    assert private_actions(settings(DATA)) == {}


def test_rights_on_the_hub_are_asked_on_the_hub() -> None:
    allowed = Azure(at={HUB: "owner", ZONES: "owner"}).findings("role", BEHIND_HUB)
    assert problems(allowed) == []
    assert {"the hub", "the zones of the hub"} <= {each.where for each in allowed}
    refused = problems(Azure(at={HUB: "reader", ZONES: "reader"}).findings("role", BEHIND_HUB))
    words = " ".join(problem for _, problem in refused)
    assert {where for where, _ in refused} == {"the hub", "the zones of the hub"}
    assert "virtualNetworkPeerings/write" in words
    assert "privateDnsZones/join/action" in words


def test_a_hub_that_cannot_be_asked_about_is_unknown() -> None:
    unknown = [each for each in Azure().findings("role", BEHIND_HUB) if each.severity is Severity.UNKNOWN]
    assert [each.where for each in unknown] == ["the hub", "the zones of the hub"]


def test_a_name_that_is_taken_is_an_error_and_that_of_the_stack_is_not() -> None:
    found = Azure(taken={NAMES.storage: False, NAMES.registry: True}).findings("name", DATA)
    assert problems(found) == [(NAMES.storage, "Azure refuses this name for a storage account: already taken.")]
    texts = {each.where: each.problem for each in found}
    assert texts[NAMES.registry] == "the container registry of this stack"
    assert texts[NAMES.postgres] == "free for a PostgreSQL server"


def test_a_stack_without_data_services_has_no_names_of_that_kind() -> None:
    assert Azure().findings("name", {}) == []
    inside = {"dataServices": {"source": "inCluster"}}
    assert Azure().findings("name", inside) == []
    assert private_actions(settings({**inside, **network("private", runnersInside=True)})).keys() == ZONE_TYPES


OTHER_HUB = HUB.replace(HUB.split("/")[2], "99999999-0000-4000-8000-000000000009")


def test_a_hub_of_another_subscription_needs_the_right_there_or_its_owner() -> None:
    assert OTHER_HUB.split("/")[2] != SUBSCRIPTION
    overrides = network("private", hub={**PEERED, "virtualNetworkId": OTHER_HUB})
    assert problems(Azure(at={OTHER_HUB: "owner"}).findings("role", overrides)) == []
    (lacking,) = {
        each.fix
        for each in Azure(at={OTHER_HUB: "reader"}).findings("role", overrides)
        if each.severity is Severity.ERROR
    }
    assert lacking is not None
    assert f'--role "Network Contributor" --scope {OTHER_HUB}' in lacking
    assert "peerBack: false" in lacking


def test_what_the_owner_of_the_hub_does_by_hand_is_said_with_its_command() -> None:
    hub = {**PEERED, "virtualNetworkId": OTHER_HUB, "peerBack": False}
    (found,) = Azure(at={OTHER_HUB: "owner"}).findings("network", network("private", hub=hub))
    assert (found.severity, found.where) == (Severity.INFO, "the hub")
    assert (found.fix or "").startswith("az network vnet peering create --subscription 99999999")
    assert Azure(at={HUB: "owner"}).findings("network", network("private", hub=PEERED)) == []


ZONE = f"{ZONES}/providers/Microsoft.Network/privateDnsZones/privatelink.westus2.azmk8s.io"


def test_the_role_on_a_zone_of_others_is_asked_on_the_zone_unless_its_owner_gives_it() -> None:
    def overrides(**api: Any) -> dict[str, Any]:
        return network("private", runnersInside=True, apiServer={"dnsZone": ZONE, **api})

    (found,) = problems(Azure(at={ZONE: "reader"}).findings("role", overrides()))
    assert found[0] == "the zone of the API server"
    assert "Microsoft.Authorization/roleAssignments/write" in found[1]
    assert problems(Azure(at={ZONE: "owner"}).findings("role", overrides())) == []
    given = overrides(zoneRole="given")
    assert problems(Azure().findings("role", given)) == []
    (by_hand,) = Azure().findings("network", given)
    assert "az role assignment create" in (by_hand.fix or "")
    assert "<principal id>" in (by_hand.fix or "")


def test_the_vault_of_a_certificate_and_the_zone_of_a_name_are_asked_about() -> None:
    vault = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-tls/providers/Microsoft.KeyVault/vaults/kv-tls"
    access = {
        "login": "dev",
        "host": "osmo.contoso.com",
        "tls": {"source": "keyVault", "keyVault": {"vaultId": vault, "certificate": "osmo"}},
        "dns": {"zone": "contoso.com", "resourceGroup": "rg-names"},
    }
    overrides = {**DATA, "osmo": {"mode": "platform", "access": access}}
    group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-names"
    zone = f"{group}/providers/Microsoft.Network/privateDnsZones/contoso.com"
    refused = problems(Azure(at={vault: "reader", zone: "reader"}).findings("role", overrides))
    assert [where for where, _ in refused] == ["the vault of the certificate", "the zone of the gateway's name"]
    assert "roleAssignments/write" in refused[0][1]
    assert "privateDnsZones/A/write" in refused[1][1]
    assert problems(Azure(at={vault: "owner", zone: "owner"}).findings("role", overrides)) == []


def test_an_existing_scope_of_azure_monitor_is_asked_about() -> None:
    scope = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-hub/providers/Microsoft.Insights/privateLinkScopes/ampls"
    overrides = {"monitoring": {"metrics": "azure"}}
    overrides |= network("private", runnersInside=True, monitor={"scope": scope})
    (found,) = problems(Azure(at={scope: "reader"}).findings("role", overrides))
    assert (found[0], "scopedResources/write" in found[1]) == ("the private link scope", True)


@pytest.mark.parametrize("monitoring", [{"metrics": "azure"}, {"containerLogs": {}, "dailyQuotaGb": 5}])
def test_every_resource_of_private_monitoring_has_its_rights_listed(
    simulate: Simulate, monitoring: dict[str, Any]
) -> None:
    overrides = {**network("private", vpn=VPN, resolver=RESOLVER), "monitoring": monitoring}
    declared = {each.type for each in simulate("dev-westus2", overrides).resources}
    own = private_actions(settings(overrides))
    listed = {*ACTIONS, *METRICS_ACTIONS, *own}
    assert {each for each in declared if each.startswith("azure-native:")} <= listed
    assert set(own) <= declared
