"""`physai sizes --add` and `physai regions --add`: rows from Azure's answers, and answers that give none."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog import offers
from physical_ai.catalog.load import CatalogError, prices_with, regions_with, sizes_with
from physical_ai.catalog.offers import Offers
from tests.unit.cli.test_cli_commands import call
from workbench.cli import adding_offers

NEW, LIKE = "Standard_NC320ads_H100_v7", "Standard_NC40ads_H100_v5"
CAPABILITIES = {
    "vCPUs": "320",
    "MemoryGB": "1280",
    "GPUs": "4",
    "LowPriorityCapable": "True",
    "CpuArchitectureType": "x64",
    "EphemeralOSDiskSupported": "True",
    "SupportedEphemeralOSDiskPlacements": "NvmeDisk",
    "MaxResourceVolumeMB": "0",
    "NvmeDiskSizeInMiB": "7208960",
    "NvmeSizePerDiskInMiB": "1802240",
}


def sku(name: str = NEW, region: str = "westus2", **changed: Any) -> dict[str, Any]:
    told = CAPABILITIES | changed.pop("capabilities", {})
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "family": "StandardNCadsH100v7Family",
        "locations": [region],
        "locationInfo": [{"location": region, "zones": ["3", "1"]}],
        "capabilities": [{"name": key, "value": value} for key, value in told.items() if value is not None],
        "restrictions": [],
    } | changed


def item(usd: Any = 31.5, **changed: Any) -> dict[str, Any]:
    return {
        "armSkuName": NEW,
        "armRegionName": "westus2",
        "retailPrice": usd,
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "currencyCode": "USD",
        "productName": "Virtual Machines NCads H100 v7 Series",
        "skuName": "NC320ads H100 v7",
        "meterName": "NC320ads",
        "tierMinimumUnits": 0,
    } | changed


LOCATION = {
    "name": "norwayeast",
    "displayName": "Norway East",
    "metadata": {"regionType": "Physical", "latitude": "59.913868", "longitude": "10.752245"},
    "availabilityZoneMappings": [{"logicalZone": each, "physicalZone": f"norwayeast-az{each}"} for each in "132"],
}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the file with what was seen, which the commands take for the repository's own."""
    copy = Path(shutil.copy(offers.FILE, tmp_path / "seen_offers.yaml"))
    monkeypatch.setattr(offers, "FILE", copy)
    offers.seen_offers.cache_clear()
    yield copy
    offers.seen_offers.cache_clear()


def saved(folder: Path, answer: Any, name: str = "answer.json") -> str:
    (folder / name).write_text(answer if isinstance(answer, str) else json.dumps(answer))
    return str(folder / name)


def rows() -> Offers:
    offers.seen_offers.cache_clear()
    return offers.seen_offers()


def test_a_gpu_size_is_added_with_listing_price_source_and_date(table: Path, tmp_path: Path) -> None:
    answer, prices = saved(tmp_path, [sku()]), saved(tmp_path, {"Items": [item()]}, "prices.json")
    code, out, _ = call("sizes", "--add", answer, "--size", NEW, "--like", LIKE, "--prices", prices)
    assert code == 0
    assert "written: seen_offers.yaml" in out
    known = sizes_with(rows())
    size, place = known[NEW], regions_with(rows(), known)["westus2"]
    assert size.gpu is not None
    assert (size.vcpus, size.memory_gib, size.gpu.count, size.gpu.model) == (320, 1280, 4, "H100 NVL")
    assert (size.disks.nvme, size.disks.devices, size.disks.how, size.disks.placements) == (
        7040,
        4,
        "seen",
        ("NvmeDisk",),
    )
    assert size.driver_sources == ("operator", "aks")
    assert (place.sizes[NEW].evidence, place.sizes[NEW].seen_zones) == ("seen", ("1", "3"))
    assert place.sizes[NEW].zones is None
    assert prices_with(rows(), known, regions_with(rows(), known))[NEW, "westus2"].usd_per_hour == 31.5
    assert "SHA-256" in size.source
    assert "&id" not in table.read_text()
    assert table.read_text().startswith("# What subscriptions were seen to offer")


