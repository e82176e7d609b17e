"""Rates as data: ranges and sources, values from the command line, published runs, and a cluster's own records."""

from __future__ import annotations

import datetime
import json
import random
from typing import Any

import pytest

from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.repository import ROOT
from tests.support.cases import in_one_test
from workbench.goodput.own_records import PoolRecords, read_records, with_records
from workbench.goodput.pools import with_new_node
from workbench.goodput.published import Run, compared, runs
from workbench.goodput.rates import BadAssumption, assumed, known_rates
from workbench.health.evidence import record as machines
from workbench.health.replacement.record import Record, RepairStep, config_map

TODAY = datetime.date(2026, 11, 28)
BEGAN = datetime.datetime(2026, 10, 1, 8, tzinfo=datetime.UTC)


def test_every_rate_says_how_it_is_known() -> None:
    for rate in known_rates().values():
        assert rate.source != "none" or set(rate.believed) == {"low", "likely", "high"}, rate.name
        assert rate.date <= TODAY, rate.name
        assert rate.unit, rate.name


def test_draws_stay_in_the_range() -> None:
    randomly = random.Random(1)  # noqa: S311 - a reproducible sample
    for rate in with_new_node(known_rates()).values():
        assert all(rate.low <= rate.drawn(randomly) * (1 + 1e-9) <= rate.high * (1 + 1e-6) for _ in range(200)), (
            rate.name
        )


def test_a_value_of_the_command_line() -> None:
    found = assumed(known_rates(), ["spot-evictions=0.05", "restart=4..9"], TODAY)
    assert (found["spot-evictions"].low, found["spot-evictions"].likely, found["spot-evictions"].high) == (0.05,) * 3
    assert (found["restart"].low, found["restart"].likely, found["restart"].high) == (4, 6, 9)
    assert found["restart"].source == "the command line"
    assert found["restart"].read
    assert known_rates()["restart"].likely == 11


@in_one_test(
    "text", ["", "restart", "restart=", "restart=x", "restart=-1", "restart=9..4", "restart=inf", "restart=nan",
             "spot-evictions=1.5", "restarts=4"],
)  # fmt: skip
def test_a_value_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadAssumption, match=f"--assume {text}"):
        assumed(known_rates(), [text], TODAY)


@pytest.mark.parametrize("run", runs(), ids=lambda run: run.name)
def test_published_runs_are_reproduced(run: Run) -> None:
    found = compared(run)
    assert found.agrees is run.agrees
    assert run.source
    assert run.date <= TODAY


def test_most_published_runs_agree_and_the_others_are_named() -> None:
    assert [each.name for each in runs() if not each.agrees] == ["rsc-1-1k"]
    assert {"llama-3", "megascale", "bloom"} <= {each.name for each in runs() if each.agrees}


def test_the_page_has_the_hours_of_the_run_that_does_not_agree() -> None:
    (run,) = (each for each in runs() if not each.agrees)
    text = " ".join((ROOT / "docs" / "goodput.md").read_text().split())
    assert f"measured {run.published[0]} hours to a failure" in text
    assert f"says {compared(run).model.value:.0f}." in text


def test_a_published_value_that_the_model_contradicts_is_seen() -> None:
    (llama,) = (each for each in runs() if each.name == "llama-3")
    assert not compared(llama.model_copy(update={"published": (0.5, 0.6)})).agrees


def machine(node: str, first: str, last: str) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"evidence-{node}",
            "labels": {machines.LABEL: node},
            "annotations": {machines.SEEN: last},
        },
        "data": {machines.MACHINE: json.dumps({"node": node}), machines.STARTS: json.dumps([{"at": first}])},
    }


def repair(node: str, hours: float | None, outcome: str = "accepted", days: int = 1) -> dict[str, Any]:
    started = BEGAN + datetime.timedelta(days=days)
    record = Record(
        node, f"uid-{node}", "boot", "h100gpu", "", "replace", started, started,
        step=RepairStep.AWAIT if hours is None else RepairStep.DONE, outcome="" if hours is None else outcome,
        proven=None if hours is None else started + datetime.timedelta(hours=hours),
    )  # fmt: skip
    return config_map(record)


NODES = [machine(f"aks-h100gpu-1-vmss00000{each}", "2026-10-01T08:00:00Z", "2026-11-10T08:00:00Z") for each in range(5)]


def test_records_of_machines_and_repairs_are_counted_by_pool() -> None:
    items = [
        *NODES,
        machine("aks-h100gpu2-1-vmss000000", "2026-10-01T08:00:00Z", "2026-11-10T08:00:00Z"),
        repair("a", 3.0), repair("b", None), repair("c", 1.0, outcome="canceled at the step drain"),
        repair("d", 2.0, days=-9), {"metadata": {"name": "x", "labels": {REPAIR_LABEL: "h100gpu"}}, "data": {}},
        {"metadata": {"name": "other"}}, machine("aks-h100gpu-1-vmss000009", "no time", ""),
    ]  # fmt: skip
    found = read_records(items, ["h100gpu", "a10gpu"])
    assert found["h100gpu"].machine_days == pytest.approx(200)
    assert found["h100gpu"].repairs == 2
    assert found["h100gpu"].hours == (3.0,)
    assert found["a10gpu"] == PoolRecords()


def test_records_correct_the_published_rates_in_proportion_to_their_time() -> None:
    rates = with_new_node(known_rates())
    published = rates["node-faults"].likely

    def faults(days: float, repairs: int) -> float:
        return with_records(rates, PoolRecords(days, repairs), 8)["node-faults"].likely

    assert faults(10, 3) == published
    assert published < faults(400, 5) < faults(400, 12)
    assert faults(400, 0) < published
    assert faults(1e6, 2000) == pytest.approx(2, rel=0.01)
    assert with_records(rates, PoolRecords(1e6, 2000), 1)["node-faults"].likely == pytest.approx(2 / 0.466, rel=0.02)
    wide, narrow = (with_records(rates, PoolRecords(*each), 8)["node-faults"] for each in ((100, 1), (1e5, 500)))
    assert wide.high / wide.low > 3 > narrow.high / narrow.low
    assert "repairs in 100 machine-days of this cluster: 1;" in wide.source


def test_durations_of_repairs_take_the_place_of_the_published_ones() -> None:
    rates = with_new_node(known_rates())
    found = with_records(rates, PoolRecords(0, 2, (5.0, 7.0)), 8)["reaction"]
    others = rates["new-node"].likely / 60 + rates["acceptance"].likely / 60
    assert found.likely == pytest.approx(6 - others)
    assert (found.low, found.high) == pytest.approx((5 - others, 7 - others))
    assert found.read
