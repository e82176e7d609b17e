"""The life of a stack in the simulator: up, again, changed, refused, and down to nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog.aks import SPOT_TAINT
from physical_ai.readiness import azure_failures
from physical_ai.repository import ROOT
from physical_ai.settings.facts.pools import DRIVER_LABEL, GPU_TAINT
from physical_ai.simulator import clock, processes
from physical_ai.simulator.cluster.objects import at
from physical_ai.simulator.control_plane import ControlPlane
from physical_ai.simulator.errors import ControlPlaneFailed
from physical_ai.simulator.home import Home
from physical_ai.simulator.kubernetes.client import Client
from physical_ai.simulator.simulation import Simulation
from tests.simulator.physai import fixed, physai
from tests.simulator.pods import condition, create, host
from tests.support.scheduling import GPU_TOLERATED
from tests.support.simulated_cluster import simulated_cluster

STACK = "dev-westus2"


def changed_files() -> str:
    return subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def h100_nodes() -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = client().get("/api/v1/nodes", {"labelSelector": "agentpool=h100gpu"})["items"]
    return nodes


def client(stack: str = STACK) -> Client:
    simulation = Simulation(stack)
    return simulation.clusters().client(simulation.clusters().ids()[0])


def test_a_protected_stack_goes_down_once_that_is_lifted_and_up_makes_it_anew_and_changes_nothing_twice(
    home: Home, deployed: Simulation
) -> None:
    before = changed_files()
    physai("up", "--set", "protect=true")
    refused = physai("down", expect=1)
    assert f"physai up {STACK} --set protect=false" in refused.err
    assert deployed.exists
    physai("up", "--set", "protect=false")

    running = list(deployed.folder.glob("clusters/*/"))
    assert any(processes.running(folder) for folder in running)
    physai("down")
    assert not any(processes.running(folder) for folder in running)
    assert list(home.folder.glob("simulations/*")) == []
    assert "nothing to do" in physai("down").err

    up = physai("up", "--json")
    assert up.json["changes"].keys() == {"create"}
    h100, rtx = up.pool("h100gpu"), up.pool("rtxprogpu")
    assert (h100["size"], h100["driverSource"], h100["ready"]) == ("Standard_NC40ads_H100_v5", "operator", 1)
    assert (rtx["size"], rtx["driverSource"], rtx["ready"]) == ("Standard_NC144ds_xl_RTXPRO6000BSE_v6", "grid", 1)
    for pool in (h100, rtx):
        assert pool["labels"][DRIVER_LABEL] == pool["driverSource"]
        assert set(pool["taints"]) == {GPU_TAINT, SPOT_TAINT}
        assert pool["gpusAllocatable"] == 1, "the deployment ended before the GPUs were there"
    assert up.pool("system")["taints"] == ["CriticalAddonsOnly=true:NoSchedule"]
    assert {"gpu-operator", "osmo-workflows"} <= set(up.json["namespaces"])

    assert physai("up", "--json").json["changes"] == {}
    assert physai("preview", "--json").json == {"stack": STACK, "changes": [], "summary": {}}
    physai("explain")
    variables = physai("env", "--json").json
    read = subprocess.run(
        ["pulumi", "stack", "output", "cluster"],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert read.stdout.strip() == f"aks-physical-ai-{STACK}"
    physai("status")
    assert changed_files() == before, "a command has changed the checkout"


def test_a_pool_scales_in_one_update_and_a_changed_size_replaces_it_with_its_nodes(deployed: Simulation) -> None:
    physai("up", *fixed("h100gpu", 1))
    with deployed.azure() as cloud:
        cluster = deployed.clusters().ids()[0]
        cloud.autoscale(cluster, "rtxprogpu", 2)

    up = physai("up", "--json", *fixed("h100gpu", 2))
    assert up.json["changes"] == {"update": 2}, "the pool, and the quota of workflows that follows from it"
    assert up.pool("h100gpu")["ready"] == 2

    labels = (*fixed("h100gpu", 2), "--set", "pools.rtxprogpu.labels={team: vision}")
    labelled = physai("up", "--json", *labels)
    assert labelled.json["changes"] == {"update": 1}
    assert labelled.pool("rtxprogpu")["ready"] == 2, "an update of the pool took the autoscaler's count back"

    old = {node["metadata"]["uid"] for node in h100_nodes()}
    change = (*labels, "--set", "pools.h100gpu.sku=Standard_NC80adis_H100_v5")

    planned, *follows = sorted(physai("preview", "--json", *change).json["changes"], key=lambda each: each["op"])
    kinds = sorted((each["op"], each["type"].rpartition(":")[2]) for each in follows)
    follow_sizes = ["ConfigMap", "ResourceQuota", "ValidatingAdmissionPolicy"]
    assert kinds == [("update", kind) for kind in follow_sizes], "what workflows may request, and what selects the pool"
    assert (planned["op"], planned["nodesLost"], planned["replacedBecauseOf"]) == ("replace", 2, ["vmSize"])
    assert "2 nodes lost" in physai("preview", *change).out

    up = physai("up", "--json", *change)
    assert up.json["changes"] == {"replace": 1, "update": 3}
    nodes = h100_nodes()
    assert {node["metadata"]["labels"]["node.kubernetes.io/instance-type"] for node in nodes} == {
        "Standard_NC80adis_H100_v5"
    }
    assert not old & {node["metadata"]["uid"] for node in nodes}


def test_a_label_change_reaches_running_nodes_and_leaves_other_labels_alone(running: Simulation) -> None:
    (node,) = client().get("/api/v1/nodes", {"labelSelector": "agentpool=h100gpu"})["items"]
    path = f"/api/v1/nodes/{node['metadata']['name']}"
    client().patch(path, {"metadata": {"labels": {"feature.node/found": "1"}}}, "application/merge-patch+json")

    physai("up", "--set", "pools.h100gpu.labels={team: vision}")
    labels = client().get(path)["metadata"]["labels"]
    assert (labels["team"], labels["feature.node/found"]) == ("vision", "1")

    physai("up")
    labels = client().get(path)["metadata"]["labels"]
    assert "team" not in labels
    assert labels["feature.node/found"] == "1"
    client().patch(path, {"metadata": {"labels": {"feature.node/found": None}}}, "application/merge-patch+json")


def test_down_needs_no_api_server(home: Home, stopped: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stopped.exists

    def broken(self: ControlPlane) -> None:
        raise ControlPlaneFailed("etcd: database corrupted")

    monkeypatch.setattr(ControlPlane, "start", broken)
    physai("down")
    assert list(home.folder.glob("simulations/*")) == []


def test_two_stacks_run_side_by_side_and_discard_drops_a_protected_one(home: Home, deployed: Simulation) -> None:
    physai("up", "staging-westus2", "--set", "protect=true")
    assert client(STACK).server != client("staging-westus2").server
    physai("down", STACK)
    assert not deployed.exists
    assert physai("status", "staging-westus2", "--json").pool("h100gpu")["ready"] == 1

    planes = list(Simulation("staging-westus2").folder.glob("clusters/*/"))
    assert any(processes.running(plane) for plane in planes)
    physai("down", "--discard", "staging-westus2")
    assert not any(processes.running(plane) for plane in planes)
    assert list(home.folder.glob("simulations/*")) == []


def test_without_waiting_for_roles_a_deployment_fails(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(azure_failures, "MAX_ATTEMPTS", 1)
    monkeypatch.setenv(clock.VARIABLE, "60")  # however busy the machine is, no role takes effect meanwhile
    refused = physai("up", expect=1)
    assert "CustomKubeletIdentityMissingPermissionError" in refused.err or "LinkedAuthorizationFailed" in refused.err


def test_an_empty_preview_leaves_nothing_behind(home: Home) -> None:
    preview = physai("preview", "--json")
    assert preview.json["summary"].keys() == {"create"}
    assert list(home.folder.glob("simulations/*")) == []


def test_nodes_that_pods_bring_to_a_stack_are_shown_are_left_alone_and_go_with_it(
    home: Home, deployed: Simulation
) -> None:
    cluster, namespace = client(), "default"
    tolerations = [*GPU_TOLERATED, {"key": SPOT_TAINT.split("=")[0], "operator": "Exists"}]
    for name in ("one", "two"):
        requests, selector = {"nvidia.com/gpu": "1"}, {"agentpool": "h100gpu"}
        create(cluster, name, namespace, requests=requests, tolerations=tolerations, nodeSelector=selector)
    field = simulated_cluster((deployed.folder / "clusters" / "1" / "admin.kubeconfig").read_text(), Path("helm"))
    field.until(
        lambda: host(cluster, "one", namespace) and host(cluster, "two", namespace), "the second pod gets no node"
    )
    assert condition(cluster, "two", namespace)["status"] == "True"

    shown = physai("status", "--json").pool("h100gpu")
    assert (shown["nodes"], shown["ready"], shown["gpusAllocatable"]) == (2, 2, 2)
    assert physai("preview", "--json").json["changes"] == []
    labelled = physai("up", "--json", "--set", "pools.h100gpu.labels={team: vision}")
    assert labelled.pool("h100gpu")["ready"] == 2, "a deployment shrank the pool"
    assert at(cluster.get(f"/api/v1/nodes/{host(cluster, 'two', namespace)}"), "metadata.labels.team") == "vision"
    physai("down")
    assert list(home.folder.glob("simulations/*")) == []
