"""Another driver in place, node by node, on a real API server beside the operator's model: no work is ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from physical_ai.planning.plan import make_plan
from physical_ai.readiness.reader import Missing, Unreachable
from physical_ai.settings import load
from simulator.cluster.objects import at
from simulator.kubernetes.client import JSON, MERGE_PATCH, ApiError
from tests.simulator.test_driver_upgrades import (
    SETTINGS,
    TASK,
    change_driver,
    gpu_pod,
    has_newer,
    started,
    state,
)
from tests.support.simulated_cluster import SimulatedCluster
from tests.support.waiting import remains, until
from workbench.cli.rolls import Run, World, advance
from workbench.moves.progress import Limits
from workbench.rolls.deciding import Patience, Step
from workbench.rolls.marks import mark_of

pytestmark = pytest.mark.deep


PODS = "/api/v1/namespaces/default/pods"
"""Path of Pods that are work: those in the operator's own namespace are not."""


class Killed(BaseException):
    """The end of a process, at any of its writes."""


@dataclass
class Writes:
    """Client of the cluster that ends the process after a number of writes, and acceptance without programs."""

    cluster: SimulatedCluster
    left: int = 10**6
    unproved: set[str] = field(default_factory=set[str])

    def send(self, method: str, path: str, parameters: Any, body: Any = None) -> Any:
        if method != "GET":
            self.left -= 1
            if self.left < 0:
                raise Killed
        try:
            kind = MERGE_PATCH if method == "PATCH" else JSON
            return self.cluster.client.request(method, path, body, parameters, kind)
        except ApiError as refusal:
            if refusal.code == 404:
                raise Missing(str(refusal)) from None
            raise Unreachable(f"{refusal.code} {refusal}", refusal.code) from None

    def go(self, **options: Any) -> Step:
        """One run of the command."""
        accepted = self.accepted

        class Proved(World):
            def accepted(self, node: str, level: Any) -> list[str]:
                del level
                return accepted(node)

        world = Proved(self.send, SETTINGS, load("dev-westus2"), simulated=True)
        patience = Patience(Limits(3600.0), 600)
        return advance(Run(world, "h100gpu", patience, **{"max_wait": 0.0, **options}), lambda step: None)

    def dies(self) -> bool:
        """One run of the command. Returns True if it is killed."""
        try:
            self.go()
        except Killed:
            return True
        return False

    def accepted(self, node: str) -> list[str]:
        assert state(self.cluster, node) == ("upgrade-done", True), "a node is proved while it takes work"
        return ["vector-add: no device"] if node in self.unproved else []

    def until(self, outcome: str, **options: Any) -> Step:
        return until(lambda: step if (step := self.go(**options)).outcome == outcome else None, f"never {outcome}")


def phase(cluster: SimulatedCluster, name: str) -> str:
    return str(at(cluster.client.get(f"{PODS}/{name}"), "status.phase", ""))


def run(cluster: SimulatedCluster, name: str, pod: dict[str, Any]) -> str:
    """Starts a Pod; returns its uid once it runs."""
    made = cluster.client.request("POST", PODS, {**pod, "metadata": {"name": name, **pod["metadata"]}})
    until(lambda: phase(cluster, name) == "Running", f"{name} does not run")
    return str(made["metadata"]["uid"])


def phases(cluster: SimulatedCluster, nodes: list[str]) -> list[str]:
    found = [mark_of(cluster.node(each)) for each in nodes]
    return [mark.phase if mark else "" for mark in found]


