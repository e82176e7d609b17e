"""Settings of data services in the cluster: what they lead to, and which cannot work."""

from __future__ import annotations

from typing import Any

import pytest

from parts.in_cluster_data.facts import in_cluster, volumes, volumes_in_use
from parts.in_cluster_data.plan import cache_config
from physical_ai.settings import Fault, Overlay, Settings, SettingsError, load
from tests.support.cases import in_one_test
from tests.unit.settings.test_osmo_access import ACCESS
from workbench.costs import estimate

DEV, PROD = "dev-westus2", "prod-westus2"


def document(given: dict[str, Any], **more: Any) -> dict[str, Any]:
    data = {"source": "inCluster", "inCluster": given, **more}
    return {"dataServices": data, "osmo": {"mode": "platform", "access": ACCESS}}


def settings(given: dict[str, Any], stack: str = DEV) -> Settings:
    return load(stack, [Overlay("test", document(given))]).settings


def refused(overlay: dict[str, Any], stack: str = DEV) -> list[Fault]:
    with pytest.raises(SettingsError) as caught:
        load(stack, [Overlay("test", overlay)])
    return list(caught.value.faults)


def test_a_stack_has_them_only_with_a_control_plane() -> None:
    assert in_cluster(settings({})) is not None
    without = load(DEV, [Overlay("test", {"dataServices": {"source": "inCluster"}})])
    assert in_cluster(without.settings) is None
    assert any("left out" in fault.problem for fault in without.warnings)


def test_managed_services_do_not_use_the_section() -> None:
    given = {"dataServices": {"source": "azure", "inCluster": {"keyGeneration": 2}}}
    assert any("Azure's" in fault.problem for fault in load(DEV, [Overlay("test", given)]).warnings)


def test_the_last_restore_is_in_use_and_no_volume_disappears() -> None:
    first, later = settings({}), settings({"restores": ["20261120-0217", "20261121-0217"]})
    before, after = in_cluster(first), in_cluster(later)
    assert before is not None
    assert after is not None
    assert {each.name for each in volumes(before)} < {each.name for each in volumes(after)}
    assert volumes_in_use(after)["osmo-cache"].name == "osmo-cache-20261121-0217"


PLACE = "dataServices.inCluster"


@in_one_test(
    ("given", "place", "part"),
    [
        ({"storageClass": "azurefile-csi"}, f"{PLACE}.storageClass", "file shares"),
        ({"storageClass": "longhorn"}, f"{PLACE}.snapshots.className", "class of its own driver"),
        ({"storageClass": "Big Disks"}, f"{PLACE}.storageClass", "name of a class"),
        ({"cache": {"memoryGb": 8}}, f"{PLACE}.cache.storageGb", "writes its data of up to 8 GiB again"),
        ({"snapshots": {"enabled": False}, "restores": ["20261120-0217"]}, f"{PLACE}.snapshots.enabled", "no"),
        ({"restores": ["yesterday"]}, f"{PLACE}.restores[0]", "20261123-0217"),
        ({"restores": ["20261120-0217"] * 2}, f"{PLACE}.restores", "twice"),
        ({"snapshots": {"schedule": "daily"}}, f"{PLACE}.snapshots.schedule", "schedule"),
        ({"storage": {"storageGb": 32}}, f"{PLACE}.storage.storageGb", "64"),
        ({"registry": "https://hub"}, f"{PLACE}.registry", "registry"),
        ({"highAvailability": True}, f"{PLACE}.highAvailability", ""),
    ],
)
def test_what_cannot_work_is_reported_at_its_setting(given: dict[str, Any], place: str, part: str) -> None:
    (fault,) = refused(document(given))
    assert fault.where == place
    assert part in f"{fault.problem} {fault.fix}"


def test_production_has_to_accept_one_pod_and_to_keep_snapshots() -> None:
    faults = refused(document({"snapshots": {"enabled": False}}), PROD)
    assert {fault.where for fault in faults} == {f"{PLACE}.acceptOnePod", f"{PLACE}.snapshots.enabled"}
    accepted = settings({"acceptOnePod": True}, PROD)
    assert in_cluster(accepted) is not None


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("postgres", {"highAvailability": "zoneRedundant"}),
        ("redis", {"highAvailability": True}),
        ("storage", {"redundancy": "ZRS"}),
        ("vault", {"retentionDays": 30}),
        ("registry", {"upstreams": ["nvcr.io"]}),
    ],
)
def test_settings_of_managed_services_are_refused(section: str, value: dict[str, Any]) -> None:
    (fault,) = refused(document({}, **{section: value}))
    assert fault.where == f"dataServices.{section}"
    assert "managed service" in fault.problem


def test_other_clusters_cannot_use_a_storage_that_only_this_one_reaches() -> None:
    given = document({})
    given["osmo"]["backends"] = ["prod-swedencentral"]
    assert "osmo.backends" in {fault.where for fault in refused(given)}


def test_their_disks_are_named_as_costs() -> None:
    found = estimate(settings({"snapshots": {"keep": 3}}))
    named = [each.what for each in (*found.services, *found.not_counted)]
    assert "disks of data services in the cluster: 3, of 296 GiB together" in named
    assert "snapshots of the data services' disks, 3 of each: per GB that differs from the one before" in named
    assert not [what for what in named if "PostgreSQL" in what]


def test_the_cache_leaves_room_for_itself() -> None:
    given = in_cluster(settings({"cache": {"memoryGb": 2}}))
    assert given is not None
    assert "maxmemory 1536mb\n" in cache_config(given, "word")
