"""What the GRID driver agent may do, asked of a real API server with the tokens that its Pods get."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from grid_agent.facts import GATE_LABELS, Condition
from physical_ai.planning.grid_driver import grid_plan
from physical_ai.planning.grid_objects import grid_objects
from physical_ai.settings import Overlay, load
from simulator.kubernetes import ApiError, Client
from simulator.kubernetes.client import MERGE_PATCH
from tests.simulator.conftest import ApiServer
from tests.simulator.grid_agent_pod import GATE, NAMESPACE, Cluster
from tests.support.in_force import wait_until_in_force
from tests.support.waiting import until

PAUSED = "paused-for-grid-driver"
EVENTS = "/api/v1/namespaces/default/events"


@pytest.fixture(scope="module")
def cluster(api_server: ApiServer) -> Iterator[Cluster]:
    made = Cluster(api_server.kubeconfig)
    for namespace in (NAMESPACE, "training"):
        made.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        default = {"name": "default", "namespace": namespace}
        made.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": default})
    plan = grid_plan(load("dev-westus2", [Overlay.assign(["gridDriver.upgradePolicy=force"])]).settings)
    assert plan is not None
    objects = grid_objects(plan)
    for item in (*objects.limits, *objects.rights):
        made.apply(item)
    for node in ("rtx-a", "rtx-b"):
        made.node(node)
    yield made
    for node in ("rtx-a", "rtx-b"):
        made.client.request("DELETE", f"/api/v1/nodes/{node}")


@pytest.fixture(scope="module")
def agent(cluster: Cluster) -> Client:
    """The agent of node rtx-a, once the API server enforces its limits and grants its rights."""
    made = cluster.agent("rtx-a")
    wait_until_in_force(cluster.client)
    return made


def refusal(act: Callable[[], Any]) -> str:
    """What refused: a policy, the roles, or nothing."""
    try:
        act()
    except ApiError as refused:
        if "ValidatingAdmissionPolicy" in str(refused):
            return "policy"
        return "roles" if refused.code == 403 else str(refused)
    return ""


def label(agent: Client, node: str, labels: Mapping[str, str | None]) -> None:
    patch(agent, node, {"metadata": {"labels": dict(labels)}})


def patch(agent: Client, node: str, body: dict[str, Any], subresource: str = "") -> None:
    kind = "application/strategic-merge-patch+json"
    agent.patch(f"/api/v1/nodes/{node}{subresource}", body, kind)


def condition(kind: str) -> dict[str, Any]:
    reported = {"type": kind, "status": "False", "reason": "Installing", "message": "building modules"}
    return {"status": {"conditions": [reported]}}


def test_gates_of_its_own_node_are_the_agents(cluster: Cluster, agent: Client) -> None:
    label(agent, "rtx-a", {GATE: PAUSED, "nvidia.com/gpu.deploy.dcgm": PAUSED})
    assert cluster.client.get("/api/v1/nodes/rtx-a")["metadata"]["labels"][GATE] == PAUSED
    label(agent, "rtx-a", {GATE: "true"})


def test_another_node_is_not(agent: Client) -> None:
    assert refusal(lambda: label(agent, "rtx-b", {GATE: PAUSED})) == "policy"
    assert refusal(lambda: patch(agent, "rtx-b", condition("GridDriverReady"), "/status")) == "policy"


def test_a_token_of_no_pod_changes_no_node(cluster: Cluster, agent: Client) -> None:
    assert refusal(lambda: label(cluster.with_token({}), "rtx-a", {GATE: PAUSED})) == "policy"


@pytest.mark.parametrize(
    "labels",
    [
        {"nvidia.com/gpu.deploy.driver": "true"},
        {"nvidia.com/gpu.deploy.mig-manager": "true"},
        {"node-role.kubernetes.io/control-plane": ""},
        {"kubernetes.azure.com/agentpool": "other"},
        {"kubernetes.azure.com/agentpool": None},
        {GATE: "false"},
        {GATE: None},
    ],
    ids=str,
)
def test_labels_that_are_no_gates_do_not_change(agent: Client, labels: dict[str, str | None]) -> None:
    assert refusal(lambda: label(agent, "rtx-a", labels)) == "policy"
    assert refusal(lambda: patch(agent, "rtx-a", {"metadata": {"labels": labels}}, "/status")) == "policy"


@pytest.mark.parametrize(
    "body",
    [
        {"spec": {"unschedulable": True}},
        {"spec": {"taints": [{"key": "nvidia.com/gpu", "value": "x", "effect": "NoSchedule"}]}},
        {"metadata": {"annotations": {"kwok.x-k8s.io/node": "real"}}},
        {"metadata": {"annotations": {"physical-ai/grid-driver-retry": "1"}}},
        {"metadata": {"finalizers": ["example.com/stay"]}},
    ],
    ids=str,
)
def test_the_rest_of_its_own_node_is_not_the_agents(agent: Client, body: dict[str, Any]) -> None:
    assert refusal(lambda: patch(agent, "rtx-a", body)) == "policy"


def test_of_the_status_it_has_one_condition(cluster: Cluster, agent: Client) -> None:
    patch(agent, "rtx-a", condition("GridDriverReady"), "/status")

    def conditions() -> set[str]:
        found = cluster.client.get("/api/v1/nodes/rtx-a")["status"]["conditions"]
        return {each["type"] for each in found}

    until(lambda: {"GridDriverReady", "Ready"} <= conditions(), "a condition is missing", state=conditions)
    patch(agent, "rtx-a", {"status": {"conditions": [{"type": "GridDriverReady", "status": "True"}]}}, "/status")
    assert refusal(lambda: patch(agent, "rtx-a", condition("Ready"), "/status")) == "policy"
    assert refusal(lambda: patch(agent, "rtx-a", condition("MemoryPressure"), "/status")) == "policy"
    for more in ({"capacity": {"nvidia.com/gpu": "8"}}, {"nodeInfo": {"kernelVersion": "6.6"}}):
        assert refusal(lambda more=more: patch(agent, "rtx-a", {"status": more}, "/status")) == "policy"


def test_pods_are_deleted_on_its_own_node_only(cluster: Cluster, agent: Client) -> None:
    cluster.pod("validator-a", "rtx-a")
    cluster.pod("validator-b", "rtx-b")
    pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
    assert refusal(lambda: agent.request("DELETE", f"{pods}/validator-b")) == "policy"
    assert refusal(lambda: agent.request("DELETE", f"{pods}/validator-a")) == ""


def test_by_force_pods_with_gpus_are_deleted_and_others_remain(cluster: Cluster, agent: Client) -> None:
    cluster.pod("training", "rtx-a", "training", gpus=1)
    cluster.pod("elsewhere", "rtx-b", "training", gpus=1)
    cluster.pod("database", "rtx-a", "training")
    pods = "/api/v1/namespaces/training/pods"
    assert refusal(lambda: agent.request("DELETE", f"{pods}/elsewhere")) == "policy"
    assert refusal(lambda: agent.request("DELETE", f"{pods}/database")) == "policy"
    assert refusal(lambda: agent.request("DELETE", f"{pods}/training")) == ""


def event(node: str, kind: str = "Node") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": "grid-driver-", "namespace": "default"},
        "involvedObject": {"apiVersion": "v1", "kind": kind, "name": node, "uid": node},
        "reason": "Installing",
        "message": "building modules",
        "type": "Normal",
    }


def test_events_are_about_its_own_node(agent: Client) -> None:
    assert refusal(lambda: agent.request("POST", EVENTS, event("rtx-a"))) == ""
    assert refusal(lambda: agent.request("POST", EVENTS, event("rtx-b"))) == "policy"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/nodes"),
        ("DELETE", "/api/v1/nodes/rtx-a"),
        ("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets"),
        ("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods"),
        ("POST", f"/api/v1/namespaces/{NAMESPACE}/pods/agent-rtx-a/eviction"),
        ("GET", f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"),
    ],
)
def test_a_right_that_is_not_granted_is_refused(agent: Client, method: str, path: str) -> None:
    assert refusal(lambda: agent.request(method, path)) == "roles"


def test_an_administrator_is_not_held_by_the_agents_limits(cluster: Cluster, agent: Client) -> None:
    patch_body = {"metadata": {"annotations": {"physical-ai/grid-driver-retry": "1"}}}
    cluster.client.patch("/api/v1/nodes/rtx-b", patch_body, MERGE_PATCH)
    patch(agent, "rtx-a", condition("GridDriverReady"), "/status")


def test_the_api_server_finds_no_fault_with_the_expressions(cluster: Cluster, agent: Client) -> None:
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"

    def checked() -> list[dict[str, Any]]:
        return [item.get("status", {}) for item in cluster.client.get(path)["items"]]

    until(lambda: all("typeChecking" in status for status in checked()), "a policy is not checked", state=checked)
    warnings = [each for status in checked() for each in status["typeChecking"].get("expressionWarnings", [])]
    assert warnings == []


def test_within_its_limits_the_agent_does_all_it_has_to(cluster: Cluster, agent: Client, tmp_path: Path) -> None:
    api = cluster.agents_own("rtx-a", tmp_path / "account")
    cluster.pod("busy", "rtx-a", "training", gpus=1)
    cluster.pod("claimed", "rtx-a", "training", claims=("gpu",))
    cluster.operand("started-too-early", "rtx-a")
    assert api.pool() == "rtxprogpu"
    api.label(dict.fromkeys(GATE_LABELS, PAUSED))
    api.report(Condition("False", "Installing", "building modules"))
    api.event("Normal", "Installing", "building modules")
    seen = api.observe()
    assert {seen.labels[gate] for gate in GATE_LABELS} == {PAUSED}
    assert seen.condition == ("False", "Installing")
    (operand,) = seen.operands
    gpu_pods = lambda: sorted(pod.name for pod in api.observe().gpu_pods or ())  # noqa: E731
    until(lambda: gpu_pods() == ["busy", "claimed"], "Pods with GPUs are not seen", state=gpu_pods)
    api.delete(operand)
    for pod in api.observe().gpu_pods or ():
        api.delete(pod)
    api.label(dict.fromkeys(GATE_LABELS, "true"))
    api.report(Condition("True", "Ready", "driver 595.91.07 is proven"))
    assert api.observe().condition == ("True", "Ready")
