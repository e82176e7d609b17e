"""The stand-in of OSMO's service: order of groups, exit actions, timeouts, refusals; and how programs end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog.osmo import CONTROL_CONTAINER, FINALIZER
from simulator import osmo
from simulator.cluster.names import RUNS
from simulator.kubernetes.client import ApiError
from simulator.osmo import service
from simulator.osmo.history import KEPT, History
from simulator.osmo.programs import TASK_SECONDS, VULKAN, duration, outcome
from tests.support.cases import in_one_test

Json = dict[str, Any]
NODE = "gpu-0"


def pod(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"name": "work"}]}}


class Cluster:
    """Pods that run on the look after they were made, and end on the one after that, by the codes given."""

    def __init__(self, **codes: list[int | None]) -> None:
        self.pods: dict[str, Json] = {}
        self.codes = codes
        self.made: list[str] = []
        self.refuse: str = ""
        self.slow: set[str] = set()
        """Pods that run ten looks longer than others."""
        self.looks = 0

    def as_bearer(self, token: str) -> Cluster:
        del token
        return self

    def path(self, version: str, kind: str, namespace: str | None = None, name: str | None = None) -> str:
        del version, namespace
        return f"/{kind}" + (f"/{name}" if name else "")

    def find(self, path: str) -> None:
        del path

    def request(self, method: str, path: str, body: Json | None = None) -> Json:
        if path.endswith("/token"):
            return {"status": {"token": "t"}}
        if method == "POST":
            assert body is not None
            name = body["metadata"]["name"]
            if name == self.refuse:
                raise ApiError(403, {"message": "exceeded quota: gpus"})
            self.made.append(name)
            self.pods[name] = {**body, "status": {"phase": "Pending"}}
        elif method == "DELETE":
            self.pods.pop(path.rpartition("/")[2], None)
        return {}

    def patch(self, path: str, body: Json, kind: str) -> Json:
        """The worker takes the finalizer off what it deletes."""
        del path, kind
        assert body == {"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
        return {}

    def get(self, path: str, params: Mapping[str, str]) -> Json:
        del path, params
        self.looks += 1
        for name, item in self.pods.items():
            self._move(name, item)
        return {"items": list(self.pods.values())}

    def _move(self, name: str, item: Json) -> None:
        codes = self.codes.get(name.partition("-try-")[0], [0])
        if item["status"]["phase"] == "Pending" and codes != [None]:
            item["spec"]["nodeName"] = NODE
            item["status"]["phase"] = "Running"
        elif name in self.slow and item["status"].setdefault("looks", 0) < 10:
            item["status"]["looks"] += 1
        elif item["status"]["phase"] == "Running" and codes[0] is not None:
            code = codes.pop(0) if len(codes) > 1 else codes[0]
            ended = {"terminated": {"exitCode": code, "message": "last words"}}
            item["status"] |= {
                "phase": "Failed" if code else "Succeeded",
                "containerStatuses": [{"name": CONTROL_CONTAINER, "state": {}}, {"name": "work", "state": ended}],
            }


def evicted(reason: str) -> Json:
    return {"phase": "Running", "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": reason}]}


class Disturbed(Cluster):
    """Pods that get a status after their start, as often as `times` says, and end by themselves after that."""

    def __init__(self, status: Json, times: int = 9) -> None:
        super().__init__()
        self.status, self.times = status, times

    def _move(self, name: str, item: Json) -> None:
        if item["status"]["phase"] == "Running" and self.times:
            self.times -= 1
            item["status"] = {**item["status"], **self.status}
        elif "reason" not in item["status"]:
            super()._move(name, item)


def group(name: str, *tasks: str, needs: tuple[str, ...] = (), lead: str = "") -> osmo.Group:
    made = tuple(osmo.Task(task, task, "h100", 1, task == (lead or tasks[0])) for task in tasks)
    return osmo.Group(name, made, tuple(pod(task) for task in tasks), needs)


def run(
    cluster: Cluster,
    *groups: osmo.Group,
    queue: float = 1e9,
    execute: float = 1e9,
    retries: int = 0,
    reschedule: int | None = None,
    missing: Callable[[], Mapping[str, str]] = dict,
    monkeypatch: pytest.MonkeyPatch,
) -> osmo.Result:
    monkeypatch.setattr(service.time, "sleep", lambda seconds: None)
    clock = iter(range(10**6))
    workflow = osmo.Workflow("w-1", "osmo-workflows", groups, queue, execute, retries)

    def after(task: str, code: int, status: str, tried: int) -> str:
        del task
        return "RESCHEDULED" if code == reschedule and tried < retries else status

    stand_in = osmo.Service(cluster, clock=lambda: next(clock))  # pyright: ignore[reportArgumentType]
    return stand_in.run(workflow, after, lambda task: None, missing)


def test_a_group_waits_for_those_it_takes_inputs_from(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster()
    result = run(cluster, group("b", "evaluate", needs=("a",)), group("a", "train"), monkeypatch=monkeypatch)
    assert cluster.made == ["train", "evaluate"]
    assert set(result.groups.values()) == {"COMPLETED"}
    assert cluster.pods == {}


def test_what_follows_a_failure_never_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(train=[3])
    result = run(cluster, group("a", "train"), group("b", "evaluate", needs=("a",)), monkeypatch=monkeypatch)
    assert cluster.made == ["train"]
    assert (result.tasks["train"].status, result.tasks["train"].exit_code) == ("FAILED", 3)
    assert result.tasks["train"].message == "last words"
    assert result.groups["b"] == "FAILED_UPSTREAM"


def test_with_its_leading_task_a_group_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(server=[None])
    cluster.codes["server"] = [None]
    result = run(cluster, group("a", "client", "server"), monkeypatch=monkeypatch)
    assert result.groups == {"a": "COMPLETED"}
    assert cluster.pods == {}


def test_a_task_is_restarted_as_often_as_the_stack_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(train=[137, 137, 0])
    result = run(cluster, group("a", "train"), retries=3, reschedule=137, monkeypatch=monkeypatch)
    assert cluster.made == ["train", "train-try-2", "train-try-3"]
    assert (result.groups["a"], result.tasks["train"].attempts) == ("COMPLETED", 3)
    cluster = Cluster(train=[137])
    result = run(cluster, group("a", "train"), retries=1, reschedule=137, monkeypatch=monkeypatch)
    assert cluster.made == ["train", "train-try-2"]
    assert (result.groups["a"], result.tasks["train"].exit_code) == ("FAILED", 137)


def test_what_the_api_server_refuses_ends_the_group_with_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster()
    cluster.refuse = "second"
    result = run(cluster, group("a", "first", "second"), monkeypatch=monkeypatch)
    assert result.groups["a"] == "FAILED_SERVER_ERROR"
    assert "exceeded quota" in result.tasks["first"].message
    assert cluster.pods == {}


@pytest.mark.parametrize(("codes", "status"), [([None], "FAILED_QUEUE_TIMEOUT"), ([0], "COMPLETED")])
def test_a_workflow_that_finds_no_node_ends_by_its_queue_timeout(
    codes: list[int | None], status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(Cluster(train=codes), group("a", "train"), queue=2000, monkeypatch=monkeypatch).groups["a"] == status


def test_a_workflow_that_never_ends_ends_by_its_exec_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hung(Cluster):
        def _move(self, name: str, item: Json) -> None:
            if item["status"]["phase"] == "Pending":
                super()._move(name, item)

    cluster = Hung()
    result = run(cluster, group("a", "train"), execute=2000, monkeypatch=monkeypatch)
    assert result.groups["a"] == "FAILED_EXEC_TIMEOUT"
    assert cluster.pods == {}


def without(*agents: str, since: int = 0, until: float = 1e9) -> Callable[[], dict[str, str]]:
    """Agents that are missing from one look to another."""
    looks = iter(range(10**6))
    return lambda: {each: f"No {each} of it is running." for each in agents} if since <= next(looks) < until else {}


@pytest.mark.parametrize("agents", [("worker",), ("worker", "listener")])
def test_without_a_worker_no_pod_is_made_and_no_queue_times_out(
    agents: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster()
    result = run(cluster, group("a", "train"), queue=5, missing=without(*agents), monkeypatch=monkeypatch)
    assert (cluster.made, result.groups) == ([], {"a": "PROCESSING"})
    assert result.tasks["train"].message == "No worker of it is running."
    assert result.waits.startswith("No worker")


def test_without_a_listener_pods_run_and_osmo_knows_nothing_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster()
    result = run(cluster, group("a", "train"), missing=without("listener"), monkeypatch=monkeypatch)
    assert (cluster.made, result.groups, result.waits) == (
        ["train"],
        {"a": "SCHEDULING"},
        "No listener of it is running.",
    )
    assert cluster.pods == {}  # The worker deletes it with the command.
    timed_out = run(Cluster(), group("a", "train"), queue=500, missing=without("listener"), monkeypatch=monkeypatch)
    assert timed_out.groups == {"a": "FAILED_QUEUE_TIMEOUT"}


def test_what_runs_when_the_agents_go_keeps_its_status_and_its_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster()
    gone = without("worker", "listener", since=1)
    result = run(
        cluster, group("a", "train"), group("b", "evaluate", needs=("a",)), missing=gone, monkeypatch=monkeypatch
    )
    assert (result.groups, result.left) == ({"a": "RUNNING", "b": "WAITING"}, True)
    assert list(cluster.pods) == ["train"]


@pytest.mark.parametrize("agent", ["worker", "listener"])
def test_a_workflow_goes_on_when_the_agents_are_back(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster()
    back = without(agent, until=5)
    result = run(
        cluster, group("a", "train"), group("b", "evaluate", needs=("a",)), missing=back, monkeypatch=monkeypatch
    )
    assert (set(result.groups.values()), result.waits, cluster.pods) == ({"COMPLETED"}, "", {})
    assert {task.message for task in result.tasks.values()} <= {"", "last words"}


def test_a_deleted_pod_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    class Thief(Cluster):
        def get(self, path: str, params: Mapping[str, str]) -> Json:
            self.pods.clear()
            return super().get(path, params)

    result = run(Thief(), group("a", "train"), monkeypatch=monkeypatch)
    assert (result.groups["a"], result.tasks["train"].status) == ("FAILED", "FAILED_BACKEND_ERROR")


@pytest.mark.parametrize(
    ("status", "code", "ends", "group_ends"),
    [
        (evicted("EvictionByEvictionAPI"), 3001, "FAILED_BACKEND_ERROR", "FAILED"),
        (evicted("PreemptionByScheduler"), 3006, "FAILED_PREEMPTED", "FAILED_PREEMPTED"),
        ({"phase": "Failed", "reason": "Evicted"}, 3004, "FAILED_EVICTED", "FAILED_EVICTED"),
        ({"phase": "Failed"}, 4000, "FAILED", "FAILED"),
    ],
)
def test_a_pod_that_did_not_end_by_itself_has_osmos_own_exit_code(
    status: Json, code: int, ends: str, group_ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(Disturbed(status), group("a", "train"), monkeypatch=monkeypatch)
    assert (result.tasks["train"].exit_code, result.tasks["train"].status) == (code, ends)
    assert result.groups == {"a": group_ends}


def test_an_evicted_task_is_restarted_by_the_exit_action_of_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Disturbed(evicted("EvictionByEvictionAPI"), times=1)
    result = run(cluster, group("a", "train"), retries=1, reschedule=3001, monkeypatch=monkeypatch)
    assert (cluster.made, result.groups) == (["train", "train-try-2"], {"a": "COMPLETED"})


@pytest.mark.parametrize(
    ("with_any", "groups", "client"), [(False, "COMPLETED", "COMPLETED"), (True, "FAILED", "FAILED")]
)
def test_a_group_fails_with_a_task_that_does_not_lead_only_where_it_says_so(
    with_any: bool, groups: str, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster(server=[3])
    cluster.slow = {"client"}
    given = replace(group("a", "client", "server"), fails_with_any=with_any)
    result = run(cluster, given, monkeypatch=monkeypatch)
    assert (result.groups["a"], result.tasks["client"].status) == (groups, client)
    assert cluster.pods == {}


def program(*, gpu: bool = True, vulkan: bool = False, capabilities: str | None = "all") -> Json:
    container: Json = {"name": "work", "resources": {"limits": {"nvidia.com/gpu": "1"} if gpu else {}}}
    if capabilities is not None:
        container["env"] = [{"name": "NVIDIA_DRIVER_CAPABILITIES", "value": capabilities}]
    metadata: Json = {"annotations": {RUNS: VULKAN}} if vulkan else {}
    return {"metadata": metadata, "spec": {"nodeName": NODE, "containers": [{"name": CONTROL_CONTAINER}, container]}}


@in_one_test(
    ("made", "faults", "code", "words"),
    [
        (program(), {NODE: ""}, 0, ""),
        (program(gpu=False), {}, 0, ""),
        (program(), {NODE: "CUDA_ERROR_NO_DEVICE"}, 1, "CUDA_ERROR_NO_DEVICE"),
        (program(), {}, 1, "no GPU stack"),
        (program(vulkan=True), {NODE: ""}, 0, ""),
        (program(vulkan=True, capabilities="compute, graphics"), {NODE: ""}, 0, ""),
        (program(vulkan=True, capabilities="compute,utility"), {NODE: ""}, 1, "vkCreateDevice failed"),
        (program(vulkan=True, capabilities=None), {NODE: ""}, 1, "compute,utility, its default"),
        (program(capabilities=None), {NODE: ""}, 0, ""),
    ],
)
def test_a_program_ends_as_its_gpu_lets_it(made: Json, faults: dict[str, str], code: int, words: str) -> None:
    found = outcome(made, faults)
    assert found[0] == code
    assert words in found[1]


def test_runs_are_counted_by_workflow_and_kept_within_bounds(tmp_path: Path) -> None:
    history = History(tmp_path)
    assert history.all() == []
    assert [history.begin("train", "t.yaml") for _ in range(3)] == [1, 2, 3]
    assert history.begin("train-large", "l.yaml") == 1
    assert history.all()[0] == {"id": "train-1", "file": "t.yaml", "status": "RUNNING", "tasks": []}
    assert history.end("train-1", "COMPLETED", [{"name": "a"}])["status"] == "COMPLETED"
    assert history.all()[0]["tasks"] == [{"name": "a"}]
    for _ in range(KEPT):
        history.begin("train", "t.yaml")
    assert (history.begin("train", "t.yaml"), len(history.all())) == (KEPT + 4, KEPT)


def test_a_run_that_left_objects_is_swept_by_the_next_command(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.begin("train", "t.yaml")
    assert history.cut_off() == []
    assert "by" not in history.end("train-1", "PENDING", [], left=True)
    assert history.cut_off() == ["train-1"]
    history.end("train-1", "FAILED_CANCELED", [])
    assert history.cut_off() == []


def test_a_run_whose_command_was_killed_is_known(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.begin("here", "a.yaml")
    imports = "from pathlib import Path; from simulator.osmo.history import History"
    opened = f"{imports}; History(Path({str(tmp_path)!r}))"
    script = f"{opened}.begin('gone', 'b.yaml')"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert history.cut_off() == ["gone-1"]
    history.end("gone-1", "FAILED_CANCELED", [])
    assert history.cut_off() == []


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["-commands", "sleep", "-args", "3600"], 3600.0),
        (["-commands", "sleep", "-commands", "infinity"], float("inf")),
        (["-commands", "sleep", "-args", "soon"], TASK_SECONDS),
        (["-commands", "python", "-args", "train.py"], TASK_SECONDS),
        ([], TASK_SECONDS),
    ],
)
def test_a_program_takes_the_same_time_unless_it_sleeps(args: list[str], expected: float) -> None:
    containers = [{"name": "osmo-ctrl"}, {"name": "work", "args": args}]
    assert duration({"spec": {"containers": containers}}) == expected
