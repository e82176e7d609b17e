"""A Slurm cluster on a real API server: slurmd on the GPU nodes, and a node that Slurm drains before its Pod may go."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from parts.part import PartPlan
from parts.slurm import names
from physical_ai.planning.plan import make_plan
from physical_ai.readiness import read_reports
from physical_ai.readiness.expected import expected_pools
from physical_ai.readiness.upgrade_budgets import blocking
from physical_ai.settings import Overlay, load
from simulator import node_drain, pool_nodes
from simulator.azure.rules.upgrade_budgets import unsatisfiable
from simulator.charts import chart_source
from simulator.cluster.objects import annotations_of, at, is_ready
from simulator.kubernetes.client import MERGE_PATCH, ApiError
from simulator.slurm.nodes import EXTERNAL_DRAIN, GPUS_IN_USE, drain_reason
from tests.support.simulated_cluster import PRIVILEGED, SimulatedCluster
from tests.support.waiting import LIMIT, until
from tests.unit.parts.slurm.test_settings_slurm import given
from workbench.cli.simulated_stack import readiness_client

PODS = f"/api/v1/namespaces/{names.NAMESPACE}/pods"
NODE_SET = f"/apis/{names.API_VERSION}/namespaces/{names.NAMESPACE}/nodesets/slurm-worker-h100gpu"


@pytest.mark.deep
@pytest.mark.xdist_group("gpu-scenarios")
def test_slurmd_runs_on_the_gpu_nodes_and_slurm_drains_one_before_its_pod_goes(cluster: SimulatedCluster) -> None:
    settings, client = load("dev-westus2", [Overlay("--set", given())]).settings, cluster.client
    plan = make_plan(settings).parts["slurm"]
    cluster.join("cpu-0", settings.cpu_pool.sku, pool="cpu")
    first, second = cluster.pool(settings, "h100gpu", 2)
    cluster.install(settings)
    _install(cluster, plan)

    def pod(node: str) -> dict[str, Any]:
        found = client.get(PODS, {"labelSelector": "app.kubernetes.io/name=slurmd"})["items"]
        return next((each for each in found if at(each, "spec.nodeName") == node), {})

    def states(node: str) -> set[str]:
        conditions = at(pod(node), "status.conditions", [])
        kinds = (str(each["type"]) for each in conditions)
        return {each.removeprefix(names.STATE_PREFIX) for each in kinds if each.startswith(names.STATE_PREFIX)}

    def annotate(node: str, **given: str | None) -> None:
        client.patch(f"{PODS}/{pod(node)['metadata']['name']}", {"metadata": {"annotations": given}}, MERGE_PATCH)

    until(lambda: is_ready(pod(first)) and is_ready(pod(second)), "slurmd does not run on the nodes")
    until(lambda: states(first) == states(second) == {"Idle"}, "Slurm does not know the nodes")
    assert at(client.get(NODE_SET), "status.slurmIdle") == 2
    with pytest.raises(ApiError, match="cannot change controllerRef after deployment"):
        client.patch(NODE_SET, {"spec": {"controllerRef": {"name": "another"}}}, MERGE_PATCH)

    annotate(first, **{GPUS_IN_USE: "1"})
    annotate(second, **{GPUS_IN_USE: "1"})
    until(lambda: states(first) == states(second) == {"Allocated"}, "the job holds no GPU")
    _cordon(client, first, True)
    until(lambda: states(first) == {"Allocated", "Drain"}, "a cordon does not drain the node in Slurm")
    assert drain_reason(pod(first)).startswith("slurm-operator: Node (h100gpu-0) was cordoned")
    assert annotations_of(pod(first))[names.POD_CORDON] == "true"
    assert states(second) == {"Allocated"}, "another node is drained"
    for node in (first, second):
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod(node)["metadata"]["name"]}}
        until(lambda node=node: _protected(client, pod(node)), "the budget does not know the Pod")
        with pytest.raises(ApiError, match="disruption budget"):
            client.request("POST", f"{PODS}/{eviction['metadata']['name']}/eviction", eviction)
    _aks_upgrades_nothing(client)
    annotate(first, **{GPUS_IN_USE: None})
    until(lambda: states(first) == {"Idle", "Drain"}, "the job has ended, and the node is not drained")
    _cordon(client, first, None)
    until(lambda: states(first) == {"Idle"}, "the node does not take jobs again")
    annotate(first, **{EXTERNAL_DRAIN: "fans"})
    until(lambda: drain_reason(pod(first)) == "fans", "scontrol drains nothing")
    annotate(first, **{EXTERNAL_DRAIN: None})

    expected = next(each for each in expected_pools(settings) if each.pool == "h100gpu")
    reports = read_reports(readiness_client(client), [expected])
    assert [each.state for each in reports] == ["ready"]
    cluster.label(second, **{names.OUT_LABEL: "accept"})
    until(lambda: states(second) == {"Allocated", "Drain"}, "a released node is not drained in Slurm")
    annotate(second, **{GPUS_IN_USE: None})
    until(lambda: not pod(second), "slurmd keeps the GPUs of a node without jobs")
    cluster.label(second, **{names.OUT_LABEL: None})
    until(lambda: states(second) == {"Idle"}, "slurmd does not come back")
    for release, where in (
        (names.CLUSTER_RELEASE, names.NAMESPACE),
        (names.OPERATOR_RELEASE, names.OPERATOR_NAMESPACE),
    ):
        cluster.helm.run("uninstall", release, "--namespace", where, "--timeout", f"{LIMIT:g}s")
    _an_upgraded_node_is_another_one(client, "cpu-0")


def _aks_upgrades_nothing(client: Any) -> None:
    """The operator's own budget: AKS refuses an upgrade for it, no drain passes it, and a preview names it."""
    (said,) = filter(None, map(unsatisfiable, node_drain.budgets(client)))
    assert said == "PDB slurm/slurm-workers-pdb-slurm has maxUnavailable == 0 can't proceed with put operation"
    pods, budgets = client.get("/api/v1/pods")["items"], node_drain.budgets(client)
    on_cpu = [each for each in pods if each["spec"].get("nodeName", "").startswith("cpu-")]
    assert "blocked by pdb slurm-workers-pdb-slurm" in node_drain.blocked(pods, budgets)
    assert on_cpu
    assert node_drain.blocked(on_cpu, budgets) == ""
    assert blocking(readiness_client(client)) == ["slurm/slurm-workers-pdb-slurm (maxUnavailable is 0)"]


