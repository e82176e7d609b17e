"""Exporters of a cluster keep what a process keeps: counters and Xids, until the Pod or the machine starts again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from physical_ai.telemetry.counters import csv_for
from simulator.faults import NO_FAULTS, Injected
from simulator.faults.record import together
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.live.grid import GridAgents
from simulator.gpu.live.kubelets import Kubelets
from simulator.metrics import exporters
from simulator.metrics.exporters import Exporters
from tests.support.gpu_hardware import h100

EXPORTER = "nvidia-dcgm-exporter"
REMEMBERED = 'health_watch="ALL",health_error_code="DCGM_FR_UNCONTAINED_ERROR"} 20'
"""What DCGM says of a GPU of which it has seen Xid 95."""


class Machine:
    """One GPU node with an exporter that works."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.uid = "pod-1"
        running = SimpleNamespace(ready=True, workload=SimpleNamespace(main=EXPORTER))
        state = SimpleNamespace(
            pods={EXPORTER: running},
            hardware=h100(),
            release="v26.7.0",
            faults=NO_FAULTS,
            collectors=csv_for("v26.7.0"),
            containerd_dead="",
        )
        self.kubelet: Any = SimpleNamespace(boots="", state=state)
        watch = SimpleNamespace(synced=SimpleNamespace(wait=lambda _: True), all=self.pods)
        patch.setattr(exporters, "Watch", lambda *_: watch)
        patch.setattr(exporters, "_is_shared", lambda _: False)
        patch.setattr(exporters, "pod_version", lambda _: "595.91.07")
        self.exporters = Exporters(
            cast("Cluster", SimpleNamespace(client=None)),
            cast("Kubelets", SimpleNamespace(of=lambda _: self.kubelet)),
            cast("GridAgents", None),
            dict,
        )

    def pods(self) -> list[dict[str, Any]]:
        owner = {"kind": "DaemonSet", "name": EXPORTER}
        metadata = {"name": "e", "namespace": "gpu-operator", "uid": self.uid, "ownerReferences": [owner]}
        return [{"metadata": metadata, "spec": {"nodeName": "h", "containers": [{"name": EXPORTER}]}}]

    def page(self) -> str:
        return self.exporters.answer("/pods/gpu-operator/e/metrics", "").text


@pytest.mark.parametrize("restarted", ["pod", "machine"])
def test_dcgm_remembers_an_xid_until_its_process_ends(restarted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    machine.kubelet.state.faults = together((Injected("xid-95", 0, 1.0),))
    assert REMEMBERED in machine.page()
    machine.kubelet.state.faults = NO_FAULTS
    assert REMEMBERED in machine.page()
    if restarted == "pod":
        machine.uid = "pod-2"
    else:
        machine.kubelet.boots = "boot-2"
    assert "DCGM_EXP_GPU_HEALTH_STATUS" in machine.page()
    assert REMEMBERED not in machine.page()
