"""A wrong row of the program's catalogue is refused by the simulated Azure: one case for each kind of belief.

The program is made to believe something, and sends it; what Azure has is in rows of the stand-in's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from physical_ai import catalog
from physical_ai.catalog.rows import Region, VmSize
from simulator.azure import ArmError
from tests.support.azure_fakes import PLACE, Azure
from tests.unit.simulator.test_azure_networks import NAT, V2

H100, RTX = "Standard_NC40ads_H100_v5", "Standard_NC144ds_xl_RTXPRO6000BSE_v6"


def believe(monkeypatch: pytest.MonkeyPatch, regions: dict[str, Region]) -> None:
    """The program's catalogue with these regions in place of its own."""
    wrong = {**catalog.regions(), **regions}
    monkeypatch.setattr(catalog, "regions", lambda: wrong)


def believe_of(monkeypatch: pytest.MonkeyPatch, size: str, **wrong: Any) -> VmSize:
    made = catalog.vm_sizes()[size].model_copy(update=wrong)
    sizes = {**catalog.vm_sizes(), size: made}
    monkeypatch.setattr(catalog, "vm_sizes", lambda: sizes)
    return made


def region(name: str, **wrong: Any) -> dict[str, Region]:
    return {
        name: catalog.regions()[name if name in catalog.regions() else PLACE].model_copy(update={"name": name, **wrong})
    }


def azure(tmp_path: Path, place: str = PLACE, **options: Any) -> Azure:
    made = Azure(tmp_path / "azure.json", place=place, options=options)
    made.network()
    made.identities()
    made.cluster()
    return made


def test_a_region_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    believe(monkeypatch, region("atlantis"))
    with pytest.raises(ArmError, match="'atlantis' is not available for resource type"):
        azure(tmp_path, "atlantis")


def test_a_zone_that_the_region_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zones = {"zones": ("1", "2", "3")}
    lists = {size: row.model_copy(update=zones) for size, row in catalog.regions()["westus"].sizes.items()}
    believe(monkeypatch, region("westus", sizes=lists, **zones))
    with pytest.raises(ArmError, match=r"zone\(s\) '1' .* is not supported"):
        azure(tmp_path, "westus").pool(vmSize=H100, availabilityZones=["1"])


def test_a_size_that_the_region_does_not_sell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = {**catalog.regions()["spaincentral"].sizes, RTX: catalog.regions()[PLACE].sizes[RTX]}
    believe(monkeypatch, region("spaincentral", sizes=lists))
    with pytest.raises(ArmError, match=f"{RTX} is not allowed in your subscription in location 'spaincentral'"):
        azure(tmp_path, "spaincentral").pool(vmSize=RTX)


def test_a_quota_family_of_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program would look at a quota that nobody used up."""
    believe_of(monkeypatch, H100, family="standardNCH100Family")
    short = azure(tmp_path, quota={"StandardNCadsH100v5Family": 0, "standardNCH100Family": 400})
    with pytest.raises(ArmError, match="Insufficient StandardNCadsH100v5Family vcpu quota left"):
        short.pool(vmSize=H100)


def test_fewer_vcpus_than_the_size_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert believe_of(monkeypatch, H100, vcpus=4).vcpus == 4
    short = azure(tmp_path, quota={"StandardNCadsH100v5Family": 39})
    with pytest.raises(ArmError, match="requested quota 40"):
        short.pool(vmSize=H100, count=1)


def test_a_zone_redundant_gateway_where_none_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    believe(monkeypatch, region("koreacentral", nat_standard_v2="yes"))
    made = Azure(tmp_path / "azure.json", place="koreacentral")
    made.network()
    assert made.rules("NatGateway", {**NAT, **V2, "location": "koreacentral"}) == {"nat-v2-region"}
