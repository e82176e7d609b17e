"""Facts of the simulated Azure that are its own: a mistake of the program has to meet an Azure that knows better."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import pytest

from physical_ai import catalog
from physical_ai.catalog.postgres import postgres_regions
from simulator.azure import places
from simulator.azure.data import load_json
from simulator.azure.sku_capabilities import capabilities, room_gib

AZURE = Path(__file__).parents[3] / "simulator" / "azure"
OWN: dict[str, str] = {
    "sku_capabilities.json": r"local_disks|\.disks\b",
    "postgres_regions.json": r"catalog\.postgres|postgres_regions\(\)",
    "regions.json": r"catalog\.regions|catalog\.Region|nat_standard_v2",
    "quota_families.json": r"size\.family|\.vcpus\b(?!\()",
}
"""A table of the stand-in, and what the simulated Azure would read the catalogue's rows for the same belief by."""


@pytest.mark.parametrize("table", [*OWN, "storage_skus.json", "service_tags.json"])
def test_each_row_says_how_it_is_known(table: str) -> None:
    rows: dict[str, dict[str, Any]] = load_json(table)
    assert rows
    for name, row in rows.items():
        assert row["how"] in {"seen", "read", "believed"}, name
        assert len(row["source"]) > 10, name
        assert datetime.date.fromisoformat(row["date"]) < datetime.date(2027, 1, 1), name


@pytest.mark.parametrize(("table", "catalogue"), OWN.items())
def test_the_simulated_azure_does_not_read_the_programs_rows_for_it(table: str, catalogue: str) -> None:
    readers = [path.name for path in AZURE.rglob("*.py") if re.search(catalogue, path.read_text())]
    assert not readers, f"{readers} read the catalogue for what {table} says"


def test_a_region_that_may_not_have_a_form_of_gateway_says_how_that_is_known() -> None:
    for name, row in load_json("regions.json").items():
        assert row["standardV2"]["how"] == "believed", f"{name}: write who has seen it"
        assert len(row["standardV2"]["source"]) > 10, name


def test_regions_and_sizes_of_the_catalogue_are_known_with_zones_families_and_cores() -> None:
    """Where they differ, the sources decide which is wrong."""
    assert set(places.regions()) == set(catalog.regions())
    for name, region in catalog.regions().items():
        assert places.regions()[name].zones == region.zones, name
        assert set(region.sizes) <= places.regions()[name].sizes, name
        assert places.regions()[name].standard_v2 == region.nat_standard_v2, name
    for name, size in catalog.vm_sizes().items():
        assert (places.quota_family(name), places.vcpus(name)) == (size.family, size.vcpus)


def test_each_size_of_the_catalogue_has_capabilities_of_its_own() -> None:
    assert set(catalog.vm_sizes()) <= set(capabilities())


def test_each_region_of_the_catalogue_has_an_answer_of_the_database_service() -> None:
    assert set(load_json("postgres_regions.json")) == set(catalog.regions()) == set(postgres_regions())


def test_where_both_have_read_a_source_they_agree() -> None:
    """A row that either only believes may differ: that is what the second row is for."""
    rows: dict[str, dict[str, Any]] = load_json("sku_capabilities.json")
    for name, size in catalog.vm_sizes().items():
        if rows[name]["how"] != "believed" and not size.disks.believed and not size.disks.unknown:
            assert room_gib(capabilities()[name], trusted_launch=False) == size.disks.known_gib, name
