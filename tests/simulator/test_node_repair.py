"""Evidence about nodes, recorded by the deployed programs, and their repair, killed at each of its steps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from physical_ai.catalog.acceptance import ACCEPTED_CONDITION
from simulator.kubernetes import Client
from simulator.simulation import Simulation
from tests.simulator.physai import physai
from tests.support.waiting import until
from workbench.cli.azure_access import IMPACTS_FILE
from workbench.health.acceptance import jobs
from workbench.health.replacement import run as repairs
from workbench.health.replacement.record import NAMESPACE, Record, RepairStep
from workbench.health.replacement.steps import World

STACK = "dev-westus2"
Json = dict[str, Any]


class Killed(BaseException):
    """The process ended."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.2)
    monkeypatch.setattr(repairs, "POLL_SECONDS", 0.3)


def client_of(simulation: Simulation) -> Client:
    clusters = simulation.clusters()
    return clusters.client(clusters.ids()[0])


def node_of(client: Client, pool: str) -> Json:
    (node,) = client.get("/api/v1/nodes", {"labelSelector": f"agentpool={pool}"})["items"]
    return node


def known(node: str, *arguments: str) -> Json:
    return physai("evidence", node, STACK, "--json", *arguments).json


def run_again_until_it_ends(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[RepairStep]:
    """Runs the command, whose process ends after the effect of each step, before its record is written."""
    reached: list[RepairStep] = []
    perform = repairs.perform

    def killed(record: Record, world: World) -> Record | str:
        result = perform(record, world)
        if isinstance(result, Record) and result.step is not record.step and record.step not in reached:
            reached.append(record.step)
            raise Killed
        return result

    with monkeypatch.context() as patch:
        patch.setattr(repairs, "perform", killed)
        for _ in RepairStep:
            try:
                physai("node", "replace", *arguments, "--yes")
            except Killed:
                continue
            break
    return reached


def test_a_restart_that_is_killed_at_each_step_ends_with_an_accepted_node(
    running: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(running)
    name = node_of(client, "rtxprogpu")["metadata"]["name"]

    def recorded() -> tuple[Json, Json] | None:
        """The node and its record, when that is of the node's last start: the test before may have restarted it."""
        node, found = node_of(client, "rtxprogpu"), known(name)
        machine = found["machine"] or {}
        is_of_this_start = machine.get("bootId") == node["status"]["nodeInfo"]["bootID"]
        return (node, found) if is_of_this_start and machine.get("driver") else None

    before, first = until(recorded, "no record", every=0.2)
    assert first["machine"]["vmUniqueId"] == before["status"]["nodeInfo"]["systemUUID"]
    assert first["machine"]["host"]["physicalHostName"].startswith("SIMH")
    assert first["advice"] == "none"

    reached = run_again_until_it_ends(monkeypatch, name, STACK, "--reboot")
    assert reached == [step for step in RepairStep if step is not RepairStep.DONE]
    after = node_of(client, "rtxprogpu")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["nodeInfo"]["bootID"] != before["status"]["nodeInfo"]["bootID"]
    assert not after["spec"].get("unschedulable")
    assert {each["type"]: each["status"] for each in after["status"]["conditions"]}[ACCEPTED_CONDITION] == "True"
    evidence = until(
        lambda: len((found := known(name))["starts"]) > len(first["starts"]) and found, "no other start", every=0.2
    )
    assert [each["action"] for each in evidence["repairs"]] == ["reboot"]


@pytest.mark.deep  # in `make test`: a restart above, each step in tests/unit/health/test_replacement.py
def test_a_replacement_that_is_killed_at_each_step_replaces_one_machine(
    deployed: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with deployed.azure() as cloud:
        resources = cloud.resources()
        pool = next(each for id, each in resources.items() if id.endswith("/agentPools/h100gpu"))
        cloud.put("AgentPool", {**pool["inputs"], "minCount": 1})
    client = client_of(deployed)
    before = node_of(client, "h100gpu")
    name = before["metadata"]["name"]
    until(lambda: known(name)["gpus"] and known(name)["gpus"][0].get("serial"), "no serial number", every=0.2)
    physai("fault", "inject", "xid-79", "--node", name)
    ill = until(lambda: (found := known(name))["missingGpus"] and found, "the GPU is still there", every=0.2)
    assert (ill["advice"], ill["gpus"][0]["serial"] != "") == ("reboot", True)
    assert "delete the machine" in physai("node", "replace", name, STACK, "--dry-run", "--replace").out
    assert not node_of(client, "h100gpu")["spec"].get("unschedulable")

    reached = run_again_until_it_ends(monkeypatch, name, STACK, "--replace")
    assert reached == [step for step in RepairStep if step is not RepairStep.DONE]
    after = node_of(client, "h100gpu")
    machines = [each["status"]["nodeInfo"]["systemUUID"] for each in (before, after)]
    assert machines[0] != machines[1]
    assert not after["spec"].get("unschedulable")
    assert {each["type"]: each["status"] for each in after["status"]["conditions"]}[ACCEPTED_CONDITION] == "True"
    maps = client.get(f"/api/v1/namespaces/{NAMESPACE}/configmaps", {"labelSelector": "physical-ai/repair"})["items"]
    assert len(maps) == 1
    (report,) = json.loads((deployed.folder / IMPACTS_FILE).read_text()).values()
    properties = report["properties"]
    assert properties["impactCategory"] == "Resource.Hpc.Unhealthy.HpcMissingGpu"
    assert properties["additionalProperties"]["SerialNumber"] == ill["gpus"][0]["serial"]
    records = client.get(f"/api/v1/namespaces/{NAMESPACE}/configmaps", {"labelSelector": "physical-ai/evidence"})
    assert {each["metadata"]["name"].rpartition("-")[2] for each in records["items"]} >= {m[:8] for m in machines[:1]}


def test_pods_with_gpus_end_when_their_node_restarts(running: Simulation) -> None:
    client = client_of(running)
    name = node_of(client, "h100gpu")["metadata"]["name"]
    physai("fault", "inject", "idle-job", "--node", name)
    pod = f"/api/v1/namespaces/default/pods/idle-job-{name.rpartition('-')[2]}"
    until(lambda: client.get(pod)["status"].get("phase") == "Running", "the Pod does not run")
    physai("fault", "inject", "reboot-race", "--node", name)
    try:
        until(lambda: client.get(pod)["status"].get("reason") == "UnexpectedAdmissionError", "the Pod lives on")
        shown = physai("why", f"default/{pod.rpartition('/')[2]}", STACK, "--json", expect=3).json
        assert shown["causes"][0]["cause"] == "device-unavailable"
    finally:
        physai("fault", "heal", "--node", name)
    offered = lambda: node_of(client, "h100gpu")["status"]["allocatable"].get("nvidia.com/gpu") == "1"  # noqa: E731
    until(offered, "no GPU after the fault was healed")
