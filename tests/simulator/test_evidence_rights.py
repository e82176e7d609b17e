"""What the programs that record GPU machines may do, asked of a real API server with the tokens that their Pods get."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpu_evidence import __main__ as program
from gpu_evidence import record
from json_http import ApiServer as Api
from json_http import Refused
from physical_ai.planning.evidence_objects import evidence_objects
from physical_ai.settings import load
from tests.simulator.conftest import ApiServer
from tests.simulator.grid_agent_pod import NAMESPACE, Cluster
from tests.support.in_force import wait_until_in_force

ACCOUNT, RETENTION = "gpu-evidence", "gpu-evidence-retention"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
VM = "0af4c2de-1111-4222-8333-444455556666"
NODES = ("gpu-a", "gpu-b")


@pytest.fixture(scope="module")
def cluster(api_server: ApiServer) -> Iterator[Cluster]:
    made = Cluster(api_server.kubeconfig)
    made.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    objects = evidence_objects(load("dev-westus2").settings)
    assert objects is not None
    for item in (*objects.limits, *objects.rights):
        made.apply(item)
    for node in NODES:
        made.node(node)
    wait_until_in_force(made.client)
    yield made
    for node in NODES:
        made.client.request("DELETE", f"/api/v1/nodes/{node}")


def api(cluster: Cluster, folder: Path, node: str, account: str = ACCOUNT) -> Api:
    return Api(cluster.mounted(node, folder / account, account), folder / account)


def refusal(act: Callable[[], Any]) -> str:
    """What refused: a policy, the roles, or nothing."""
    try:
        act()
    except Refused as refused:
        if "ValidatingAdmissionPolicy" in str(refused):
            return "policy"
        return "roles" if refused.code == 403 else str(refused)
    return ""


def save(given: Api, node: str, key: str = record.MACHINE) -> None:
    program.save(given, NAMESPACE, node, VM, {key: {"node": node}})


def test_a_machine_is_recorded_by_its_own_node_only_and_removed_by_the_retention_only(
    cluster: Cluster, tmp_path: Path
) -> None:
    own = api(cluster, tmp_path, "gpu-a")
    assert refusal(lambda: save(own, "gpu-b")) == "policy"
    save(own, "gpu-a")
    save(own, "gpu-a", record.GPUS)
    kept = cluster.client.get(f"{MAPS}/{record.name('gpu-a', VM)}")
    assert set(kept["data"]) == {record.MACHINE, record.GPUS}
    assert refusal(lambda: save(own, "gpu-a", "more.json")) == "policy"
    for name in ("other", "evidence-gpu-a-1", "evidence-gpu-a-0af4c2de-0af4c2de", "evidence-gpu-a-worker-1"):
        assert refusal(lambda name=name: own.request("POST", MAPS, {"metadata": {"name": name}})) == "policy"
    assert refusal(lambda: own.request("GET", MAPS)) == "roles"
    assert refusal(lambda: own.request("DELETE", f"{MAPS}/{record.name('gpu-a', VM)}")) == "roles"
    assert refusal(lambda: own.request("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets")) == "roles"
    assert refusal(lambda: own.request("PATCH", "/api/v1/nodes/gpu-a", {"metadata": {"labels": {"a": "b"}}})) == "roles"
    assert own.request("GET", "/api/v1/nodes/gpu-a")["metadata"]["name"] == "gpu-a"

    retention = api(cluster, tmp_path, "gpu-b", RETENTION)
    foreign = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": NAMESPACE}}
    cluster.apply(foreign)
    assert refusal(lambda: retention.request("DELETE", f"{MAPS}/settings")) == "policy"
    assert refusal(lambda: save(retention, "gpu-b")) == "roles"
    cluster.client.request("DELETE", "/api/v1/nodes/gpu-a")
    try:
        assert program.prune(retention, NAMESPACE, days=0, most=0) == [record.name("gpu-a", VM)]
    finally:
        cluster.node("gpu-a")
