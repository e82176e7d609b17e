"""A database of an earlier time: which server is made, what uses it, and what refuses to be undone."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pulumi
import pytest
import yaml

from physical_ai.catalog.osmo_service import MEK_SECRET_NAME
from physical_ai.planning.osmo_token import osmo_token_objects
from physical_ai.settings import Overlay, SettingsError, load
from tests.support.recording import Recording, Resource
from tests.unit.components.test_components_control_plane import GIVEN, PLATFORM, in_control_plane, released
from tests.unit.conftest import Simulate

AT = "2026-11-20T08:00:00Z"
ELSEWHERE = "/subscriptions/s/resourceGroups/rg-old/providers/Microsoft.DBforPostgreSQL/flexibleServers/psql-old"
KEY = base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")


def restoring(secrets: dict[str, str] | None = None, prod: bool = False, **restore: Any) -> dict[str, Any]:
    postgres: dict[str, Any] = {"restore": {"at": AT, **restore}}
    if prod:
        postgres["highAvailability"] = "zoneRedundant"
    return {
        **PLATFORM,
        "dataServices": {"source": "azure", "postgres": postgres},
        "secrets": {**GIVEN, **(secrets or {})},
    }


def servers(recording: Recording) -> dict[str, Resource]:
    found = [each for each in recording.of_type("Server") if each.custom]
    return {each.inputs["serverName"].rpartition("-")[2]: each for each in found}


def mek(**jwk: Any) -> str:
    key = {"k": KEY, "kid": "key1", "kty": "oct", **jwk}
    return yaml.safe_dump({"currentMek": "key1", "meks": {"key1": base64.b64encode(json.dumps(key).encode()).decode()}})


def fire(recording: Recording, ends: str, old: Any = None, new: Any = None) -> None:
    (hook,) = (hook for name, hook in recording.resource_hooks.items() if name.endswith(ends))
    assert hook.opts is not None
    assert hook.opts.on_dry_run, "a preview would not refuse it"

    async def run() -> None:
        answer = hook(pulumi.ResourceHookArgs("urn", "", "name", "type", new_inputs=new, old_inputs=old))
        if answer is not None:
            await answer

    asyncio.run(run())


def test_the_database_of_a_point_in_time_is_a_second_server_that_osmo_then_uses(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", restoring())
    found = servers(recording)
    assert len(found) == 2
    restored = found.pop("20261120080000")
    (first,) = found.values()
    assert restored.inputs["createMode"] == "PointInTimeRestore"
    assert restored.inputs["pointInTimeUTC"] == AT
    assert first.inputs["serverName"] in restored.inputs["sourceServerResourceId"]
    assert "createMode" not in first.inputs
    host = released(recording).inputs["values"]["services"]["postgres"]["serviceName"]
    assert restored.inputs["serverName"] in host
    databases = [each for each in recording.of_type("Database") if "databaseName" in each.inputs]
    assert len([each for each in databases if "postgresql" in each.type]) == 1, "a restored server has its database"


def test_a_restore_changes_neither_the_key_nor_the_password(simulate: Simulate) -> None:
    before, after = simulate("dev-westus2", PLATFORM), simulate("dev-westus2", restoring())
    for kind in ("RandomBytes", "RandomPassword"):
        assert [each.name for each in before.of_type(kind)] == [each.name for each in after.of_type(kind)]
    keys = [in_control_plane(each, "Secret")[MEK_SECRET_NAME].inputs["stringData"] for each in (before, after)]
    assert keys[0] == keys[1]


@pytest.mark.deep  # in `make test`: the restored server above
def test_azure_restores_a_server_without_a_standby(simulate: Simulate) -> None:
    def mode(recording: Recording) -> str:
        return servers(recording)["20261120080000"].inputs["highAvailability"]["mode"]

    assert mode(simulate("dev-westus2", restoring(prod=True))) == "Disabled"
    assert mode(simulate("dev-westus2", restoring(prod=True, standby=True))) == "ZoneRedundant"


def test_a_time_without_a_backup_is_refused_in_a_preview(simulate: Simulate) -> None:
    for at in ("2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"):
        with pytest.raises(pulumi.RunError, match=at):
            fire(simulate("dev-westus2", restoring(at=at)), "-time")


@pytest.mark.deep  # in `make test`: the key of a restored database below
def test_a_database_of_another_stack_needs_its_key(simulate: Simulate) -> None:
    with pytest.raises(pulumi.RunError, match="osmoMek"):
        simulate("dev-westus2", restoring(source=ELSEWHERE))
    recording = simulate("dev-westus2", restoring({"osmoMek": mek()}, source=ELSEWHERE))
    (only,) = servers(recording).values()
    assert only.inputs["sourceServerResourceId"] == ELSEWHERE


@pytest.mark.parametrize("text", ["nonsense", "currentMek: a", mek(k="AAAA"), mek(kty="RSA"), f"currentMek: {KEY}"])
def test_a_key_that_the_service_cannot_read_is_refused_and_not_shown(simulate: Simulate, text: str) -> None:
    with pytest.raises(pulumi.RunError, match=r"physical-ai:secrets\.osmoMek\n  osmo-key") as caught:
        simulate("dev-westus2", {**PLATFORM, "secrets": {**GIVEN, "osmoMek": text}})
    assert KEY not in str(caught.value)


def test_another_key_for_a_filled_database_is_refused_in_a_preview(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", PLATFORM)

    def kept(value: str) -> dict[str, Any]:
        return {"properties": {"value": value}}

    fire(recording, "-mek-kept", kept("one"), kept("one"))
    with pytest.raises(pulumi.RunError, match=r"secrets\.osmoMek") as caught:
        fire(recording, "-mek-kept", kept("the-first"), kept("the-second"))
    assert "the-" not in str(caught.value).replace("the-key-of-the-database", "")


def test_osmo_is_upgraded_and_not_downgraded(simulate: Simulate) -> None:
    old = simulate("dev-westus2", {**PLATFORM, "osmo": {**PLATFORM["osmo"], "imageTag": "6.3.0"}})
    assert released(old).inputs["values"]["global"]["osmoImageTag"] == "6.3.0"
    newer = {"values": {"global": {"osmoImageTag": "6.3.1"}}}
    with pytest.raises(pulumi.RunError, match="osmo-downgrade"):
        fire(old, "control-plane-upgrade", newer)
    fire(simulate("dev-westus2", PLATFORM), "control-plane-upgrade", {"values": {"global": {"osmoImageTag": "6.3.0"}}})


def test_after_a_restore_the_token_is_looked_at_again_and_the_agents_start_again() -> None:
    def planned(settings: dict[str, Any]) -> tuple[str, Any]:
        given = {key: value for key, value in settings.items() if key != "secrets"}
        loaded = load("dev-westus2", [Overlay("test", given)])
        objects = osmo_token_objects(loaded.settings)
        assert objects is not None
        annotations = loaded.plan.osmo[1].values["services"]["backendWorker"]["extraPodAnnotations"]
        return objects.job["metadata"]["name"], annotations

    (job, before), (other, after) = planned(PLATFORM), planned(restoring())
    assert job != other
    assert before != after


@pytest.mark.parametrize(
    ("restore", "path"),
    [
        ({"at": "2026-02-31T08:00:00Z"}, "at"),
        ({"at": "yesterday"}, "at"),
        ({"standby": True}, "standby"),
        ({"source": "psql-old"}, "source"),
    ],
)
def test_a_restore_that_cannot_be_is_refused_while_loading(restore: dict[str, Any], path: str) -> None:
    given = {key: value for key, value in restoring(**restore).items() if key != "secrets"}
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay("test", given)])
    assert [fault.where for fault in caught.value.faults] == [f"dataServices.postgres.restore.{path}"]
