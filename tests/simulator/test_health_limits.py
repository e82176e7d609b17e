"""What the admission policies let NVSentinel do to nodes and Pods, asked of a real API server.

Its accounts are administrators here, so that every refusal is one of a policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from parts.nvsentinel.limits import health_limits
from parts.nvsentinel.names import FAULT_QUARANTINE, NAMESPACE
from physical_ai.catalog.aks import SHORT_POOL_LABEL
from physical_ai.kubernetes.objects import Json
from physical_ai.settings import Overlay, load
from simulator.kubernetes import Client
from simulator.kubernetes.client import MERGE_PATCH, ApiError
from simulator.nvsentinel.accounts import Accounts
from tests.simulator.conftest import ApiServer
from tests.simulator.grid_agent_pod import Cluster
from tests.simulator.test_grid_rights import refusal
from tests.support.in_force import wait_until_in_force
from tests.support.waiting import until
from workbench.health.replacement import record

NODES = {"h100-a": "h100gpu", "h100-b": "h100gpu", "cpu-a": "cpu"}
WORK = "nvsentinel-work"
POD = f"/api/v1/namespaces/{WORK}/pods/train"
SETTINGS = ("health.mode=taint", "health.datastoreSecret=store", "monitoring.metrics=azure")
ADMINISTRATORS = "nvsentinel-administrators"
CORDON, UNCORDON = {"spec": {"unschedulable": True}}, {"spec": {"unschedulable": None}}


@pytest.fixture(scope="module")
def cluster(api_server: ApiServer) -> Iterator[Cluster]:
    made = Cluster(api_server.kubeconfig)
    for namespace in (NAMESPACE, WORK, record.NAMESPACE):
        made.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    for namespace, account in ((NAMESPACE, FAULT_QUARANTINE), (NAMESPACE, "default"), (WORK, "default")):
        metadata = {"name": account, "namespace": namespace}
        made.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    group, role = f"system:serviceaccounts:{NAMESPACE}", "rbac.authorization.k8s.io"
    made.apply(
        {
            "apiVersion": f"{role}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": ADMINISTRATORS},
            "subjects": [{"kind": "Group", "name": group, "apiGroup": role}],
            "roleRef": {"kind": "ClusterRole", "name": "cluster-admin", "apiGroup": role},
        }
    )
    for node, pool in NODES.items():
        made.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": {SHORT_POOL_LABEL: pool}}})
    made.pod("train", "h100-a", WORK)
    made.pod("own", "h100-a", NAMESPACE)
    limits = health_limits(load("dev-westus2", [Overlay.assign(SETTINGS)]).settings)
    for item in limits:
        made.apply(item)
    yield made
    for item in limits:
        made.client.request(
            "DELETE", made.client.path(item["apiVersion"], item["kind"], None, item["metadata"]["name"])
        )
    made.client.request("DELETE", f"/apis/{role}/v1/clusterrolebindings/{ADMINISTRATORS}")
    for namespace, pod in ((WORK, "train"), (NAMESPACE, "own")):
        made.client.request("DELETE", f"/api/v1/namespaces/{namespace}/pods/{pod}", {"gracePeriodSeconds": 0})
    for node in NODES:
        made.client.request("DELETE", f"/api/v1/nodes/{node}")


@pytest.fixture(scope="module")
def nvsentinel(cluster: Cluster) -> Client:
    """NVSentinel's account, once the API server grants its rights and knows each of its limits."""
    made = Accounts(cluster.client).client(FAULT_QUARANTINE)
    wait_until_in_force(cluster.client)
    is_refused(made, "cpu-a")  # parameters are in caches of their own
    is_accepted(made, "h100-b")
    return made


@pytest.fixture
def out_of_service(cluster: Cluster, nvsentinel: Client) -> Iterator[str]:
    """One node of the pool, as a person or a repair has cordoned it."""
    changed(cluster.client, "h100-a", CORDON)
    is_refused(nvsentinel, "h100-b")
    yield "h100-a"
    changed(cluster.client, "h100-a", UNCORDON)
    is_accepted(nvsentinel, "h100-b")


def is_refused(client: Client, node: str) -> None:
    """Until a policy keeps a node from being cordoned: what it takes from other objects is known a moment later."""
    until(lambda: asked(client, node, CORDON) == "policy", f"no policy refuses to cordon {node}")


def is_accepted(client: Client, node: str) -> None:
    until(lambda: asked(client, node, CORDON) == "", f"{node} may not be cordoned")


