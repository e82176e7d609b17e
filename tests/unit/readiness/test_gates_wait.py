"""Waiting for gates: how often it polls, what it reports, and when it ends. Clock and cluster are fakes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from physical_ai.readiness import ClosedGate, Expected, Outcome, Report, Unreachable, Unusable, read_reports, text, wait
from physical_ai.readiness.reader import MAX_LOGS, Missing
from physical_ai.readiness.waiting import GATE_SECONDS_VARIABLE, bound_seconds

H100 = Expected("h100gpu", {"nvidia.com/gpu": 1}, "operator")


def closed(node: str = "a", gate: str = "driver", cause: str = "driver-building", **rest: Any) -> ClosedGate:
    return ClosedGate("h100gpu", node, gate, "It is being built.", cause, **rest)


def report(*gates: ClosedGate, nodes: int = 1) -> Report:
    state = "waiting" if gates else "ready" if nodes else "empty"
    count = {"nvidia.com/gpu": nodes}
    return Report("h100gpu", "operator", state, nodes, count, {} if gates else count, gates)


@dataclass
class Play:
    """Looks that find one thing after the other, the last one again and again."""

    found: list[Report | Exception]
    lines: list[str] = field(default_factory=list[str])
    looks: int = 0
    now: float = 0.0

    def look(self) -> tuple[Report, ...]:
        one = self.found[min(self.looks, len(self.found) - 1)]
        self.looks += 1
        if isinstance(one, Exception):
            raise one
        return (one,)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    def run(self, bound: float = 2700) -> Outcome:
        return asyncio.run(wait(self.look, bound, self.lines.append, sleep=self.sleep, clock=lambda: self.now))


def test_open_gates_end_the_wait_at_once_and_in_silence() -> None:
    play = Play([report()])
    assert play.run().is_open
    assert (play.looks, play.now, play.lines) == (1, 0, [])


def test_a_pool_without_nodes_is_open() -> None:
    assert Play([report(nodes=0)]).run().is_open


def test_a_bound_of_zero_reads_once() -> None:
    play = Play([report(closed())])
    assert not play.run(0).is_open
    assert play.looks == 1


def test_the_wait_ends_at_its_bound_with_what_was_last_seen() -> None:
    play = Play([report(closed()), report(closed(gate="toolkit", cause=""))])
    outcome = play.run(60)
    assert (outcome.is_open, outcome.seconds) == (False, 60)
    assert outcome.reports[0].closed[0].gate == "toolkit"


def test_long_waits_look_every_ten_seconds_at_most_and_short_ones_often() -> None:
    long, short = Play([report(closed())]), Play([report(closed())])
    long.run(2700)
    short.run(20)
    assert long.looks < 350
    assert short.looks > 80


def test_only_changes_are_logged_one_line_for_each_node() -> None:
    driver, toolkit = closed(), closed(gate="toolkit", cause="")
    flickering = replace(driver, phase="Error", message="something else")
    play = Play([report(driver), report(flickering), report(driver), report(toolkit), report(toolkit), report()])
    assert play.run().is_open
    assert play.lines == [
        "h100gpu a: driver is closed. It is being built.",
        "h100gpu a: toolkit is closed. It is being built.",
        "h100gpu a: all gates are open",
    ]


def test_a_gate_that_needs_an_action_is_logged_at_once_with_its_fix() -> None:
    stuck = closed(cause="config-key", may_recover=False, fix="Deploy again.", pod="plugin-x", phase="Init:Error")
    play = Play([report(stuck), report()])
    play.run()
    assert play.lines[0].startswith("h100gpu a: driver is closed (Init:Error plugin-x). It is being built.")
    assert play.lines[0].endswith("Waiting will not open it. Deploy again.")


def test_many_nodes_at_once_are_counted() -> None:
    play = Play([report(*(closed(f"n{number:03}") for number in range(100)), nodes=100)])
    play.run(0)
    assert len(play.lines) == text.MAX_LINES + 1
    assert play.lines[-1] == "and 88 more nodes changed"


def test_a_silent_api_server_is_logged_once_and_the_wait_continues() -> None:
    play = Play([Unreachable("refused"), Unreachable("refused"), report(closed()), Unreachable("refused"), report()])
    assert play.run().is_open
    assert [line for line in play.lines if "refused" in line] == ["the API server does not answer: refused"] * 2


def test_a_silent_api_server_at_the_end_is_no_open_gate() -> None:
    outcome = Play([report(), Unreachable("refused")][1:]).run(5)
    assert (outcome.is_open, outcome.problem) == (False, "refused")


def test_what_can_never_be_read_ends_the_wait() -> None:
    with pytest.raises(Unusable):
        Play([Unusable("no kubeconfig")]).run()


def test_details_show_nodes_with_the_same_problem_once() -> None:
    one = closed(pod="driver-x", phase="Running", message="make: …", container="nvidia-driver-ctr", fix="Wait.")
    lines = text.details([report(one, replace(one, node="b"), closed("c", "nfd", ""), nodes=3)])
    assert lines == [
        "h100gpu: 0 of 3 nvidia.com/gpu",
        "  node a and 1 more: gate 'driver' is closed",
        "    pod driver-x Running, container nvidia-driver-ctr",
        "    found: make: …",
        "    It is being built.",
        "    fix: Wait.",
        "  node c: gate 'nfd' is closed",
        "    It is being built.",
    ]


@pytest.mark.parametrize(
    ("minutes", "environment", "seconds"),
    [
        (45, {}, 2700),
        (0, {}, 0),
        (45, {GATE_SECONDS_VARIABLE: "20"}, 20),
        (0, {GATE_SECONDS_VARIABLE: "20"}, 0),
    ],
)
def test_the_bound_is_the_settings_and_the_environment_only_replaces_one(
    minutes: int, environment: dict[str, str], seconds: float
) -> None:
    assert bound_seconds(minutes, environment) == seconds


@pytest.mark.parametrize("text", ["soon", "-1", "inf"])
def test_a_bound_that_is_no_number_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match=GATE_SECONDS_VARIABLE):
        bound_seconds(45, {GATE_SECONDS_VARIABLE: text})


# The reader


def gpu_node(name: str, gpus: int) -> dict[str, Any]:
    labels = {"agentpool": "h100gpu"}
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"allocatable": {"nvidia.com/gpu": str(gpus)}, "conditions": conditions}
    return {"metadata": {"name": name, "labels": labels}, "status": status}


def api(answers: dict[str, Any], asked: list[str]) -> Callable[[str, Any], Any]:
    def get(path: str, _: Any) -> Any:
        asked.append(path)
        answer = answers.get(path, {"items": []})
        if isinstance(answer, Exception):
            raise answer
        return answer

    return get


def test_an_open_cluster_is_read_without_its_pods() -> None:
    asked: list[str] = []
    [found] = read_reports(api({"/api/v1/nodes": {"items": [gpu_node("a", 1)]}}, asked), [H100])
    assert found.state == "ready"
    assert [path.rpartition("/")[2] for path in asked] == ["clusterpolicies", "nvidiadrivers", "daemonsets", "nodes"]


def test_only_the_pools_nodes_are_listed() -> None:
    selectors: list[str] = []

    def get(_: str, parameters: Mapping[str, str]) -> Any:
        selectors.extend(parameters.values())
        return {"items": []}

    read_reports(get, [H100, Expected("rtxprogpu", {}, "grid")])
    assert selectors == ["agentpool in (h100gpu,rtxprogpu)"]


def test_without_gpu_pools_no_request_is_sent() -> None:
    asked: list[str] = []
    assert read_reports(api({}, asked), []) == ()
    assert asked == []


def test_custom_resources_that_do_not_exist_yet_are_none() -> None:
    asked: list[str] = []
    answers = {
        "/api/v1/nodes": {"items": [gpu_node("a", 0)]},
        "/apis/nvidia.com/v1/clusterpolicies": Missing("no such"),
        "/apis/nvidia.com/v1alpha1/nvidiadrivers": Missing("no such"),
    }
    [found] = read_reports(api(answers, asked), [H100])
    assert (found.state, found.closed[0].cause) == ("waiting", "nfd-absent")


def nfd_cluster(count: int, log: Any) -> tuple[dict[str, Any], list[str]]:
    """Nodes whose NFD worker fails, each with a log of its own."""
    names = [f"n{number:02}" for number in range(count)]
    pods = [
        {
            "metadata": {"name": f"worker-{name}", "ownerReferences": [{"kind": "DaemonSet", "name": "worker"}]},
            "spec": {"nodeName": name, "containers": [{"name": "worker"}]},
            "status": {
                "phase": "Running",
                "containerStatuses": [
                    {"name": "worker", "ready": False, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
                ],
            },
        }
        for name in names
    ]
    labels = {"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}
    place = "namespaces/gpu-operator"
    answers: dict[str, Any] = {
        "/api/v1/nodes": {"items": [gpu_node(name, 0) for name in names]},
        f"/api/v1/{place}/pods": {"items": pods},
        f"/apis/apps/v1/{place}/daemonsets": {"items": [{"metadata": {"name": "worker", "labels": labels}}]},
        **{f"/api/v1/{place}/pods/worker-{name}/log": log for name in names},
    }
    return answers, []


def test_the_last_log_line_is_what_was_found() -> None:
    answers, asked = nfd_cluster(1, "panic: no PCI bus\n")
    [found] = read_reports(api(answers, asked), [H100])
    assert found.closed[0].message == "panic: no PCI bus"
    assert (found.closed[0].cause, found.closed[0].phase) == ("nfd-worker-down", "CrashLoopBackOff")


def test_alike_containers_are_read_once_and_one_dead_kubelet_ends_the_reading() -> None:
    answers, asked = nfd_cluster(30, "the same\n")
    read_reports(api(answers, asked), [H100])
    assert sum(path.endswith("/log") for path in asked) <= MAX_LOGS
    answers, asked = nfd_cluster(30, Unreachable("dial tcp: no route to host"))
    [found] = read_reports(api(answers, asked), [H100])
    assert sum(path.endswith("/log") for path in asked) == 1
    assert len(found.closed) == 30
