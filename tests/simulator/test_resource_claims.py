"""GPUs by resource claims on a real API server: the real scheduler allocates what the model of the driver publishes.

In `make test`: unit tests of the model (`test_gpu_claims.py`) and of the components (`test_components_dra.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from parts.dra.claims import claim_objects
from parts.dra.plan import claimed_node_policies
from physical_ai.planning.plan import make_plan
from physical_ai.readiness import read_reports
from physical_ai.readiness.expected import expected_pools
from physical_ai.readiness.workloads import declared_pools, explain, read_workloads
from physical_ai.settings import Settings
from simulator.charts import chart_source
from simulator.cluster.objects import at
from tests.simulator.gpu_nodes import stack
from tests.support.dra_settings import CLAIMS, POOL
from tests.support.simulated_cluster import NAMESPACE, SimulatedCluster
from tests.support.waiting import until
from workbench.cli.simulated_stack import readiness_client

Json = dict[str, Any]
TEAM, RELEASE = "robotics", "dra-driver-nvidia-gpu"
ANYWHERE = [{"operator": "Exists"}]
DEPLOY = "nvidia.com/gpu.deploy.device-plugin"
SETTINGS = stack(*POOL, CLAIMS)


def install(cluster: SimulatedCluster, settings: Settings) -> None:
    """The operator, then the DRA driver with the values the program gives it, and its objects."""
    cluster.install(settings)
    release = make_plan(settings).parts["dra"].releases[0]
    chart = chart_source(release.chart.name, release.chart.version, "")
    arguments = ("upgrade", "--install", RELEASE, str(chart), "--namespace", NAMESPACE, "--values", "-")
    cluster.helm.run(*arguments, stdin=yaml.safe_dump(dict(release.values)))
    objects = claim_objects(settings)
    for item in (*objects.classes, *objects.namespaces, *objects.claims):
        cluster.apply(item)


def remove(cluster: SimulatedCluster, settings: Settings) -> None:
    """What `clear` does not know of."""
    cluster.helm.run("uninstall", RELEASE, "--namespace", NAMESPACE, "--ignore-not-found", "--no-hooks")
    objects = claim_objects(settings)
    for item in (*objects.namespaces, *objects.classes, *reversed(claimed_node_policies(settings))):
        path = cluster.client.path(item["apiVersion"], item["kind"], None, item["metadata"]["name"])
        cluster.client.request("DELETE", path)


@pytest.fixture
def claimed(cluster: SimulatedCluster) -> Iterator[SimulatedCluster]:
    """A cluster with the stack's policy for nodes, and nothing of claims left in it afterwards."""
    for policy in claimed_node_policies(SETTINGS):
        cluster.apply(policy)
    yield cluster
    remove(cluster, SETTINGS)


def pod_spec(claim: Json) -> Json:
    container = {"name": "train", "image": "registry.example/train:1", "resources": {"claims": [{"name": "gpu"}]}}
    given = [{"name": "gpu", **claim}]
    return {"restartPolicy": "Never", "tolerations": ANYWHERE, "resourceClaims": given, "containers": [container]}


@pytest.mark.deep
def test_a_job_gets_the_devices_of_its_claim_and_missing_ones_are_named(claimed: SimulatedCluster) -> None:
    cluster, settings = claimed, SETTINGS
    (h100,) = cluster.pool(settings, "h100gpu")
    cluster.pool(settings, "rtxprogpu", host="595.91.07")
    install(cluster, settings)
    expected = expected_pools(settings)

    def open_pools() -> set[str]:
        return {each.pool for each in read_reports(readiness_client(cluster.client), expected) if each.state == "ready"}

    until(lambda: open_pools() == {"h100gpu", "rtxprogpu"}, "the GPUs are not offered")
    assert cluster.gpus(h100) == {}, "the device plugin offers them again"
    cluster.label(h100, **{DEPLOY: "true"})
    assert cluster.labels(h100)[DEPLOY] == "false", "nothing keeps the device plugin off the node"

    job = {"template": {"spec": pod_spec({"resourceClaimTemplateName": "large"})}}
    jobs = f"/apis/batch/v1/namespaces/{TEAM}/jobs"
    cluster.client.request("POST", jobs, {"metadata": {"name": "train"}, "spec": job})
    until(lambda: at(cluster.client.get(f"{jobs}/train"), "status.succeeded") == 1, "the Job does not run")
    pods = f"/api/v1/namespaces/{TEAM}/pods"
    [ran] = cluster.client.get(pods, {"labelSelector": "job-name=train"})["items"]
    assert ran["spec"]["nodeName"] == h100

    selectors = [{"cel": {"expression": "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('200G')) >= 0"}}]
    exactly = {"deviceClassName": "gpu.nvidia.com", "selectors": selectors}
    claim = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
    metadata = {"name": "huge", "namespace": TEAM}
    version = "resource.k8s.io/v1"
    cluster.apply({"apiVersion": version, "kind": "ResourceClaim", "metadata": metadata, "spec": claim})
    waits = {"metadata": {"name": "greedy"}, "spec": pod_spec({"resourceClaimName": "huge"})}
    cluster.client.request("POST", pods, waits)

    def why() -> list[str]:
        given = read_workloads(readiness_client(cluster.client), expected, declared_pools(settings), "dev-westus2")
        return [f"{each.cause}: {each.reason}" for each in explain(f"{TEAM}/greedy", given)[1]]

    until(lambda: any(each.startswith("claim-no-match") for each in why()), "no cause is named")
    [reason] = why()
    assert "quantity('200G')" in reason
    assert "1 × NVIDIA H100 NVL (Hopper, 95830Mi)" in reason

    cluster.delete_pods(h100, "dra-driver")
    until(lambda: "h100gpu" in open_pools(), "the driver does not publish its GPUs again")
