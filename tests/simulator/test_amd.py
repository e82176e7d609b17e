"""A pool of AMD's GPUs on a real API server, from the node without a driver to a Job that has them.

In `make test`: unit tests of the model (`test_amd_model.py`) and of the components (`test_components_amd.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from parts.amd import names as amd
from parts.amd.plan import RELEASE, amd_plan
from physical_ai.catalog.charts import newest_chart
from physical_ai.readiness import Report, read_reports
from physical_ai.readiness.expected import expected_pools
from physical_ai.repository import PARTS
from simulator.charts import chart_source
from simulator.cluster.objects import at
from simulator.home import Home
from simulator.kubernetes import Client
from simulator.metrics.reading import Reader
from simulator.metrics.telemetry import Telemetry
from simulator.simulation import Simulation
from tests.simulator.physai import physai
from tests.support.amd_settings import GIVEN, STACK, mixed_settings
from tests.support.simulated_cluster import SimulatedCluster
from tests.support.waiting import LIMIT, until
from workbench.cli.simulated_stack import readiness_client

JOBS = "/apis/batch/v1/namespaces/default/jobs"
JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "rocm", "namespace": "default"},
    "spec": {
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "nodeSelector": {"agentpool": "mi300x"},
                "tolerations": [{"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
                "containers": [{"name": "rocm", "image": "rocm", "resources": {"limits": {"amd.com/gpu": "8"}}}],
            }
        }
    },
}


def runs_a_job(client: Client) -> None:
    """A Job with all GPUs of the node ends well, and is removed with its Pod."""
    client.request("POST", JOBS, JOB)
    until(lambda: at(client.get(f"{JOBS}/rocm"), "status.succeeded", 0) == 1, "the Job does not end")
    client.request("DELETE", f"{JOBS}/rocm", params={"propagationPolicy": "Background"})


@pytest.mark.deep
@pytest.mark.xdist_group("gpu-scenarios")
def test_the_pool_gets_its_gpus_from_its_own_operator_and_a_job_runs_on_them(cluster: SimulatedCluster) -> None:
    settings, client = mixed_settings(), cluster.client
    plan, _ = amd_plan(settings, PARTS)
    assert plan is not None
    (node,) = cluster.pool(settings, "mi300x")
    cluster.install(settings)
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": amd.NAMESPACE, "labels": labels}})
    chart = chart_source(amd.CHART, newest_chart(amd.CHART).version, "")
    options = ("--namespace", amd.NAMESPACE, "--values", "-", "--wait", "--timeout", f"{LIMIT:g}s")
    values = yaml.safe_dump(dict(plan.release(RELEASE).values))
    cluster.helm.run("upgrade", "--install", amd.RELEASE, str(chart), *options, stdin=values)
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

    runs_a_job(client)
    path = f"/apis/{amd.API_VERSION}/namespaces/{amd.NAMESPACE}/deviceconfigs/mi300x"
    client.request("DELETE", path)
    until(lambda: client.find(path) is None, "the operator keeps its finalizer")
    cluster.helm.run("uninstall", amd.RELEASE, "--namespace", amd.NAMESPACE, "--timeout", f"{LIMIT:g}s")


@pytest.mark.deep
def test_a_stack_with_such_a_pool_comes_up_measured_and_goes_down(home: Home, tmp_path: Path) -> None:
    layer = tmp_path / "amd.yaml"
    given = {key: value for key, value in GIVEN.items() if key != "secrets"}
    layer.write_text(yaml.safe_dump({**given, "protect": False, "monitoring": {"metrics": "azure"}}))
    physai("up", STACK, "--file", str(layer), "--telemetry")
    simulation = Simulation(STACK)
    pool = physai("status", STACK, "--json").pool("mi300x")
    assert (pool["gpusAllocatable"], pool["driverVersion"]) == (8, "6.4.3")
    clusters = simulation.clusters()
    runs_a_job(clusters.client(clusters.ids()[0]))
    reader = Reader(Telemetry(simulation.folder))
    until(lambda: len(reader.query("amd_gpu_gfx_activity")) == 8, "no series of AMD's exporter")
    until(lambda: len(reader.query('physical_ai:gpus_capacity{pool="mi300x"} == 8')) == 1, "no GPUs are counted")
    physai("down", STACK)
    assert not simulation.exists
