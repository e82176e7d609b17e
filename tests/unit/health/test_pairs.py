"""Checks over two nodes: who is paired with whom, what their Job has, and what is said of each node."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from physical_ai.catalog import vm_size
from physical_ai.catalog.acceptance import checks
from physical_ai.catalog.nccl import figures
from physical_ai.planning.acceptance import declared_jobs
from physical_ai.settings import Settings
from simulator.acceptance.live import machine
from simulator.acceptance.ranks import Rank, run_ranks
from simulator.cluster.pods import ended, running
from simulator.faults.defects import DEFECTS
from simulator.gpu.hardware import of_size
from simulator.gpu.node_state import Host, NodeState
from simulator.gpu.sharing import devices
from tests.unit.settings.test_settings_fabric import stack
from workbench.health.acceptance import jobs
from workbench.health.acceptance.pairs import Pairs, rounds, shared_checks
from workbench.health.acceptance.record import CheckResult, NodeResult

Json = dict[str, Any]
IMAGE = "health.acceptance.images.nccl-tests=example.azurecr.io/nccl-tests:2.17"
CHECK = "nccl-fabric"
H200 = "pools.ndgpu.sku=Standard_ND96isr_H200_v5"


@dataclass
class Cluster:
    """An API server in memory, whose nodes run the ranks of a Job. `alter` changes its Pods' specification."""

    settings: Settings
    nodes: dict[str, Json]
    alter: Callable[[Json], None] = field(default=lambda _: None)
    created: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    job: Json = field(default_factory=dict[str, Any])
    log: str = ""
    worker: Json | None = None
    """Status of the second Pod, in place of one that runs."""

    def send(self, method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        match method, path:
            case "GET", "/api/v1/pods":
                return {"items": []}
            case "GET", _ if path.startswith("/api/v1/nodes/"):
                return self.nodes[path.rpartition("/")[2]]
            case "GET", _ if path.endswith("/pods"):
                return {"items": self._pods()}
            case "GET", _ if path.endswith("/log"):
                return self.log
            case "POST", _:
                self.created.append((path, body))
                self.job = (
                    {**body, "metadata": {**body["metadata"], "uid": "u"}} if path.endswith("/jobs") else self.job
                )
                return self.job
            case "DELETE", _:
                self.job = {}
                return {}
            case _:
                raise AssertionError(f"{method} {path}")

    def _pods(self) -> list[Json]:
        spec: Json = self.job["spec"]["template"]["spec"]
        self.alter(spec)
        term = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        names: list[str] = [each["matchFields"][0]["values"][0] for each in term]
        pods: list[Json] = []
        for index, each in enumerate(names):
            marks = {"batch.kubernetes.io/job-completion-index": str(index)}
            metadata = {"name": f"{self.job['metadata']['name']}-{index}-x", "labels": marks}
            pods.append({"metadata": metadata, "spec": {**spec, "nodeName": each}, "status": {}})
        code, self.log = run_ranks([self._rank(pod) for pod in pods])
        first, *others = pods
        first["status"] = ended(first, {"check": (code, "")})
        for each in others:
            each["status"] = self.worker or running(each)
        return pods

    def _rank(self, pod: Json) -> Rank:
        node = self.nodes[pod["spec"]["nodeName"]]
        hardware = of_size(vm_size(node["metadata"]["labels"]["node.kubernetes.io/instance-type"]))
        assert hardware is not None
        given = tuple(devices(hardware.mig, "single"))
        state = NodeState(
            "v26.7.0",
            hardware,
            host=Host("580.173.02"),
            devices=given,
            resources=Counter(each.resource for each in given),
        )
        return Rank(pod, node, machine(pod["spec"]["containers"][0], node, state))


def cluster(count: int, *assignments: str) -> Cluster:
    settings = stack(IMAGE, *assignments).settings
    size = settings.pools["ndgpu"].sku
    rdma = "rdma/ib" if "networkOperator.devicePlugin=sriov" in assignments else "rdma/shared_ib"
    nodes: dict[str, Json] = {}
    for number in range(count):
        name = f"nd-{number}"
        marks = {"node.kubernetes.io/instance-type": size, "agentpool": "ndgpu", "kubernetes.io/hostname": name}
        given = {"nvidia.com/gpu": "8", rdma: "8" if rdma == "rdma/ib" else "63"}
        nodes[name] = {"metadata": {"name": name, "labels": marks, "annotations": {}}, "status": {"allocatable": given}}
    return Cluster(settings, nodes)


def result(name: str, *, passed: bool = True, baseline: float = 0.0) -> NodeResult:
    verdict = "passed" if passed else "failed"
    time = datetime(2026, 11, 24, tzinfo=UTC)
    key = "all_reduce_2_nodes_16_gpus_16G_bus_gb_s"
    first = {CHECK: {key: baseline}} if baseline else {}
    return NodeResult(name, "u", "b", "ndgpu", "size", "full", time, [CheckResult("stack", verdict, "")], first)


def run(given: Cluster, results: list[NodeResult] | None = None) -> dict[str, CheckResult | None]:
    before = results or [result(each) for each in given.nodes]
    access = Pairs(given.send, given.settings, "full", lambda *_: None, threading.Event())
    done = access.run([given.nodes[each.node] for each in before], before)
    return {each.node: next((one for one in each.checks if one.check == CHECK), None) for each in done}


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.0)


