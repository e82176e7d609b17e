"""`physai check`: whether Azure serves the API versions that are sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from physical_ai.catalog.api_versions import api_versions, sends_published
from physical_ai.findings import Finding, Severity
from simulator.azure.data import mappings
from simulator.azure.data.tables import published_versions
from tests.support.azure_subscription import SUBSCRIPTION, Answers
from workbench.preflight import AzureRest
from workbench.preflight.api_versions import version_findings

NAT = "Microsoft.Network/natGateways"


def serving(types: Mapping[str, Sequence[str]]) -> Callable[[Any], None]:
    """A subscription whose providers list these types and versions."""

    def change(document: Any) -> None:
        for row in document["value"]:
            own = {name: versions for name, versions in types.items() if name.startswith(f"{row['namespace']}/")}
            row["resourceTypes"] = [
                {"resourceType": name.partition("/")[2], "apiVersions": list(versions)}
                for name, versions in own.items()
            ]

    return change


def found(types: Mapping[str, Sequence[str]], *namespaces: str) -> list[Finding]:
    azure = AzureRest(Answers().change("providers", serving(types)), SUBSCRIPTION)
    return list(version_findings(azure, namespaces))


def test_what_azure_serves_is_one_line() -> None:
    (finding,) = found(published_versions(), "Microsoft.Network")
    assert finding.severity is Severity.OK
    assert "Microsoft.Network/dnsResolvers 2023-07-01-preview (stable: 2025-05-01)" in finding.problem


def test_a_version_that_azure_has_retired_is_an_error_before_the_deployment() -> None:
    later = {**published_versions(), NAT: ("2025-01-01", "2025-05-01")}
    error, others = found(later, "Microsoft.Network")
    assert (error.severity, error.where, others.severity) == (Severity.ERROR, NAT, Severity.OK)
    assert "does not serve 2024-05-01" in error.problem
    assert "2025-05-01" in error.problem


def test_a_type_that_azure_does_not_list_is_unknown_and_never_fine() -> None:
    without = {name: versions for name, versions in published_versions().items() if name != NAT}
    unknown, others = found(without, "Microsoft.Network")
    assert (unknown.severity, others.severity) == (Severity.UNKNOWN, Severity.OK)
    assert NAT in unknown.problem
    assert [each.severity for each in found({}, "Microsoft.Network")] == [Severity.UNKNOWN]


def test_the_catalogue_has_every_type_at_the_version_that_the_sdk_sends() -> None:
    """`test_azure_recordings.py` reads the versions of the mapping from the SDK."""
    types = api_versions().types
    assert {name: each.sent for name, each in types.items()} == {
        each.arm_type: each.api_version for each in mappings().values()
    }
    for name, each in types.items():
        stable = [version for version in published_versions()[name] if "preview" not in version]
        assert each.stable == stable[-1]


@pytest.mark.parametrize("known", api_versions().values, ids=lambda each: each.type)
def test_a_value_is_published_when_the_catalogue_says_so(known: Any) -> None:
    assert known.published in published_versions()[known.type]
    assert not sends_published(known.type, known.path, known.value)
    assert known.source
    assert known.against, "the evidence for the opposite is named"
