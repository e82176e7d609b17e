"""Cost estimates: what is counted, what is said not to be, and what a change of settings costs."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from physical_ai.catalog import PriceRow, price, prices
from physical_ai.settings import Overlay, Settings, load
from tests.support.cases import in_one_test
from tests.support.stacks import azure_stacks
from tests.unit.cli.test_cli_commands import call
from tests.unit.conftest import Simulate
from workbench.costs import HOURS_A_MONTH, STALE_DAYS, Basis, Span, between, change, deployed, estimate
from workbench.costs.document import change_document, document

FREE_OF_CHARGE = frozenset(
    {
        "azure-native:authorization:RoleAssignment",
        "azure-native:containerservice:MaintenanceConfiguration",
        "azure-native:network:SecurityRule",
        "azure-native:managedidentity:FederatedIdentityCredential",
        "azure-native:managedidentity:UserAssignedIdentity",
        "azure-native:monitor:DataCollectionEndpoint",
        "azure-native:monitor:DataCollectionRule",
        "azure-native:monitor:DataCollectionRuleAssociation",
        "azure-native:monitor:DiagnosticSetting",
        "azure-native:network:NetworkSecurityGroup",
        "azure-native:network:Subnet",
        "azure-native:network:VirtualNetwork",
        "azure-native:resources:ResourceGroup",
    }
)
FREE_DATA = frozenset(
    {
        "azure-native:containerregistry:CacheRule",
        "azure-native:dbforpostgresql:Configuration",
        "azure-native:dbforpostgresql:Database",
        "azure-native:dbforpostgresql:FirewallRule",
        "azure-native:redisenterprise:Database",
        "azure-native:storage:BlobContainer",
        "azure-native:storage:BlobServiceProperties",
        "azure-native:storage:ManagementPolicy",
    }
)
"""Parts of services that are billed as a whole."""
FREE_PRIVATE = frozenset(
    {
        "azure-native:monitor:PrivateLinkScope",
        "azure-native:monitor:PrivateLinkScopedResource",
        "azure-native:dnsresolver:DnsResolver",
        "azure-native:network:PrivateDnsZoneGroup",
        "azure-native:privatedns:PrivateRecordSet",
        "azure-native:privatedns:VirtualNetworkLink",
    }
)
"""Parts of private networks, likewise: the resolver's endpoints and the zones are billed."""
COUNTED = frozenset({"azure-native:containerservice:AgentPool", "azure-native:containerservice:ManagedCluster"})
"""By their nodes."""


def settings(stack: str = "dev-westus2", *assignments: str) -> Settings:
    return load(stack, [Overlay.assign(list(assignments))] if assignments else []).settings


def billed(given: Settings) -> set[str]:
    """Resource types that the estimate counts besides nodes, or names as not counted."""
    found = estimate(given)
    return {kind for each in (*found.services, *found.not_counted) for kind in each.types}


def test_an_autoscaled_pool_has_three_figures_and_a_fixed_one_has_one() -> None:
    found = estimate(settings("dev-westus2", "pools.h100gpu.scale={count: null, min: 1, max: 4, initial: 2}"))
    assert found.pool("h100gpu").hourly == Span(6.98, 2 * 6.98, 4 * 6.98)
    fixed = estimate(settings("prod-southeastasia")).pool("h100gpu").hourly
    assert fixed == Span(2 * 9.074, 2 * 9.074, 2 * 9.074)


def test_a_month_has_730_hours() -> None:
    pool = estimate(settings()).pool("h100gpu")
    assert pool.monthly is not None
    assert pool.monthly.maximum == pytest.approx(2 * 6.98 * 730)


def test_the_sum_is_that_of_all_pools_with_a_price() -> None:
    found = estimate(settings("prod-westus2"))
    priced = [pool for pool in found.pools if pool.price]
    assert found.hourly.maximum == pytest.approx(sum(pool.nodes.maximum * pool.price.usd_per_hour for pool in priced))  # pyright: ignore[reportOptionalMemberAccess]
    assert found.monthly.initial == pytest.approx(found.hourly.initial * HOURS_A_MONTH)


def test_a_pool_without_a_price_is_named_and_never_counted_as_nothing() -> None:
    found = estimate(settings("seed-westus2"))
    assert "rtxprogpu" in {pool.name for pool in found.unpriced}
    assert found.pool("rtxprogpu").hourly is None
    assert document(found, datetime.date(2026, 11, 21))["complete"] is False


def test_spot_without_a_factor_is_listed_at_the_regular_price_with_a_note() -> None:
    found = estimate(settings())
    assert {pool.name for pool in found.spot_at_regular} == {"h100gpu", "rtxprogpu"}
    assert found.pool("h100gpu").price.usd_per_hour == 6.98  # pyright: ignore[reportOptionalMemberAccess]


