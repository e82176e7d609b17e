"""Acceptance on the default stack: green on both pools, red where a node is ill, and new nodes that wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from physical_ai.planning.node_admission import node_policies
from physical_ai.settings import load
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT
from simulator.kubernetes import Client
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH
from simulator.simulation import Simulation
from tests.simulator.physai import physai
from tests.support.in_force import wait_until_in_force
from workbench.health.acceptance import jobs
from workbench.health.acceptance.record import LABEL, read

STACK = "dev-westus2"
KEY = NOT_ACCEPTED_TAINT.partition("=")[0]
Json = dict[str, Any]


@pytest.fixture
def client(running: Simulation, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.2)
    clusters = running.clusters()
    return clusters.client(clusters.ids()[0])


def node_of(client: Client, pool: str) -> Json:
    (node,) = client.get("/api/v1/nodes", {"labelSelector": f"agentpool={pool}"})["items"]
    return node


@pytest.mark.deep  # in `make test`: the Jobs in test_acceptance_objects.py, the judgement in test_judging.py
def test_both_pools_pass_and_a_faulty_node_does_not(client: Client) -> None:
    nodes = {each["pool"]: each for each in physai("accept", STACK, "--level", "full", "--json").json["nodes"]}
    assert {pool: each["passed"] for pool, each in nodes.items()} == {"h100gpu": True, "rtxprogpu": True}
    ran = {pool: {c["check"] for c in each["checks"] if c["verdict"] == "passed"} for pool, each in nodes.items()}
    assert ran["h100gpu"] == {"vector-add", "stack", "bandwidth", "diag-2"}
    assert ran["rtxprogpu"] == {
        "vector-add",
        "stack",
        "graphics",
        "graphics-absent",
        "vulkan",
        "isaac-sim",
        "bandwidth",
    }

    maps = client.get("/api/v1/namespaces/gpu-operator/configmaps", {"labelSelector": LABEL})["items"]
    assert {read(each).pool for each in maps} == {"h100gpu", "rtxprogpu"}
    assert client.get("/apis/batch/v1/namespaces/gpu-operator/jobs", {"labelSelector": LABEL})["items"] == []

    rtx = node_of(client, "rtxprogpu")["metadata"]["name"]
    physai("fault", "inject", "licence-lost", "--node", rtx)
    try:
        answer = physai("accept", STACK, "--pool", "rtxprogpu", expect=3)
    finally:
        physai("fault", "heal", "licence-lost", "--node", rtx)
    assert "the vGPU has no licence" in answer.out
    assert "0 of 1 node passed" in answer.out
    conditions = {each["type"]: each["status"] for each in node_of(client, "rtxprogpu")["status"]["conditions"]}
    assert conditions["physical-ai/Accepted"] == "False"
    assert physai("accept", STACK, "--new", "--json").json["nodes"][0]["node"] == rtx
    assert "every node has passed" in physai("accept", STACK, "--new").out


@pytest.mark.deep  # in `make test`: the judgement in tests/unit/health/test_judging.py
def test_a_slow_link_is_found_by_the_nodes_own_first_run(client: Client) -> None:
    physai("accept", STACK, "--pool", "rtxprogpu", "--level", "full")
    path = f"/api/v1/nodes/{node_of(client, 'rtxprogpu')['metadata']['name']}"
    key = "simulator.physical-ai/acceptance-defects"
    client.patch(path, {"metadata": {"annotations": {key: "slow-link"}}}, MERGE_PATCH)
    try:
        answer = physai("accept", STACK, "--pool", "rtxprogpu", "--level", "full", expect=3)
    finally:
        client.patch(path, {"metadata": {"annotations": {key: None}}}, MERGE_PATCH)
    assert "50% of the node's first" in answer.out
    assert "1 of 1 node passed" in physai("accept", STACK, "--pool", "rtxprogpu", "--level", "full").out


@contextmanager
def policies(client: Client, found: list[Json]) -> Iterator[None]:
    paths = [client.path(each["apiVersion"], each["kind"], None, each["metadata"]["name"]) for each in found]
    for path, item in zip(paths, found, strict=True):
        client.patch(path, item, APPLY_PATCH, {"fieldManager": "test", "force": "true"})
    try:
        wait_until_in_force(client)
        yield
    finally:
        for path in reversed(paths):
            client.request("DELETE", path)
        wait_until_in_force(client)  # nodes of other tests join without the taint


def test_new_gpu_nodes_wait_for_acceptance_and_others_do_not(client: Client) -> None:
    given = load(STACK).settings
    health = given.health.model_copy(update={"admit": "accepted"})

    def taints(pool: str, *own: Json) -> list[str]:
        """Of a node that joins; nothing of it is kept."""
        labels = {"kubernetes.azure.com/agentpool": pool}
        node: Json = {
            "kind": "Node",
            "metadata": {"name": f"joins-{pool}", "labels": labels},
            "spec": {"taints": [*own]},
        }
        made = client.request("POST", "/api/v1/nodes", {"apiVersion": "v1", **node}, {"dryRun": "All"})
        return [each["key"] for each in made["spec"].get("taints", [])]

    own = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    with policies(client, node_policies(given.model_copy(update={"health": health}))):
        # The first has the kubelet's own, which the control plane adds to every node.
        assert {KEY, "nvidia.com/gpu"} <= set(taints("h100gpu", own))
        assert KEY in taints("rtxprogpu")
        assert KEY not in taints("cpu")
