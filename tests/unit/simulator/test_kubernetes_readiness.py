"""When objects are ready, and the reasons a person reads when they are not."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.simulator.kubernetes.jsonpath import JsonPathError, find
from physical_ai.simulator.kubernetes.readiness import (
    Surroundings,
    awaited,
    blocking_finalizers,
    pod_problems,
    waiting,
    waiting_for,
)


def obj(kind: str, api_version: str = "v1", generation: int = 1, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "generation": generation}, **fields}


def condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


READY = [
    obj("ConfigMap"),
    obj("Namespace", status={"phase": "Active"}),
    obj("Pod", status={"conditions": [condition("Ready", "True")]}),
    obj("Pod", status={"phase": "Succeeded"}),
    obj("PersistentVolumeClaim", status={"phase": "Bound"}),
    obj("Service", spec={"type": "ExternalName"}),
    obj("Service", spec={"type": "LoadBalancer"}, status={"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}),
    obj(
        "CustomResourceDefinition", "apiextensions.k8s.io/v1", status={"conditions": [condition("Established", "True")]}
    ),
    obj("Job", "batch/v1", status={"conditions": [condition("Complete", "True")]}),
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
        status={"observedGeneration": 1, "readyReplicas": 1, "currentRevision": "x", "updateRevision": "x"},
    ),
]
WAITING = [
    (obj("Namespace", status={}), "not known to its controller"),
    (obj("PersistentVolumeClaim", status={"phase": "Pending"}), "the PersistentVolumeClaim is Pending"),
    (obj("Service", spec={"type": "LoadBalancer"}), "not allocated an IP address"),
    (obj("CustomResourceDefinition", "apiextensions.k8s.io/v1"), "not established yet"),
    (obj("Job", "batch/v1", spec={"completions": 3}, status={"succeeded": 1}), "1 of 3 completions"),
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
        "[MinimumReplicasUnavailable] Deployment does not have",
    ),
    (
        obj(
            "Deployment",
            "apps/v1",
            generation=2,
            status={"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1},
        ),
        "1 of 1 replicas are ready",
    ),
    (
        obj(
            "Deployment",
            "apps/v1",
            status={
                "observedGeneration": 1,
                "conditions": [condition("ReplicaFailure", "True", "FailedCreate", 'pods "a-" is forbidden')],
            },
        ),
        '[FailedCreate] pods "a-" is forbidden',
    ),
    (obj("DaemonSet", "apps/v1", status={}), "has not seen the change yet"),
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
        "1 of 3 are up to date",
    ),
    (
        obj(
            "StatefulSet",
            "apps/v1",
            status={"observedGeneration": 1, "readyReplicas": 1, "currentRevision": "x", "updateRevision": "y"},
        ),
        "the rollout is not complete",
    ),
]


@pytest.mark.parametrize("ready", READY, ids=lambda item: item["kind"])
def test_ready(ready: dict[str, Any]) -> None:
    assert waiting(ready) is None


@pytest.mark.parametrize(
    ("unready", "reason"), WAITING, ids=lambda item: item["kind"] if isinstance(item, dict) else ""
)
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


def test_a_service_waits_for_pods_and_a_late_binding_claim_does_not() -> None:
    nowhere = Surroundings(endpoints=False)
    state = waiting(obj("Service", spec={"clusterIP": "10.0.0.1"}), nowhere)
    assert state is not None
    assert "does not target any Pods" in state.reasons[0]
    assert waiting(obj("Service", spec={"clusterIP": "None"}), nowhere) is None
    claim = obj("PersistentVolumeClaim", status={"phase": "Pending"})
    assert waiting(claim, Surroundings(binds_on_first_use=True)) is None


def test_only_known_kinds_are_waited_for() -> None:
    assert not awaited(obj("ClusterPolicy", "nvidia.com/v1"))
    assert awaited(obj("DaemonSet", "apps/v1"))


def pod(name: str, **status: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "status": status}


def test_pods_give_the_reason_and_the_same_cause_once() -> None:
    nowhere = "0/3 nodes are available: 1 Insufficient nvidia.com/gpu."
    unschedulable = {"conditions": [condition("PodScheduled", "False", "Unschedulable", nowhere)]}
    image = {"name": "driver", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling"}}}
    crash = {
        "name": "plugin",
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}},
    }
    lines = pod_problems(
        [
            pod("a-1", **unschedulable),
            pod("a-2", **unschedulable),
            pod("b", initContainerStatuses=[image]),
            pod("c", containerStatuses=[crash]),
            pod("d", conditions=[condition("Ready", "True")]),
        ]
    )
    assert lines == [
        f"[Pod a-1 and 1 more]: [Unschedulable] {nowhere}",
        "[Pod b]: container driver: [ImagePullBackOff] Back-off pulling",
        "[Pod c]: container plugin: [CrashLoopBackOff] back-off 10s",
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


@pytest.mark.parametrize(
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