def test_the_answer_of_the_api_gives_the_same_rows_as_that_of_the_cli(table: Path, tmp_path: Path) -> None:
    for answer in ([sku()], {"value": [sku()]}):
        code, out, _ = call("sizes", "--add", saved(tmp_path, answer), "--size", NEW, "--like", LIKE, "--dry-run")
        assert code == 0
        assert f"size     {NEW}: 320 vCPU, 1280 GiB, 4 × H100 NVL" in out
    assert not rows()


def test_what_azure_does_not_say_is_asked_for_by_name(table: Path, tmp_path: Path) -> None:
    answer = saved(tmp_path, [sku()])
    code, _, err = call("sizes", "--add", answer, "--size", NEW, "--fact", "model=H100 NVL")
    assert code == 2
    assert "--fact pci=… --fact driverSources=…, or --like SIZE" in " ".join(err.split())
    facts = {"product": "NVIDIA-H100-NVL", "memoryGib": 94, "share": 1, "virtual": "false", "pci": "10de:2321"}
    given = [each for key, value in facts.items() for each in ("--fact", f"{key}={value}")]
    driver = ("--fact", "driverSources=operator,aks", "--fact", "model=H100 NVL")
    assert call("sizes", "--add", answer, "--size", NEW, *given, *driver)[0] == 0
    assert sizes_with(rows())[NEW].driver_sources == ("operator", "aks")


def test_a_size_without_gpus_needs_nothing_more(table: Path, tmp_path: Path) -> None:
    name = "Standard_D4ds_v7"
    answer = saved(tmp_path, [sku(name, capabilities={"GPUs": None, "vCPUs": "4", "MemoryGB": "16"})])
    assert call("sizes", "--add", answer, "--size", name)[0] == 0
    assert sizes_with(rows())[name].gpu is None


def test_a_second_answer_adds_and_replaces_nothing(table: Path, tmp_path: Path) -> None:
    assert call("sizes", "--add", saved(tmp_path, [sku()]), "--size", NEW, "--like", LIKE)[0] == 0
    before = table.read_text()
    changed = saved(tmp_path, [sku(capabilities={"vCPUs": "8"})])
    offers.seen_offers.cache_clear()
    code, _, err = call("sizes", "--add", changed, "--size", NEW, "--like", LIKE)
    assert code == 2
    assert "duplicate" in err
    assert table.read_text() == before


def test_rows_of_the_catalogue_stay_and_their_differences_are_named(table: Path, tmp_path: Path) -> None:
    prices = saved(tmp_path, {"Items": [item(1.0, armSkuName=LIKE)]}, "prices.json")
    code, out, err = call("sizes", "--add", saved(tmp_path, [sku(LIKE)]), "--size", LIKE, "--prices", prices)
    assert code == 0
    assert "its row stays as it is" in err
    assert "costs 1.0 there and 6.98 in the catalogue, which stays" in err
    assert "nothing to add" in out
    assert not rows()


def test_a_size_that_the_subscription_may_not_use_is_not_listed(table: Path, tmp_path: Path) -> None:
    refused = [{"type": "Location", "reasonCode": "NotAvailable\u001b[31m"}]
    answer = saved(
        tmp_path, [sku(LIKE, "centralus", restrictions=refused), sku("Standard_ND96isr_H200_v5", "canadacentral")]
    )
    code, out, err = call("sizes", "--add", answer)
    assert code == 0
    assert "centralus does not offer" in err
    assert "\u001b[31m" not in err
    assert [(each["region"], each["size"]) for each in rows().listings] == [
        ("canadacentral", "Standard_ND96isr_H200_v5")
    ]
    assert "listing  Standard_ND96isr_H200_v5 in canadacentral" in out


