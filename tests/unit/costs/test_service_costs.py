"""Costs besides the nodes: ranges with a source and a date, and what is still not counted."""

from __future__ import annotations

import datetime
import json

import pytest

from physical_ai.catalog.service_prices import service_prices
from physical_ai.settings import Overlay, Settings, load
from tests.support.cases import in_one_test
from tests.support.stacks import azure_stacks
from tests.unit.cli.test_cli_commands import call
from workbench.cli.preview.markdown import Detail, _cost  # pyright: ignore[reportPrivateUsage]  # a section alone
from workbench.costs import HOURS_A_MONTH, Span, between, estimate
from workbench.costs.document import change_document, document
from workbench.costs.services import UNCAPPED_GB_A_DAY, ServiceCost, total

TODAY = datetime.date(2026, 11, 28)


def settings(stack: str = "dev-westus2", *assignments: str) -> Settings:
    return load(stack, [Overlay.assign(list(assignments))] if assignments else []).settings


def service(start: str, stack: str = "dev-westus2", *assignments: str) -> ServiceCost:
    (found,) = [each for each in estimate(settings(stack, *assignments)).services if each.what.startswith(start)]
    return found


def test_every_price_is_dated_and_of_the_past_and_an_estimate_is_wide() -> None:
    for price in service_prices().values():
        assert price.date <= TODAY, price.name
        assert price.basis == "listed" or price.high >= 1.4 * price.low, price.name


@in_one_test("stack", azure_stacks())
def test_the_shipped_stacks_have_a_range_for_each_service_and_every_price_is_known(stack: str) -> None:
    found = estimate(settings(stack))
    assert found.services
    for each in found.services:
        assert 0 <= each.low.initial <= each.high.initial, each.what
    low, high = found.with_services
    assert found.monthly.initial < high.initial
    assert low.initial <= high.initial


def test_every_price_of_the_catalogue_is_used_by_some_stack() -> None:
    sizes = [
        f"dataServices.redis.size={kind}" for kind in ("MemoryOptimized_M10", "ComputeOptimized_X3", "Balanced_B3")
    ]
    postgres = [f"dataServices.postgres.size={size}" for size in ("Standard_E4ds_v5", "Standard_D2ds_v5")]
    storage = [f"dataServices.storage.redundancy={each}" for each in ("LRS", "ZRS", "GRS", "GZRS")]
    rest = [
        *((("prod-westeurope", f"network.private.vpn.sku=VpnGw{each}AZ")) for each in (1, 2, 3)),
        *(("prod-westus2", f"pools.h100gpu.osDisk.sizeGb={each}") for each in (32, 128, 512)),
        ("prod-westus2", "cluster.tier=Premium"),
        ("quickstart-westus2",),
        ("dev-southeastasia",),
    ]
    used: set[str] = set()
    for stack, *assignments in [*rest, *(("prod-westeurope", each) for each in (*sizes, *postgres, *storage))]:
        used |= {each.price.name for each in estimate(settings(stack, *assignments)).services}
    assert used == set(service_prices())


def test_the_control_plane_costs_nothing_on_the_free_tier_and_a_listed_price_on_another() -> None:
    assert not any("control plane" in each.what for each in estimate(settings("dev-westus2")).services)
    found = service("control plane", "prod-westus2")
    assert found.low == found.high == Span(73, 73, 73)


def test_managed_disks_cost_for_each_node_and_ephemeral_ones_nothing() -> None:
    disks = service("OS disks of h100gpu", "prod-westus2", "pools.h100gpu.osDisk.sizeGb=128")
    assert disks.low == Span(2 * 19.71, 2 * 19.71, 8 * 19.71)
    assert not any("of system" in each.what for each in estimate(settings("prod-westus2")).services)


def test_a_disk_between_two_classes_costs_what_the_larger_one_does() -> None:
    given = [service("OS disks of h100gpu", "prod-westus2", f"pools.h100gpu.osDisk.sizeGb={gib}") for gib in (100, 128)]
    assert given[0].low == given[1].low