def verdict_of(given: Cluster) -> tuple[str, str]:
    first, second = run(given).values()
    assert first is not None
    assert second is not None
    assert first.verdict == second.verdict
    return first.verdict, first.message


@pytest.mark.parametrize(
    ("assignments", "reached"),
    [((), "157 GB/s"), ((H200,), "482.9 GB/s"), ((H200, "networkOperator.devicePlugin=sriov"), "482.9 GB/s")],
)
def test_two_healthy_nodes_pass_by_the_figure_of_their_setup(assignments: tuple[str, ...], reached: str) -> None:
    verdict, message = verdict_of(cluster(2, *assignments))
    assert verdict == "passed"
    assert reached in message
    assert message.startswith("with nd-1: ")


def without_adapters(spec: Json) -> None:
    for amounts in spec["containers"][0]["resources"].values():
        amounts.pop("rdma/shared_ib", None)


def with_variable(name: str, value: str) -> Callable[[Json], None]:
    def alter(spec: Json) -> None:
        kept = [each for each in spec["containers"][0]["env"] if each["name"] != name]
        spec["containers"][0]["env"] = [*kept, *([{"name": name, "value": value}] if value else [])]

    return alter


def without_capability(spec: Json) -> None:
    spec["containers"][0]["securityContext"].pop("capabilities", None)


def quiet(spec: Json) -> None:
    with_variable("NCCL_DEBUG", "WARN")(spec)


@pytest.mark.parametrize(
    ("alter", "verdict", "problem"),
    [
        (without_adapters, "failed", "used TCP over Ethernet instead of InfiniBand, and reached 6.8 GB/s"),
        (with_variable("NCCL_IB_DISABLE", "1"), "failed", "a variable prevents NCCL from using it"),
        (without_capability, "failed", "lacks the capability IPC_LOCK"),
        (with_variable("NCCL_TOPO_FILE", ""), "failed", "reaches 94.2 GB/s, and the size's floor is 150"),
        (quiet, "no-verdict", "did not say which network"),
    ],
)
def test_a_job_that_is_not_right_for_the_fabric_is_named(
    alter: Callable[[Json], None], verdict: str, problem: str
) -> None:
    given = cluster(2)
    given.alter = alter
    found, message = verdict_of(given)
    assert found == verdict
    assert problem in message


@pytest.mark.parametrize(
    ("defect", "problem"),
    [
        ("slow-fabric", "reaches 52.333 GB/s, and the size's floor is 150"),
        ("adapter-missing", "fewer adapters than the 8 of the size: 7 on "),
        ("no-peermem", "nvidia-peermem is not loaded"),
        ("wrong-results", "results of the all-reduce were wrong"),
    ],
)
def test_a_faulty_node_fails_its_pair(defect: str, problem: str) -> None:
    given = cluster(2)
    given.nodes["nd-1"]["metadata"]["annotations"][DEFECTS] = defect
    verdict, message = verdict_of(given)
    assert verdict == "failed"
    assert problem in message


def test_half_an_output_is_no_verdict() -> None:
    given = cluster(2)
    given.nodes["nd-0"]["metadata"]["annotations"][DEFECTS] = "garbled"
    assert verdict_of(given)[0] == "no-verdict"


def test_nodes_of_two_pools_share_no_fabric() -> None:
    given = cluster(2)
    given.nodes["nd-1"]["metadata"]["labels"]["agentpool"] = "other"
    verdict, message = verdict_of(given)
    assert verdict == "no-verdict"
    assert "no complete table" in message


def test_a_setup_without_a_figure_is_not_judged_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.health.acceptance.pairs.figure", lambda *_: None)
    verdict, message = verdict_of(cluster(2))
    assert verdict == "passed"
    assert "no floor is known" in message


