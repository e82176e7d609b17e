"""Disks of a simulated cluster: the volume of a claim, and what the driver refuses."""

from __future__ import annotations

from typing import Any

from simulator.volumes import classes, definitions, refusal, volume

SOURCE = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}


def claim(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "osmo-postgres", "namespace": "osmo-control-plane", "uid": "u"}
    given = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "32Gi"}}}
    return {"metadata": metadata, "spec": {**given, "storageClassName": "default", **spec}}


def test_a_volume_is_as_large_as_its_claim_and_bound_to_it() -> None:
    spec = volume(claim())["spec"]
    assert spec["capacity"] == {"storage": "32Gi"}
    assert (spec["claimRef"]["uid"], spec["persistentVolumeReclaimPolicy"]) == ("u", "Delete")


def test_a_volume_of_a_snapshot_needs_one_that_is_complete() -> None:
    key = ("osmo-control-plane", "s")
    assert refusal(claim(), {}) == ""
    assert "not found" in refusal(claim(dataSource=SOURCE), {})
    assert "not Ready" in refusal(claim(dataSource=SOURCE), {key: {"status": {"readyToUse": False}}})
    assert refusal(claim(dataSource=SOURCE), {key: {"status": {"readyToUse": True}}}) == ""


def test_one_class_is_the_default_and_each_waits_for_a_pod() -> None:
    defaults = [each["metadata"]["name"] for each in classes() if each["metadata"]["annotations"]]
    assert defaults == ["default"]
    assert {each["volumeBindingMode"] for each in classes()} == {"WaitForFirstConsumer"}


def test_snapshots_are_of_the_kinds_that_aks_has() -> None:
    names = {each["spec"]["names"]["plural"]: each["spec"]["scope"] for each in definitions()}
    assert names == {"volumesnapshots": "Namespaced", "volumesnapshotclasses": "Cluster"}