def test_each_nat_gateway_has_an_address() -> None:
    gateway, address = service("NAT gateways", "prod-westus2"), service("public addresses", "prod-westus2")
    assert gateway.low.initial == pytest.approx(0.045 * HOURS_A_MONTH)
    assert address.low.initial == pytest.approx(0.005 * HOURS_A_MONTH)


def test_logs_go_up_to_the_cap_and_without_one_to_an_amount_that_is_said() -> None:
    capped = service("Log Analytics", "dev-westus2", "monitoring.dailyQuotaGb=2")
    assert capped.low.initial == 0
    assert capped.high.initial == pytest.approx(2 * service("Log Analytics").high.initial)
    assert f"up to {UNCAPPED_GB_A_DAY} GB a day assumed" in service("Log Analytics", "prod-westus2").what


def test_a_standby_and_a_replica_double_what_they_copy() -> None:
    single = ("dataServices.postgres.highAvailability=none", "dataServices.redis.highAvailability=false")
    both, one = estimate(settings("prod-westeurope")), estimate(settings("prod-westeurope", *single))
    for start in ("PostgreSQL Standard", "PostgreSQL storage", "Managed Redis"):
        first, second = (next(each for each in found.services if each.what.startswith(start)) for found in (both, one))
        assert first.low.initial == pytest.approx(2 * second.low.initial)
    copied = estimate(settings("prod-westus2", "dataServices.source=azure")).not_counted
    assert any("35 days" in each.what and "(a copy" in each.what for each in copied)


def test_an_existing_cluster_has_no_such_costs() -> None:
    assert estimate(settings("onprem-lab")).services == ()


def test_a_change_of_services_has_its_own_figures() -> None:
    found = between(settings(), settings("dev-westus2", "cluster.tier=Standard"))
    assert found.pools == ()
    assert [each.initial for each in found.services] == [pytest.approx(73), pytest.approx(73)]
    assert change_document(found)["monthlyServices"]["low"]["asked"] == pytest.approx(73)
    out = call("cost", "dev-westus2", "--change", "--set", "cluster.tier=Standard")[1]
    assert "besides the nodes, per month: +73" in out


def test_a_new_stack_pays_for_all_of_its_services() -> None:
    given = settings("prod-westus2")
    assert between(None, given).services == total(estimate(given).services)


def test_the_text_has_every_service_with_its_basis_and_date_and_what_is_not_counted() -> None:
    code, out, err = call("cost", "prod-westeurope")
    assert (code, err) == (0, "")
    for each in estimate(settings("prod-westeurope")).services:
        line = next(line for line in out.splitlines() if line.startswith(each.what))
        assert line.rstrip().endswith(
            f"{each.price.basis}{' ' * (len('estimate') - len(each.price.basis))}  {each.price.date}"
        )
    assert "nodes and these" in out
    assert "not counted, because" in out


def test_the_document_has_source_and_date_of_each() -> None:
    found = json.loads(call("cost", "prod-westus2", "--json")[1])
    for each in found["services"]:
        assert each["source"]
        assert datetime.date.fromisoformat(each["date"]) <= TODAY
        assert each["basis"] in ("listed", "estimate")
    assert found["monthlyWithServices"]["high"]["asked"] > found["monthly"]["asked"]
    assert found["complete"] is False


def test_the_comment_of_a_pull_request_has_the_whole_range() -> None:
    new = estimate(settings("prod-westus2"))
    cost = {**document(new, TODAY), "change": change_document(between(None, settings("prod-westus2")))}
    text = _cost({"cost": cost, "deployed": False}, Detail.ALL)
    low, high = (round(each.initial) for each in new.with_services)
    assert f"${low:,}" in text
    assert f"${high:,}" in text
    assert "Not counted: " in text
    old = {key: value for key, value in cost.items() if key not in ("services", "monthlyWithServices", "notCounted")}
    assert "With disks" not in _cost({"cost": old, "deployed": False}, Detail.ALL)