def changed(client: Client, node: str, body: Json, **parameters: str) -> Json:
    return client.patch(f"/api/v1/nodes/{node}", body, MERGE_PATCH, parameters)


def asked(client: Client, node: str, body: Json) -> str:
    """What refuses a change of a node, which is not made."""
    return refusal(lambda: changed(client, node, body, dryRun="All"))


def ask(client: Client, method: str, path: str, body: Json | None = None) -> str:
    """What refuses a request, which is not carried out."""
    return refusal(lambda: client.request(method, path, body, {"dryRun": "All"}))


def message(act: Callable[[], Any]) -> str:
    with pytest.raises(ApiError) as refused:
        act()
    return str(refused.value)


def test_a_second_node_of_a_pool_is_not_cordoned(nvsentinel: Client, out_of_service: str) -> None:
    said = message(lambda: changed(nvsentinel, "h100-b", CORDON, dryRun="All"))
    assert f"node {out_of_service} of the same pool is out of service already" in said


def test_no_node_is_returned_to_service(nvsentinel: Client, out_of_service: str) -> None:
    said = message(lambda: changed(nvsentinel, out_of_service, UNCORDON, dryRun="All"))
    assert "NVSentinel returns no node to service" in said


def test_no_node_of_a_cpu_pool_is_cordoned(nvsentinel: Client) -> None:
    said = message(lambda: changed(nvsentinel, "cpu-a", CORDON, dryRun="All"))
    assert "nodes of this pool do not leave service automatically" in said
    assert asked(nvsentinel, "cpu-a", {"metadata": {"labels": {"a": "b"}}}) == ""


def test_no_pod_is_ended_but_its_own_and_no_node_removed(cluster: Cluster, nvsentinel: Client) -> None:
    metadata = {"name": "train", "namespace": WORK}
    eviction: Json = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    assert ask(nvsentinel, "POST", f"{POD}/eviction", eviction) == "policy"
    assert ask(cluster.client, "POST", f"{POD}/eviction", eviction) == ""
    assert ask(nvsentinel, "DELETE", POD) == "policy"
    assert ask(nvsentinel, "DELETE", f"/api/v1/namespaces/{WORK}/pods") == "policy"
    assert ask(nvsentinel, "DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/own") == ""
    assert ask(nvsentinel, "DELETE", "/api/v1/nodes/h100-a") == "policy"


def test_no_taint_is_set_that_ends_pods(cluster: Cluster, nvsentinel: Client) -> None:
    held = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}
    own = {"key": "gpu-fault", "value": "true"}

    def tainted(*taints: Json) -> Json:
        return {"spec": {"taints": list(taints)}}

    assert asked(nvsentinel, "h100-a", tainted({**own, "effect": "NoSchedule"})) == ""
    assert asked(nvsentinel, "h100-a", tainted({**own, "effect": "NoExecute"})) == "policy"
    assert asked(cluster.client, "h100-a", tainted({**own, "effect": "NoExecute"})) == ""
    changed(cluster.client, "h100-a", tainted(held))
    try:
        assert asked(nvsentinel, "h100-a", {"metadata": {"labels": {"a": "b"}}}) == ""
        assert asked(nvsentinel, "h100-a", tainted(held, {**own, "effect": "NoExecute"})) == "policy"
    finally:
        changed(cluster.client, "h100-a", tainted())


def test_no_node_is_cordoned_while_one_of_its_pool_is_in_repair(cluster: Cluster, nvsentinel: Client) -> None:
    now = datetime.now(UTC)
    repair = record.Record("h100-c", "0af4c2de-1111", "boot", "h100gpu", "azure:///", "replace", now, now)
    path = f"/api/v1/namespaces/{record.NAMESPACE}/configmaps/{repair.name}"
    cluster.apply(record.config_map(repair.at(record.RepairStep.AWAIT)))
    is_refused(nvsentinel, "h100-b")
    said = message(lambda: changed(nvsentinel, "h100-b", CORDON, dryRun="All"))
    assert f"the repair {repair.name} of a node of the same pool has not ended" in said
    cluster.apply(record.config_map(repair.at(record.RepairStep.DONE)))
    is_accepted(nvsentinel, "h100-b")
    cluster.apply(record.config_map(repair.at(record.RepairStep.ACCEPT)))
    is_refused(nvsentinel, "h100-b")
    cluster.client.request("DELETE", path)
    is_accepted(nvsentinel, "h100-b")
