"""Faults end by what somebody on call does: deletes a Pod, restarts or replaces the machine, ends the job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

import pytest

from physical_ai.catalog.node_causes import cause_of_alert
from physical_ai.catalog.telemetry_rows import xids
from simulator.cluster.names import BOOTS, GPU
from simulator.cluster.objects import annotations_of
from simulator.faults import ANNOTATION, Fault, Injected, faults, injected, node_faults
from simulator.faults.ending import Happened, after, ends_with_jobs
from simulator.faults.record import annotation
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.live.kubelet import Kubelet, Surroundings
from tests.support.gpu_hardware import h100
from tests.support.gpu_model import gpu_model

PLUGIN, EXPORTER = "nvidia-device-plugin-daemonset", "nvidia-dcgm-exporter"
ALL = pytest.mark.parametrize("row", faults().values(), ids=lambda row: row.name)
Json = dict[str, Any]


@ALL
@pytest.mark.parametrize("happened", ["job", "reboot"])
def test_what_is_not_said_to_end_a_fault_leaves_it(row: Fault, happened: Happened) -> None:
    held = (Injected(row.name, 0, 1.0),)
    left = after(held, happened)
    assert (left == ()) is (happened in row.ends)
    assert left in ((), held) or happened in row.over


@ALL
def test_broken_hardware_survives_everything_but_another_machine(row: Fault) -> None:
    """Those whose Xid or alert advises to replace the machine, or nothing."""
    of_gpus = {"xid-64", "thermal", "ecc-sbe", "remap-failed", "pcie-replays"}
    replaced = {*of_gpus, "infiniband-cable", "spot-eviction"}
    assert (not row.ends) is (row.name in replaced)


@ALL
def test_a_pod_ends_the_faults_of_its_own_containers(row: Fault) -> None:
    held = (Injected(row.name, 0, 1.0),)
    assert after(held, "pod", ["another"]) == held
    for container in row.effects.broken:
        assert (after(held, "pod", [container]) == ()) is ("pod" in row.ends)


def test_a_gpu_whose_xid_is_over_is_offered_again_when_the_device_plugin_starts_again() -> None:
    """And not before (NVIDIA/k8s-device-plugin#1014)."""
    (left,) = after((Injected("xid-94", 1, 1.0),), "job")
    found = node_faults({"metadata": {"annotations": {ANNOTATION: annotation([left]) or ""}}})
    assert (found.unhealthy, found.of_gpu(1)) == ({1}, [])
    assert after((left,), "job") == (left,)
    assert after((left,), "pod", ["nvidia-dcgm-exporter"]) == (left,)
    assert after((left,), "pod", ["nvidia-device-plugin"]) == ()
    # A GPU that is broken is marked again.
    broken = (Injected("xid-79", 1, 1.0),)
    assert after(broken, "pod", ["nvidia-device-plugin"]) == broken


def test_only_faults_of_jobs_ask_for_jobs() -> None:
    assert ends_with_jobs([Injected("idle-job", 0, 1.0)])
    assert not ends_with_jobs([Injected("xid-79", 0, 1.0), Injected("xid-94", 0, 1.0, over=True)])


class Field:
    """As much of a cluster as one kubelet needs."""

    def __init__(self) -> None:
        self.item: Json = {"kind": "Node", "metadata": {"name": "h", "uid": "n", "annotations": {}, "labels": {}}}
        self.jobs: list[Json] = []
        place = gpu_model()
        place.join("h", h100())
        place.wait()
        self.item["metadata"]["labels"] = dict(place.labels("h"))
        self._daemonsets = {key: each for key, each in place.state.daemonsets.items() if key in place.nodes["h"].pods}
        self.uids = dict.fromkeys(self._daemonsets, "1")
        self.kubelet = Kubelet(cast("Cluster", self), self.item, h100(), "v26.7.0")
        self.round()

    # The cluster's part

    def pods_on(self, node: str) -> list[Json]:
        del node
        return self.jobs

    def annotate(self, item: Json, changes: Json) -> None:
        held = item["metadata"]["annotations"]
        held |= changes
        for key in [key for key, value in held.items() if value is None]:
            del held[key]

    def label(self, item: Json, changes: Json) -> None:
        item["metadata"]["labels"] |= changes

    def patch(self, item: Json, body: Json, kind: str = "", sub: str = "") -> None:
        if item["kind"] == "Node" and sub:
            item.setdefault("status", {}).update(body["status"])

    def apply(self, item: Json) -> None: ...

    def all(self, kind: str) -> Sequence[Json]:
        del kind
        return []

    # What people do

    def round(self) -> None:
        pods = {key: self._pod(key, uid) for key, uid in self.uids.items()}
        for _ in range(3):
            self.kubelet.run(self.item, Surroundings("v26.7.0", driver_in_cluster=True), pods, 600.0, 0.0)

    def inject(self, fault: str) -> None:
        boot = "b1" if faults()[fault].effects.reboots else ""
        held = annotation([*injected(self.item), Injected(fault, 0, 1.0, boot=boot)])
        self.annotate(self.item, {ANNOTATION: held, **({BOOTS: boot} if boot else {})})
        self.round()

    def delete_pod(self, daemonset: str) -> None:
        self.uids[daemonset] += "1"
        self.round()

    def reboot(self) -> None:
        self.annotate(self.item, {BOOTS: json.dumps(annotations_of(self.item))})
        self.round()

    @property
    def gpus(self) -> str:
        return self.item["status"]["allocatable"].get(GPU, "0")

    def _pod(self, daemonset: str, uid: str) -> Json:
        template = self._daemonsets[daemonset]["spec"]["template"]
        owner = {"kind": "DaemonSet", "name": daemonset}
        metadata = {**template["metadata"], "name": daemonset, "namespace": "gpu-operator", "uid": f"{daemonset}-{uid}"}
        return {"kind": "Pod", "metadata": {**metadata, "ownerReferences": [owner]}, "spec": template["spec"]}


@pytest.fixture
def field() -> Field:
    made = Field()
    assert made.gpus == "1"
    return made


@pytest.mark.parametrize("fault", ["xid-79", "driver-gone", "plugin-stuck", "reboot-race", "xid-94"])
def test_a_restart_brings_the_gpu_back(field: Field, fault: str) -> None:
    field.inject(fault)
    assert field.gpus == "0"
    field.reboot()
    assert (field.gpus, injected(field.item)) == ("1", ())


def test_a_broken_gpu_stays_broken_after_a_restart(field: Field) -> None:
    field.inject("xid-64")
    field.reboot()
    assert (field.gpus, [each.fault for each in injected(field.item)]) == ("0", ["xid-64"])


@pytest.mark.parametrize(
    ("fault", "daemonset"),
    [
        ("plugin-stuck", PLUGIN),
        ("xid-94", PLUGIN),
        ("exporter-dead", EXPORTER),
        ("reboot-race", "nvidia-container-toolkit-daemonset"),
    ],
)
def test_a_deleted_pod_ends_its_own_fault_and_no_other(field: Field, fault: str, daemonset: str) -> None:
    field.inject("xid-64")
    field.inject(fault)
    field.delete_pod("gpu-feature-discovery")
    assert [each.fault for each in injected(field.item)] == ["xid-64", fault]
    field.delete_pod(daemonset)
    assert [each.fault for each in injected(field.item)] == ["xid-64"]


def test_a_job_that_ends_takes_its_faults_with_it(field: Field) -> None:
    field.jobs = [
        {
            "metadata": {"uid": "j"},
            "spec": {"containers": [{"resources": {"limits": {GPU: "1"}}}]},
            "status": {"phase": "Running"},
        }
    ]
    field.inject("xid-13")
    field.inject("xid-94")
    assert (field.gpus, field.kubelet.looks_at_jobs) == ("0", True)
    field.jobs[0]["status"]["phase"] = "Failed"
    field.round()
    (left,) = injected(field.item)
    assert (left.fault, left.over, field.gpus, field.kubelet.looks_at_jobs) == ("xid-94", True, "0", False)
    field.delete_pod(PLUGIN)
    assert (field.gpus, injected(field.item)) == ("1", ())


@ALL
def test_what_is_advised_about_a_fault_ends_it(row: Fault) -> None:
    """The remedies of its alerts and of its Xid. A new machine ends every fault; some advice is to do nothing."""
    remedies = {cause.remedy for alert in row.alerts if (cause := cause_of_alert(alert)) is not None and cause.remedy}
    repaired = "reboot" in row.ends or "replace" in remedies or (row.effects.xid and "replace" in _of_xid(row))
    assert repaired or not remedies or row.ends, remedies


def _of_xid(row: Fault) -> str:
    return xids()[row.effects.xid].advice
