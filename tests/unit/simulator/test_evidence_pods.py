"""When the Pods that record machines make a record."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from physical_ai.catalog import vm_size
from simulator.cluster.names import BOOTS
from simulator.gpu.hardware import of_size
from simulator.gpu.live.evidence import EvidencePods
from simulator.gpu.node_state import Host, NodeState
from simulator.kubernetes.client import Unreachable

Json = dict[str, Any]


class World:
    """A cluster with one machine, and the boot ids of the records that are made of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.recorded: list[str] = []
        self.fails = False
        self.node: Json = {
            "metadata": {"name": "a", "annotations": {BOOTS: "1"}},
            "status": {"nodeInfo": {"bootID": "1"}},
        }
        pod: Json = {
            "metadata": {"uid": "p", "name": "p", "labels": {"app.kubernetes.io/name": "gpu-evidence-machine"}},
            "spec": {"nodeName": "a"},
            "status": {"phase": "Running"},
        }
        hardware = of_size(vm_size("Standard_NC40ads_H100_v5"))
        assert hardware is not None
        kubelet = SimpleNamespace(state=NodeState("v26.7.0", hardware, host=Host("580.173.02")))
        self._kubelets: Any = SimpleNamespace(of=lambda name: kubelet)
        cluster: Any = SimpleNamespace(nodes=[self.node], all=lambda kind: [pod] if kind == "Pod" else [])
        monkeypatch.setattr(EvidencePods, "_program", lambda *_: None)
        monkeypatch.setattr(EvidencePods, "_record", self._record)
        self._pods = EvidencePods(cluster)

    def _record(self, *_: object) -> None:
        if self.fails:
            raise Unreachable("no answer")
        self.recorded.append(self.node["status"]["nodeInfo"]["bootID"])

    def look(self) -> None:
        self._pods.run(self._kubelets)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_a_restart_is_recorded_with_its_boot_id_though_that_comes_after_the_annotation(world: World) -> None:
    world.look()
    world.node["metadata"]["annotations"][BOOTS] = "2"
    world.look()
    world.node["status"]["nodeInfo"]["bootID"] = "2"
    world.look()
    world.look()
    assert world.recorded == ["1", "2"]


def test_a_record_that_the_api_server_did_not_take_is_made_again(world: World) -> None:
    world.fails = True
    with pytest.raises(Unreachable):
        world.look()
    world.fails = False
    world.look()
    world.look()
    assert world.recorded == ["1"]
