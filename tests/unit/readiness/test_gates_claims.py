"""The gates of nodes whose GPUs are given by claims: devices in ResourceSlices, and no device plugin beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from physical_ai.readiness import ClosedGate, Expected, read_reports
from physical_ai.readiness.devices import devices, with_devices
from tests.support.readiness_objects import NODE, Situation, daemonset, pod

Json = dict[str, Any]
CLAIMED = Expected("h100gpu", {"gpu.nvidia.com": 1}, "operator")
PLUGIN = "dra-driver-nvidia-gpu-kubelet-plugin"


def slice_of(count: int, generation: int = 1) -> Json:
    device = {"attributes": {"type": {"string": "gpu"}}, "capacity": {"memory": {"value": "95830Mi"}}}
    return {
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": NODE,
            "pool": {"name": NODE, "generation": generation, "resourceSliceCount": 1},
            "devices": [{"name": f"gpu-{index}", **device} for index in range(count)],
        }
    }


def situation(published: int = 1) -> Situation:
    """A node of such a pool beside others: the validator waits for a device plugin that never comes."""
    given = Situation(expected=CLAIMED)
    given.node["status"] |= {"allocatable": {"cpu": "40"}, "capacity": {"cpu": "40"}}
    given.node = dict(with_devices([given.node], [slice_of(published)])[0]) if published else given.node
    given.labels["nvidia.com/gpu.deploy.device-plugin"] = "false"
    del given.pods["device-plugin"]
    plugin = daemonset("nfd")
    plugin["metadata"] = {"name": PLUGIN, "labels": {}}
    given.daemonsets["dra-driver"] = plugin
    running = pod("toolkit")
    running["metadata"] |= {"name": f"{PLUGIN}-x", "ownerReferences": [{"kind": "DaemonSet", "name": PLUGIN}]}
    given.pods["dra-driver"] = running
    validator = given.pods["validator"]
    validator["status"] |= {"phase": "Pending", "conditions": []}
    validator["status"]["initContainerStatuses"][-1] |= {"ready": False, "state": {"running": {}}}
    return given


def test_a_node_with_its_devices_is_ready_though_its_validator_waits() -> None:
    report = situation().report()
    assert (report.state, report.closed) == ("ready", ())
    assert report.allocatable == {"gpu.nvidia.com": 1}


def closed(given: Situation) -> ClosedGate:
    [gate] = given.report().closed
    return gate


def other_number() -> Situation:
    given = situation()
    given.expected = Expected("h100gpu", {"gpu.nvidia.com": 2}, "operator")
    return given


def offered_twice() -> Situation:
    given = situation()
    given.node["status"]["allocatable"]["nvidia.com/gpu"] = "1"
    return given


def device_plugin_starts() -> Situation:
    given = situation(published=0)
    given.pods["device-plugin"] = pod("device-plugin")
    given.labels["nvidia.com/gpu.deploy.device-plugin"] = "true"
    return given


def without_driver() -> Situation:
    given = situation(published=0)
    text = "nvidia-smi and libnvidia-ml.so.1 not found under /: has the NVIDIA GPU driver been set up?"
    given.pods["dra-driver"]["status"] |= {
        "phase": "Pending",
        "conditions": [],
        "initContainerStatuses": [
            {"name": "driver-validation", "ready": False, "state": {"waiting": {"reason": "Waiting", "message": text}}}
        ],
    }
    return given


OF_CLAIMS: list[tuple[str, str, Callable[[], Situation]]] = [
    ("allocatable", "other-devices", other_number),
    ("dra-driver", "two-allocators-left", offered_twice),
    ("dra-driver", "two-allocators", device_plugin_starts),
    ("dra-driver", "dra-driver-root", without_driver),
    ("dra-driver", "dra-driver-absent", lambda: situation(published=0).without("dra-driver", daemonset=True)),
]


@pytest.mark.parametrize(("gate", "cause", "broken"), OF_CLAIMS)
def test_a_cause_is_named(gate: str, cause: str, broken: Callable[[], Situation]) -> None:
    found = closed(broken())
    assert (found.gate, found.cause) == (gate, cause)
    assert "?" not in found.reason + found.fix.replace("installed?", "")


def test_no_slice_closes_the_gate() -> None:
    found = closed(situation(published=0))
    assert (found.gate, found.cause, found.may_recover) == ("allocatable", "", True)


def test_devices_of_an_older_generation_do_not_count() -> None:
    assert len(devices([slice_of(2, generation=1), slice_of(1, generation=2)])) == 1


@pytest.mark.parametrize(("expected", "reads"), [(CLAIMED, True), (Expected("h100gpu", {}, "operator"), False)])
def test_slices_are_read_only_where_a_pool_needs_them(expected: Expected, reads: bool) -> None:
    asked: list[str] = []

    def get(path: str, _: Any) -> Json:
        asked.append(path)
        return {"items": []}

    read_reports(get, [expected])
    assert any("resourceslices" in path for path in asked) is reads
