"""The catalogue: what it lists, and what it says about choices that can't work."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from physical_ai import catalog
from physical_ai.catalog.load import CatalogError, read_rows, row
from physical_ai.catalog.rows import VmSize
from physical_ai.findings import Finding

H100 = "Standard_NC40ads_H100_v5"
RTX = "Standard_NC144ds_xl_RTXPRO6000BSE_v6"
GA_RTX = [
    f"Standard_NC{name}_xl_RTXPRO6000BSE_v6"
    for name in ("24lds", "36ds", "36lds", "72ds", "72lds", "144ds", "144lds", "288ds", "288lds")
]
PREVIEW_SUCCESSORS = {
    f"Standard_NC{old}{kind}_xl_RTXPRO6000BSE_v6": f"Standard_NC{new}{kind}_xl_RTXPRO6000BSE_v6"
    for old, new in ((128, 144), (256, 288), (320, 288))
    for kind in ("ds", "lds")
}


def rules(verdicts: list[Finding]) -> dict[str, str]:
    return {verdict.rule: verdict.severity for verdict in verdicts}


def test_all_nine_rtx_pro_sizes_are_current_and_share_one_quota_family() -> None:
    listed = [s for s in catalog.vm_sizes().values() if "RTXPRO" in s.name and s.lifecycle == "ga"]
    assert sorted(s.name for s in listed) == sorted(GA_RTX)
    assert {s.family for s in listed} == {"StandardNCdsRTXPRO6000BSEv6XLFamily"}
    assert all(s.driver_sources == ("grid", "aks") for s in listed)


@pytest.mark.parametrize(("old", "new"), PREVIEW_SUCCESSORS.items())
def test_each_preview_size_is_retired_and_names_its_successor(old: str, new: str) -> None:
    size = catalog.vm_size(old)
    assert (size.lifecycle, size.successor) == (catalog.RETIRED, new)
    (verdict,) = [v for v in catalog.judge(old, "westus2", "grid") if v.rule == "size-retired"]
    assert verdict.severity == "error"
    assert new in (verdict.fix or "")


def test_a_retired_size_is_not_also_reported_as_missing_from_the_region() -> None:
    assert rules(catalog.judge("Standard_NC128ds_xl_RTXPRO6000BSE_v6", "westus2", "grid")) == {"size-retired": "error"}


def test_the_h100_row_has_what_a_node_pool_and_a_quota_check_need() -> None:
    size = catalog.vm_size(H100)
    assert (size.vcpus, size.memory_gib, size.family) == (40, 320, "StandardNCadsH100v5Family")
    assert size.gpu is not None
    assert (size.gpu.count, size.gpu.memory_gib, size.gpu.share) == (1, 94, "1")
    assert size.mig


def test_a_fraction_of_a_card_counts_as_one_gpu() -> None:
    gpu = catalog.vm_size("Standard_NC36ds_xl_RTXPRO6000BSE_v6").gpu
    assert gpu is not None
    assert (gpu.count, gpu.share, gpu.memory_gib) == (1, "1/4", 24)


def test_every_row_names_its_source_and_a_date_that_has_passed() -> None:
    rows = [
        *catalog.vm_sizes().values(),
        *catalog.regions().values(),
        *(listing for region in catalog.regions().values() for listing in region.sizes.values()),
        *catalog.prices().values(),
        *catalog.kubernetes_minors().values(),
    ]
    assert len(rows) > 100
    for item in rows:
        assert item.source
        assert datetime.date(2026, 1, 1) <= item.date <= datetime.datetime.now(datetime.UTC).date()


def test_prices_are_found_by_size_and_region() -> None:
    price = catalog.price(H100, "swedencentral")
    assert price is not None
    assert price.usd_per_hour == 9.074
    assert catalog.price(RTX, "spaincentral") is None


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("Standard_NC144ds_xl_RTXPRO6000BSE_v5", RTX),
        ("Standard_NC128ds_xl_RTXPRO6000BSE_v5", RTX),
        ("standard_nc40ads_h100_v5", H100),
        ("NC40ads_H100_v5", H100),
        ("Standard_NC40ads_H100", H100),
        ("Standard_D4dss_v5", "Standard_D4ds_v5"),
    ],
)
def test_an_unknown_size_suggests_the_nearest_one_that_deploys(typo: str, meant: str) -> None:
    with pytest.raises(catalog.UnknownName) as caught:
        catalog.vm_size(typo)
    assert caught.value.suggestion == meant
    (verdict,) = catalog.judge(typo, "westus2", "grid")
    assert (verdict.rule, verdict.severity, verdict.where) == ("size-unknown", "error", "sku")
    assert meant in (verdict.fix or "")


def test_a_name_like_nothing_gets_no_suggestion_but_the_list() -> None:
    (verdict,) = catalog.judge("zzz", "westus2")
    assert verdict.fix == "All sizes: physai sizes"


def test_a_size_the_region_lacks_names_the_nearest_regions_that_have_it() -> None:
    (verdict,) = catalog.judge("Standard_ND96isr_H100_v5", "southeastasia", "operator")
    assert verdict.rule == "size-not-in-region"
    assert "koreacentral" in (verdict.fix or "")
    (verdict,) = catalog.judge(RTX, "spaincentral", "grid")
    assert (verdict.fix or "").startswith("Nearest regions that list it: germanywestcentral")


def test_a_region_known_from_a_price_only_is_a_warning() -> None:
    assert rules(catalog.judge(RTX, "swedencentral", "grid")) == {"size-in-region-unconfirmed": "warning"}
    assert rules(catalog.judge(RTX, "westus2", "grid")) == {}


def test_an_unknown_region_suggests_the_nearest() -> None:
    with pytest.raises(catalog.UnknownName) as caught:
        catalog.region("swedencentrall")
    assert caught.value.suggestion == "swedencentral"
    with pytest.raises(catalog.UnknownName) as caught:
        catalog.region("West Europe")
    assert caught.value.suggestion == "westeurope"
    assert rules(catalog.judge(H100, "westus22", "operator")) == {"region-unknown": "error"}


@pytest.mark.parametrize(
    ("size", "source", "allowed"),
    [
        (RTX, "operator", False),
        (RTX, "grid", True),
        (RTX, "aks", True),
        (H100, "grid", False),
        (H100, "operator", True),
        ("Standard_NV36ads_A10_v5", "operator", False),
        ("Standard_NC24ads_A100_v4", "operator", True),
    ],
)
def test_a_driver_source_works_on_the_sizes_made_for_it(size: str, source: str, allowed: bool) -> None:
    found = [v for v in catalog.judge(size, "westus2", source) if v.rule == "driver-source"]
    assert bool(found) is not allowed
    assert all("Use one of" in (v.fix or "") for v in found)


@pytest.mark.parametrize(
    ("size", "os_sku", "source", "allowed"),
    [
        (RTX, "AzureLinux", "aks", False),
        (RTX, "Ubuntu2204", "grid", True),
        (H100, "AzureLinux", "aks", True),
        (H100, "AzureLinux", "operator", False),
        ("Standard_D4ds_v5", "AzureLinux", None, True),
    ],
)
def test_azure_linux_works_only_with_drivers_aks_installs(
    size: str, os_sku: str, source: str | None, allowed: bool
) -> None:
    verdicts = catalog.judge(size, "westus2", source, os_sku=os_sku)
    assert ("os-sku" not in rules(verdicts)) is allowed


def test_gpu_and_cpu_pools_take_sizes_of_their_kind() -> None:
    assert "size-no-gpu" in rules(catalog.judge("Standard_D8ds_v5", "westus2", "operator"))
    assert "size-with-gpu" in rules(catalog.judge(H100, "westus2", None))


@pytest.mark.parametrize(
    ("size", "gib", "expected"),
    [
        ("Standard_D4ds_v5", 150, {}),
        ("Standard_D4ds_v5", 151, {"ephemeral-fit": "error"}),
        ("Standard_D4s_v5", 64, {"ephemeral-support": "error"}),
        ("Standard_D4ds_v5", None, {}),
        ("Standard_B4ms", None, {"ephemeral-fit": "error"}),
    ],
)
def test_an_ephemeral_os_disk_must_fit_the_local_disk(size: str, gib: int | None, expected: dict[str, str]) -> None:
    assert rules(catalog.judge(size, "westus2", None, "Ephemeral", gib)) == expected
    assert rules(catalog.judge(size, "westus2", None, "Managed", gib)) == {}


def test_a_sized_ephemeral_disk_on_nvme_warns_of_the_lost_rest() -> None:
    assert rules(catalog.judge(RTX, "westus2", "grid", "Ephemeral", 512)) == {"ephemeral-nvme": "warning"}
    assert rules(catalog.judge(RTX, "westus2", "grid", "Ephemeral")) == {}


def test_zones_are_judged_by_region_and_then_by_size() -> None:
    assert rules(catalog.judge("Standard_D4ds_v5", "westus2", zones=["1", "3"])) == {}
    assert rules(catalog.judge("Standard_D4ds_v5", "westus", zones=["1"])) == {"zone-not-in-region": "error"}
    assert rules(catalog.judge(H100, "westus2", "operator", zones=["1"])) == {"size-zones-unknown": "warning"}


def test_a_zone_without_the_size_names_those_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    place = catalog.region("westus2")
    listing = place.sizes[H100].model_copy(update={"zones": ("2",)})
    changed = place.model_copy(update={"sizes": {**place.sizes, H100: listing}})
    monkeypatch.setattr("physical_ai.catalog.verdicts.region", lambda _name: changed)
    (verdict,) = catalog.judge(H100, "westus2", "operator", zones=["1", "2"])
    assert (verdict.rule, verdict.fix) == ("size-not-in-zone", 'zones: ["2"]')


def test_a_size_without_low_priority_capacity_cannot_be_spot() -> None:
    assert "size-not-spot" in rules(catalog.judge("Standard_B4ms", "westus2", spot=True))
    assert "size-not-spot" not in rules(catalog.judge(H100, "westus2", "operator", spot=True))


def test_kubernetes_minors_are_found_by_version() -> None:
    assert catalog.kubernetes_minor("1.36.3").minor == "1.36"
    assert not catalog.kubernetes_minor("1.37").ubuntu2204
    with pytest.raises(catalog.UnknownName) as caught:
        catalog.kubernetes_minor("1.63")
    assert caught.value.suggestion in catalog.kubernetes_minors()


def test_a_misspelt_field_in_the_data_is_refused() -> None:
    good = catalog.vm_size(H100).model_dump(mode="python", by_alias=True)
    assert row(VmSize, good, "vm_sizes.yaml: x") == catalog.vm_size(H100)
    with pytest.raises(CatalogError, match=r"vm_sizes\.yaml: x(.|\n)*vcpu"):
        row(VmSize, {**good, "vcpu": 4}, "vm_sizes.yaml: x")
    with pytest.raises(CatalogError, match="vcpus"):
        row(VmSize, {**good, "vcpus": "40"}, "vm_sizes.yaml: x")


def test_a_data_file_that_is_no_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("a: 1\n")
    with pytest.raises(CatalogError, match=r"x\.yaml"):
        read_rows(tmp_path / "x.yaml")


def test_a_data_file_that_is_not_yaml_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("- a: 1\n  b: [\n")
    with pytest.raises(CatalogError, match=r"x\.yaml:3: the file cannot be read as YAML: did not find"):
        read_rows(tmp_path / "x.yaml")


@pytest.mark.parametrize(
    ("size", "gib", "expected"),
    [
        (H100, 128, {}),
        (H100, 129, {"ephemeral-unknown": "warning"}),
        (H100, 2048, {"ephemeral-unknown": "warning"}),
        ("Standard_NC24ads_A100_v4", 256, {}),
        ("Standard_NC24ads_A100_v4", 257, {"ephemeral-fit": "error"}),
        ("Standard_NC24ads_A100_v4", None, {}),
    ],
)
def test_nvme_holds_no_os_disk_where_azure_places_none_on_it(
    size: str, gib: int | None, expected: dict[str, str]
) -> None:
    assert rules(catalog.judge(size, "westus2", "operator", "Ephemeral", gib)) == expected


def test_trusted_launch_takes_a_part_of_the_local_disk() -> None:
    size = "Standard_NC24ads_A100_v4"
    secure = catalog.judge(size, "westus2", "operator", "Ephemeral", 256, trusted_launch=True)
    assert rules(secure) == {"ephemeral-fit": "error"}
    assert rules(catalog.judge(size, "westus2", "operator", "Ephemeral", 255, trusted_launch=True)) == {}
