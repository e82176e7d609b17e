"""A pool's work that moves in the simulator: the command is killed at every step, and what runs is never touched."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.kubernetes.client import MERGE_PATCH, Client
from simulator.simulation import Simulation
from tests.simulator.physai import killed_at, physai
from tests.support.scheduling import GPU_TOLERATED
from tests.support.waiting import until
from workbench.cli.moves import Folder

pytestmark = pytest.mark.deep
STACK = "dev-westus2"
SPOT = {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"}
PODS = "/api/v1/namespaces/default/pods"
MOVE = ("move", STACK, "h100gpu", "--simulated", "--yes")
TO = ("--to", "osDisk.sizeGb=1024")


def client(simulation: Simulation) -> Client:
    return simulation.clusters().client(simulation.clusters().ids()[0])


def start(simulation: Simulation, name: str, pool: str) -> str:
    """Starts a training without a controller, which nothing would start again, and returns its UID."""
    amounts = {"nvidia.com/gpu": "1"}
    container = {"name": "main", "image": "image", "resources": {"requests": amounts, "limits": amounts}}
    spec = {"nodeSelector": {"agentpool": pool}, "tolerations": [*GPU_TOLERATED, SPOT], "containers": [container]}
    client(simulation).request("POST", PODS, {"metadata": {"name": name}, "spec": spec})
    until(lambda: runs(simulation, name), f"{name} does not run", seconds=120)
    return str(runs(simulation, name))


def runs(simulation: Simulation, name: str) -> str | None:
    """UID of a Pod that runs on a node that exists."""
    found: dict[str, Any] = client(simulation).get(f"{PODS}/{name}")
    nodes = {each["metadata"]["name"] for each in client(simulation).get("/api/v1/nodes")["items"]}
    there = found["status"].get("phase") == "Running" and found["spec"].get("nodeName") in nodes
    return str(found["metadata"]["uid"]) if there and "deletionTimestamp" not in found["metadata"] else None


def end(simulation: Simulation, name: str) -> None:
    body = {"status": {"phase": "Succeeded"}}
    client(simulation).request("PATCH", f"{PODS}/{name}/status", body, None, MERGE_PATCH)


def nodes(simulation: Simulation, pool: str) -> list[dict[str, Any]]:
    every = client(simulation).get("/api/v1/nodes")["items"]
    return [each for each in every if each["metadata"]["labels"].get("agentpool") == pool]


def stages() -> dict[str, str]:
    file = Folder.of(f"{STACK}-h100gpu", simulated=True).state
    return {name: each["outcome"] for name, each in json.loads(file.read_text())["entries"].items()}


@pytest.mark.usefixtures("saved_at_each_step")
def test_it_is_killed_at_every_step_and_no_work_is_lost(deployed: Simulation) -> None:
    train = start(deployed, "train", "h100gpu")
    assert physai(*MOVE, *TO, "--dry-run", "--json").json["move"]["lostGpuHours"] == 0
    for sign in ("add:", "created AgentPool", "prove:", "switch:", "updated AgentPool", "empty:", "waiting for Pod"):
        killed_at(sign, *MOVE, *(TO if sign == "add:" else ()))
        assert runs(deployed, "train") == train, sign
    assert stages()["empty"] == "running"
    physai(*MOVE, "--max-wait", "2s")
    assert stages()["empty"] == "waiting"
    assert all(each["spec"].get("unschedulable") for each in nodes(deployed, "h100gpu"))
    after = start(deployed, "after", "h100gpub")
    assert runs(deployed, "train") == train
    end(deployed, "train")
    for sign in ("remove:", "deleted AgentPool", "confirm:"):
        killed_at(sign, *MOVE)
        assert runs(deployed, "after") == after, sign
    ended = physai(*MOVE, "--json").json
    assert ended["stage"] is None
    assert {each["outcome"] for each in ended["stages"]} == {"passed"}
    assert not nodes(deployed, "h100gpu")
    assert nodes(deployed, "h100gpub")
    assert physai("status", STACK, "--json").json["osmo"]["platforms"]["h100"] == "h100gpub"
    assert runs(deployed, "after") == after


@pytest.mark.usefixtures("saved_at_each_step")
def test_the_way_back_leaves_work_and_nodes_as_they_were(deployed: Simulation) -> None:
    train = start(deployed, "train", "h100gpu")
    refused = physai(*MOVE, *TO, "--within", "1s", expect=3)
    assert "Pod default/train still runs at the end of --within" in refused.err
    killed_at("return:", *MOVE, "--back")
    physai(*MOVE, "--back")
    assert runs(deployed, "train") == train
    assert not nodes(deployed, "h100gpub")
    assert not any(each["spec"].get("unschedulable") for each in nodes(deployed, "h100gpu"))
    physai("preview", STACK, "--expect-no-changes")