def test_a_region_is_added_and_then_its_sizes_are_listed(table: Path, tmp_path: Path) -> None:
    answer = saved(tmp_path, [LOCATION])
    assert call("regions", "--add", answer, "--name", "norwayeast", "--utc-offset", "+01:00")[0] == 0
    place = regions_with(rows(), sizes_with(rows()))["norwayeast"]
    assert (place.display, place.zones, place.utc_offset) == ("Norway East", ("1", "2", "3"), "+01:00")
    assert place.nat_standard_v2 == "unknown"


@pytest.mark.parametrize(
    ("options", "missing"),
    [((), "--name"), (("--name", "norwayeast"), "--utc-offset"), (("--utc-offset", "+01:00"), "--name")],
)
def test_a_region_needs_its_name_and_its_time(
    table: Path, tmp_path: Path, options: tuple[str, ...], missing: str
) -> None:
    code, _, err = call("regions", "--add", saved(tmp_path, [LOCATION]), *options)
    assert code == 2
    assert missing in err


BAD_LOCATIONS: list[tuple[Any, str]] = [
    ([], "has no region 'norwayeast'"),
    ([LOCATION | {"metadata": {}}], "no latitude"),
    ([LOCATION | {"metadata": {"latitude": "nan", "longitude": "1"}}], "no latitude"),
    ([LOCATION | {"metadata": {"latitude": "1", "longitude": "1e400"}}], "no longitude"),
    ([LOCATION | {"displayName": "[red]Norway\u001b[0m"}], "no usable displayName"),
    ([LOCATION | {"metadata": {"regionType": "Logical"}}], "group of regions"),
]


@pytest.mark.parametrize(("answer", "said"), BAD_LOCATIONS)
def test_a_bad_answer_about_locations_writes_nothing(table: Path, tmp_path: Path, answer: Any, said: str) -> None:
    before = table.read_text()
    code, _, err = call("regions", "--add", saved(tmp_path, answer), "--name", "norwayeast", "--utc-offset", "+01:00")
    assert code == 2
    assert said in " ".join(err.split())
    assert table.read_text() == before


@pytest.mark.parametrize("offset", ["1", "CET", "+1:00", "+01:00; x"])
def test_a_wrong_offset_is_refused_by_the_catalogues_own_rules(table: Path, tmp_path: Path, offset: str) -> None:
    code, _, err = call("regions", "--add", saved(tmp_path, [LOCATION]), "--name", "norwayeast", "--utc-offset", offset)
    assert code == 2
    assert "utcOffset" in err
    assert not rows()


