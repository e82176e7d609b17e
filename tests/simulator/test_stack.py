"""The life of a stack in the simulator: up, again, changed, refused, and down to nothing."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import pytest

from physical_ai.catalog.aks import SPOT_TAINT
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.readiness import azure_failures
from physical_ai.repository import ROOT
from physical_ai.settings.facts.pools import GPU_TAINT
from simulator import clock
from simulator.control_plane import ControlPlane
from simulator.errors import ControlPlaneFailed
from simulator.home import Home
from simulator.kubernetes.client import MERGE_PATCH, Client
from simulator.simulation import Simulation
from tests.simulator.physai import COMMAND, fixed, killed_at, physai
from tests.simulator.pods import condition, create, host
from tests.simulator.snapshots import Snapshots
from tests.support.scheduling import GPU_TOLERATED
from tests.support.waiting import LIMIT, until

STACK = "dev-westus2"
LABEL = ("--set", "pools.h100gpu.labels={team: vision}")
SHARED = ("--set", "pools.h100gpu.sharing={timeSlicing: {replicas: 4}}")
"""A change that reaches a ConfigMap, a quota and a Helm release."""
FOLLOWING = ("ConfigMap", "ConfigMap", "NVIDIADriver", "Release", "ResourceQuota", "ValidatingAdmissionPolicy")
"""Kinds that follow the size, the sharing and the labels of a pool."""
PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")


def changed_files() -> str:
    return subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def h100_nodes() -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = client().get("/api/v1/nodes", {"labelSelector": "agentpool=h100gpu"})["items"]
    return nodes


def client() -> Client:
    simulation = Simulation(STACK)
    return simulation.clusters().client(simulation.clusters().ids()[0])


def test_up_creates_the_stack_and_changes_nothing_the_second_time(running: Simulation, snapshots: Snapshots) -> None:
    before = changed_files()
    up = snapshots.answer(STACK)
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
    assert physai("preview", "--json").json == {
        "schemaVersion": 1,
        "stack": STACK,
        "impact": None,
        "changes": [],
        "summary": {},
        "readBack": [],
        "networkMove": None,
    }
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


def test_a_pool_that_the_autoscaler_scaled_is_changed_behind_a_proxy_and_deleted_with_its_nodes(
    running_to_the_end: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That an update keeps the autoscaler's nodes is in test_autoscaling.py."""
    cluster, namespace = client(), "default"
    tolerations = [*GPU_TOLERATED, {"key": SPOT_TAINT.split("=")[0], "operator": "Exists"}]
    for name in ("one", "two"):
        requests, selector = {"nvidia.com/gpu": "1"}, {"agentpool": "h100gpu"}
        create(cluster, name, namespace, requests=requests, tolerations=tolerations, nodeSelector=selector)
    until(lambda: host(cluster, "one", namespace) and host(cluster, "two", namespace), "the second pod gets no node")
    assert condition(cluster, "two", namespace)["status"] == "True"
    shown = physai("status", "--json").pool("h100gpu")
    assert (shown["nodes"], shown["ready"], shown["gpusAllocatable"]) == (2, 2, 2)

    old = {node["metadata"]["uid"] for node in h100_nodes()}
    change = (*fixed("h100gpu", 3), "--set", "pools.h100gpu.sku=Standard_NC80adis_H100_v5", *SHARED, *LABEL)
    planned, *follows = sorted(physai("preview", "--json", *change).json["changes"], key=lambda each: each["op"])
    kinds = sorted((each["op"], each["type"].rpartition(":")[2]) for each in follows)
    assert kinds == [("update", kind) for kind in FOLLOWING]
    assert (planned["op"], planned["nodesLost"], planned["replacedBecauseOf"]) == ("replace", 2, ["vmSize"])
    with monkeypatch.context() as patch:
        for name in PROXIES:
            patch.setenv(name, "http://127.0.0.1:9")
        for name in ("no_proxy", "NO_PROXY"):
            patch.delenv(name, raising=False)
        changed = physai("up", "--json", *change)
    assert changed.json["changes"].keys() == {"replace", "update"}
    assert "updated Release physical-ai-gpu-operator" in changed.err
    pool = changed.pool("h100gpu")
    assert (pool["ready"], pool["gpusAllocatable"]) == (3, 3 * 2 * 4)
    nodes = h100_nodes()
    labels = [node["metadata"]["labels"] for node in nodes]
    assert {each["node.kubernetes.io/instance-type"] for each in labels} == {"Standard_NC80adis_H100_v5"}
    assert [each["team"] for each in labels] == ["vision"] * 3
    assert not old & {node["metadata"]["uid"] for node in nodes}

    physai("down")
    assert list(running_to_the_end.home.folder.glob("simulations/*")) == []


@pytest.mark.deep  # in `make test`: an `up` that is killed in test_interrupted.py, and `down` above
@pytest.mark.usefixtures("deployed", "saved_at_each_step")
def test_a_down_that_is_killed_is_finished_by_the_next(home: Home) -> None:
    killed_at("deleted AgentPool", "down", STACK)
    physai("down")
    assert list(home.folder.glob("simulations/*")) == []


@pytest.mark.deep  # in `make test`: changes behind a proxy above, the reader in test_cli_streams.py
def test_changes_reach_nodes_and_releases_behind_a_proxy_and_are_taken_back_for_a_reader_that_goes_away(
    running: Simulation,
) -> None:
    (node,) = h100_nodes()
    path = f"/api/v1/nodes/{node['metadata']['name']}"
    client().patch(path, {"metadata": {"labels": {"feature.node/found": "1"}}}, MERGE_PATCH)

    unreachable = dict.fromkeys(PROXIES, "http://127.0.0.1:9")
    kept = {name: value for name, value in os.environ.items() if name.lower() != "no_proxy"}
    command = [*COMMAND, "up", STACK]
    environment = {**kept, **unreachable}
    done = subprocess.run([*command, *SHARED, *LABEL], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "updated Release physical-ai-gpu-operator" in done.stderr
    labels = client().get(path)["metadata"]["labels"]
    assert (labels["team"], labels["feature.node/found"]) == ("vision", "1")

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.stderr.close()
        process.wait(LIMIT)
    assert physai("preview", "--json").json["changes"] == []
    labels = client().get(path)["metadata"]["labels"]
    assert "team" not in labels
    assert labels["feature.node/found"] == "1"
    client().patch(path, {"metadata": {"labels": {"feature.node/found": None}}}, MERGE_PATCH)


def test_down_needs_no_api_server(home: Home, stopped: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stopped.exists

    def broken(self: ControlPlane) -> None:
        raise ControlPlaneFailed("etcd: database corrupted")

    monkeypatch.setattr(ControlPlane, "start", broken)
    physai("down")
    assert list(home.folder.glob("simulations/*")) == []


@pytest.mark.deep  # in `make test`: Azure's refusal in test_azure_role_grants.py, the wait in test_azure_failures.py
def test_without_waiting_for_roles_a_deployment_fails(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(azure_failures, "MAX_ATTEMPTS", 1)
    monkeypatch.setenv(clock.VARIABLE, "60")  # however busy the machine is, no role takes effect meanwhile
    refused = physai("up", expect=1)
    assert "CustomKubeletIdentityMissingPermissionError" in refused.err or "LinkedAuthorizationFailed" in refused.err


def test_an_empty_preview_leaves_nothing_behind(home: Home) -> None:
    preview = physai("preview", "--json")
    assert preview.json["summary"].keys() == {"create"}
    assert list(home.folder.glob("simulations/*")) == []
