"""A run of acceptance on a node: Jobs, what hinders them, and what is left in the cluster."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

from physical_ai.catalog.acceptance import AcceptanceLevel, checks
from physical_ai.planning.acceptance import node_job
from physical_ai.readiness.reader import Unreachable
from physical_ai.settings import Settings, load
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT
from tests.support.acceptance_world import NODE, World, gpu_node
from workbench.health.acceptance import jobs
from workbench.health.acceptance.choosing import NoNodes, choose, is_kept_out
from workbench.health.acceptance.collecting import collect
from workbench.health.acceptance.jobs import Stopped
from workbench.health.acceptance.junit import junit
from workbench.health.acceptance.record import NodeResult, Verdict, read
from workbench.health.acceptance.running import Acceptance, Target

H100 = "Standard_NC40ads_H100_v5"
TAINT = {"key": NOT_ACCEPTED_TAINT.partition("=")[0], "value": "present", "effect": "NoSchedule"}


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load("dev-westus2").settings


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.0)


@pytest.fixture
def world() -> World:
    return World(gpu_node(H100), "580.173.02")


def run(world: World, settings: Settings, level: AcceptanceLevel = "quick") -> NodeResult:
    said: list[tuple[str, str, str]] = []
    access = Acceptance(world.send, settings, level, lambda *words: said.append(words))
    (result,) = access.run([Target(world.node, "h100gpu")])
    assert world.jobs == {}, "Jobs are left behind"
    assert {each[1] for each in said} == {each.check for each in result.checks}
    return result


def verdicts(result: NodeResult) -> dict[str, Verdict]:
    return {each.check: each.verdict for each in result.checks}


def test_a_healthy_node_passes_and_keeps_its_record(world: World, settings: Settings) -> None:
    result = run(world, settings, "full")
    assert result.passed
    assert verdicts(result)["diag-2"] == "passed"
    assert read(world.maps[f"acceptance-{NODE}"]) == result
    condition = world.node["status"]["conditions"][-1]
    assert (condition["type"], condition["status"]) == ("physical-ai/Accepted", "True")
    assert world.node["status"]["conditions"][0]["type"] == "Ready"


def test_jobs_take_what_they_need_and_no_more(world: World, settings: Settings) -> None:
    run(world, settings, "full")
    for job in world.created:
        pod = job["spec"]["template"]["spec"]
        assert pod["automountServiceAccountToken"] is False
        assert "serviceAccountName" not in pod
        assert pod["nodeSelector"] == {"kubernetes.io/hostname": NODE}
        assert pod["containers"][0]["securityContext"] == {"allowPrivilegeEscalation": False}
        assert job["spec"]["backoffLimit"] == 0
        assert job["spec"]["activeDeadlineSeconds"] >= 300


def test_the_first_figures_remain_the_baseline(world: World, settings: Settings) -> None:
    first = run(world, settings, "full")
    world.node["metadata"]["annotations"] = {"simulator.physical-ai/acceptance-defects": "slow-link"}
    second = run(world, settings, "full")
    assert verdicts(second)["bandwidth"] == "failed"
    assert second.baseline == first.baseline
    assert first.baseline["bandwidth"]["host_to_device_memcpy_ce_gb_s"] == 54.9


def test_another_machine_with_the_name_has_no_baseline(world: World, settings: Settings) -> None:
    run(world, settings, "full")
    stored = json.loads(world.maps[f"acceptance-{NODE}"]["data"]["result.json"])
    stored["baseline"]["bandwidth"]["host_to_device_memcpy_ce_gb_s"] = 1000.0
    world.maps[f"acceptance-{NODE}"]["data"]["result.json"] = json.dumps(stored)
    assert verdicts(run(world, settings, "full"))["bandwidth"] == "failed"
    world.node["metadata"]["uid"] = "uid-2"
    assert run(world, settings, "full").baseline["bandwidth"]["host_to_device_memcpy_ce_gb_s"] == 54.9


def test_a_result_takes_the_taint_away_although_others_change_the_node(world: World, settings: Settings) -> None:
    world.node["spec"]["taints"].append(TAINT)
    world.conflicts = 2
    assert is_kept_out(world.node)
    assert run(world, settings).passed
    assert [each["key"] for each in world.node["spec"]["taints"]] == ["nvidia.com/gpu"]


@pytest.mark.parametrize(("admit", "kept_out"), [("accepted", True), ("any", False)])
def test_a_failure_keeps_the_node_out_where_the_stack_says_so(
    world: World, settings: Settings, admit: str, kept_out: bool
) -> None:
    world.driver = "570.124.06"
    health = settings.health.model_copy(update={"admit": admit})
    assert not run(world, settings.model_copy(update={"health": health})).passed
    assert is_kept_out(world.node) is kept_out
    assert world.node["status"]["conditions"][-1]["status"] == "False"


def _waiting(reason: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    state = {"waiting": {"reason": reason, "message": "manifest unknown"}}

    def alter(pod: dict[str, Any]) -> dict[str, Any]:
        return {**pod, "status": {"phase": "Pending", "containerStatuses": [{"name": "check", "state": state}]}}

    return alter


def test_an_image_that_cannot_be_pulled_is_no_verdict(world: World, settings: Settings) -> None:
    world.alter = _waiting("ImagePullBackOff")
    result = run(world, settings)
    assert verdicts(result)["vector-add"] == "no-verdict"
    assert "ImagePullBackOff: manifest unknown" in result.checks[0].message
    assert not result.passed


def test_a_log_that_may_not_be_read_is_named_with_the_end_of_its_container(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = world.send

    def send(method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        if path.endswith("/log"):
            raise Unreachable('403 pods "x" is forbidden: User "y" cannot get resource "pods/log"', 403)
        return answers(method, path, parameters, body)

    monkeypatch.setattr(world, "send", send)
    result = run(world, settings)
    assert set(verdicts(result).values()) == {"no-verdict", "skipped"}
    assert "ended with exit code 0, and its log could not be read: 403 pods" in result.checks[0].message


def test_a_check_that_was_stopped_at_its_deadline_is_no_verdict(world: World, settings: Settings) -> None:
    def late(_: dict[str, Any]) -> None:
        for job in world.jobs.values():
            job["status"] = {"conditions": [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}]}

    world.alter = late
    assert "had not finished after 10 minutes" in run(world, settings).checks[0].message


def test_a_node_at_work_is_not_disturbed(world: World, settings: Settings) -> None:
    container = {"name": "train", "resources": {"requests": {"nvidia.com/gpu": "1"}}}
    pod = {"metadata": {"namespace": "osmo-workflows", "name": "train-0"}, "spec": {"containers": [container]}}
    world.others = [{**pod, "status": {"phase": "Running"}}]
    result = run(world, settings)
    assert not world.created
    assert "in use by osmo-workflows/train-0" in result.checks[0].message
    world.others = [{**pod, "status": {"phase": "Succeeded"}}]
    assert run(world, settings).passed


def test_a_node_of_slurms_is_left_to_it_and_the_way_to_get_it_is_named(world: World, settings: Settings) -> None:
    container = {"name": "slurmd", "resources": {"requests": {"nvidia.com/gpu": "1"}}}
    labels = {"app.kubernetes.io/name": "slurmd"}
    metadata = {"namespace": "slurm", "name": "slurm-worker-h100gpu-x", "labels": labels}
    host = {"nodeName": NODE, "containers": [container]}
    world.others = [{"metadata": metadata, "spec": host, "status": {"phase": "Running"}}]
    message = run(world, settings).checks[0].message
    assert not world.created
    assert "its GPUs are Slurm's (slurm/slurm-worker-h100gpu-x; no job runs on it now)" in message
    assert f"kubectl label node {NODE} physical-ai/slurm-out=accept" in message


def test_a_node_without_its_gpus_fails_at_once(world: World, settings: Settings) -> None:
    world.node["status"]["allocatable"]["nvidia.com/gpu"] = "0"
    result = run(world, settings)
    assert verdicts(result)["vector-add"] == "failed"
    assert "offers 0 x nvidia.com/gpu" in result.checks[0].message


def test_a_job_that_another_client_deletes_is_no_verdict(world: World, settings: Settings) -> None:
    def delete(_: dict[str, Any]) -> None:
        world.jobs.clear()

    world.alter = delete
    assert run(world, settings).checks[0].message == "another client deleted the Job"


def test_a_node_that_leaves_the_cluster_keeps_its_result(world: World, settings: Settings) -> None:
    def leave(pod: dict[str, Any]) -> dict[str, Any]:
        world.is_gone = True
        return pod

    world.alter = leave
    result = run(world, settings)
    assert (result.checks[0].verdict, result.checks[1].verdict) == ("passed", "no-verdict")
    assert read(world.maps[f"acceptance-{NODE}"]) == result


def test_an_interrupted_run_leaves_no_job_and_no_result(world: World, settings: Settings) -> None:
    stop = threading.Event()

    def interrupt(_: dict[str, Any]) -> None:
        stop.set()

    world.alter = interrupt
    with pytest.raises(Stopped):
        Acceptance(world.send, settings, "quick", lambda *_: None, stop).run([Target(world.node, "h100gpu")])
    assert world.jobs == {}
    assert world.deleted
    assert world.maps == {}


def test_the_newest_pods_of_cron_jobs_are_judged_and_nothing_is_written(world: World, settings: Settings) -> None:
    def finished(number: int, check: str, defect: str = "", phase: str = "Succeeded", node: str = NODE) -> None:
        world.node["metadata"]["annotations"] = {"simulator.physical-ai/acceptance-defects": defect}
        job = node_job(checks()[check], settings.pools["h100gpu"], "x/vectoradd", node=NODE, hostname=NODE, labels={})
        pod = world.ran(f"p{number}", job["spec"]["template"]["spec"])
        pod["metadata"] |= {
            "labels": {"physical-ai/acceptance-check": check},
            "creationTimestamp": f"2026-11-0{number}T03:00:00Z",
        }
        pod["spec"]["nodeName"] = node
        pod["status"]["phase"] = phase
        world.finished.append(pod)

    finished(2, "bandwidth")
    finished(1, "bandwidth", "slow-link")
    finished(3, "vector-add", "garbled")
    finished(4, "diag-2", phase="Running")
    finished(5, "stack", node="another")
    (result,) = collect(world.send, settings, [Target(world.node, "h100gpu")])
    assert verdicts(result) == {"vector-add": "no-verdict", "bandwidth": "passed"}
    assert result.level == "full"
    assert world.maps == {}
    world.finished.clear()
    assert collect(world.send, settings, [Target(world.node, "h100gpu")]) == []


def test_nodes_are_chosen_by_pool_name_and_taint() -> None:
    tainted, plain = gpu_node(H100), gpu_node(H100, "rtxprogpu")
    plain["metadata"]["name"] = "other"
    tainted["spec"]["taints"].append(TAINT)
    pools = ["h100gpu", "rtxprogpu"]
    assert [each.pool for each in choose([tainted, plain], pools)] == ["h100gpu", "rtxprogpu"]
    assert [each.pool for each in choose([tainted, plain], pools, pool="rtxprogpu")] == ["rtxprogpu"]
    assert [each.pool for each in choose([tainted, plain], pools, new=True)] == ["h100gpu", "rtxprogpu"]
    plain["status"]["conditions"].append({"type": "physical-ai/Accepted", "status": "True"})
    assert [each.pool for each in choose([tainted, plain], pools, new=True)] == ["h100gpu"]
    with pytest.raises(NoNodes):
        choose([tainted, plain], pools, pool="a100")
    with pytest.raises(NoNodes):
        choose([tainted, plain], pools, node="aks-x")
    tainted["status"]["conditions"][0]["status"] = "Unknown"
    with pytest.raises(NoNodes, match="physai why"):
        choose([tainted], pools)


def _suite(result: NodeResult) -> Element:
    return fromstring(junit([result]))[0]  # noqa: S314 - our own text


def test_junit_has_failures_and_missing_verdicts_apart(world: World, settings: Settings) -> None:
    world.driver = "570.124.06"
    suite = _suite(run(world, settings))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
        "4",
        "1",
        "0",
        "2",
    )
    world.alter = _waiting("ErrImagePull")
    assert _suite(run(world, settings)).get("errors") == "2"
