"""The recorded type tables: each is as it was recorded, and a body is judged at the API version it is sent with."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, get_overloads

import pytest

from simulator.azure.bodies import to_body
from simulator.azure.data import KINDS, by_token, mappings, schema, tables
from simulator.azure.errors import ArmError
from simulator.azure.schema import Departure, findings
from simulator.wire import UNKNOWN, Refused
from tests.support.azure_fakes import GROUP, Azure
from tests.support.cases import in_one_test
from tests.unit.conftest import Simulate
from workbench.policies.model import Secret

GATEWAY: dict[str, Any] = {
    "resourceGroupName": GROUP,
    "natGatewayName": "nat9",
    "location": "westus2",
    "sku": {"name": "StandardV2"},
}
PUBLISHED = "2025-01-01"


def test_no_recording_was_edited() -> None:
    assert list(tables.edited()) == []


def test_an_edited_recording_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its digest, its source line and a file without a row: each is one complaint."""
    first, second, *others = tables.recordings()
    changed = (replace(first, sha256="0" * 64), replace(second, source="somewhere else"), *others[1:])
    monkeypatch.setattr(tables, "recordings", lambda: changed)
    found = list(tables.edited())
    assert [each.split(":")[0] for each in found] == [f"types/{row.file}" for row in (first, second, others[0])]
    assert "amendments.json" in found[0]


def test_every_kind_is_recorded_at_the_version_that_is_sent() -> None:
    for kind in KINDS:
        sent = mappings()[kind].api_version
        assert sent in tables.recorded_versions(kind)
        assert sent in tables.published_versions()[mappings()[kind].arm_type]


def test_an_amendment_adds_what_the_recording_lacks_and_says_where_it_is_from() -> None:
    for each in tables.amendments():
        recorded = next(
            row for row in tables.recordings() if (row.kind, row.api_version) == (each.kind, each.api_version)
        )
        assert each.source != recorded.source
        assert len(each.reason) > 20
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", each.date)
        row = schema(each.kind, each.api_version)[each.path]
        assert set(each.values) <= set(row.get("items", row)["enum"])


def test_amendments_are_the_only_difference_from_the_recordings() -> None:
    """The table without an amendment's values is the recorded one; a value that is in the recording needs none."""
    for each in tables.amendments():
        base = tables.base(each.kind, each.api_version)[each.path]
        assert not set(each.values) & set(base.get("items", base)["enum"]), each


@pytest.mark.parametrize("kind", ["NatGateway", "PublicIPAddress"])
def test_standard_v2_is_first_published_after_the_version_that_is_sent(kind: str) -> None:
    assert "StandardV2" not in schema(kind)["sku.name"]["enum"]
    assert "StandardV2" in schema(kind, PUBLISHED)["sku.name"]["enum"]


def test_a_body_is_judged_at_the_api_version_it_is_sent_with(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    assert azure.rules("NatGateway", GATEWAY) == {"arm-wrong-type"}
    assert azure.rules("NatGateway", {**GATEWAY, "azureApiVersion": PUBLISHED}) == set()
    assert azure.rules("NatGateway", {**GATEWAY, "azureApiVersion": "2024-05-02"}) == {"arm-api-version-offer"}


def test_a_version_that_is_published_and_not_recorded_is_the_simulators_gap(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    with pytest.raises(Refused, match=r"no recording of Microsoft\.Network/natGateways at API version 2025-07-01"):
        azure.put("NatGateway", **GATEWAY, azureApiVersion="2025-07-01")
    with pytest.raises(ArmError, match="NoRegisteredProviderFound"):
        azure.put("NatGateway", **GATEWAY, azureApiVersion="2031-01-01")


def _sdk_version(token: str) -> str:
    """What the SDK's own docstring says that it sends for a type."""
    _, module, name = token.split(":")
    overloads = get_overloads(getattr(import_module(f"pulumi_azure_native.{module}"), name).__init__)
    document = overloads[0].__doc__ or ""
    found = re.search(r"Uses Azure REST API version ([\w-]+)", document)
    assert found, token
    return found.group(1).rstrip(".")


@in_one_test("kind", KINDS)
def test_the_version_of_a_kind_is_the_sdks(kind: str) -> None:
    assert _sdk_version(mappings()[kind].token) == mappings()[kind].api_version


def departures(type_: str, inputs: Any) -> list[Departure]:
    mapping = by_token()[type_]
    return findings(mapping.kind, to_body(mapping, _bare(inputs)))


def _bare(value: Any) -> Any:
    """Inputs with secrets as unknown values, which any type takes."""
    if isinstance(value, Secret):
        return UNKNOWN
    if isinstance(value, dict):
        return {name: _bare(item) for name, item in value.items()}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def test_no_stack_sends_what_the_recorded_version_does_not_have(simulate: Simulate, azure_stack_name: str) -> None:
    """Values of enumerations, too: the type may say that it takes others, and the service usually does not."""
    found = {
        f"{each.name}: {departure.message}"
        for each in simulate(azure_stack_name).resources
        if each.type in by_token()
        for departure in departures(each.type, each.inputs)
        if departure.path != "name"
    }
    assert found == set()