def test_the_factor_is_the_users_and_touches_spot_pools_only() -> None:
    found = estimate(settings("staging-westus2"), spot_factor=0.4)
    regular, spot = found.pool("h100gpu").price, found.pool("rtxprogpu").price
    assert regular is not None
    assert spot is not None
    assert (regular.usd_per_hour, regular.basis) == (6.98, Basis.REGULAR)
    assert (spot.usd_per_hour, spot.basis) == (pytest.approx(0.4 * 5.50), Basis.SPOT_FACTOR)
    assert found.spot_at_regular == ()


def test_a_spot_pool_never_costs_more_than_its_maximum_price() -> None:
    capped = settings("dev-westus2", "pools.h100gpu.spot.maxPrice=2")
    for factor, usd, basis in ((None, 2, Basis.MAX_PRICE), (0.5, 2, Basis.MAX_PRICE), (0.2, 1.396, Basis.SPOT_FACTOR)):
        price = estimate(capped, factor).pool("h100gpu").price
        assert price is not None
        assert (price.usd_per_hour, price.basis) == (pytest.approx(usd), basis)


@pytest.mark.parametrize("factor", [0, -0.4, 1.01, float("nan"), float("inf")])
def test_a_factor_that_is_out_of_range_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        estimate(settings(), factor)


def test_prices_are_said_to_be_old_after_half_a_year() -> None:
    found = estimate(settings())
    listed = found.lists[0].date
    assert not found.is_stale(listed + datetime.timedelta(STALE_DAYS))
    assert found.is_stale(listed + datetime.timedelta(STALE_DAYS + 1))


@in_one_test("stack", azure_stacks())
def test_whatever_azure_bills_is_counted_or_named(simulate: Simulate, stack: str) -> None:
    declared = {each.type for each in simulate(stack).resources if each.type.startswith("azure-native:")}
    named = billed(settings(stack))
    assert declared - named - COUNTED <= FREE_OF_CHARGE | FREE_DATA | FREE_PRIVATE


def test_whatever_azure_bills_of_data_services_is_named(simulate: Simulate) -> None:
    given = settings("dev-westus2", "dataServices.source=azure")
    declared = {each.type for each in simulate("dev-westus2", {"dataServices": {"source": "azure"}}).resources}
    named = billed(given)
    azure = {each for each in declared if each.startswith("azure-native:")}
    assert azure - named - COUNTED <= FREE_OF_CHARGE | FREE_DATA


def test_a_change_reports_its_additional_cost() -> None:
    found = between(settings(), settings("dev-westus2", "pools.h100gpu.scale.max=4"))
    assert [(pool.name, pool.kind) for pool in found.pools] == [("h100gpu", "changed")]
    assert found.hourly.maximum == pytest.approx(2 * 6.98)
    assert (found.hourly.minimum, found.hourly.initial) == (0, 0)


def test_added_and_removed_pools_are_distinguished() -> None:
    without = settings("dev-westus2", "pools.rtxprogpu=null")
    added, removed = between(without, settings()), between(settings(), without)
    assert [(pool.name, pool.kind) for pool in added.pools] == [("rtxprogpu", "added")]
    assert [(pool.name, pool.kind) for pool in removed.pools] == [("rtxprogpu", "removed")]
    assert added.monthly.maximum == pytest.approx(-removed.monthly.maximum)


def test_a_new_stack_costs_all_it_has_and_a_removed_stack_saves_it() -> None:
    whole = estimate(settings("prod-westus2"))
    assert between(None, settings("prod-westus2")).hourly == whole.hourly
    assert between(settings("prod-westus2"), None).hourly.maximum == pytest.approx(-whole.hourly.maximum)


def test_a_change_to_a_size_without_a_price_is_named_and_not_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "Standard_D8ds_v5")
    found = between(settings(), settings("dev-westus2", "systemPool.sku=Standard_D8ds_v5"))
    assert [pool.name for pool in found.unpriced] == ["system"]
    assert found.hourly == Span(0, 0, 0)
    assert change_document(found)["pools"][0]["hourly"] is None


def test_nothing_changed_costs_nothing() -> None:
    found = between(settings(), settings())
    assert (found.pools, found.hourly) == ((), Span(0, 0, 0))


def cost(*arguments: str) -> tuple[int, str, str]:
    return call("cost", *arguments)


def without(monkeypatch: pytest.MonkeyPatch, *sizes: str) -> None:
    """The catalogue has no price for these sizes."""

    def known(size: str, region: str) -> PriceRow | None:
        return None if size in sizes else price(size, region)

    monkeypatch.setattr(sys.modules["workbench.costs.estimate"], "price", known)


