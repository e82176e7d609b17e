"""When objects are ready, and the reasons a person reads when they are not."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.kubernetes.jsonpath import JsonPathError, find
from simulator.kubernetes.pods import pod_problems
from simulator.kubernetes.readiness import (
    Surroundings,
    awaited,
    blocking_finalizers,
    checked_in_refresh,
    limit,
    unready,
    waiting,
)
from simulator.kubernetes.wait_for import waiting_for
from tests.support.cases import in_one_test


def obj(kind: str, api_version: str = "v1", generation: int = 1, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "generation": generation}, **fields}


def condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


STARTED = [condition("PodScheduled", "True"), condition("Initialized", "True")]
READY = [
    obj("ConfigMap"),
    obj("Namespace", status={"phase": "Active"}),
    obj("Pod", status={"conditions": [*STARTED, condition("Ready", "True")]}),
    obj("Pod", status={"phase": "Succeeded", "conditions": [*STARTED, condition("Ready", "False", "PodCompleted")]}),
    obj("PersistentVolume", status={"phase": "Available"}),
    obj("ResourceQuota", spec={"hard": {"pods": "1"}}, status={"hard": {"pods": "1"}}),
    obj("PersistentVolumeClaim", status={"phase": "Bound"}),
    obj("Service", spec={"type": "ExternalName"}),
    obj("Service", spec={"type": "LoadBalancer"}, status={"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}),
    obj(
        "CustomResourceDefinition", "apiextensions.k8s.io/v1", status={"conditions": [condition("Established", "True")]}
    ),
    obj("Job", "batch/v1", status={"startTime": "now", "conditions": [condition("Complete", "True")]}),
    obj(
        "Deployment",
        "apps/v1",
        spec={"replicas": 2},
        status={"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2},
    ),
    obj("Deployment", "apps/v1", spec={"replicas": 0}, status={"observedGeneration": 1}),
    obj("DaemonSet", "apps/v1", status={"observedGeneration": 1, "desiredNumberScheduled": 0}),
    obj(
        "StatefulSet",
        "apps/v1",
        spec={"replicas": 1},
        status={
            **dict.fromkeys(("observedGeneration", "replicas", "readyReplicas", "currentReplicas"), 1),
            "currentRevision": "x",
            "updateRevision": "x",
        },
    ),
]
WAITING = [
    (obj("Namespace", status={}), "not known to its controller"),
    (obj("PersistentVolumeClaim", status={"phase": "Pending"}), ""),
    (obj("ResourceQuota", spec={"hard": {"pods": "1"}}), ""),
    (obj("Service", spec={"type": "LoadBalancer"}), "not allocated an IP address"),
    (obj("CustomResourceDefinition", "apiextensions.k8s.io/v1"), "not established yet"),
    (obj("Job", "batch/v1", spec={"completions": 3}, status={"succeeded": 1}), ""),
    (
        obj(
            "Deployment",
            "apps/v1",
            status={
                "observedGeneration": 1,
                "replicas": 1,
                "updatedReplicas": 1,
                "conditions": [
                    condition("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have")
                ],
            },
        ),
        "[MinimumReplicasUnavailable] Deployment does not have; Minimum number of live Pods was not attained",
    ),
    (
        obj(
            "Deployment",
            "apps/v1",
            generation=2,
            status={"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1},
        ),
        "Minimum number of live Pods was not attained",
    ),
    (
        obj(
            "Deployment",
            "apps/v1",
            generation=2,
            status={
                "observedGeneration": 2,
                "updatedReplicas": 1,
                "replicas": 2,
                "readyReplicas": 1,
                "conditions": [
                    condition("Available", "True"),
                    condition("Progressing", "False", "ProgressDeadlineExceeded", "timed out progressing."),
                ],
            },
        ),
        "[ProgressDeadlineExceeded] timed out progressing.; "
        "Minimum number of Pods to consider the application live was not attained",
    ),
    (obj("DaemonSet", "apps/v1", status={}), ""),
    (
        obj(
            "DaemonSet",
            "apps/v1",
            status={
                "observedGeneration": 1,
                "desiredNumberScheduled": 3,
                "numberAvailable": 3,
                "updatedNumberScheduled": 1,
            },
        ),
        "",
    ),
    (
        obj(
            "StatefulSet",
            "apps/v1",
            status={"observedGeneration": 1, "readyReplicas": 1, "currentRevision": "x", "updateRevision": "y"},
        ),
        'StatefulSet controller failed to advance from revision "x" to revision "y"',
    ),
]


@in_one_test("ready", READY, ids=lambda item: item["kind"])
def test_ready(ready: dict[str, Any]) -> None:
    assert waiting(ready) is None


@in_one_test(("unready", "reason"), WAITING, ids=lambda item: item["kind"] if isinstance(item, dict) else "")
def test_waiting_with_a_reason(unready: dict[str, Any], reason: str) -> None:
    state = waiting(unready)
    assert state is not None
    assert reason in "; ".join(state.reasons)
    assert not state.final


def test_a_failed_job_is_not_waited_for() -> None:
    failed = condition("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    state = waiting(obj("Job", "batch/v1", status={"conditions": [failed]}))
    assert state is not None
    assert state.final
    assert state.reasons == ("[BackoffLimitExceeded] Job has reached the specified backoff limit",)


def test_a_job_that_failed_for_another_reason_is_waited_for_until_its_time_is_up() -> None:
    failed = condition("Failed", "True", "PodFailurePolicy", "Container main for pod a/b failed")
    state = waiting(obj("Job", "batch/v1", status={"conditions": [failed]}))
    assert state is not None
    assert (state.final, state.reasons) == (False, ())


def test_a_service_that_selects_no_pod_is_ready_and_one_whose_pod_is_not_waits_for_it() -> None:
    """`checkAndLogStatus` asks for no ready endpoint: only one that is not ready holds it up."""
    service = obj("Service", spec={"clusterIP": "10.0.0.1", "selector": {"app": "a"}})
    nobody = Surroundings(endpoints_ready=False)
    assert waiting(service, nobody) is None
    for pending in (Surroundings(endpoints_pending=True), Surroundings(endpoints_known=False)):
        assert waiting(service, pending) is not None
    state = waiting(service, Surroundings(endpoints_ready=False, endpoints_pending=True))
    assert state is not None
    assert "does not target any Pods" in state.reasons[0]
    pending = Surroundings(endpoints_pending=True)
    assert waiting(obj("Service", spec={"clusterIP": "None", "selector": {"app": "a"}}), pending) is None
    assert waiting(obj("Service", spec={"clusterIP": "10.0.0.1"}), pending) is None, "no selector, no Pods"


def test_a_late_binding_claim_does_not_wait() -> None:
    claim = obj("PersistentVolumeClaim", status={"phase": "Pending"})
    assert waiting(claim, Surroundings(binds_on_first_use=True)) is None


def test_some_kinds_are_waited_for_in_a_deployment_only_and_for_a_time_of_their_own() -> None:
    assert [limit(obj(kind)) for kind in ("PersistentVolumeClaim", "ResourceQuota", "Pod")] == [300, 60, None]
    refreshed = {kind: checked_in_refresh(obj(kind)) for kind in ("PersistentVolumeClaim", "ResourceQuota", "Pod")}
    assert refreshed == {"PersistentVolumeClaim": False, "ResourceQuota": False, "Pod": True}


@pytest.mark.parametrize(
    ("kind", "version", "custom", "headline"),
    [
        ("Pod", "v1", False, "'a' timed out waiting to be Ready"),
        ("Pod", "v1", True, "timed out waiting for the condition"),
        ("DaemonSet", "apps/v1", False, "timed out waiting for the condition"),
        ("PersistentVolumeClaim", "v1", False, "Timeout occurred polling for 'a'"),
    ],
)
def test_how_a_wait_that_has_ended_is_reported(kind: str, version: str, custom: bool, headline: str) -> None:
    assert unready(obj(kind, version), final=False, custom=custom) == headline


def test_only_known_kinds_are_waited_for() -> None:
    assert not awaited(obj("ClusterPolicy", "nvidia.com/v1"))
    assert awaited(obj("DaemonSet", "apps/v1"))


def pod(name: str, *conditions: dict[str, str], containers: Any = (), namespace: str = "default") -> dict[str, Any]:
    status = {"conditions": [*conditions], "containerStatuses": [*containers]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "status": status}


def test_pods_give_the_reason_unless_they_have_no_node() -> None:
    unschedulable = condition("PodScheduled", "False", "Unschedulable", "0/3 nodes: 1 Insufficient nvidia.com/gpu.")
    unready = condition("Ready", "False", "ContainersNotReady", "containers with unready status: [main]")
    image = {"name": "driver", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling"}}}
    crash = {
        "name": "plugin",
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-27T10:00:00Z"}},
    }
    ended = {"name": "once", "state": {"terminated": {"exitCode": 3, "reason": "Error"}}}
    making = {"name": "new", "state": {"waiting": {"reason": "ContainerCreating"}}}
    lines = pod_problems(
        [
            pod("a", unschedulable),
            pod("b", *STARTED, unready, containers=[image], namespace="gpu-operator"),
            pod("c", *STARTED, unready, containers=[crash, ended, making, {"name": "fine", "ready": True}]),
            pod("d", *STARTED, condition("Ready", "True")),
            pod("e", STARTED[0], condition("Initialized", "False", "ContainersNotInitialized", "incomplete: [init]")),
        ]
    )
    waits = "containers with unready status: [main]"
    assert lines == [
        f"[Pod gpu-operator/b]: {waits}[ImagePullBackOff] Back-off pulling",
        f"[Pod c]: {waits}[CrashLoopBackOff] back-off 10s\n"
        'container "plugin" terminated at 2026-11-27T10:00:00Z (Error: exit code 1)\n'
        'container "once" completed with exit code 3',
        "[Pod e]: incomplete: [init]",
    ]


def test_a_namespace_that_is_not_deleted_reports_what_is_left() -> None:
    left = condition("NamespaceFinalizersRemaining", "True", "", "example.com/hold in 1 resource instances")
    stuck = obj("Namespace", spec={"finalizers": ["kubernetes"]}, status={"conditions": [left]})
    assert blocking_finalizers(stuck) == "finalizers: kubernetes; example.com/hold in 1 resource instances"


CLUSTER_POLICY = obj(
    "ClusterPolicy",
    "nvidia.com/v1",
    status={"state": "notReady", "conditions": [condition("Ready", "False", "", "driver")]},
)


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ("jsonpath={.status.state}=ready", ("{.status.state} is notReady, waiting for ready",)),
        ("jsonpath={.status.state}=notReady", None),
        ("jsonpath={.status.state}", None),
        ("jsonpath={.status.other}", ("{.status.other} is not set",)),
        ("condition=Ready", ('condition "Ready" is False, waiting for True: driver',)),
        ("condition=Ready=False", None),
        ("condition=Gone", ('condition "Gone" is not set, waiting for True',)),
        ('["condition=Ready=False", "jsonpath={.status.none}"]', ("{.status.none} is not set",)),
    ],
)
def test_wait_for(expression: str, missing: tuple[str, ...] | None) -> None:
    state = waiting_for(CLUSTER_POLICY, expression)
    assert (state.reasons if state else None) == missing


def test_wait_for_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValueError, match=r'expected a "jsonpath=" or "condition=" prefix, got "status\.state=ready"'):
        waiting_for(CLUSTER_POLICY, "status.state=ready")
    with pytest.raises(JsonPathError, match="not a JSONPath this provider reads"):
        waiting_for(CLUSTER_POLICY, "jsonpath={.status[?(@.a>1)]}")


@in_one_test(
    ("path", "values"),
    [
        ("{.status.state}", ["notReady"]),
        ('{.status.conditions[?(@.type=="Ready")].status}', ["False"]),
        ("{.status.conditions[0].type}", ["Ready"]),
        ("{.status.conditions[-1].type}", ["Ready"]),
        ("{.status.conditions[*].type}", ["Ready"]),
        ("{.status.conditions[1].type}", []),
        ("{['metadata']['name']}", ["a"]),
        (r"{.labels.nvidia\.com/gpu}", ["yes"]),
        ("metadata.name", ["a"]),
    ],
)
def test_json_path(path: str, values: list[str]) -> None:
    assert find({**CLUSTER_POLICY, "labels": {"nvidia.com/gpu": "yes"}}, path) == values
