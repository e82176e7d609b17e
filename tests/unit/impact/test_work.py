"""Reading of running work from Pods and nodes."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from workbench.impact.work import work_of

NODES = [{"metadata": {"name": "node-a", "labels": {"kubernetes.azure.com/agentpool": "h100gpu"}}}]
STARTED = "2026-11-28T06:00:00Z"


def pod(name: str = "train-0", namespace: str = "osmo-workflows", **given: Any) -> dict[str, Any]:
    """A running Pod of an OSMO task, as OSMO 6.3.1 creates it, with one checkpoint of every ten minutes."""
    metadata = {
        "name": name,
        "namespace": namespace,
        "labels": {"osmo.workflow_id": "train-1", "osmo.task_name": "train", "kai.scheduler/queue": "default"},
        "annotations": {"pod-group-name": "train-1-group"},
        **given.pop("metadata", {}),
    }
    containers = [
        {
            "command": ["/osmo/bin/osmo_exec"],
            "args": ["-checkpoint", "/ck;azure://a/b;600;", "-checkpoint", "/logs;azure://a/c;1800;.*"],
            "resources": {"limits": {"nvidia.com/gpu": "2"}},
        },
        {"args": None, "resources": {}},
    ]
    spec = {"nodeName": "node-a", "containers": containers, **given.pop("spec", {})}
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Running", "startTime": STARTED, **given}}


def test_a_task_of_a_workflow_is_read_whole() -> None:
    (work,) = work_of([pod()], NODES, ())
    assert (work.owner, work.task, work.gang, work.queue) == (
        "workflow train-1",
        "train",
        "osmo-workflows/train-1-group",
        "default",
    )
    assert (work.node, work.pool, work.gpus) == ("node-a", "h100gpu", 2)
    assert work.started == datetime.datetime(2026, 11, 28, 6, tzinfo=datetime.UTC)
    assert work.checkpoint == datetime.timedelta(minutes=30)


@pytest.mark.parametrize(
    ("owners", "labels", "owner", "comes_back"),
    [
        ([], {}, "Pod team/p", False),
        ([{"kind": "Job", "name": "render", "controller": True}], {}, "Job team/render", True),
        (
            [{"kind": "ReplicaSet", "name": "web-7d5", "controller": True}],
            {"pod-template-hash": "7d5"},
            "Deployment team/web",
            True,
        ),
        ([{"kind": "ReplicaSet", "name": "web", "controller": True}], {}, "ReplicaSet team/web", True),
        ([{"kind": "Workflow", "name": "argo", "controller": True}], {}, "Workflow team/argo", False),
        ([{"kind": "Job", "name": "render"}], {}, "Pod team/p", False),
    ],
)
def test_the_owner_that_a_user_knows(
    owners: list[dict[str, Any]], labels: dict[str, str], owner: str, comes_back: bool
) -> None:
    (work,) = work_of([pod("p", "team", metadata={"labels": labels, "ownerReferences": owners})], NODES, ())
    assert (work.owner, work.comes_back) == (owner, comes_back)


@pytest.mark.parametrize(
    "left_out",
    [
        pod(phase="Succeeded"),
        pod(phase="Failed"),
        pod(metadata={"ownerReferences": [{"kind": "DaemonSet", "name": "d", "controller": True}]}),
        pod(metadata={"ownerReferences": [{"kind": "Node", "name": "n", "controller": True}]}),
        pod(namespace="gpu-operator", metadata={"namespace": "gpu-operator"}),
    ],
)
def test_what_has_ended_and_what_is_the_platforms_is_nobodys_work(left_out: dict[str, Any]) -> None:
    assert work_of([left_out], NODES, ("gpu-operator",)) == []


@pytest.mark.parametrize("interval", ["soon", "", "-5"])
def test_a_checkpoint_that_osmo_would_not_copy_counts_for_nothing(interval: str) -> None:
    containers = [{"args": ["-checkpoint", f"/ck;azure://a/b;{interval};"]}]
    assert work_of([pod(spec={"containers": containers})], NODES, ())[0].checkpoint is None


def test_a_pod_without_a_node_waits_and_has_lost_nothing() -> None:
    (work,) = work_of([pod(spec={"nodeName": None}, startTime=None, phase="Pending")], NODES, ())
    assert (work.waits, work.pool, work.started) == (True, "", None)
    assert work.lost_hours(datetime.datetime.now(datetime.UTC)) == (0, 0)


@pytest.mark.parametrize(
    ("spec", "gpus"),
    [
        ({"containers": [{"resources": {"limits": {"nvidia.com/mig-1g.10gb": 2, "cpu": "4"}}}]}, 2),
        ({"containers": [{"resources": {"limits": {"amd.com/gpu": "8"}}}]}, 8),
        ({"containers": [{}], "resourceClaims": [{"name": "gpu"}]}, 1),
        ({"containers": [{}]}, 0),
        ({"containers": None}, 0),
    ],
)
def test_gpus_of_all_kinds_are_counted(spec: dict[str, Any], gpus: int) -> None:
    assert work_of([pod(spec=spec)], NODES, ())[0].gpus == gpus


def test_a_start_that_is_no_time_is_unknown() -> None:
    assert work_of([pod(startTime="yesterday")], NODES, ())[0].started is None


def test_a_pod_whose_node_is_gone_has_ended() -> None:
    assert work_of([pod(spec={"nodeName": "node-z"})], NODES, ()) == []


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, ("NVIDIA", False, False)),
        ({"containers": [{"resources": {"limits": {"amd.com/gpu": "8"}}}]}, ("AMD", False, False)),
        ({"containers": [{"resources": {"limits": {"nvidia.com/mig-1g.10gb": 2}}}]}, ("NVIDIA", True, False)),
        ({"containers": [{}], "resourceClaims": [{"name": "gpu"}]}, ("", False, True)),
        ({"containers": [{"resources": {"limits": {"cpu": "8"}}}]}, ("", False, False)),
    ],
)
def test_whose_gpus_a_pod_holds(spec: dict[str, Any], found: tuple[str, bool, bool]) -> None:
    (work,) = work_of([pod(spec=spec)], NODES, ())
    assert (work.vendor, work.has_mig, work.by_claims) == found


READY: dict[str, Any] = {"conditions": [{"type": "Ready", "status": "True"}]}


@pytest.mark.parametrize(
    ("status", "allowed", "selector", "space", "held"),
    [
        (READY, 0, {"matchLabels": {"osmo.task_name": "train"}}, "osmo-workflows", "osmo-workflows/keep"),
        (READY, 0, {}, "osmo-workflows", "osmo-workflows/keep"),
        (READY, 1, {}, "osmo-workflows", ""),
        (READY, 0, {}, "other", ""),
        (READY, 0, {"matchLabels": {"osmo.task_name": "other"}}, "osmo-workflows", ""),
        ({}, 0, {}, "osmo-workflows", ""),
    ],
)
def test_a_budget_that_lets_a_pod_go_or_not(
    status: dict[str, Any], allowed: int, selector: dict[str, Any], space: str, held: str
) -> None:
    budget = {
        "metadata": {"name": "keep", "namespace": space},
        "spec": {"selector": selector},
        "status": {"disruptionsAllowed": allowed},
    }
    (work,) = work_of([pod(**status)], NODES, (), [budget])
    assert work.budget == held


def test_the_label_of_the_gpu_operator_says_whose_driver_stays() -> None:
    marked = [{"metadata": {**NODES[0]["metadata"], "labels": {"nvidia.com/gpu-driver-upgrade.skip": "true"}}}]
    assert [each.keeps_driver for each in work_of([pod(**READY)], marked, ())] == [True]
    assert [each.keeps_driver for each in work_of([pod(**READY)], NODES, ())] == [False]
