"""OSMO on a simulated stack: workflows run where they should, are refused where they should, and leave in order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog import osmo
from simulator import osmo as stand_in
from simulator.cluster.pods import ended
from simulator.gpu.names import UPGRADE_STATE
from simulator.home import HOME_VARIABLE
from simulator.kubernetes import ApiError, Client
from simulator.kubernetes.client import MERGE_PATCH
from simulator.osmo.service import as_account
from simulator.simulation import Simulation
from tests.simulator.homes import wipe
from tests.simulator.killed_install import administrator
from tests.simulator.physai import physai
from tests.simulator.snapshots import Snapshots
from tests.support.paths import SAMPLES
from tests.support.waiting import LIMIT, until
from workbench.osmo.pods.objects import queue_name

STACK = "dev-westus2"

PODS = f"/api/v1/namespaces/{osmo.WORKFLOWS_NAMESPACE}/pods"
THIRD: dict[str, Any] = {
    "pools": {
        "a100gpu": {
            "sku": "Standard_NC24ads_A100_v4",
            "driver": {"source": "operator"},
            "priority": "Regular",
            "scale": {"min": 0, "max": 1},
            "osDisk": {"type": "Managed", "sizeGb": 256},
            "subnet": "10.40.3.0/26",
            "taints": ["physical-ai/team=vision:NoSchedule"],
        }
    }
}
"""A third pool, as a stack file would have it: at zero nodes, with a taint of its own."""
NEWER = "595.91.07"
"""Another driver than the default one."""
Json = dict[str, Any]


@pytest.fixture
def admin(running: Simulation) -> Client:
    """The administrator of the default stack, which the tests leave as they find it."""
    return administrator(running)


@pytest.fixture(scope="module")
def stack(snapshots: Snapshots, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The default stack with a third pool, and the folder with the overlay that says so."""
    folder = tmp_path_factory.mktemp("osmo")
    home = snapshots.homes.make(folder / "home")
    overlay = folder / "third.yaml"
    overlay.write_text(yaml.safe_dump(THIRD))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(home.folder))
        try:
            snapshots.restore(home, STACK)
            physai("up", STACK, "-f", str(overlay))
            yield folder
        finally:
            wipe(home)


@pytest.fixture
def own_admin(stack: Path) -> Client:
    """The administrator of the stack with a third pool."""
    del stack
    return administrator(Simulation(STACK))


def workflow(folder: Path, name: str, platform: str, **more: Any) -> Path:
    """A file with one task."""
    gpu = {} if platform == "cpu" else {"gpu": 1}
    env = {} if platform == "cpu" else {"environment": {"NVIDIA_DRIVER_CAPABILITIES": "all"}}
    digest = "sha256:" + "a" * 64
    task = {"name": "work", "image": f"registry.example/train@{digest}", "command": ["true"], **env}
    resources = {"default": {"platform": platform, "cpu": 2, "memory": "8Gi", "storage": "10Gi", **gpu}}
    given = {"name": name, "resources": resources, "tasks": [task], "timeout": {"exec_timeout": "1h"}}
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({"version": 2, "workflow": given | more}, sort_keys=False))
    return path


def test_osmo_is_installed_and_a_workflow_on_two_platforms_runs_to_completion(running: Simulation) -> None:
    document = physai("status", "--json").json
    assert [each["name"] for each in document["releases"]] == ["gpu-operator", "kai-scheduler", "osmo-operator"]
    assert document["osmo"]["platforms"]["rtxpro"] == "rtxprogpu"
    (ran,) = physai("run", str(SAMPLES / "train-and-evaluate.yaml"), "--json").json["workflows"]
    assert ran["status"] == "COMPLETED"
    placed = {task["name"]: task["node"].split("-")[1] for task in ran["tasks"]}
    assert placed == {"train": "h100gpu", "evaluate": "rtxprogpu"}
    assert physai("status", "--json").json["osmo"]["workflows"][-1]["id"] == ran["id"]


