"""The record of the gateway's name, and the zone that the stack may create for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.recording import Recording
from tests.unit.components.test_components_control_plane import PLATFORM, released
from tests.unit.conftest import Simulate
from tests.unit.settings.test_osmo_access import ACCESS

PREFIX = "service.beta.kubernetes.io/azure-"


def deployed(simulate: Simulate, dns: dict[str, Any], **access: Any) -> Recording:
    osmo = {"mode": "platform", "access": {**ACCESS, "dns": dns, **access}}
    return simulate("dev-westus2", {**PLATFORM, "osmo": osmo})


def balancer(recording: Recording) -> dict[str, str]:
    return released(recording).inputs["values"]["gateway"]["envoy"]["service"]["annotations"]


def test_a_zone_of_the_stack_leads_to_the_address_of_the_load_balancer(simulate: Simulate) -> None:
    stack = deployed(simulate, {"zone": "contoso.com"})
    (zone,), (link,) = stack.of_type("PrivateZone"), stack.of_type("VirtualNetworkLink")
    assert zone.inputs["privateZoneName"] == link.inputs["privateZoneName"] == "contoso.com"
    (record,) = stack.of_type("PrivateRecordSet")
    assert (record.inputs["recordType"], record.inputs["relativeRecordSetName"]) == ("A", "osmo")
    (address,) = (each["ipv4Address"] for each in record.inputs["aRecords"])
    assert balancer(stack)[f"{PREFIX}load-balancer-ipv4"] == address
    subnets = {each.inputs["subnetName"] for each in stack.of_type("Subnet")}
    assert balancer(stack)[f"{PREFIX}load-balancer-internal-subnet"] in subnets
    assert not stack.of_type("RecordSet")


@pytest.mark.deep  # in `make test`: a zone of the stack above
def test_a_zone_of_others_gets_the_record_only(simulate: Simulate) -> None:
    stack = deployed(simulate, {"zone": "contoso.com", "resourceGroup": "rg-dns"})
    (record,) = stack.of_type("PrivateRecordSet")
    assert (record.inputs["resourceGroupName"], record.inputs["privateZoneName"]) == ("rg-dns", "contoso.com")
    assert not stack.of_type("PrivateZone")


def test_a_public_name_is_an_alias_of_the_one_that_azure_gives_the_address(simulate: Simulate) -> None:
    stack = deployed(simulate, {"zone": "contoso.com", "resourceGroup": "rg-dns"}, scope="public")
    (record,) = stack.of_type("RecordSet")
    assert (record.inputs["recordType"], record.inputs["zoneName"]) == ("CNAME", "contoso.com")
    label = balancer(stack)[f"{PREFIX}dns-label-name"]
    assert record.inputs["cnameRecord"]["cname"] == f"{label}.westus2.cloudapp.azure.com"
    assert not stack.of_type("PrivateRecordSet")
