"""A pool of AMD's GPUs on a real API server, from the node without a driver to a Pod that has a GPU."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from physical_ai.catalog import amd
from physical_ai.cli.simulated_stack import readiness_client
from physical_ai.readiness import Report, read_reports
from physical_ai.readiness.expected import expected_pools
from physical_ai.settings.plans.plan import make_plan
from physical_ai.simulator.charts import chart_source
from physical_ai.simulator.cluster.objects import at
from tests.support.amd_settings import mixed_settings
from tests.support.simulated_cluster import SimulatedCluster
from tests.support.waiting import until

SECRET = f"/api/v1/namespaces/{amd.NAMESPACE}/secrets"


@pytest.mark.xdist_group("gpu-scenarios")
def test_the_pool_gets_its_gpus_from_its_own_operator_and_a_pod_runs_on_one(cluster: SimulatedCluster) -> None:
    settings, client = mixed_settings(), cluster.client
    plan = make_plan(settings).amd
    assert plan is not None
    (node,) = cluster.pool(settings, "mi300x")
    cluster.install(settings)
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": amd.NAMESPACE, "labels": labels}})
    chart = chart_source(amd.CHART, amd.CHART_VERSION, "")
    options = ("--namespace", amd.NAMESPACE, "--values", "-", "--wait", "--timeout", "60s")
    cluster.helm.run("upgrade", "--install", amd.RELEASE, str(chart), *options, stdin=yaml.safe_dump(dict(plan.values)))
    config: dict[str, Any] = {
        "apiVersion": amd.API_VERSION,
        "kind": amd.KIND,
        "metadata": {"name": "mi300x", "namespace": amd.NAMESPACE},
        "spec": plan.configs["mi300x"],
    }
    cluster.apply(config)

    def report() -> Report:
        found = read_reports(readiness_client(client), expected_pools(settings))
        return next(each for each in found if each.pool == "mi300x")

    until(lambda: [each.cause for each in report().closed] == ["amd-registry-login"], "the missing login is not named")
    assert not client.get(f"/api/v1/nodes/{node}")["status"]["allocatable"].get("amd.com/gpu")

    login = {"name": amd.REGISTRY_SECRET, "namespace": amd.NAMESPACE}
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": login,
            "type": "kubernetes.io/dockerconfigjson",
            "stringData": {amd.DOCKER_CONFIG: plan.login.document("word")},
        }
    )
    until(lambda: report().state == "ready", "no GPU on the node")
    assert client.get(f"/api/v1/nodes/{node}")["status"]["allocatable"]["amd.com/gpu"] == "8"
    found = cluster.labels(node)
    assert found["feature.node.kubernetes.io/amd-vgpu"] == "true"
    until(lambda: cluster.labels(node).get("amd.com/gpu.vram") == "192G", "the node labeller says nothing")
    assert not [key for key in found if key.startswith("nvidia.com/gpu.deploy")], "NVIDIA's operands are on the node"

    work: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "rocm", "namespace": "default"},
        "spec": {
            "nodeSelector": {"agentpool": "mi300x"},
            "tolerations": [{"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "containers": [{"name": "rocm", "image": "rocm/pytorch", "resources": {"limits": {"amd.com/gpu": "1"}}}],
        },
    }
    cluster.apply(work)
    running = lambda: at(client.get("/api/v1/namespaces/default/pods/rocm"), "status.phase") == "Running"  # noqa: E731
    until(running, "the Pod does not run")
    client.request("DELETE", "/api/v1/namespaces/default/pods/rocm", params={"gracePeriodSeconds": "0"})
    path = f"/apis/{amd.API_VERSION}/namespaces/{amd.NAMESPACE}/deviceconfigs/mi300x"
    client.request("DELETE", path)
    until(lambda: client.find(path) is None, "the operator keeps its finalizer")
    cluster.helm.run("uninstall", amd.RELEASE, "--namespace", amd.NAMESPACE, "--timeout", "60s")