def test_it_is_killed_at_every_write_and_waits_for_the_task(cluster: SimulatedCluster) -> None:
    nodes = started(cluster, 3)
    client = Writes(cluster)
    assert client.go().outcome == "held"
    uid = run(cluster, "task", gpu_pod(nodes[0], TASK))
    change_driver(cluster)
    held = ("upgrade-required", False)
    until(lambda: all(state(cluster, each) == held for each in nodes), "the operator has not seen the driver")
    remains(lambda: all(state(cluster, each) == held for each in nodes), "a held node is upgraded")
    for kill in range(1, 4):
        client.left = kill
        until(
            client.dies,
            f"the process does not make {kill + 1} writes",
            state=lambda: [cluster.node(each) for each in nodes],
        )
        assert phase(cluster, "task") == "Running"
    client.left = 10**6
    until(lambda: phases(cluster, nodes)[0] == "emptying" or client.go().outcome == "done", "no turn of the last node")
    assert all(has_newer(cluster, each) for each in nodes[1:])
    assert state(cluster, nodes[0]) == ("upgrade-required", True)
    assert cluster.client.get(f"{PODS}/task")["metadata"]["uid"] == uid
    cluster.client.patch(f"{PODS}/task/status", {"status": {"phase": "Succeeded"}}, MERGE_PATCH)
    client.until("done")
    assert all(has_newer(cluster, each) for each in nodes)
    assert phases(cluster, nodes) == ["", "", ""]


def test_the_second_node_fails_and_a_cordoned_one_is_left_alone(cluster: SimulatedCluster) -> None:
    first, second, third, fourth = nodes = started(cluster, 4)
    client = Writes(cluster, unproved={second})
    assert client.go().outcome == "held"
    cluster.client.patch(f"/api/v1/nodes/{fourth}", {"spec": {"unschedulable": True}}, MERGE_PATCH)
    change_driver(cluster)
    until(lambda: state(cluster, third)[0] == "upgrade-required", "the operator has not seen the driver")
    step = client.until("stopped", max_wait=300.0)
    assert step.node == second
    assert "vector-add: no device" in step.says
    assert has_newer(cluster, first)
    assert state(cluster, second) == ("upgrade-done", True)
    untouched = [("upgrade-required", False), ("upgrade-required", True)]
    remains(lambda: [state(cluster, each) for each in (third, fourth)] == untouched, "another node is upgraded")
    client.unproved = set()
    left = client.until("left", retry=True, max_wait=300.0)
    assert f"{fourth} (somebody else has cordoned it)" in left.says
    assert all(has_newer(cluster, each) for each in nodes[:3])
    assert at(cluster.node(fourth), "spec.unschedulable") is True


def toolkit(cluster: SimulatedCluster, node: str) -> tuple[str, str]:
    """Name and image of the toolkit's Pod on a node."""
    pods = cluster.pods(node).values()
    (pod,) = [each for each in pods if each["metadata"]["name"].startswith("nvidia-container-toolkit-daemonset")]
    return pod["metadata"]["name"], pod["spec"]["containers"][0]["image"]


def test_operands_of_another_release_get_their_turn_with_the_node(cluster: SimulatedCluster) -> None:
    def on_delete(values: dict[str, Any]) -> None:
        values["daemonsets"] = {**values["daemonsets"], "updateStrategy": "OnDelete"}

    busy, idle = nodes = cluster.pool(SETTINGS, "h100gpu", 2)
    for node in nodes:
        cluster.label(node, **{"kubernetes.io/hostname": node})
    cluster.install(SETTINGS, on_delete)
    for node in nodes:
        until(lambda node=node: cluster.gpus(node) == {"nvidia.com/gpu": 1}, f"no GPU on {node}")
    run(cluster, "task", gpu_pod(busy, TASK))
    before = {node: toolkit(cluster, node) for node in nodes}
    values: dict[str, Any] = dict(make_plan(SETTINGS).gpu.values)
    on_delete(values)
    values["toolkit"] = {**values["toolkit"], "version": "v9.9.9"}
    cluster.helm_upgrade(SETTINGS.gpu_operator.version, values)
    client = Writes(cluster)
    until(lambda: client.go().node == busy, "the toolkit's change is not seen, or not rolled")
    assert toolkit(cluster, busy) == before[busy], "an operand was changed under running work"
    assert toolkit(cluster, idle)[1].endswith(":v9.9.9")
    cluster.client.patch(f"{PODS}/task/status", {"status": {"phase": "Succeeded"}}, MERGE_PATCH)
    client.until("done")
    assert toolkit(cluster, busy)[1].endswith(":v9.9.9")
