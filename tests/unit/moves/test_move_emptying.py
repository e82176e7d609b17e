"""Decisions while a pool is emptied: nodes that are cordoned, Pods that are evicted, and the end of the wait."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest

from workbench.moves.emptying import ANNOTATION, Decision, decide, view_of
from workbench.moves.progress import Limits

NOW = datetime.datetime(2026, 11, 28, 12, tzinfo=datetime.UTC)
BEGAN = NOW - datetime.timedelta(hours=1)
PATIENT = Limits(within=7200)
OVER = Limits(within=60)


def node(name: str = "old-0", pool: str = "h100gpu", *, cordoned: bool = False, holder: str = "") -> dict[str, Any]:
    annotations = {ANNOTATION: holder} if holder else {}
    metadata = {"name": name, "labels": {"agentpool": pool}, "annotations": annotations}
    return {"metadata": metadata, "spec": {"unschedulable": True} if cordoned else {}}


def pod(
    name: str,
    node: str = "old-0",
    *,
    owner: str = "",
    selects: str = "h100gpu",
    gpus: int = 1,
    hours: float = 4,
    checkpoint: int = 0,
    gang: str = "",
    namespace: str = "team",
    phase: str = "Running",
    affinity: str = "",
) -> dict[str, Any]:
    owners = [{"kind": owner, "name": f"{name}-owner", "controller": True}] if owner else []
    annotations = {"pod-group-name": gang} if gang else {}
    arguments = ["-checkpoint", f"/c;azure://a;{checkpoint};.*"] if checkpoint else []
    spec: dict[str, Any] = {
        "nodeSelector": {"agentpool": selects} if selects else {},
        "containers": [{"args": arguments, "resources": {"limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}}}],
    }
    if affinity:
        term = {"matchExpressions": [{"key": "agentpool", "operator": "In", "values": [affinity]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        spec["affinity"] = {"nodeAffinity": required}
    if node:
        spec["nodeName"] = node
    started = (NOW - datetime.timedelta(hours=hours)).isoformat()
    status = {"phase": phase, "startTime": started} if node else {"phase": "Pending"}
    metadata = {"name": name, "namespace": namespace, "ownerReferences": owners, "annotations": annotations}
    return {"metadata": metadata, "spec": spec, "status": status}


def decided(pods: list[dict[str, Any]], nodes: list[dict[str, Any]], limits: Limits = PATIENT) -> Decision:
    return decide(view_of(pods, nodes, "h100gpu", ("kube-system",)), limits, BEGAN, NOW, "h100gpub")


def test_every_node_is_cordoned_and_work_is_left_alone() -> None:
    found = decided([pod("train"), pod("web", owner="ReplicaSet", selects="")], [node(), node("new-0", "h100gpub")])
    assert (found.outcome, found.cordon, found.evict) == ("waiting", ("old-0",), ())
    assert "Pod team/train" in found.says


def test_an_empty_pool_is_empty_only_when_no_node_takes_pods() -> None:
    assert decided([], [node()]) == Decision("waiting", ("old-0",))
    assert decided([], [node(cordoned=True)]).outcome == "empty"
    assert decided([], []).outcome == "empty"
    ended = [pod("train", phase="Succeeded"), pod("agent", owner="DaemonSet"), pod("dns", namespace="kube-system")]
    assert decided([*ended, pod("else", "new-0")], [node(cordoned=True), node("new-0", "h100gpub")]).outcome == "empty"


@pytest.mark.parametrize("how", ["selects", "affinity"])
def test_a_waiting_pod_that_only_this_pool_takes_gets_its_place(how: str) -> None:
    """A Job's second attempt, or a gang that waited before the switch: else it would wait for ever."""
    bound = pod("again", "", selects="") if how == "selects" else pod("again", "", selects="", affinity="h100gpu")
    if how == "selects":
        bound["spec"]["nodeSelector"] = {"kubernetes.azure.com/agentpool": "h100gpu"}
    mine, others = node(cordoned=True, holder="h100gpub"), node("old-1", cordoned=True)
    found = decided([bound], [mine, others])
    assert (found.outcome, found.uncordon, found.cordon) == ("waiting", ("old-0",), ())
    free = pod("any", "", selects="")
    assert decided([free], [mine, others]).outcome == "empty"
    late = decided([bound], [mine, others], OVER)
    assert (late.outcome, late.uncordon) == ("refused", ())
    assert "Pod team/again can run on this pool only" in late.says


