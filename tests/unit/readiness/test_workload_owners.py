"""Jobs, Deployments and their like: refusals and failures of what exists, and what is known of what has left."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.readiness.workloads import UnknownSubject, doctor, explain
from physical_ai.readiness.workloads.health import job_shortfall, owner_shortfall, queue_shortfall
from tests.support import workload_objects as make
from tests.support.cases import in_one_test
from tests.support.workload_objects import Scene, crashing, on, pod
from tests.support.workload_scenes import H100, HOST, NODES, READY

LONG_AGO = "2026-11-22T09:00:00Z"


def job(name: str = "train-0", **more: Any) -> dict[str, Any]:
    status, conditions = more.pop("status", {}), more.pop("conditions", [])
    metadata = {"name": name, "namespace": make.WHERE, "uid": f"uid-job-{name}", "creationTimestamp": LONG_AGO}
    spec = {"parallelism": 1, "completions": 1, "backoffLimit": 2, **more}
    return {"metadata": metadata, "spec": spec, "status": {**status, "conditions": conditions}}


def ended(kind: str, reason: str = "", message: str = "") -> list[dict[str, str]]:
    return [{"type": kind, "status": "True", "reason": reason, "message": message}]


def with_jobs(*jobs: dict[str, Any], pods: Any = (), events: Any = (), **owners: Any) -> Scene:
    return Scene(tuple(pods), NODES, {"owners": {"Job": jobs, **owners}, "events": list(events)})


def of_job(item: dict[str, Any], name: str = "train-0") -> dict[str, Any]:
    reference = {"kind": "Job", "name": name, "uid": f"uid-job-{name}", "controller": True}
    return {**item, "metadata": {**item["metadata"], "ownerReferences": [reference]}}


def deployment(ready: int, wanted: int = 1, **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "train-0", "namespace": make.WHERE, "uid": "uid-d", "creationTimestamp": LONG_AGO},
        "spec": {"replicas": wanted, "selector": {"matchLabels": {"app": "x"}}},
        "status": {"availableReplicas": ready, "replicas": wanted, **status},
    }


def of_replica_set(item: dict[str, Any], name: str, hashed: str = "") -> dict[str, Any]:
    reference = {"kind": "ReplicaSet", "name": name, "uid": f"uid-{name}", "controller": True}
    own = make.labeled(item, {"pod-template-hash": hashed} if hashed else {})
    return {**own, "metadata": {**own["metadata"], "ownerReferences": [reference]}}


OF_OWNERS: dict[str, Scene] = {
    "job-suspended": with_jobs(job(suspend=True)),
    "job-managed": with_jobs(job(managedBy="kueue.x-k8s.io/multikueue")),
    "job-without-pods": with_jobs(job()),
    "job-backoff": with_jobs(job(conditions=ended("Failed", "BackoffLimitExceeded", "Job has reached …"))),
    "job-deadline": with_jobs(job(activeDeadlineSeconds=60, conditions=ended("Failed", "DeadlineExceeded", "x"))),
    "job-policy": with_jobs(job(conditions=ended("Failed", "PodFailurePolicy", "Container train failed"))),
    "job-indexes": with_jobs(job(conditions=ended("Failed", "FailedIndexes", "x"), status={"failedIndexes": "0,3"})),
    "job-failed": with_jobs(job(conditions=ended("Failed", "FluxTooLow", "the flux is too low"))),
    "owner-short": with_jobs(Deployment=[deployment(0)]),
    "owner-starting": with_jobs(Deployment=[
        {**deployment(0), "metadata": {**deployment(0)["metadata"], "creationTimestamp": "2026-11-22T11:59:50Z"}}]),
    "queue-says": Scene(more={"queues": [{"metadata": {"name": "train-0"}, "spec": {}, "status": {
        "conditions": [{"type": "Valid", "status": "False", "message": "the flux is too low"}]}}]}),
    "node-left": Scene(more={"events": [{
        "involvedObject": {"kind": "Node", "name": "train-0"}, "reason": "ScaleDown",
        "message": "node removed by cluster autoscaler", "lastTimestamp": "2026-11-22T11:00:00Z"}]}),
    "pod-left": Scene(more={"events": [make.event(pod(), "Evicted", "The node was low on resource: memory.")]}),
}  # fmt: skip
"""Cause → a cluster in which what is named train-0 has it."""


@in_one_test("cause", sorted(OF_OWNERS))
def test_an_owner_has_its_cause(cause: str) -> None:
    [found] = explain("train-0", OF_OWNERS[cause].workloads())[1]
    assert found.cause == cause
    assert "?" not in found.reason + found.fix
    assert found.where
    reported = [each.first.cause for each in doctor(OF_OWNERS[cause].workloads())]
    assert reported == ([] if found.past or cause == "queue-says" else [cause])


def quota(name: str, asked: int, uid: str = "uid-job-train-0", pod_name: str = "train-0-x") -> dict[str, Any]:
    message = (
        f'Error creating: pods "{pod_name}" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu='
        f"{asked}, used: requests.nvidia.com/gpu=16, limited: requests.nvidia.com/gpu=16"
    )
    found = make.event({"metadata": {"name": name, "namespace": make.WHERE}}, "FailedCreate", message, "Job")
    found["involvedObject"]["uid"] = uid
    return found


def test_one_refusal_is_one_finding_however_often_it_is_repeated_under_random_names() -> None:
    events = [quota("train-0", 99, pod_name=f"train-0-{number}") for number in range(9)]
    scene = with_jobs(job(), events=events)
    [found] = explain("train-0", scene.workloads())[1]
    assert found.cause == "creation-over-limit"
    assert "99" in found.reason
    assert "16" in found.reason
    assert not found.waits
    assert "ait" not in found.fix  # no Pod's end makes room for it
    assert [(each.first.cause, len(each.subjects)) for each in doctor(scene.workloads())] == [
        ("creation-over-limit", 1)
    ]


def test_what_a_quota_may_still_give_is_waited_for() -> None:
    [found] = explain("train-0", with_jobs(job(), events=[quota("train-0", 1)]).workloads())[1]
    assert found.cause == "creation-quota"
    assert "requests.nvidia.com/gpu=16" in found.reason


@pytest.mark.parametrize(
    "jobs",
    [
        (),
        (job(status={"active": 1}),),
        (job(conditions=ended("Complete"), status={"succeeded": 1}),),
        ({**job(), "metadata": {**job()["metadata"], "uid": "another"}, "status": {"active": 1, "ready": 1}},),
    ],
)
def test_refusals_of_what_is_gone_or_has_its_pods_are_history(jobs: Any) -> None:
    scene = with_jobs(*jobs, events=[quota("train-0", 1)])
    assert [each for each in doctor(scene.workloads()) if "quota" in each.first.cause] == []
    if not jobs:
        _, [found] = explain("train-0", scene.workloads())
        assert found.past
        assert "exceeded" in found.evidence
        assert not found.needs_action


def test_the_refusals_of_a_kind_that_was_not_read_are_no_history() -> None:
    scene = Scene(more={"events": [quota("train-0", 1)]})
    assert [each.first.cause for each in doctor(scene.workloads())] == ["creation-quota"]


def test_a_job_has_the_causes_of_its_pods_before_its_own() -> None:
    item = of_job(on(HOST, pod("train-0-x", **H100), phase="Failed", status=crashing(137, "OOMKilled")))
    scene = with_jobs(job(conditions=ended("Failed", "BackoffLimitExceeded", "x")), pods=[item])
    assert [each.cause for each in explain("train-0", scene.workloads())[1]] == ["out-of-memory", "job-backoff"]
    assert [each.first.cause for each in doctor(scene.workloads())] == ["out-of-memory"]


def test_a_job_whose_own_count_is_behind_its_pods_is_in_order() -> None:
    ready = on(HOST, pod("train-0-x"), phase="Running", conditions=READY, status={"ready": True})
    behind = job(status={"active": 1, "ready": 0})
    assert explain("train-0", with_jobs(behind, pods=[of_job(ready)]).workloads())[1] == []
    lacks = with_jobs(behind)
    assert [each.cause for each in explain("train-0", lacks.workloads())[1]] == ["job-without-pods"]


def test_a_failed_pod_that_its_owner_has_done_without_is_no_finding() -> None:
    item = of_job(on(HOST, pod("train-0-x", **H100), phase="Failed", status=crashing(1)))
    scene = with_jobs(job(conditions=ended("Complete"), status={"succeeded": 1}), pods=[item])
    assert doctor(scene.workloads()) == []
    assert [each.cause for each in explain("train-0-x", scene.workloads())[1]] == ["failed"]
    assert explain("train-0", scene.workloads())[1] == []


def test_a_later_job_of_a_cron_job_ends_the_failure_of_an_earlier_one() -> None:
    by = [{"kind": "CronJob", "name": "c", "uid": "uid-c", "controller": True}]
    failed = job("c-1", conditions=ended("Failed", "BackoffLimitExceeded"))
    later = job("c-2", conditions=ended("Complete"))
    failed["metadata"]["ownerReferences"] = later["metadata"]["ownerReferences"] = by
    later["metadata"]["creationTimestamp"] = "2026-11-22T10:00:00Z"
    assert doctor(with_jobs(failed, later).workloads()) == []
    assert [each.first.cause for each in doctor(with_jobs(failed).workloads())] == ["job-backoff"]


def test_a_deployment_has_the_refusals_of_its_replica_sets() -> None:
    sets = {"metadata": {"name": "train-0-5d4f", "namespace": make.WHERE}, "spec": {"replicas": 1}, "status": {}}
    event = make.event(sets, "FailedCreate", "Error creating: the flux is too low", "ReplicaSet")
    scene = with_jobs(Deployment=[deployment(0)], ReplicaSet=[sets], events=[event])
    [found] = explain("train-0", scene.workloads())[1]
    assert found.cause == "creation-refused"
    assert "the flux is too low" in found.reason
    assert not found.known


@pytest.mark.parametrize(
    ("item", "is_well"),
    [
        (job(status={"active": 1, "ready": 1}), True),
        (job(status={"active": 1, "ready": 0}), False),
        (job(conditions=ended("Complete")), True),
        (job(conditions=ended("SuccessCriteriaMet")), True),
        (job(conditions=ended("FailureTarget", "PodFailurePolicy")), False),
        (job(suspend=True), False),
        (job(parallelism=4, completions=6, status={"succeeded": 4, "ready": 2}), True),
        (job(parallelism=0), True),
    ],
)
def test_what_a_job_in_order_is(item: dict[str, Any], is_well: bool) -> None:
    assert (job_shortfall(item) == "") is is_well


def test_what_other_owners_in_order_are() -> None:
    assert owner_shortfall("Deployment", deployment(1)) == ""
    assert owner_shortfall("Deployment", deployment(0, 0)) == ""
    assert owner_shortfall("Deployment", deployment(1, 2))
    assert owner_shortfall("DaemonSet", {"status": {"desiredNumberScheduled": 2, "numberAvailable": 2}}) == ""
    assert owner_shortfall("DaemonSet", {"status": {"desiredNumberScheduled": 2, "numberAvailable": 1}})
    stale = {**deployment(1), "metadata": {**deployment(1)["metadata"], "generation": 2}}
    stale["status"] = {**stale["status"], "observedGeneration": 1}
    assert owner_shortfall("Deployment", stale)
    assert queue_shortfall(make.queue("a", "b"), {"b"}) == ""
    assert queue_shortfall(make.queue("a", "b"), ())


def test_a_node_that_has_left_is_known_by_its_record_alone() -> None:
    record = {"metadata": {"name": "gpu-evidence-1", "labels": {"physical-ai/evidence": "aks-h100gpu-9"},
                           "annotations": {"physical-ai/evidence-seen": "2026-11-22T08:00:00Z"}}}  # fmt: skip
    title, [found] = explain("aks-h100gpu-9", Scene(more={"records": [record]}).workloads())
    assert (title, found.cause) == ("node aks-h100gpu-9", "node-left")
    assert "physai evidence aks-h100gpu-9" in found.fix
    assert "2026-11-22T08:00:00Z" in found.fix
    assert found.past


def test_why_a_node_left_is_said_by_the_autoscaler_and_not_by_the_controller_that_took_note_of_it() -> None:
    about = {"metadata": {"name": "aks-h100gpu-9"}}
    events = [
        make.event(about, "ScaleDown", "node removed by cluster autoscaler", "Node", 1),
        make.event(about, "RemovingNode", "Node aks-h100gpu-9 event: Removing Node from Controller", "Node", 2),
    ]
    _, [found] = explain("aks-h100gpu-9", Scene(more={"events": events}).workloads())
    assert "removed by cluster autoscaler" in found.reason


def test_a_name_that_left_no_trace_is_unknown() -> None:
    with pytest.raises(UnknownSubject):
        explain("train-9", Scene(more={"events": [make.event(pod(), "Killing", "x")]}).workloads())


def test_a_workflow_whose_pods_are_well_and_that_osmo_calls_failed_is_not_in_order() -> None:
    item = make.of_workflow(on(HOST, pod(), phase="Succeeded", conditions=READY), "wf-1")
    told = {"name": "wf-1", "status": "FAILED", "groups": [{"name": "g", "status": "FAILED_EXEC_TIMEOUT"}]}
    assert explain("wf-1", Scene((item,), NODES, {"workflows": [told]}).workloads())[1]
    assert not explain("wf-1", Scene((item,), NODES, {"workflows": [{**told, "status": "COMPLETED"}]}).workloads())[1]


@pytest.mark.parametrize(
    "status",
    [
        {"updatedReplicas": 1, "replicas": 2},
        {"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]},
    ],
)
def test_a_deployment_whose_new_pod_fails_beside_its_old_ones_is_not_in_order(status: dict[str, Any]) -> None:
    new = on(HOST, pod("train-0-new-x"), status=crashing(1))
    new = of_replica_set(new, "train-0-new", "new")
    scene = with_jobs(pods=[new], Deployment=[deployment(1, **status)])
    assert [each.subject for each in explain("train-0", scene.workloads())[1]] == [f"pod {make.WHERE}/train-0-new-x"]
    assert [each.first.cause for each in doctor(scene.workloads())] == ["failed"]


def test_a_rollout_that_goes_on_is_no_fault() -> None:
    alive = {"state": {"running": {}}, "ready": True}
    pods = [
        on(HOST, pod(f"train-0-{each}-x"), phase="Running", status=alive, conditions=READY) for each in ("old", "new")
    ]
    pods = [of_replica_set(item, f"train-0-{each}", each) for item, each in zip(pods, ("old", "new"), strict=True)]
    scene = with_jobs(pods=pods, Deployment=[deployment(1, updatedReplicas=1, replicas=2)])
    assert explain("train-0", scene.workloads())[1] == []
    assert doctor(scene.workloads()) == []


@pytest.mark.parametrize(("kind", "status"), [("Progressing", "False"), ("ReplicaFailure", "True")])
def test_a_deployment_that_says_it_makes_no_progress_is_not_in_order_whatever_its_pods_are(
    kind: str, status: str
) -> None:
    alive = {"state": {"running": {}}, "ready": True}
    old = on(HOST, pod("train-0-old-x"), phase="Running", status=alive, conditions=READY)
    old["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "train-0-old", "uid": "uid-r"}]
    said = {"type": kind, "status": status, "reason": "Stopped", "message": "the flux is too low"}
    scene = with_jobs(pods=[old], Deployment=[deployment(1, conditions=[said])])
    [found] = explain("train-0", scene.workloads())[1]
    assert (found.cause, "the flux is too low" in found.reason) == ("owner-short", True)
    assert [each.first.cause for each in doctor(scene.workloads())] == ["owner-short"]


def test_the_pods_of_a_deployment_are_those_of_its_replica_sets_and_not_of_like_names() -> None:
    own = of_replica_set(on(HOST, pod("train-0-new-x"), status=crashing(1)), "train-0-new", "new")
    bare = of_replica_set(on(HOST, pod("train-0-bare-x"), status=crashing(1)), "train-0-bare")
    other = of_replica_set(on(HOST, pod("train-0-old-x"), status=crashing(1)), "train-0-old", "old")

    def subjects(**owners: Any) -> list[str]:
        scene = with_jobs(pods=[own, bare, other], Deployment=[deployment(0)], **owners)
        found = [each.subject for each in explain("train-0", scene.workloads())[1]]
        return [each.rpartition("/")[2] for each in found]

    def replica_set(name: str, keeper: str) -> dict[str, Any]:
        reference = {"kind": "Deployment", "name": "train-0", "uid": keeper, "controller": True}
        return {
            "metadata": {"name": name, "namespace": make.WHERE, "uid": f"uid-{name}", "ownerReferences": [reference]}
        }

    assert subjects() == ["train-0-new-x", "train-0-old-x"]
    # The former Deployment of the name has left a ReplicaSet.
    sets = [replica_set("train-0-new", "uid-d"), replica_set("train-0-old", "uid-former")]
    assert subjects(ReplicaSet=sets) == ["train-0-new-x"]
