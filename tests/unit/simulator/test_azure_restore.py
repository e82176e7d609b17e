"""A PostgreSQL server restored to a point in time, in the simulated Azure."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.azure_fakes import GROUP, Azure
from tests.unit.simulator.test_azure_data_services import SERVER

DAY = 86400


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    found = Azure(tmp_path / "azure.json")
    found.group()
    found.put("PostgresServer", **SERVER)
    found.clock.advance(3 * DAY)
    return found


def restored(azure: Azure, days_ago: float = 1, **changes: Any) -> set[str]:
    moment = datetime.fromtimestamp(azure.clock.now() - days_ago * DAY, UTC)
    own = {key: value for key, value in SERVER.items() if not key.startswith("administratorLogin")}
    given = {
        **own,
        "serverName": "psql-2",
        "createMode": "PointInTimeRestore",
        "sourceServerResourceId": azure.id("Microsoft.DBforPostgreSQL/flexibleServers/psql-1"),
        "pointInTimeUTC": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "resourceGroupName": GROUP,
        **changes,
    }
    return azure.rules("PostgresServer", given)


def test_a_time_that_backups_have(azure: Azure) -> None:
    assert restored(azure) == set()
    assert restored(azure, administratorLoginPassword="Correct1Horse2Battery") == set(), "the login is the source's"
    assert restored(azure, days_ago=-1) == {"pg-restore-time"}, "the future"
    assert restored(azure, days_ago=4) == {"pg-restore-time"}, "before the server"
    azure.clock.advance(30 * DAY)
    assert restored(azure, days_ago=6) == set()
    assert restored(azure, days_ago=8) == {"pg-restore-time"}, "older than its backups"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"sourceServerResourceId": "/subscriptions/s/resourceGroups/g/providers/p/t/none"}, "pg-restore-source"),
        ({"pointInTimeUTC": None}, "pg-restore-source"),
        ({"location": "eastus"}, "pg-restore-region"),
        ({"version": "17"}, "pg-restore-version"),
        ({"administratorLogin": "someone"}, "pg-restore-version"),
        ({"storage": {"storageSizeGB": 64}}, "pg-restore-version"),
        ({"highAvailability": {"mode": "SameZone"}}, "pg-restore-ha"),
    ],
)
def test_what_a_restored_server_has_of_its_source(azure: Azure, changes: dict[str, Any], rule: str) -> None:
    assert rule in restored(azure, **changes)


def test_a_standby_comes_afterwards(azure: Azure) -> None:
    moment = datetime.fromtimestamp(azure.clock.now() - DAY, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    own = {key: value for key, value in SERVER.items() if not key.startswith("administratorLogin")}
    source = azure.id("Microsoft.DBforPostgreSQL/flexibleServers/psql-1")
    given = {
        **own,
        "serverName": "psql-2",
        "createMode": "PointInTimeRestore",
        "sourceServerResourceId": source,
        "pointInTimeUTC": moment,
    }
    azure.put("PostgresServer", **given)
    azure.clock.advance(60 * DAY)
    azure.put("PostgresServer", **{**given, "highAvailability": {"mode": "SameZone"}})
