"""`physai check` of private stacks: rights on the network and on what others own, and names that are taken."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.findings import Finding, Severity
from physical_ai.preflight import AzureRest, check
from physical_ai.preflight.needs import ACTIONS, DATA_ACTIONS
from physical_ai.preflight.needs_private import private_actions
from physical_ai.settings import Overlay, Settings, load
from physical_ai.settings.facts.data_services import DataNames
from tests.support.azure_subscription import FIXTURES, SUBSCRIPTION, Answers
from tests.unit.components.test_components_private import HUB, PEERED, RESOLVER, VPN, network
from tests.unit.conftest import Simulate

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


def test_a_name_that_somebody_else_has_is_an_error_and_that_of_the_stack_is_not() -> None:
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


def test_a_hub_of_another_subscription_gets_its_side_from_its_owner() -> None:
    own = HUB.replace(HUB.split("/")[2], SUBSCRIPTION)
    assert own != HUB

    def found(hub: str, **more: Any) -> list[str]:
        overrides = network("private", hub={**PEERED, "virtualNetworkId": hub, **more})
        return [each.fix or "" for each in Azure(at={hub: "owner"}).findings("network", overrides)]

    (fix,) = found(HUB)
    assert "peerBack: false" in fix
    assert found(HUB, peerBack=False) == []
    assert found(own) == []
