"""Two nodes with InfiniBand on a real API server: network driver, GPU driver, a job over both, and their acceptance.

In `make test`: unit tests of the model (`test_network_operator.py`), the components and the settings.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from parts.network_operator.names import CHART, NAMESPACE, POLICY, RELEASE
from physical_ai.planning.plan import make_plan
from physical_ai.settings import Settings
from physical_ai.settings.facts.fabric import rdma_request
from physical_ai.settings.facts.pools import tolerations
from simulator.acceptance.live import pod_log
from simulator.charts import chart_source
from simulator.cluster.objects import at
from simulator.network_operator.live import POLICIES
from tests.simulator.conftest import ApiServer
from tests.simulator.gpu_nodes import DRIVER, has_gpus, stack
from tests.support.simulated_cluster import PRIVILEGED, SimulatedCluster
from tests.support.waiting import LIMIT, remains, until
from tests.unit.settings.test_settings_fabric import WITH_FABRIC
from workbench.health.acceptance import jobs
from workbench.health.acceptance.pairs import Pairs
from workbench.health.acceptance.record import CheckResult, NodeResult

IMAGE = "health.acceptance.images.nccl-tests=example.azurecr.io/nccl-tests:2.17"
OWNED = ("secrets", "configmaps", "services")
JOBS = "/apis/batch/v1/namespaces/default/jobs"


def install(cluster: SimulatedCluster, version: str, values: dict[str, Any]) -> None:
    cluster.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": dict(PRIVILEGED)}}
    )
    chart = chart_source(CHART, version, "")
    arguments = ("upgrade", "--install", RELEASE, str(chart), "--namespace", NAMESPACE, "--values", "-")
    cluster.helm.run(*arguments, "--wait", "--timeout", f"{LIMIT:g}s", stdin=yaml.safe_dump(values))


def rdma(cluster: SimulatedCluster, node: str) -> dict[str, str]:
    given: dict[str, str] = at(cluster.node(node), "status.allocatable", {})
    return {key: count for key, count in given.items() if key.startswith("rdma/")}


def job(requests: dict[str, str], tolerated: list[dict[str, str]]) -> dict[str, Any]:
    """A gang of two, each with all GPUs of a node and its adapters."""
    pod = {
        "restartPolicy": "Never",
        "tolerations": tolerated,
        "nodeSelector": {"agentpool": "ndgpu"},
        "containers": [{"name": "rank", "image": "nccl-tests", "resources": {"limits": requests}}],
    }
    metadata = {"name": "two-nodes", "namespace": "default"}
    spec = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def ranks(cluster: SimulatedCluster) -> dict[str, str]:
    """Phase of each rank by its node."""
    found = cluster.client.get("/api/v1/namespaces/default/pods", {"labelSelector": "job-name=two-nodes"})["items"]
    return {str(at(pod, "spec.nodeName", "")): str(at(pod, "status.phase", "")) for pod in found}


def named(cluster: SimulatedCluster, path: str) -> list[str]:
    """Objects of a check over several nodes."""
    found = [str(at(each, "metadata.name")) for each in cluster.client.get(path)["items"]]
    return [each for each in found if each.startswith("accept-")]


def accepted(cluster: SimulatedCluster, settings: Settings, nodes: list[str], folder: Path) -> list[CheckResult]:
    """The last result of each node, of a run of the check over both."""

    def send(method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        if path.endswith("/log"):
            return pod_log(folder, path, parameters["container"]) or ""
        return cluster.client.request(method, path, body, dict(parameters))

    own = [CheckResult("stack", "passed", "")]
    now = datetime.now(UTC)
    before = [NodeResult(each, "", "", "ndgpu", settings.pools["ndgpu"].sku, "full", now, own) for each in nodes]
    access = Pairs(send, settings, "full", lambda *_: None, threading.Event())
    return [each.checks[-1] for each in access.run([cluster.node(each) for each in nodes], before)]


@pytest.mark.deep
def test_a_job_runs_over_two_nodes_once_both_drivers_are_there(
    cluster: SimulatedCluster, api_server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.2)
    loaded = stack(*WITH_FABRIC, IMAGE)
    network = make_plan(loaded).parts["network_operator"]
    operator = network.releases[0]
    nodes = cluster.pool(loaded, "ndgpu", 2)
    try:
        cluster.install(loaded)
        until(lambda: all(cluster.phase(node, DRIVER) == "Init:0/1" for node in nodes), "no driver waits")
        remains(lambda: not any(cluster.gpus(node) for node in nodes), "a driver did not wait for the network's")

        install(cluster, operator.chart.version, dict(operator.values))
        cluster.apply(dict(network.after[0]))
        for node in nodes:
            until(has_gpus(cluster, node, gpu=8), f"no GPUs on {node}")
            until(lambda node=node: rdma(cluster, node) == {"rdma/shared_ib": "63"}, f"no adapters on {node}")
        assert rdma(cluster, "cpu-0") == {}
        until(lambda: at(cluster.client.get(f"{POLICIES}/{POLICY}"), "status.state") == "ready", "not ready")

        pool = loaded.pools["ndgpu"]
        requests = {"nvidia.com/gpu": "8", **rdma_request(loaded, pool, 8)}
        cluster.apply(job(requests, tolerations(pool)))
        until(lambda: set(ranks(cluster)) == set(nodes), "the job is not on both nodes")
        until(lambda: set(ranks(cluster).values()) <= {"Running", "Succeeded"}, "a rank does not run")

        cluster.remove(f"{JOBS}/two-nodes")
        until(lambda: not ranks(cluster), "the job's Pods remain")
        results = accepted(cluster, loaded, nodes, api_server.path.parent / "plane")
        assert [each.verdict for each in results] == ["passed", "passed"], results
        assert "all-reduce over 2 nodes 157 GB/s" in results[0].message
        for kind in OWNED:
            path = f"/api/v1/namespaces/gpu-operator/{kind}"
            until(lambda path=path: not named(cluster, path), f"{path} of the check remain")
    finally:
        for path in (f"{JOBS}/two-nodes", f"{POLICIES}/{POLICY}"):
            cluster.remove(path)
        if cluster.helm.last_release(RELEASE, NAMESPACE) is not None:
            cluster.helm.run("uninstall", RELEASE, "--namespace", NAMESPACE, "--timeout", f"{LIMIT:g}s")
