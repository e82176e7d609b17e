"""A gang of which a collective operation of NCCL timed out: the rank that the others waited for is named."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from physical_ai.readiness.answers import Unreachable
from physical_ai.readiness.workloads import doctor, explain, read_workloads
from tests.support import workload_objects as make
from tests.support.cases import in_one_test
from tests.support.workload_objects import Scene, crashing, node, on, pod

HOST = "aks-h100gpu-0"
READY = [{"type": "Ready", "status": "True"}]
NODES = (node("system"), node("cpu"), node("h100gpu"))
H100: dict[str, Any] = {"nodeSelector": {"agentpool": "h100gpu"}}


def gang(*logs: str, running: Collection[int] = ()) -> Scene:
    """Pods of one group with these logs; those that do not run have failed."""
    pods, known = list[dict[str, Any]](), dict[tuple[str, str, str], str]()
    for number, text in enumerate(logs):
        item = make.kai(pod(f"train-{number}", **H100), "g")
        alive = {"state": {"running": {}}, "ready": True}
        made = (
            on(HOST, item, phase="Running", status=alive, conditions=READY)
            if number in running
            else on(HOST, item, status=crashing(1))
        )
        pods.append(make.of_workflow(made, "wf-1"))
        known[make.WHERE, f"train-{number}", "train"] = text
    return Scene(tuple(pods), NODES, {"logs": known, "groups": [make.group("g", len(pods))]})


def timeout(rank: int, number: int, kind: str = "ALLREDUCE", group: str = "0(default_pg)") -> str:
    return (
        f"[rank{rank}]:[E119 16:38:47.7 ProcessGroupNCCL.cpp:683] [PG ID 0 PG GUID {group} Rank {rank}] "
        f"Watchdog caught collective operation timeout: WorkNCCL(SeqNum={number}, OpType={kind}, NumelIn=1, "
        "Timeout(ms)=600000) ran for 600032 milliseconds before timing out."
    )


OF_GANG: dict[str, tuple[Scene, str]] = {
    "nccl-silent-rank": (gang("step 7", timeout(1, 62), timeout(2, 62), running=[0]), "pod osmo-workflows/train-0"),
    "nccl-late-rank": (gang(timeout(0, 62), timeout(1, 61), timeout(2, 62)), "pod osmo-workflows/train-1"),
    "nccl-mismatch": (gang(timeout(0, 62), timeout(1, 62, "ALLGATHER")), "pod osmo-workflows/train-0"),
}
"""Cause → a gang that has it, and the Pod that is named."""


@in_one_test("cause", sorted(OF_GANG))
@in_one_test("wanted", ["wf-1", "train-0", "train-1"])
def test_the_rank_that_a_gang_waited_for_is_named_and_those_that_waited_are_not(cause: str, wanted: str) -> None:
    scene, expected = OF_GANG[cause]
    (found,) = explain(wanted, scene.workloads())[1]
    assert (found.cause, found.subject) == (cause, expected)
    assert "?" not in found.reason + found.fix
    (listed,) = doctor(scene.workloads())
    assert listed.first.cause == cause


def test_ranks_of_different_process_groups_and_ranks_that_all_waited_are_not_compared() -> None:
    """Numbers of operations count within a process group; and one timeout says nothing of who is missing."""
    apart = gang(timeout(0, 62), timeout(1, 5, group="1(mesh_tp)"))
    assert {each.cause for each in explain("wf-1", apart.workloads())[1]} == {"nccl"}
    alike = gang(timeout(0, 62), timeout(1, 62))
    assert {each.cause for each in explain("wf-1", alike.workloads())[1]} == {"nccl"}


def test_a_gang_that_runs_is_not_judged_by_its_silence() -> None:
    assert explain("wf-1", gang("step 7", "", running=[0, 1]).workloads())[1] == []


def test_older_lines_of_the_watchdog_are_read_too() -> None:
    old = "[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=45, OpType=BROADCAST)"
    old = f"[rank2]:[E1109 16:13:20.2 ProcessGroupNCCL.cpp:616] {old}"
    assert [each.cause for each in explain("wf-1", gang(old, "step 7", running=[1]).workloads())[1]] == [
        "nccl-silent-rank"
    ]


def test_the_running_ranks_of_a_gang_that_timed_out_are_read_and_their_number_is_bounded() -> None:
    scene = gang(timeout(0, 62), *["step 7"] * 30, running=range(1, 31))
    asked: list[str] = []

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        asked.append(path)
        if path.endswith("/log"):
            return scene.more["logs"][make.WHERE, path.split("/")[-2], parameters["container"]]
        return {"items": {"/api/v1/pods": scene.pods, "/api/v1/nodes": NODES}.get(path, [])}

    found = read_workloads(get, (), tuple(make.declared_by_name().values()), make.STACK)
    assert len([path for path in asked if path.endswith("/log")]) == len(found.logs) == 1 + 16


def test_running_ranks_are_asked_no_further_once_their_kubelet_does_not_answer() -> None:
    scene = gang(timeout(0, 62), *["step 7"] * 30, running=range(1, 31))
    asked: list[str] = []

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        if path.endswith("/log"):
            asked.append(path)
            if len(asked) > 2:
                raise Unreachable("no complete answer within 30 s")
            return scene.more["logs"][make.WHERE, path.split("/")[-2], parameters["container"]]
        return {"items": {"/api/v1/pods": scene.pods, "/api/v1/nodes": NODES}.get(path, [])}

    found = read_workloads(get, (), tuple(make.declared_by_name().values()), make.STACK)
    assert len(asked) == 3
    assert found.unread == ("further logs of containers (no complete answer within 30 s)",)
