"""The DNS record of the gateway: what follows from the settings, and what cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings.facts.gateway_dns import balancer_annotations, gateway_record, relative_name
from tests.unit.settings.test_osmo_access import ACCESS, given, refused

DNS = {"zone": "contoso.com"}
PREFIX = "service.beta.kubernetes.io/azure-"


def settings(**access: Any) -> Any:
    return given({**ACCESS, "dns": DNS, **access}).settings


def test_an_internal_gateway_has_an_address_that_is_known_before_it_exists() -> None:
    found = settings()
    record = gateway_record(found)
    assert record is not None
    assert (record.zone, record.name, record.resource_group, record.alias) == ("contoso.com", "osmo", None, None)
    subnet = found.network.system_subnet
    assert record.address == subnet[-2]
    assert balancer_annotations(found) == {
        f"{PREFIX}load-balancer-internal": "true",
        f"{PREFIX}load-balancer-internal-subnet": "snet-system",
        f"{PREFIX}load-balancer-ipv4": str(record.address),
    }


def test_a_stack_may_choose_the_address() -> None:
    address = str(settings().network.system_subnet[20])
    record = gateway_record(settings(dns={**DNS, "address": address}))
    assert record is not None
    assert str(record.address) == address


def test_a_public_gateway_has_a_name_of_azure_that_no_other_stack_has() -> None:
    found = settings(scope="public", dns={**DNS, "resourceGroup": "rg-dns"})
    record = gateway_record(found)
    assert record is not None
    assert (record.address, record.resource_group) == (None, "rg-dns")
    annotations = balancer_annotations(found)
    assert list(annotations) == [f"{PREFIX}dns-label-name"]
    assert record.alias == f"{annotations[f'{PREFIX}dns-label-name']}.westus2.cloudapp.azure.com"
    other = gateway_record(settings(scope="public", host="osmo2.contoso.com", dns={**DNS, "resourceGroup": "rg-dns"}))
    assert other is not None
    assert other.alias != record.alias


def test_without_a_zone_nothing_changes() -> None:
    plain = given(ACCESS).settings
    assert gateway_record(plain) is None
    assert balancer_annotations(plain) == {f"{PREFIX}load-balancer-internal": "true"}
    assert balancer_annotations(given({**ACCESS, "scope": "public"}).settings) == {}


@pytest.mark.parametrize(
    ("host", "zone", "name"),
    [
        ("osmo.contoso.com", "contoso.com", "osmo"),
        ("a.b.contoso.com", "contoso.com", "a.b"),
        ("osmo.contoso.com", "osmo.contoso.com", "@"),
        ("osmo.contoso.com", "toso.com", None),
        ("osmo.contoso.com", "fabrikam.com", None),
    ],
)
def test_the_name_of_a_host_in_a_zone(host: str, zone: str, name: str | None) -> None:
    assert relative_name(host, zone) == name


@pytest.mark.parametrize(
    ("access", "path", "part"),
    [
        ({"dns": {"zone": "fabrikam.com"}}, "dns.zone", "is not in the zone"),
        ({"scope": "public"}, "dns.resourceGroup", "delegated"),
        (
            {"scope": "public", "host": "contoso.com", "dns": {**DNS, "resourceGroup": "rg"}},
            "host",
            "cannot be an alias",
        ),
        (
            {"scope": "public", "dns": {**DNS, "resourceGroup": "rg", "address": "10.42.0.9"}},
            "dns.address",
            "Azure chooses",
        ),
        ({"dns": {**DNS, "address": "10.99.0.9"}}, "dns.address", "not a usable address"),
    ],
)
def test_a_record_that_cannot_be(access: dict[str, Any], path: str, part: str) -> None:
    problems = refused({**ACCESS, "dns": DNS, **access})
    assert part in problems[f"osmo.access.{path}"]


def test_a_zone_may_be_the_name_of_a_private_gateway() -> None:
    record = gateway_record(settings(dns={"zone": "osmo.contoso.com"}))
    assert record is not None
    assert record.name == "@"


def test_a_record_needs_a_host() -> None:
    problems = refused({"login": "dev", "dns": DNS}, login="dev")
    assert "A record is for a DNS name" in problems["osmo.access.host"]