@pytest.mark.deep  # in `make test`: the sample above, and what each requests in tests/unit/cli/test_osmo_cli.py
def test_every_sample_runs_to_completion(running: Simulation) -> None:
    del running
    ran = physai("run", str(SAMPLES), "--json").json["workflows"]
    assert len(ran) == len(list(SAMPLES.glob("*.yaml")))
    assert {each["status"] for each in ran} == {"COMPLETED"}


@pytest.mark.deep  # in `make test`: the platform of each pool in test_osmo_platforms.py, scaling in test_autoscaling.py
def test_a_pool_added_in_yaml_takes_a_workflow_and_is_scaled_up_from_zero_for_it(
    stack: Path, own_admin: Client
) -> None:
    assert physai("status", "--json").json["osmo"]["platforms"]["a100"] == "a100gpu"
    assert physai("status", "--json").pool("a100gpu")["nodes"] == 0
    path = workflow(stack, "on-third", "a100")
    (ran,) = physai("run", str(path), "--json").json["workflows"]
    assert (ran["status"], ran["tasks"][0]["node"].split("-")[1]) == ("COMPLETED", "a100gpu")
    assert physai("status", "--json").pool("a100gpu")["nodes"] == 1
    until(lambda: not own_admin.get(PODS)["items"], "Pods of the workflow remain")


def test_lint_shows_where_pods_would_run_and_leaves_nothing(tmp_path: Path, admin: Client) -> None:
    path = workflow(tmp_path, "placed", "rtxpro")
    found = physai("lint", str(path), "--setting", "osmo.retries=3", "--simulate", "--json", "--severity", "error").json
    (task,) = found["placements"][str(path)]
    assert task["node"].startswith("aks-rtxprogpu-")
    assert admin.get(PODS)["items"] == []


