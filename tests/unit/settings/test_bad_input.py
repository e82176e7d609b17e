"""Bad input to a control plane, its data services and networks: each is reported before a deployment, with a fix."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.faults import Fault
from tests.unit.settings.test_osmo_access import ACCESS, DATA

HUB = "/subscriptions/s/resourceGroups/rg-hub/providers/Microsoft.Network/virtualNetworks/hub"
OTHER_HUB = {"virtualNetworkId": HUB, "addressSpaces": ["10.40.0.0/20"]}
ENDPOINTS = {"endpointSubnet": "10.40.3.0/26"}


def platform(**access: Any) -> dict[str, Any]:
    return {"dataServices": DATA, "osmo": {"mode": "platform", "access": {**ACCESS, **access}}}


def data(**services: Any) -> dict[str, Any]:
    return {"dataServices": {**DATA, **services}}


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "private without a way in": (
        {"network": {"mode": "private", "private": ENDPOINTS}},
        "network.mode",
        "no way in",
    ),
    "ranges of a peered hub": (
        {"network": {"mode": "hybrid", "private": {**ENDPOINTS, "hub": OTHER_HUB}}},
        "network.private.hub.addressSpaces[0]",
        "refuses the peering",
    ),
    "public without a certificate": (platform(scope="public", tls=None), "osmo.access.tls", "http"),
    "public without a group": (platform(scope="public", roles={}), "osmo.access.roles", "no user could submit"),
    "public with the development login": (
        platform(scope="public", login="dev"),
        "osmo.access.login",
        "internet",
    ),
    "a control plane without data services": (
        {"osmo": {"mode": "platform", "access": ACCESS}},
        "osmo.mode",
        "needs a database",
    ),
    "an upstream that is cached with a login only": (
        data(registry={"upstreams": ["docker.io"]}),
        "dataServices.registry.upstreams",
        "login only",
    ),
    "a stack that serves itself": (
        {**platform(), "osmo": {"mode": "platform", "access": ACCESS, "backends": ["dev-westus2"]}},
        "osmo.backends[0]",
        "always served",
    ),
}


def faults(settings: dict[str, Any]) -> dict[str, Fault]:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay("test", settings)])
    return {fault.where: fault for fault in caught.value.faults}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_reported_with_its_path_and_a_fix(case: str) -> None:
    settings, path, words = CASES[case]
    found = faults(settings)
    assert path in found, list(found)
    assert words in found[path].problem
    assert found[path].fix
