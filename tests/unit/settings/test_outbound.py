"""How nodes reach the internet: gateways that follow from zones and region, and changes that would cut nodes off."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog import api_versions as versions
from physical_ai.catalog import region
from physical_ai.catalog.api_versions import api_versions, sends_standard_v2
from physical_ai.catalog.rows import Region
from physical_ai.findings import Severity
from physical_ai.settings import load
from physical_ai.settings.facts import outbound
from physical_ai.settings.facts.outbound import Gateway, cut_off, outbound_facts, outbound_form
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules import outbound as rules
from physical_ai.settings.rules.check import TRUST_ALL
from tests.unit.settings.settings_faults import faults_of

V2 = Gateway("v2", "StandardV2", address_zones=("1", "2", "3"))
STANDARD = Gateway()


def settings(stack: str = "prod-westus2", **changes: Any) -> Settings:
    found = load(stack).settings
    return Settings.model_validate({**found.model_dump(), **changes})


def with_outbound(stack: str, **given: str) -> Settings:
    found = load(stack).settings
    return settings(stack, azure_network={**found.network.model_dump(), "outbound": given})


@pytest.fixture
def without_v2(monkeypatch: pytest.MonkeyPatch) -> None:
    """westus2 as a region without the SKU StandardV2."""
    lacking: Region = region("westus2").model_copy(update={"nat_standard_v2": "no"})
    monkeypatch.setattr(outbound, "region", lambda name: lacking)
    monkeypatch.setattr(rules, "regions", lambda: {"westus2": lacking})


def test_pools_without_zones_share_one_standard_gateway() -> None:
    plan = outbound_facts(settings("dev-westus2"))
    assert plan.gateways == (STANDARD,)
    assert set(plan.by_subnet) == {"system", "h100gpu", "rtxprogpu"}


def test_a_sku_that_the_sent_api_version_is_not_published_with_is_no_default() -> None:
    """The first deployment must not depend on what nobody has seen Azure accept."""
    assert not sends_standard_v2()
    assert outbound_form(settings()) == "zonal"
    assert outbound_facts(settings()).gateways == (STANDARD,)


def test_pools_in_zones_get_a_gateway_that_spans_them_once_it_is_sent_as_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    newer = {name: each.model_copy(update={"sent": "2025-05-01"}) for name, each in api_versions().types.items()}
    later = api_versions().model_copy(update={"types": newer})
    monkeypatch.setattr(versions, "api_versions", lambda: later)
    assert outbound_form(settings()) == "zone-redundant"
    assert outbound_facts(settings()).gateways == (V2,)
    assert list(rules.check_outbound(settings(), TRUST_ALL)) == []


def test_who_wants_it_gets_it_and_hears_what_is_known() -> None:
    given = with_outbound("prod-westus2", form="zone-redundant")
    assert outbound_facts(given).gateways == (V2,)
    (found,) = rules.check_outbound(given, TRUST_ALL)
    assert (found.severity, found.rule) == (Severity.WARNING, "nat-api-version")
    assert "2024-05-01, which is not published with StandardV2, but first with 2025-01-01" in found.problem
    assert "azure-cli#31245" in found.problem


@pytest.mark.usefixtures("without_v2")
def test_without_standard_v2_a_subnet_in_one_zone_gets_the_gateway_of_that_zone() -> None:
    found = load("prod-westus2").settings
    pools = {
        name: {**pool.model_dump(), "zones": (zone,)}
        for (name, pool), zone in zip(found.pools.items(), "12", strict=True)
    }
    given = settings(pools=pools)
    assert outbound_form(given) == "zonal"
    assert outbound_facts(given).by_subnet == {
        "system": STANDARD,
        "h100gpu": Gateway("zone-1", zones=("1",), address_zones=("1",)),
        "rtxprogpu": Gateway("zone-2", zones=("2",), address_zones=("2",)),
    }


@pytest.mark.usefixtures("without_v2")
def test_nodes_in_several_zones_behind_a_gateway_in_one_are_named() -> None:
    (found,) = rules.check_outbound(settings(), TRUST_ALL)
    assert "subnet system are in several zones" in found.problem


def test_a_form_that_is_prepared_has_gateways_that_no_subnet_uses() -> None:
    plan = outbound_facts(with_outbound("prod-westus2", form="nonzonal", next="zone-redundant"))
    assert set(plan.by_subnet.values()) == {STANDARD}
    assert plan.gateways == (STANDARD, V2)


def test_the_present_form_as_the_next_one_is_refused() -> None:
    (fault,) = faults_of("network.outbound.next=nonzonal")
    assert fault.where == "network.outbound.next"
    assert "has the form nonzonal already" in fault.problem


@pytest.mark.parametrize(
    ("ranges", "address", "problem"),
    [
        ((), None, None),
        ((), "20.1.2.3", None),
        (("20.1.2.3/32",), "20.1.2.3", None),
        (("20.1.2.3",), "20.1.2.3", None),
        (("20.1.2.4/32",), "20.1.2.3", "does not accept 20.1.2.3"),
        (("20.1.2.4/32",), None, "does not exist yet"),
    ],
)
def test_a_change_cuts_nodes_off_unless_the_api_server_accepts_the_new_address(
    ranges: tuple[str, ...], address: str | None, problem: str | None
) -> None:
    found = cut_off(ranges, address)
    assert (found is None) if problem is None else (found is not None and problem in found)