@pytest.mark.parametrize("stack", ["dev-westus2", "dev-southeastasia", "prod-westeurope", "prod-swedencentral"])
def test_every_pool_of_the_shipped_stacks_has_a_price_and_its_date(stack: str) -> None:
    found = estimate(load(stack).settings)
    assert list(found.unpriced) == []
    code, out, _ = cost(stack)
    assert code == 0
    assert str(prices()["Standard_D8ds_v5", "westus2"].date) in out


def test_the_command_shows_each_pool_the_sum_and_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "Standard_D4ds_v5", "Standard_D8ds_v5")
    code, out, err = cost("dev-westus2")
    assert (code, err) == (0, "")
    assert "an estimate, not a quote" in out
    assert str(prices()["Standard_NC40ads_H100_v5", "westus2"].date) in out
    figures = "0 / 1 / 2 6.980 * 0.00 / 6.98 / 13.96 0 / 5,095 / 10,191"
    assert _row(out, "h100gpu")[3:] == figures.split()
    assert "* Spot, at the regular price" in out
    assert "not in the total: system (Standard_D4ds_v5), cpu (Standard_D8ds_v5)" in out
    assert "not counted, because it depends on use or no price has a source: data through NAT gateways" in out


def test_as_data_the_figures_have_stable_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "Standard_D4ds_v5")
    code, out, _ = cost("dev-westus2", "--spot-factor", "0.5", "--json")
    found: dict[str, Any] = json.loads(out)
    assert (code, found["estimate"], found["spotFactor"]) == (0, True, 0.5)
    (pool,) = [each for each in found["pools"] if each["name"] == "h100gpu"]
    assert pool["hourly"] == {"min": 0, "asked": 3.49, "max": 6.98}
    assert pool["basis"] == "spot-factor"
    assert found["unpriced"][0] == {"pool": "system", "size": "Standard_D4ds_v5"}


def test_an_impossible_factor_is_wrong_input() -> None:
    code, out, err = cost("dev-westus2", "--spot-factor", "40")
    assert (code, out) == (2, "")
    assert "above 0" in err


def _row(text: str, pool: str) -> Sequence[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(pool))


def test_a_narrow_terminal_cuts_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.cli.console.out._width", 60)
    assert "0 / 5,095 / 10,191" in cost("dev-westus2")[1]


def test_the_command_shows_what_an_overlay_costs_more() -> None:
    code, out, _ = cost(
        "dev-westus2", "--change", "--set", "pools.h100gpu.scale.max=4", "--set", "pools.rtxprogpu=null"
    )
    assert code == 0
    changed = out.partition("per month")[2]
    assert _row(changed, "h100gpu") == [
        "h100gpu",
        "changed",
        "0",
        "/",
        "0",
        "/",
        "+13.96",
        "0",
        "/",
        "0",
        "/",
        "+10,191",
    ]
    assert _row(changed, "rtxprogpu")[:2] == ["rtxprogpu", "removed"]
    assert "-4,015" in changed
    found = json.loads(cost("dev-westus2", "--change", "--set", "pools.h100gpu.scale.max=4", "--json")[1])["change"]
    assert [pool["name"] for pool in found["pools"]] == ["h100gpu"]
    assert found["hourly"] == {"min": 0, "asked": 0, "max": 13.96}


def test_a_change_of_size_names_both() -> None:
    out = cost("dev-westus2", "--change", "--set", "pools.h100gpu.sku=Standard_NC80adis_H100_v5")[1]
    assert "Standard_NC40ads_H100_v5 → Standard_NC80adis_H100_v5" in out


def test_an_overlay_without_a_cost_is_reported_as_such() -> None:
    assert "no pool changes its cost" in cost("dev-westus2", "--change", "--set", "monitoring.retentionDays=60")[1]


def test_what_is_deployed_costs_what_its_settings_said() -> None:
    settings = load("prod-westus2").settings
    asked = estimate(settings)
    bodies: list[dict[str, Any]] = [
        {
            "name": pool.name,
            "vmSize": pool.size,
            "count": int(pool.nodes.initial),
            "enableAutoScaling": pool.nodes.minimum != pool.nodes.maximum,
            "minCount": int(pool.nodes.minimum),
            "maxCount": int(pool.nodes.maximum),
            "scaleSetPriority": pool.priority,
            "spotMaxPrice": -1,
        }
        for pool in asked.pools
    ]
    found = deployed("prod-westus2", "westus2", bodies)
    assert found.pools == asked.pools
    assert change(found, asked).pools == ()


def test_a_spot_pool_in_azure_costs_its_limit_at_most() -> None:
    body = {"name": "a", "vmSize": "Standard_NC40ads_H100_v5", "count": 2, "scaleSetPriority": "Spot"}
    free = deployed("dev-westus2", "westus2", [{**body, "spotMaxPrice": -1}]).hourly.initial
    assert deployed("dev-westus2", "westus2", [{**body, "spotMaxPrice": 1.5}]).hourly.initial == 3.0 < free