def test_the_nodes_own_first_figure_counts_beside_the_floor() -> None:
    given = cluster(2)
    found = run(given, [result("nd-0", baseline=200.0), result("nd-1")])
    first, second = found["nd-0"], found["nd-1"]
    assert first is not None
    assert second is not None
    assert "of the node's first 200" in first.message
    assert (first.verdict, second.verdict) == ("failed", "passed")


def test_every_node_is_in_a_pair_and_none_that_has_failed() -> None:
    assert rounds([0, 1, 2, 3]) == [[(0, 1), (2, 3)]]
    assert rounds([0, 1, 2]) == [[(0, 1)], [(2, 0)]]
    assert rounds([0]) == rounds([]) == []
    given = cluster(3)
    found = run(given, [result("nd-0"), result("nd-1", passed=False), result("nd-2")])
    assert found["nd-1"] is None
    assert found["nd-0"] is not None
    assert found["nd-0"].message.startswith("with nd-2")


def test_a_node_alone_is_skipped_and_says_why() -> None:
    (only,) = run(cluster(1)).values()
    assert only is not None
    assert (only.verdict, "one of two nodes" in only.message) == ("skipped", True)


def test_what_keeps_one_node_from_the_run_is_no_verdict_about_the_other() -> None:
    given = cluster(2)
    given.nodes["nd-1"]["status"]["allocatable"]["rdma/shared_ib"] = "0"
    found = run(given)
    first, second = found["nd-0"], found["nd-1"]
    assert first is not None
    assert second is not None
    assert not given.created
    assert (second.verdict, first.verdict) == ("failed", "no-verdict")
    assert "offers 0 x rdma/shared_ib" in second.message


def test_a_pod_that_ends_before_the_first_is_named() -> None:
    given = cluster(2)
    given.worker = {"phase": "Failed", "reason": "Evicted", "message": "low on memory"}
    original = given._pods

    def pods() -> list[Json]:
        found = original()
        found[0]["status"] = running(found[0])
        return found

    given._pods = pods  # type: ignore[method-assign]
    verdict, message = verdict_of(given)
    assert verdict == "no-verdict"
    assert "the Pod on nd-1 ended before the first: the Pod was ended: Evicted: low on memory" in message


def test_the_job_has_what_the_fabric_needs_and_leaves_nothing_behind() -> None:
    given = cluster(2)
    run(given)
    kinds = {path.rpartition("/")[2]: body for path, body in given.created}
    assert set(kinds) == {"jobs", "secrets", "configmaps", "services", "networkpolicies"}
    job, name = kinds.pop("jobs"), kinds["services"]["metadata"]["name"]
    assert all(each["metadata"]["ownerReferences"][0]["uid"] == "u" for each in kinds.values())
    assert job["spec"]["completionMode"] == "Indexed"
    assert job["spec"]["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["subdomain"] == name
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "8", "rdma/shared_ib": "1"}
    environment = {each["name"]: each["value"] for each in container["env"]}
    assert environment["RANKS_HOSTS"] == f"{name}-0.{name} {name}-1.{name}"
    assert environment["NCCL_TOPO_FILE"] == "/opt/microsoft/ndv5-topo.xml"
    assert {"start.sh", "ssh_config", "sshd_config", "ndv5-topo.xml"} <= set(kinds["configmaps"]["data"])
    secret = kinds["secrets"]["stringData"]
    assert secret["known_hosts"].split(" ", 1)[1] == secret["authorized_keys"]
    assert secret["key"] not in str(job)


def test_a_figure_belongs_to_the_arguments_of_the_run() -> None:
    command = checks()[CHECK].command
    for each in figures():
        assert command[command.index("-b") + 1] == command[command.index("-e") + 1] == each.bytes
        assert each.nodes == checks()[CHECK].nodes
        assert each.least < each.measured


def test_no_cron_job_is_of_two_nodes_and_a_pool_without_a_fabric_has_no_such_check() -> None:
    settings = stack(IMAGE, "health.acceptance.declareJobs=true").settings
    names = [each["metadata"]["name"] for each in declared_jobs(settings)]
    assert "accept-nccl-ndgpu" in names
    assert not [each for each in names if CHECK in each]
    assert [each.name for each in shared_checks(settings.pools["ndgpu"], "full")] == [CHECK]
    assert shared_checks(settings.pools["h100gpu"], "full") == []
    assert shared_checks(settings.pools["ndgpu"], "quick") == []
