"""Record sets in DNS zones: what the stand-in refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.azure_fakes import GROUP, Azure

ZONE = {"resourceGroupName": GROUP, "privateZoneName": "contoso.com"}
PRIVATE: dict[str, Any] = {
    **ZONE,
    "recordType": "A",
    "relativeRecordSetName": "osmo",
    "ttl": 300,
    "aRecords": [{"ipv4Address": "10.100.0.62"}],
}
PUBLIC: dict[str, Any] = {
    "resourceGroupName": "rg-dns-of-others",
    "zoneName": "contoso.com",
    "recordType": "CNAME",
    "relativeRecordSetName": "osmo",
    "ttl": 300,
    "cnameRecord": {"cname": "osmo-dev.westus2.cloudapp.azure.com"},
}


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.group()
    return made


def test_a_record_needs_its_zone(azure: Azure) -> None:
    assert azure.rules("PrivateRecordSet", PRIVATE) == {"arm-child-parent"}
    azure.put("PrivateDnsZone", **ZONE, location="global")
    assert azure.rules("PrivateRecordSet", PRIVATE) == set()
    assert azure.put("PrivateRecordSet", **PRIVATE).id.endswith("/privateDnsZones/contoso.com/A/osmo")


def test_a_zone_in_a_group_of_others_is_believed_to_exist(azure: Azure) -> None:
    assert azure.rules("RecordSet", PUBLIC) == set()
    assert azure.rules("RecordSet", {**PUBLIC, "resourceGroupName": GROUP}) == {"arm-child-parent"}
    assert azure.rules("PrivateRecordSet", {**PRIVATE, "resourceGroupName": "rg-dns-of-others"}) == set()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"relativeRecordSetName": "@"}, "dns-cname-apex"),
        ({"relativeRecordSetName": "no name"}, "dns-record-name"),
        ({"ttl": 0}, "dns-record-ttl"),
        ({"ttl": None}, "dns-record-ttl"),
        ({"cnameRecord": None}, "dns-record-type"),
        ({"aRecords": [{"ipv4Address": "10.0.0.1"}]}, "dns-record-type"),
    ],
)
def test_a_public_record_that_cannot_be(azure: Azure, change: dict[str, Any], rule: str) -> None:
    assert azure.rules("RecordSet", {**PUBLIC, **change}) == {rule}


def test_an_address_has_to_be_one(azure: Azure) -> None:
    azure.put("PrivateDnsZone", **ZONE, location="global")
    assert azure.rules("PrivateRecordSet", {**PRIVATE, "aRecords": [{"ipv4Address": "osmo"}]}) == {"dns-record-address"}
    assert azure.rules("PrivateRecordSet", {**PRIVATE, "relativeRecordSetName": "@"}) == set()