def test_what_others_have_cordoned_stays_theirs() -> None:
    waiting = pod("again", "")
    for holder in ("", "another-move"):
        assert decided([waiting], [node(cordoned=True, holder=holder)]).uncordon == ()


def test_a_node_that_never_drains_ends_refused_and_nothing_is_evicted() -> None:
    found = decided([pod("train", gpus=2)], [node(cordoned=True)], OVER)
    assert (found.outcome, found.evict) == ("refused", ())
    assert "Pod team/train still runs at the end of --within; to end it would lose 8 GPU-hours" in found.says
    assert "no --budget allows it" in found.says


@pytest.mark.parametrize(("budget", "evicted"), [(0.0, False), (0.9, False), (1.0, True), (10.0, True)])
def test_a_budget_counts_from_the_last_checkpoint(budget: float, evicted: bool) -> None:
    limits = Limits(within=60, budget=budget)
    found = decided([pod("train", gpus=2, checkpoint=1800)], [node(cordoned=True)], limits)
    assert (found.outcome == "waiting") is evicted
    assert found.evict == ((("team", "train"),) if evicted else ())
    early = decided([pod("train", gpus=2, checkpoint=1800)], [node(cordoned=True)], Limits(within=7200, budget=budget))
    assert early.evict == (), "never before the time"


def test_a_budget_counts_the_members_of_a_gang_on_other_pools() -> None:
    gang = [pod("a", gang="g"), pod("b", "new-0", gang="g", selects="h100gpub", gpus=8)]
    nodes = [node(cordoned=True), node("new-0", "h100gpub")]
    assert decided(gang, nodes, Limits(within=60, budget=30)).outcome == "refused"
    assert decided(gang, nodes, Limits(within=60, budget=36)).evict == (("team", "a"),)


def test_services_move_only_if_they_may_and_can() -> None:
    pods = [
        pod("web", owner="ReplicaSet", selects=""),
        pod("bound", owner="ReplicaSet"),
        pod("job", owner="Job", selects=""),
    ]
    assert decided(pods, [node(cordoned=True)]).evict == ()
    found = decided(pods, [node(cordoned=True)], Limits(within=7200, restart_services=True))
    assert found.evict == (("team", "web"),)


def test_in_random_clusters_no_work_ends_before_its_time_and_every_wait_has_an_end() -> None:
    chance = random.Random(35)  # noqa: S311 - clusters that can be made again
    for _ in range(400):
        nodes = [node(f"old-{i}", cordoned=chance.random() < 0.5, holder=chance.choice(["", "h100gpub", "x"]))
                 for i in range(chance.randint(0, 3))]  # fmt: skip
        pods = [
            pod(
                f"p{i}",
                chance.choice(["", *(each["metadata"]["name"] for each in nodes)]),
                owner=chance.choice(["", "Job", "ReplicaSet", "StatefulSet"]),
                selects=chance.choice(["", "h100gpu", "h100gpub"]),
                gpus=chance.randint(0, 8),
                checkpoint=chance.choice([0, 600]),
                gang=chance.choice(["", "g"]),
            )
            for i in range(chance.randint(0, 5))
        ]
        limits = Limits(chance.choice([60, 7200]), chance.choice([None, 0, 5, 1e6]), chance.random() < 0.5)
        view = view_of(pods, nodes, "h100gpu", ())
        found = decide(view, limits, BEGAN, NOW, "h100gpub")
        protected = {(each.namespace, each.name) for each in view.running if each.controller in ("", "Job")}
        if limits.within > 3600 or limits.budget is None:
            assert not protected & set(found.evict)
        if found.outcome == "empty":
            assert not view.running
            assert not view.waiting
            assert all(each.cordoned for each in view.nodes)
        if limits.within < 3600 and limits.budget is None and (view.running or view.waiting):
            movable = limits.restart_services and set(found.evict) == {(e.namespace, e.name) for e in view.running}
            assert found.outcome == "refused" or (movable and not view.waiting)
        held = {each.name for each in view.nodes if each.holder == "h100gpub"}
        assert set(found.uncordon) <= held
        assert not (found.cordon and found.uncordon)
