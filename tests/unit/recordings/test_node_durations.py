"""Durations of the steps of GPU nodes in a recording: planted ones are found, for their pool, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.recorded_cluster import AT, STACK
from tests.unit.recordings.test_recording_timings import NODE, at, true
from workbench.recordings.form import Entry
from workbench.recordings.making import head, made
from workbench.recordings.node_durations import node_durations
from workbench.recordings.reading import Recording

USUAL = {"waits": 0.0, "asked": 1.0, "created": 3.0, "ready": 4.0, "labelled": 4.5, "driver": 9.0, "toolkit": 10.0,
         "plugin": 11.5}  # fmt: skip


def pod(name: str, created: float, ready: float, **more: Any) -> dict[str, Any]:
    statuses = [{"name": "c", "restartCount": more.pop("restarts", 0)}]
    return {
        "metadata": {
            "name": name,
            "namespace": more.pop("namespace", "gpu-operator"),
            "creationTimestamp": at(created),
        },
        "spec": {"nodeName": NODE, "containers": [{"name": "c", "image": "i"}]},
        "status": {"conditions": true("Ready", ready), "containerStatuses": statuses},
    }


def recording(*, restarts: int = 0, pulled: str = "1m30.5s", with_driver: bool = True, **times: float) -> Recording:
    t = {**USUAL, **times}
    node = {"metadata": {"name": NODE, "labels": {"agentpool": "h100gpu"}, "creationTimestamp": at(t["created"])},
            "spec": {}, "status": {"conditions": true("Ready", t["ready"])}}  # fmt: skip
    pods = [
        *([pod("nvidia-driver-daemonset-x", t["labelled"], t["driver"], restarts=restarts)] if with_driver else []),
        pod("nvidia-container-toolkit-daemonset-y", t["labelled"], t["toolkit"]),
        pod("nvidia-device-plugin-daemonset-z", t["labelled"], t["plugin"]),
        pod("train-0", t["waits"], 20, namespace="osmo-workflows"),
    ]
    scaled = {"metadata": {"name": "e", "namespace": "osmo-workflows"}, "reason": "TriggeredScaleUp",
              "firstTimestamp": at(t["asked"]),
              "involvedObject": {"kind": "Pod", "name": "train-0", "namespace": "osmo-workflows"},
              "message": "pod triggered scale-up: [{aks-h100gpu-19345786-vmss 0->1 (max: 4)}]"}  # fmt: skip
    image = {"metadata": {"name": "f", "namespace": "osmo-workflows"}, "reason": "Pulled", "firstTimestamp": at(15),
             "involvedObject": {"kind": "Pod", "name": "train-0", "namespace": "osmo-workflows"},
             "message": f'Successfully pulled image "r/i:1" in {pulled} ({pulled} including waiting). Image size: 9 bytes.'}  # fmt: skip  # noqa: E501 - the kubelet's message
    lists = {"/api/v1/events": [scaled, image], "/api/v1/nodes": [node], "/api/v1/pods": pods}
    entries: list[Entry] = [
        head(STACK, AT, "t", simulated=False),
        *({"kind": "list", "path": path, "items": items} for path, items in lists.items()),
    ]
    return Recording(Path("it.gz"), made(entries))


def found(**times: Any) -> dict[str, float]:
    durations = node_durations(recording(**times))
    assert {pool for pool, _ in durations} == {"h100gpu"}
    return {step: minutes[0] for (_, step), minutes in durations.items()}


def test_each_step_has_the_time_between_its_beginning_and_its_end() -> None:
    assert found() == {"autoscaler": 1.0, "node": 3.0, "labels": 0.5, "driver": 4.5, "toolkit": 1.0, "plugin": 1.5,
                       "image": 1.5}  # fmt: skip


def test_one_longer_step_is_found_and_the_later_ones_stay() -> None:
    assert found(driver=15, toolkit=16, plugin=17.5) == {**found(), "driver": 10.5}


def test_a_node_with_the_driver_in_its_image_has_no_such_step() -> None:
    assert "driver" not in found(with_driver=False)


def test_a_driver_that_was_restarted_says_nothing_about_the_first_start() -> None:
    assert set(found(restarts=1)) == {"autoscaler", "node", "image"}


@pytest.mark.parametrize(("text", "minutes"), [("850ms", 0.0), ("12.3s", 0.2), ("1m30.5s", 1.5), ("1h2m", 62.0)])
def test_the_kubelets_durations_are_read(text: str, minutes: float) -> None:
    assert found(pulled=text)["image"] == minutes
