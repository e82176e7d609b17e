"""Each known cause in a cluster that has it: it is named first, and nothing else is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import pytest

from physical_ai.catalog.osmo import KAI_NAMESPACE, KAI_SCHEDULER
from physical_ai.readiness.causes import workload_causes
from physical_ai.readiness.model import ROLLOUT
from physical_ai.readiness.objects import LEAVING
from physical_ai.readiness.platform.absence import State
from physical_ai.readiness.workloads import UnknownSubject, doctor, explain, read_workloads
from physical_ai.readiness.workloads.model import STAGES
from tests.support import workload_objects as make
from tests.support.cases import in_one_test
from tests.support.workload_causes import NO_KAI, ONE_CAUSE
from tests.support.workload_messages import table
from tests.support.workload_objects import Scene, closed, crashing, kai, node, on, pod, unschedulable, waiting
from tests.support.workload_scenes import (
    FULL,
    H100,
    HOST,
    NODES,
    READY,
    failed_in_azure,
    in_azure,
    refused,
    status,
    waits,
)
from tests.unit.readiness.test_workload_claims import OF_CLAIMS
from tests.unit.readiness.test_workload_gangs import OF_GANG
from tests.unit.readiness.test_workload_osmo import OF_OSMO
from tests.unit.readiness.test_workload_owners import OF_OWNERS
from tests.unit.readiness.test_workload_schedules import CASES as OF_SCHEDULES
from tests.unit.readiness.test_workload_slurm import OF_SLURM
from tests.unit.readiness.test_workload_states import OF_STATES

NO_AGENTS = (make.agent("listener", 0), make.agent("worker"))

BACKOFF = {"status": "Backoff", "backoffInfo": {"errorCode": "QUOTA_EXCEEDED", "errorMessage": "QuotaExceeded: cores"}}


def test_the_autoscalers_own_status_names_a_refusal_when_the_events_are_gone() -> None:
    scene = Scene((waits(),), more={"autoscaler": status("aks-h100gpu-1-vmss", BACKOFF)})
    assert named("train-0", scene) == ["quota-exceeded"]
    assert named("h100gpu", scene) == ["quota-exceeded"]
    works = status("aks-h100gpu-1-vmss", {"status": "NoActivity"})
    assert named("train-0", Scene((waits(),), more={"autoscaler": works})) == ["autoscaler-pending"]


def test_the_autoscaler_is_asked_of_its_own_pool_and_not_of_one_whose_name_begins_alike() -> None:
    scene = Scene((waits(),), more={"autoscaler": status("aks-h100gpu2-1-vmss", BACKOFF)})
    assert named("train-0", scene) == ["autoscaler-ignores-pool"]


def named(wanted: str, scene: Scene) -> list[str]:
    return [each.cause for each in explain(wanted, scene.workloads())[1]]


@in_one_test("cause", sorted(ONE_CAUSE))
def test_a_cause_is_named_and_nothing_else(cause: str) -> None:
    title, found = explain("train-0", ONE_CAUSE[cause].workloads())
    assert title.endswith("osmo-workflows/train-0")
    assert [each.cause for each in found] == [cause]
    assert "?" not in found[0].reason + found[0].fix.replace("exit code ?", ""), found[0]
    assert found[0].stage in workload_causes()[cause].stages


FOR_TWO = {"groups": [make.group("g", 2)]}
UPGRADING = {"nvidia.com/gpu-driver-upgrade-state": "drain-required"}
WITHOUT_GPUS = make.without_gpus(node("h100gpu"))
NVML = crashing(1, message="Failed to initialize NVML")
NO_CLAIM = 'persistentvolumeclaim "d" not found'


def in_azure_and(body: Mapping[str, Any], item: dict[str, Any]) -> Scene:
    return Scene((item,), more=in_azure(body).more)


TWO_CAUSES: list[tuple[Scene, list[str]]] = [
    (Scene((kai(waits(tolerations=[])),), more={"deployments": NO_KAI}), ["scheduler-down", "toleration-missing"]),
    (Scene((kai(waits(gpus=8), "g"),), more=FOR_TWO), ["gang-incomplete", "too-large"]),
    (Scene((kai(waits(), queue="x"),)), ["queue-missing", "autoscaler-pending"]),
    (
        Scene((kai(unschedulable(pod(**H100), "OverLimit: x"), "g"),), NODES, FOR_TWO),
        ["gang-incomplete", "queue-limit"],
    ),
    (Scene((unschedulable(pod(gpus=8, **H100), NO_CLAIM),)), ["too-large", "volume-missing"]),
    (Scene((waits(tolerations=[], schedulingGates=[{"name": "x"}]),)), ["scheduling-gate", "toleration-missing"]),
    (Scene((waits(),), (node("h100gpu", cordoned=True),)), ["node-cordoned", "autoscaler-pending"]),
    (Scene((waits(),), (make.kept_out(node("h100gpu")),)), ["node-not-accepted", "autoscaler-pending"]),
    (
        Scene((waits(),), (make.kept_out(node("h100gpu"), "disk slow"),)),
        ["node-failed-acceptance", "autoscaler-pending"],
    ),
    (
        Scene((waits(),), (make.labeled(node("h100gpu", cordoned=True), UPGRADING),)),
        ["driver-upgrade", "autoscaler-pending"],
    ),
    (Scene((waits(),), (WITHOUT_GPUS,), {"reports": [closed(HOST)]}), ["pool-not-ready", "autoscaler-pending"]),
    (in_azure_and({"provisioningState": "Scaling"}, kai(waits(), queue="x")), ["queue-missing", "azure-pool-changing"]),
    (
        in_azure_and({"provisioningState": "Failed"}, unschedulable(pod(**H100), NO_CLAIM)),
        ["azure-pool-failed", "volume-missing"],
    ),
    (Scene((on(HOST, pod(**H100), status=NVML),), NODES, {"reports": [closed(HOST)]}), ["gpu-lost", "no-device"]),
]


@in_one_test(("scene", "expected"), TWO_CAUSES)
def test_of_two_causes_both_are_named_by_stage(scene: Scene, expected: list[str]) -> None:
    assert named("train-0", scene) == expected


def test_a_workflow_has_the_causes_of_its_pods_and_of_the_agents() -> None:
    members = tuple(make.of_workflow(waits(), "wf-1") for _ in range(2))
    assert named("wf-1", Scene(members, more={"deployments": NO_AGENTS})) == ["agents-down", "autoscaler-pending"]


def test_a_pool_has_the_causes_of_its_nodes_and_the_refusals_of_azure() -> None:
    scene = Scene((), (node("h100gpu", cordoned=True),), {"reports": [closed(HOST)], **refused("QuotaExceeded").more})
    assert named("h100gpu", scene) == ["node-cordoned", "quota-exceeded", "gate-driver"]
    assert named(HOST, scene) == ["node-cordoned", "gate-driver"]


def test_a_code_that_is_not_known_is_shown_in_its_own_words() -> None:
    scene = in_azure(failed_in_azure("SomethingNew", "the flux is too low"))
    (found,) = explain("train-0", scene.workloads())[1]
    assert found.cause == "azure-pool-failed"
    assert "the flux is too low" in found.evidence


def test_every_cause_has_a_scenario() -> None:
    met = {
        *ONE_CAUSE,
        *OF_GANG,
        *OF_OSMO,
        *OF_CLAIMS,
        *OF_SLURM,
        *(cause for _, causes in TWO_CAUSES for cause in causes),
        *(row["cause"] for _, row in table()),
        *OF_STATES,
        *OF_OWNERS,
        *OF_SCHEDULES,
        "agents-down",
        "agent-missing",
        "agent-scaled-down",
        *(f"part-{state}" for state in get_args(State)),
        *LEAVING.values(),
        "node-deleted",
    }
    assert set(workload_causes()) == met
    assert {stage for cause in workload_causes().values() for stage in cause.stages} <= set(STAGES)


UNKNOWN = [
    "0/1 nodes are available: 1 Too many pods.",
    "0/1 nodes are available: 1 node(s) exceed max volume count.",
    "waiting for ephemeral volume controller to create the persistentvolumeclaim",
    "running PreBind plugin: VolumeBinding: context deadline exceeded",
    "device-plugin GPU requests cannot be scheduled on DRA-only nodes",
    "0/1 nodes are available: 1 Insufficient cpu.",
    "a text of another scheduler",
    "",
]


@pytest.mark.parametrize("message", UNKNOWN)
def test_a_pod_that_is_not_scheduled_is_never_in_order(message: str) -> None:
    """What the scheduler says is shown where nothing else explains it, also where by our arithmetic a node has room."""
    scene = Scene((unschedulable(pod(**H100), message),), NODES)
    found = explain("train-0", scene.workloads())[1]
    assert found
    assert [each.subjects for each in doctor(scene.workloads())] == [("pod osmo-workflows/train-0",)]
    assert message in found[0].reason + found[0].evidence


@pytest.mark.parametrize(
    ("removed", "cause"),
    [
        ({"key": "remediator.kubernetes.azure.com/unschedulable", "effect": "NoSchedule"}, "node-evicted"),
        ({"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}, "node-scaled-down"),
        (None, "node-deleted"),
    ],
)
def test_a_node_that_is_removed_is_said_so_for_node_pool_and_pod(removed: dict[str, str] | None, cause: str) -> None:
    host = node("h100gpu")
    if removed:
        host["spec"]["taints"].append(removed)
    else:
        host["metadata"]["deletionTimestamp"] = make.NOW
    scene = Scene((on(HOST, pod(), phase="Running", conditions=READY),), (host,))
    for wanted in (HOST, "h100gpu", "train-0"):
        found = explain(wanted, scene.workloads())[1]
        assert [each.cause for each in found] == [cause]
        assert "osmo-workflows/train-0" in found[0].reason
    assert [each.first.cause for each in doctor(scene.workloads())] == [cause]


@pytest.mark.parametrize("has_agents", [True, False])
def test_an_agent_without_a_deployment_is_missing_where_the_stack_has_agents(has_agents: bool) -> None:
    without = {"deployments": (make.deployment(KAI_NAMESPACE, KAI_SCHEDULER),), "has_agents": has_agents}
    found = doctor(Scene((), NODES, without).workloads())
    assert [(each.first.cause, len(each.subjects)) for each in found] == [("agent-missing", 1)] * 2 * has_agents


def test_an_agent_that_is_scaled_to_zero_is_scaled_up_by_what_is_printed() -> None:
    agent = make.agent("worker", 0)
    agent["spec"]["replicas"] = 0
    found = doctor(Scene((), NODES, {"deployments": (agent, make.agent("listener"))}).workloads())
    assert [each.first.cause for each in found] == ["agent-scaled-down"]
    assert f"scale deployment {agent['metadata']['name']} --replicas=1" in found[0].first.fix


def test_one_agent_shows_that_the_other_is_missing() -> None:
    found = doctor(Scene((), NODES, {"deployments": (make.agent("worker", 0),)}).workloads())
    assert {each.first.cause for each in found} == {"agents-down", "agent-missing"}


def test_a_driver_that_is_not_verified_is_said_of_a_node_that_offers_its_gpus() -> None:
    message = "The GRID driver agent has not verified the configured driver: the vGPU has no licence yet"
    scene = Scene((HEALTHY,), NODES, {"reports": [closed(HOST, ROLLOUT, reason=message)]})
    for wanted in (HOST, "h100gpu"):
        (found,) = explain(wanted, scene.workloads())[1]
        assert "has no licence" in found.reason
    assert [each.first.cause for each in doctor(scene.workloads())] == ["gate-rollout"]
    assert explain("train-0", scene.workloads())[1] == []  # the Pod itself runs


HEALTHY = on(HOST, pod(), phase="Running", conditions=READY,
             status={"ready": True, "state": {"running": {}}})  # fmt: skip


@pytest.mark.parametrize("wanted", ["train-0", "h100gpu", HOST, f"{make.WHERE}/train-0"])
def test_of_a_healthy_cluster_nothing_is_said(wanted: str) -> None:
    scene = Scene((HEALTHY, on(HOST, pod("done"), phase="Succeeded")), NODES)
    assert explain(wanted, scene.workloads())[1] == []
    assert doctor(scene.workloads()) == []


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownSubject) as caught:
        explain("h100gpus", Scene().workloads())
    assert "h100gpu" in caught.value.nearest


def test_the_doctor_names_each_cause_once_with_all_it_stops_and_waits_last() -> None:
    many = tuple(unschedulable(pod(f"t-{number}", tolerations=[], **H100), FULL) for number in range(3))
    starting = on(HOST, pod("s"), status=waiting("ContainerCreating"))
    found = doctor(Scene((*many, starting), NODES, {"deployments": NO_AGENTS}).workloads())
    assert [(each.first.cause, len(each.subjects)) for each in found] == [
        ("toleration-missing", 3),
        ("agents-down", 1),
        ("starting", 1),
    ]


def test_a_later_success_of_the_autoscaler_ends_its_failure() -> None:
    events = [
        make.autoscaler("FailedToScaleUpGroup", "Scale-up failed for group aks-h100gpu-1-vmss: AllocationFailed", 1),
        make.autoscaler("ScaledUpGroup", "Scale-up: group aks-h100gpu-1-vmss size set to 1", 2),
    ]
    assert named("train-0", Scene((waits(),), more={"events": events})) == ["autoscaler-pending"]


@pytest.mark.parametrize("failing", [0, 3, 30])
def test_requests_do_not_grow_with_the_cluster(failing: int) -> None:
    """Nine requests, five more for the gates of pools that are open, and the logs of at most eight containers."""
    pods = [on(HOST, pod(f"f-{number}", **H100), status=crashing(1)) for number in range(failing)]
    lists = {"/api/v1/pods": pods, "/api/v1/nodes": NODES}
    asked: list[str] = []

    def get(path: str, _: Mapping[str, str]) -> Any:
        asked.append(path)
        return "ValueError: no such task" if path.endswith("/log") else {"items": lists.get(path, [])}

    found = read_workloads(get, (), tuple(make.declared_by_name().values()), make.STACK)
    logs = [path for path in asked if path.endswith("/log")]
    assert len(asked) - len(logs) <= 14
    assert len(logs) == len(found.logs) == min(failing, 8)
