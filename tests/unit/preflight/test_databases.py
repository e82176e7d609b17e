"""`physical_ai check` asks PostgreSQL what it offers new servers in the region."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from physical_ai.settings import Overlay, load
from physical_ai.subscription.answers import PostgresOffer
from physical_ai.subscription.rest import AzureRest
from tests.support.azure_subscription import SUBSCRIPTION
from workbench.preflight import Azure
from workbench.preflight.databases import database_findings

SIZES = [
    {"name": f"Standard_D{cores}ds_v{each}", "supportedHaMode": ["SameZone"]} for each in (4, 5) for cores in (2, 4)
]
ANSWER: dict[str, Any] = {
    "name": "FlexibleServerCapabilities",
    "restricted": "Disabled",
    "zoneRedundantHaSupported": "Disabled",
    "geoBackupSupported": "Enabled",
    "zoneRedundantHaAndGeoBackupSupported": "Disabled",
    "supportedServerVersions": [{"name": "16"}, {"name": "17"}],
    "supportedServerEditions": [{"name": "GeneralPurpose", "supportedServerSkus": SIZES}],
}
"""In the form of the service's REST reference, 2024-08-01, and of Azure/azure-cli#27713 (supportedHaMode)."""


class Service:
    """A subscription that is asked about the database alone."""

    def __init__(self, answer: Mapping[str, Any], *, exists: bool = False) -> None:
        self._answer, self._exists = answer, exists

    def name_refused(self, _kind: str, _name: str) -> str | None:
        return "taken" if self._exists else None

    def exists(self, _group: str, _kind: str, _name: str) -> bool:
        return self._exists

    def postgres(self, region: str) -> PostgresOffer:
        def get(path: str, parameters: Mapping[str, str]) -> Any:
            assert path.endswith(f"/providers/Microsoft.DBforPostgreSQL/locations/{region}/capabilities")
            assert parameters["api-version"]
            return {"value": [self._answer]}

        return AzureRest(get, SUBSCRIPTION).postgres(region)


def found(answer: Mapping[str, Any], *changes: str, exists: bool = False) -> list[tuple[str, str]]:
    settings = load("prod-westeurope", [Overlay.assign(list(changes))] if changes else []).settings
    azure = cast("Azure", Service(answer, exists=exists))
    return [(each.severity.value, each.problem) for each in database_findings(settings, azure, SUBSCRIPTION)]


ZONES = "dataServices.postgres.highAvailability=zoneRedundant"


def test_what_production_declares_by_itself_is_offered() -> None:
    assert found(ANSWER) == [("ok", "westeurope offers it: Standard_D2ds_v5, standby sameZone")]
    assert found(ANSWER, ZONES, exists=True) == [("ok", "the server exists")]


@pytest.mark.parametrize(
    ("change", "settings", "part"),
    [
        ({}, (ZONES,), "no new servers with a standby in another zone"),
        ({"restricted": "Enabled", "reason": "not for this offer"}, (), "not for this offer"),
        ({"geoBackupSupported": "Disabled"}, (), "copies no backups"),
        ({}, ("dataServices.postgres.size=Standard_D2ds_v6",), "no Standard_D2ds_v6"),
        ({}, ("dataServices.postgres.version='15'",), "PostgreSQL 15"),
        (
            {
                "zoneRedundantHaSupported": "Enabled",
                "supportedServerEditions": [],
            },
            (ZONES,),
            "copy of backups in another region with a standby",
        ),
    ],
)
def test_what_the_region_does_not_offer_is_an_error(
    change: dict[str, Any], settings: tuple[str, ...], part: str
) -> None:
    errors = [problem for severity, problem in found({**ANSWER, **change}, *settings) if severity == "error"]
    assert len(errors) == 1, errors
    assert part in errors[0]


def test_another_answer_than_the_catalogues_is_to_be_written_down() -> None:
    answer = {**ANSWER, "zoneRedundantHaSupported": "Enabled", "zoneRedundantHaAndGeoBackupSupported": "Enabled"}
    assert (
        "info",
        "To a standby in another zone in westeurope Azure says yes, the catalogue no (of 2025-12-22).",
    ) in found(answer)
