"""Settings of access to a control plane: what follows from them, and what they must not be."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.facts.osmo_access import control_plane_url, service_secrets

GROUP = "aaaaaaaa-0000-4000-8000-000000000001"
ENTRA = {"tenantId": "aaaaaaaa-0000-4000-8000-00000000000a", "clientId": "aaaaaaaa-0000-4000-8000-00000000000b"}
DATA = {"source": "azure"}
QUICK = {"dataServices": {"source": "inCluster", "inCluster": {"acceptOnePod": True, "snapshots": {"enabled": True}}}}
ACCESS: dict[str, Any] = {
    "host": "osmo.contoso.com",
    "tls": {"source": "stack"},
    "entra": ENTRA,
    "roles": {"osmo-user": [GROUP]},
}


def given(access: dict[str, Any], **osmo: Any) -> Any:
    data = {"dataServices": DATA, "osmo": {"mode": "platform", "access": access, **osmo}}
    return load("dev-westus2", [Overlay("test", data)])


def refused(access: dict[str, Any], **osmo: Any) -> dict[str, str]:
    """Problems by path."""
    with pytest.raises(SettingsError) as caught:
        given(access, **osmo)
    return {fault.where: fault.problem for fault in caught.value.faults}


def without(*keys: str, **more: Any) -> dict[str, Any]:
    return {key: value for key, value in {**ACCESS, **more}.items() if key not in keys}


def test_the_address_of_the_control_plane_follows_from_the_access() -> None:
    assert control_plane_url(given(ACCESS).settings) == "https://osmo.contoso.com"
    dev = given({"login": "dev"}).settings
    assert control_plane_url(dev) == "http://osmo-gateway.osmo-control-plane.svc.cluster.local"


def test_the_stack_needs_secrets_for_its_login_and_its_certificate() -> None:
    names = [name for _, name in service_secrets(given(ACCESS).settings)]
    assert names == ["osmoOidcClientSecret", "osmoTlsCertificate", "osmoTlsKey"]
    existing = given({**ACCESS, "tls": {"source": "existing"}}).settings
    assert [name for _, name in service_secrets(existing)] == ["osmoOidcClientSecret"]
    assert service_secrets(given({"login": "dev"}).settings) == []
    assert service_secrets(load("dev-westus2").settings) == []


@pytest.mark.parametrize("scope", ["internal", "public"])
@pytest.mark.parametrize(
    ("missing", "path"),
    [("tls", "tls"), ("roles", "roles"), ("host", "host"), ("entra", "entra")],
)
def test_access_needs_certificate_group_name_and_registration(scope: str, missing: str, path: str) -> None:
    assert f"osmo.access.{path}" in refused(without(missing, scope=scope))


def test_a_role_without_a_group_is_no_group() -> None:
    assert "osmo.access.roles" in refused({**ACCESS, "roles": {"osmo-user": []}})


def test_the_development_login_stays_inside() -> None:
    assert "osmo.access.login" in refused({"login": "dev", "scope": "public", "host": "osmo.contoso.com"})
    warned = {fault.where for fault in given({"login": "dev"}).warnings}
    assert "osmo.access.login" in warned


def test_production_has_no_development_login() -> None:
    with pytest.raises(SettingsError) as caught:
        load("prod-westus2", [Overlay("test", {**QUICK, "osmo": {"mode": "platform", "access": {"login": "dev"}}})])
    (fault,) = caught.value.faults
    assert (fault.where, fault.fix) == ("osmo.access.login", "login: entra.")
    agents = {"mode": "backend", "serviceUrl": "https://osmo.example.org", "login": "dev"}
    with pytest.raises(SettingsError) as caught:
        load("prod-westus2", [Overlay("test", {"osmo": agents})])
    assert [fault.where for fault in caught.value.faults] == ["osmo.login"]


def test_no_token_goes_over_http() -> None:
    found = refused({"login": "dev", "host": "osmo.contoso.com"})
    assert "not encrypted" in found["osmo.access.host"]


def test_agents_without_a_token_are_refused() -> None:
    assert "osmo.login" in refused(ACCESS, login="dev")


def test_an_address_is_given_once() -> None:
    assert "osmo.serviceUrl" in refused(ACCESS, serviceUrl="https://osmo.contoso.com")


def test_a_role_of_the_agents_is_not_assigned_to_users() -> None:
    found = refused({**ACCESS, "roles": {"osmo-backend": [GROUP]}})
    assert any(path.startswith("osmo.access.roles") for path in found)


@pytest.mark.parametrize("host", ["osmo", "https://osmo.contoso.com", "Osmo.contoso.com", "10.0.0.1", "-a.contoso.com"])
def test_a_host_is_a_name(host: str) -> None:
    assert "osmo.access.host" in refused({**ACCESS, "host": host})


def test_an_example_is_enough_for_a_simulation_only() -> None:
    (found,) = [fault for fault in given({**ACCESS, "host": "osmo.example.com"}).warnings if fault.stand_in]
    assert found.where == "osmo.access.host"


@pytest.mark.parametrize("osmo", [{"access": ACCESS}, {"backends": ["prod-swedencentral"]}])
def test_without_a_control_plane_its_settings_have_no_effect(osmo: dict[str, Any]) -> None:
    loaded = load("dev-westus2", [Overlay("test", {"osmo": {"mode": "backend", **osmo}})])
    assert f"osmo.{next(iter(osmo))}" in {fault.where for fault in loaded.warnings}


def test_the_clusters_own_stack_is_served_without_being_named() -> None:
    found = refused(ACCESS, backends=["dev-westus2", "prod-swedencentral", "prod-swedencentral"])
    assert [path for path in found if path.startswith("osmo.backends")] == ["osmo.backends[0]", "osmo.backends[2]"]


def test_a_control_plane_has_data_services() -> None:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay("test", {"osmo": {"mode": "platform", "access": ACCESS}})])
    assert ["database" in fault.problem for fault in caught.value.faults] == [True]