WHOLE = json.dumps([sku()])
BAD_SIZES: list[tuple[Any, str]] = [
    ("", "no JSON"),
    (WHOLE[: len(WHOLE) // 2], "cut, or a page of a proxy"),
    ("<html><body>Sign in</body></html>", "no JSON"),
    ("[" * 100_000, "nested too deeply"),
    ('[{"name": NaN}]', "no JSON"),
    ("{}", "no list `value`"),
    ('"text"', "no object"),
    ({"value": [sku()], "nextLink": "https://management.azure.com/…"}, "one page of several"),
    ([], "has no VM size"),
    ([sku(f"{NEW}\u001b[31m")], "has no VM size"),
    ([sku("Standard_Other")], "has no size"),
    ([sku(family="")], "lacks vCPUs or family"),
    ([sku(family="a\nb")], "lacks vCPUs or family"),
    ([sku(capabilities={"vCPUs": None})], "lacks vCPUs or family"),
    ([sku(capabilities={"vCPUs": "9" * 40})], "lacks vCPUs or family"),
    ([sku(capabilities={"MemoryGB": "inf"})], "lacks MemoryGB"),
    ([sku(capabilities={"MemoryGB": "9" * 5})], "lacks MemoryGB"),
    ([sku(capabilities={"EphemeralOSDiskSupported": None})], "lacks MemoryGB or Ephemeral"),
    ([sku(capabilities={"CpuArchitectureType": "Arm64"})], "x64 only"),
    ([sku(capabilities={"CpuArchitectureType": "\u001b[31m"})], "x64 only"),
]


@pytest.mark.parametrize(("answer", "said"), BAD_SIZES, ids=range(len(BAD_SIZES)))
def test_a_bad_answer_about_sizes_writes_nothing(table: Path, tmp_path: Path, answer: Any, said: str) -> None:
    before = table.read_text()
    code, out, err = call("sizes", "--add", saved(tmp_path, answer), "--size", NEW, "--like", LIKE)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
    assert "nothing was written" in err
    assert "\u001b[31m" not in err
    assert table.read_text() == before


BAD_PRICES: list[tuple[Any, str]] = [
    ([item(unitOfMeasure="1 Month")], "not in USD an hour"),
    ([item(currencyCode="EUR")], "not in USD an hour"),
    ([item(-1)], "no amount"),
    ([item(10**9)], "no amount"),
    ([item(True)], "no amount"),
    ([item("31.5")], "no amount"),
    ([item(), item(32)], "two prices"),
    ({"Items": [item()], "NextPageLink": "https://prices.azure.com/…"}, "one page of several"),
    ({"items": []}, "no list `Items`"),
]


@pytest.mark.parametrize(("answer", "said"), BAD_PRICES, ids=range(len(BAD_PRICES)))
def test_a_bad_answer_about_prices_writes_nothing(table: Path, tmp_path: Path, answer: Any, said: str) -> None:
    given = saved(tmp_path, {"Items": answer} if isinstance(answer, list) else answer, "prices.json")
    before = table.read_text()
    arguments = ("sizes", "--add", saved(tmp_path, [sku()]), "--size", NEW, "--like", LIKE, "--prices", given)
    code, _, err = call(*arguments)
    assert code == 2
    assert said in " ".join(err.split())
    assert table.read_text() == before


def test_prices_of_spot_and_windows_are_not_taken(table: Path, tmp_path: Path) -> None:
    others = [item(1, skuName="NC320 Spot"), item(2, productName="NCads Windows"), item(3, meterName="Low Priority")]
    prices = saved(tmp_path, {"Items": [*others, item(4, type="Reservation"), item()]}, "prices.json")
    assert call("sizes", "--add", saved(tmp_path, [sku()]), "--size", NEW, "--like", LIKE, "--prices", prices)[0] == 0
    assert rows().prices[0]["usdPerHour"] == {NEW: {"westus2": 31.5}}


def test_a_huge_answer_a_pipe_and_a_folder_are_refused(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate((adding_offers.LARGEST_MIB << 20) + 1)
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("huge.json", "128 MiB"), ("pipe", "regular file"), ("none.json", "No such file"), (".", "")):
        code, _, err = call("sizes", "--add", str(tmp_path / name))
        assert code == 2
        assert said in err
        assert "nothing was written" in err


def test_options_for_new_rows_need_the_answer() -> None:
    assert call("sizes", "--like", LIKE)[0] == 2
    assert call("regions", "--utc-offset", "+01:00")[0] == 2


def test_a_wrong_fact_names_those_that_there_are(table: Path, tmp_path: Path) -> None:
    code, _, err = call("sizes", "--add", saved(tmp_path, [sku()]), "--fact", "modle=x")
    assert code == 2
    assert "driverSources" in err


def test_the_file_refuses_other_keys(table: Path) -> None:
    table.write_text("sizes: []\nother: []\n")
    with pytest.raises(CatalogError, match="sizes, regions, listings, prices"):
        rows()


def test_the_document_has_the_rows(table: Path, tmp_path: Path) -> None:
    found = json.loads(call("sizes", "--add", saved(tmp_path, [sku()]), "--size", NEW, "--like", LIKE, "--json")[1])
    assert found["written"] is True
    assert found["rows"]["sizes"][0]["sizes"][0]["name"] == NEW
