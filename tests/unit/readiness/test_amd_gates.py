"""Every known cause on nodes with AMD's GPUs, broken into a node that works: the diagnosis has to name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from parts.amd import names as amd
from physical_ai.readiness import Expected
from physical_ai.readiness.causes import amd_causes
from physical_ai.readiness.diagnosis import diagnose
from physical_ai.readiness.model import GATES, AmdObjects, Cluster
from physical_ai.repository import ROOT
from tests.support.cases import in_one_test

Json = dict[str, Any]
POOL = "kubernetes.azure.com/agentpool"
TOLERATION = {"key": "amd.com/gpu", "operator": "Exists"}


class World:
    """A node that works; each test breaks it."""

    def __init__(self) -> None:
        labels = {POOL: "mi300x", "agentpool": "mi300x", f"kmm.node.kubernetes.io/{amd.NAMESPACE}.mi300x.ready": ""}
        self.node: Json = {
            "metadata": {"name": "a", "labels": labels},
            "spec": {"taints": [{"key": "amd.com/gpu", "value": "present", "effect": "NoSchedule"}]},
            "status": {
                "allocatable": {"amd.com/gpu": "8"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        self.config: Json = {"metadata": {"name": "mi300x"}, "spec": {"selector": {POOL: "mi300x"}}}
        self.deployments = {key: {"status": {"availableReplicas": 1}} for key in (amd.CONTROLLER, amd.BUILDER)}
        template: Json = {"spec": {"tolerations": [TOLERATION], "nodeSelector": {POOL: "mi300x"}}}
        self.daemonset: Json = {"metadata": {"name": "mi300x-device-plugin"}, "spec": {"template": template}}
        self.pods: list[Json] = [self.pod("mi300x-device-plugin-x")]

    def pod(self, name: str, *, owner: str = "mi300x-device-plugin", phase: str = "Running") -> Json:
        ready = phase == "Running"
        return {
            "metadata": {"name": name, "ownerReferences": [{"kind": "DaemonSet", "name": owner}] if owner else []},
            "spec": {"nodeName": "a", "containers": [{"name": "main"}]},
            "status": {
                "phase": phase,
                "conditions": [{"type": "Ready", "status": str(ready)}],
                "containerStatuses": [{"name": "main", "ready": ready, "state": {}}],
            },
        }

    def unloaded(self, message: str = "") -> None:
        self.node["metadata"]["labels"].popitem()
        self.node["status"]["allocatable"] = {}
        if message:
            said = {"type": "Ready", "status": "False", "reason": "x", "message": message}
            self.config["status"] = {"conditions": [said]}

    def report(self) -> Any:
        deployments = [{"metadata": {"name": key}, **each} for key, each in self.deployments.items()]
        objects = AmdObjects([self.config] if self.config else [], [self.daemonset], deployments, self.pods)
        expected = Expected("mi300x", {"amd.com/gpu": 8}, "operator")
        (found,) = diagnose([expected], Cluster(nodes=[self.node], amd=objects))
        return found


def without_operator(world: World) -> None:
    world.unloaded()
    del world.deployments[amd.CONTROLLER]


def operator_down(world: World) -> None:
    world.unloaded()
    world.deployments[amd.CONTROLLER]["status"]["availableReplicas"] = 0


def without_config(world: World) -> None:
    world.unloaded()
    world.config = {}


def builder_down(world: World) -> None:
    world.unloaded()
    world.deployments[amd.BUILDER]["status"]["availableReplicas"] = 0


def building(world: World) -> None:
    world.unloaded()
    world.pods = [world.pod("mi300x-build-1", owner="")]


def untolerated(world: World) -> None:
    world.node["status"]["allocatable"] = {}
    world.node["spec"]["taints"].append({"key": "team", "value": "vision", "effect": "NoSchedule"})
    world.pods = []


def no_devices(world: World) -> None:
    world.node["status"]["allocatable"] = {"amd.com/gpu": "7"}


CASES: dict[str, tuple[str, Callable[[World], None]]] = {
    "amd-operator-absent": ("driver", without_operator),
    "amd-operator-down": ("driver", operator_down),
    "amd-config-absent": ("driver", without_config),
    "amd-config-refused": ("driver", lambda world: world.unloaded("overlapping selector: DeviceConfig default")),
    "amd-builder-down": ("driver", builder_down),
    "amd-registry-login": ("driver", lambda world: world.unloaded("cannot find secret amd-driver-registry")),
    "amd-build-failed": ("driver", lambda world: world.unloaded("build failed: unknown kernel")),
    "amd-building": ("driver", building),
    "amd-untolerated": ("device-plugin", untolerated),
    "amd-no-devices": ("allocatable", no_devices),
}


def test_a_node_that_offers_its_gpus_is_ready_without_a_look_at_anything_else() -> None:
    assert World().report().state == "ready"


@in_one_test("cause", CASES)
def test_a_closed_gate_names_its_cause(cause: str) -> None:
    gate, broken = CASES[cause]
    world = World()
    broken(world)
    (closed,) = world.report().closed
    assert (closed.gate, closed.cause) == (gate, cause)
    assert closed.fix
    assert "{" not in closed.reason + closed.fix


def test_what_takes_time_is_no_fault() -> None:
    world = World()
    world.unloaded()
    (closed,) = world.report().closed
    assert (closed.gate, closed.cause, closed.may_recover) == ("driver", "", True)


def test_every_cause_has_a_case_and_is_in_the_page() -> None:
    assert set(CASES) == set(amd_causes())
    assert {gate for each in amd_causes().values() for gate in each.stages} <= set(GATES)
    page = (ROOT / "docs/amd.md").read_text()
    assert not [cause for cause in amd_causes() if f"`{cause}`" not in page]