def _an_upgraded_node_is_another_one(client: Any, name: str) -> None:
    before = client.get(f"/api/v1/nodes/{name}")
    wanted = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {key: before["metadata"][key] for key in ("name", "labels", "annotations")},
        "spec": {"taints": at(before, "spec.taints", [])},
        "status": {key: before["status"][key] for key in ("capacity", "allocatable")}
        | {"nodeInfo": {**before["status"]["nodeInfo"], "kubeletVersion": "v1.37.0"}},
    }
    pool_nodes.apply(client, "cpu", [wanted])
    after = client.get(f"/api/v1/nodes/{name}")
    assert after["status"]["nodeInfo"]["kubeletVersion"] == "v1.37.0"
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


def _install(cluster: SimulatedCluster, plan: PartPlan) -> None:
    for each, values in ((release.chart, release.values) for release in plan.releases):
        where = {names.OPERATOR_CHART: names.OPERATOR_NAMESPACE}.get(each.name, names.NAMESPACE)
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": where, "labels": PRIVILEGED}})
        options = ("--namespace", where, "--values", "-", "--wait", "--timeout", f"{LIMIT:g}s")
        chart = str(chart_source(each.name, each.version, ""))
        cluster.helm.run("upgrade", "--install", each.name, chart, *options, stdin=yaml.safe_dump(dict(values)))


def _cordon(client: Any, node: str, value: bool | None) -> None:
    client.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": value}}, MERGE_PATCH)


def _protected(client: Any, given: dict[str, Any]) -> bool:
    budget = client.get(f"/apis/policy/v1/namespaces/{names.NAMESPACE}/poddisruptionbudgets/slurm-workers-pdb-slurm")
    return at(budget, "status.currentHealthy", 0) == 2 and names.POD_PROTECT in given["metadata"]["labels"]