def test_an_unschedulable_task_shows_the_message_of_the_scheduler(admin: Client) -> None:
    """By way of the API: OSMO's own validations would refuse it before."""
    pod = _pod("too-large", {"nvidia.com/gpu": "1"}, nodeSelector={"agentpool": "h100gpu"})
    pod["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "4000"}
    found = _place(admin, pod)
    assert not found.node
    assert "CPU" in found.message


def test_a_workflow_that_osmo_would_refuse_is_not_submitted(tmp_path: Path, admin: Client) -> None:
    path = workflow(tmp_path, "greedy", "h100", resources={"default": {"platform": "h100", "gpu": 2, "cpu": 2}})
    answer = physai("run", str(path), expect=3)
    assert "no workflow was submitted" in answer.err
    unknown = workflow(tmp_path, "nowhere", "b200")
    assert "b200" in physai("run", str(unknown), expect=3).err
    assert admin.get(PODS)["items"] == []


def test_quota_and_pod_security_refuse_what_the_service_accepts(admin: Client) -> None:
    many = _pod("many", {"nvidia.com/gpu": "100"})
    found = _place(admin, many)
    assert found.status == "FAILED_SERVER_ERROR"
    assert "exceeded quota: gpus" in found.message
    privileged = _pod("privileged", {})
    privileged["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    found = _place(admin, privileged)
    assert "violates PodSecurity" in found.message


def test_a_program_that_renders_fails_without_the_drivers_graphics(admin: Client) -> None:
    pod = _pod("blind", {"nvidia.com/gpu": "1"}, nodeSelector={"agentpool": "rtxprogpu"})
    pod["metadata"]["annotations"] = {"simulator.physical-ai/runs": "vulkan"}
    pod["spec"]["containers"][0]["env"] = [{"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "compute,utility"}]
    result = _run(admin, pod)
    assert (result.status, result.exit_code) == ("FAILED", 1), result.message
    assert result.message.startswith("vkCreateDevice failed")


def test_a_user_without_a_role_submits_nothing(admin: Client) -> None:
    """The deployer of the other tests has one, by a group."""
    refused = physai("run", str(SAMPLES / "cpu-task.yaml"), "--as", "bystander", expect=1)
    assert "403 bystander has no role" in refused.err
    assert admin.get(PODS)["items"] == []


def test_neither_account_reads_the_others_secrets(admin: Client) -> None:
    tasks = as_account(admin, osmo.WORKFLOWS_NAMESPACE, osmo.SERVICE_ACCOUNT)
    agents = as_account(admin, osmo.OPERATOR_NAMESPACE, osmo.WORKER_ACCOUNT)
    for client, path in (
        (tasks, f"/api/v1/namespaces/{osmo.OPERATOR_NAMESPACE}/secrets/{osmo.TOKEN_SECRET}"),
        (tasks, f"/api/v1/namespaces/{osmo.WORKFLOWS_NAMESPACE}/secrets"),
        (tasks, PODS),
        (agents, f"/api/v1/namespaces/{osmo.CONTROL_NAMESPACE}/secrets"),
        (agents, "/api/v1/namespaces/gpu-operator/secrets"),
    ):
        with pytest.raises(ApiError) as refusal:
            client.get(path)
        assert refusal.value.code == 403


@pytest.mark.deep
def test_a_task_runs_to_its_end_and_then_its_node_gets_another_driver(stack: Path, own_admin: Client) -> None:
    """`pulumi up` changes the driver while `physai run` follows a workflow: neither fails."""
    task = {"name": "work", "image": f"registry.example/train@sha256:{'a' * 64}", "command": ["sleep", "infinity"]}
    task["environment"] = {"NVIDIA_DRIVER_CAPABILITIES": "all"}
    path = workflow(stack, "training", "h100", tasks=[task], timeout={"exec_timeout": "3d"})
    running = [sys.executable, "-m", "workbench.cli", "run", str(path), "--json"]
    with subprocess.Popen(running, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as follower:
        try:
            pod = until(lambda: _running_pod(own_admin) or follower.poll() is not None, "the task does not run")
            assert follower.poll() is None, "physai run ended before the task ran"
            node = f"/api/v1/nodes/{pod['spec']['nodeName']}"
            before = _driver(own_admin.get(node))
            physai("up", STACK, "-f", str(stack / "third.yaml"), "--set", f"gpuOperator.driver.version={NEWER}")
            until(
                lambda: _driver(own_admin.get(node))[1:] == ("wait-for-jobs-required", True),
                "the upgrade does not wait",
            )
            assert _driver(own_admin.get(node))[0] == before[0] != NEWER
            assert _running_pod(own_admin)["metadata"]["uid"] == pod["metadata"]["uid"]
            exits = {each["name"]: (0, "") for each in pod["spec"]["containers"]}
            status = f"{PODS}/{pod['metadata']['name']}/status"
            own_admin.patch(status, {"status": ended(pod, exits)}, "application/merge-patch+json")
            out, _ = follower.communicate(timeout=LIMIT)
        finally:
            follower.kill()
    assert json.loads(out)["workflows"][0]["status"] == "COMPLETED"
    until(
        lambda: _driver(own_admin.get(node)) == (NEWER, "upgrade-done", False), "the node does not get the newer driver"
    )


def _running_pod(admin: Client) -> Json:
    pods: list[Json] = admin.get(PODS)["items"]
    return next((each for each in pods if each.get("status", {}).get("phase") == "Running"), {})


def _driver(node: Json) -> tuple[str, str, bool]:
    """Version of a node's driver, state of its upgrade, and whether the node is cordoned."""
    labels: dict[str, str] = node["metadata"]["labels"]
    version = labels.get("nvidia.com/cuda.driver-version.full", "")
    return version, labels.get(UPGRADE_STATE, ""), bool(node["spec"].get("unschedulable"))


@pytest.mark.deep  # in `make test`: each agent that is missing, on the model in test_osmo_stand_in.py
def test_no_workflow_runs_without_agents_and_the_next_one_runs_with_them(
    stack: Path, own_admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In mode backend, too, whose control plane is elsewhere."""
    monkeypatch.setenv("PHYSAI_SECONDS_PER_MODEL_MINUTE", "0.1")
    agents = f"/apis/apps/v1/namespaces/{osmo.OPERATOR_NAMESPACE}/deployments"
    for agent, made in (("worker", False), ("listener", True)):
        path = f"{agents}/osmo-operator-osmo-backend-{agent}/scale"
        own_admin.patch(path, {"spec": {"replicas": 0}}, MERGE_PATCH)
        answer = physai("run", str(SAMPLES / "cpu-task.yaml"), "--json", expect=1)
        (ran,) = answer.json["workflows"]
        assert (ran["status"], ran["tasks"][0]["status"]) == ("PENDING", "SCHEDULING" if made else "PROCESSING")
        assert f"No {agent} of it is running." in answer.err
        assert own_admin.get(PODS)["items"] == []
        own_admin.patch(path, {"spec": {"replicas": 1}}, MERGE_PATCH)
    (ran,) = physai("run", str(SAMPLES / "cpu-task.yaml"), "--json").json["workflows"]
    assert ran["status"] == "COMPLETED"


@pytest.mark.deep  # in `make test`: the order in test_osmo_gate.py, a removal in test_control_plane.py
def test_agents_that_are_switched_off_delete_their_workflows_first(stack: Path, own_admin: Client) -> None:
    """And nothing hangs: their finalizer is taken off by them, while they are there."""
    pod = _pod("long", {}, nodeSelector={"agentpool": "cpu"}, schedulerName="default-scheduler")
    pod["metadata"] |= {"finalizers": [osmo.FINALIZER], "labels": {osmo.WORKFLOW_LABEL: "long-1"}}
    own_admin.request("POST", PODS, pod)
    until(lambda: own_admin.get(f"{PODS}/long")["status"].get("phase") == "Running", "the Pod does not run")
    overlay = stack / "off.yaml"
    overlay.write_text(yaml.safe_dump({**THIRD, "osmo": {"mode": "namespaces"}}))
    answer = physai("up", STACK, "-f", str(overlay))
    assert "Deleting 1 Pods of workflows in osmo-workflows" in answer.err
    assert own_admin.get(PODS)["items"] == []
    document = physai("status", "--json").json
    assert [each["name"] for each in document["releases"]] == ["gpu-operator"]
    assert "agents are not in this cluster" in physai("run", str(SAMPLES / "cpu-task.yaml"), expect=1).err


@pytest.mark.deep  # test_stack.py does it with one pool less
def test_down_leaves_nothing_behind(stack: Path) -> None:
    physai("down", STACK)
    assert not Simulation(STACK).exists


def _pod(name: str, limits: Json, **spec: Any) -> Json:
    container = {"name": "work", "image": "registry.example/x:1", "resources": {"limits": limits}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {}},
        "spec": {"containers": [container], "restartPolicy": "Never", **spec},
    }


def _of(pod: Json) -> stand_in.Workflow:
    name = pod["metadata"]["name"]
    queue = queue_name(osmo.WORKFLOWS_NAMESPACE, "default")
    pod["metadata"]["labels"] |= {osmo.WORKFLOW_LABEL: f"{name}-1", "kai.scheduler/queue": queue}
    pod["spec"].setdefault("schedulerName", osmo.SCHEDULER)
    tolerations = [
        {"key": key, "operator": "Exists"} for key in ("nvidia.com/gpu", "kubernetes.azure.com/scalesetpriority")
    ]
    pod["spec"]["tolerations"] = tolerations
    task = stand_in.Task("work", name, "h100", 1)
    return stand_in.Workflow(
        id=f"{name}-1",
        namespace=osmo.WORKFLOWS_NAMESPACE,
        groups=(stand_in.Group("work-group", (task,), (pod,)),),
        queue_seconds=4 * 3600,  # two minutes of a real clock: a node may have to be added first
        exec_seconds=3600,
    )


def _place(admin: Client, pod: Json) -> stand_in.TaskResult:
    result = stand_in.Service(admin).place(_of(pod), 5, lambda task: None)
    return result.tasks["work"]


def _run(admin: Client, pod: Json) -> stand_in.TaskResult:
    result = stand_in.Service(admin).run(_of(pod), lambda task, code, status, retries: status, lambda task: None)
    return result.tasks["work"]
