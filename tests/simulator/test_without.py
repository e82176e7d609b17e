"""Without what a workflow needs in reality, it does not run in the simulator either, and runs again with it.

The operator's parts are in `tests/unit/simulator/test_without.py`, OSMO's agents in `test_osmo.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog.osmo import KAI_NAMESPACE, KAI_QUEUE_API, KAI_SCHEDULER, SERVICE_ACCOUNT, WORKFLOWS_NAMESPACE
from simulator.kubernetes import Client
from simulator.kubernetes.client import MERGE_PATCH
from simulator.simulation import Simulation
from tests.simulator.conftest import DEFAULT_STACK
from tests.simulator.physai import physai
from tests.support.waiting import until

Json = dict[str, Any]
Undo = Callable[[], None]
SERVER_FIELDS = ("resourceVersion", "uid", "creationTimestamp", "generation", "managedFields", "ownerReferences")


def scaled_down(namespace: str, deployment: str) -> Callable[[Client], Undo]:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{deployment}"

    def remove(client: Client) -> Undo:
        replicas = client.get(path)["spec"]["replicas"]
        client.patch(path, {"spec": {"replicas": 0}}, MERGE_PATCH)
        until(lambda: not client.get(path)["status"].get("availableReplicas"), "it still runs")

        def undo() -> None:
            client.patch(path, {"spec": {"replicas": replicas}}, MERGE_PATCH)
            until(lambda: client.get(path)["status"].get("availableReplicas"), "it does not run")

        return undo

    return remove


def deleted(collection: str, *names: str) -> Callable[[Client], Undo]:
    def remove(client: Client) -> Undo:
        held = [item for item in client.get(collection)["items"] if not names or item["metadata"]["name"] in names]
        for item in held:
            client.request("DELETE", f"{collection}/{item['metadata']['name']}")

        def undo() -> None:
            for item in held:
                copy: Json = json.loads(json.dumps(item))
                for each in SERVER_FIELDS:
                    copy["metadata"].pop(each, None)
                copy.pop("status", None)
                client.request("POST", collection, copy)

        return undo

    return remove


TABLE = {
    "KAI's scheduler": (scaled_down(KAI_NAMESPACE, KAI_SCHEDULER), "FAILED_QUEUE_TIMEOUT"),
    "KAI's binder": (scaled_down(KAI_NAMESPACE, "binder"), "FAILED_QUEUE_TIMEOUT"),
    "queues": (deleted(f"/apis/{KAI_QUEUE_API}/queues"), "FAILED_QUEUE_TIMEOUT"),
    "the account of workflows": (
        deleted(f"/api/v1/namespaces/{WORKFLOWS_NAMESPACE}/serviceaccounts", SERVICE_ACCOUNT),
        "FAILED_SERVER_ERROR",
    ),
    # Only their groups name them, and KAI then takes its default (KAI-Scheduler 0.17.0, cluster_info.go:627).
    "the priorities of workflows": (
        deleted("/apis/scheduling.k8s.io/v1/priorityclasses", "osmo-low", "osmo-normal", "osmo-high"),
        "COMPLETED",
    ),
}


def workflow(folder: Path) -> Path:
    """One task on the CPU pool, which waits ten minutes for its node."""
    task = {"name": "work", "image": f"registry.example/count@sha256:{'a' * 64}", "command": ["true"]}
    resources = {"default": {"platform": "cpu", "cpu": 1, "memory": "2Gi", "storage": "2Gi"}}
    timeout = {"exec_timeout": "1h", "queue_timeout": "10m"}
    given = {"name": "without", "resources": resources, "tasks": [task], "timeout": timeout}
    path = folder / "without.yaml"
    path.write_text(yaml.safe_dump({"version": 2, "workflow": given}, sort_keys=False))
    return path


NFD_WORKER = "gpu-operator-node-feature-discovery-worker"
DAEMON_SETS = "/apis/apps/v1/namespaces/gpu-operator/daemonsets"


@pytest.mark.deep
def test_doctor_names_what_is_not_there(running: Simulation) -> None:
    clusters = running.clusters()
    client, undone = clusters.client(clusters.ids()[0]), list[Undo]()

    def found() -> list[str]:
        document = physai("doctor", DEFAULT_STACK, "--json", expect=(0, 1, 3)).json
        return [
            f"{each['cause']} {each['reason']}" for each in document["findings"] if each["cause"].startswith("part-")
        ]

    assert not found()
    try:
        undone += [remove(client) for what, (remove, _) in TABLE.items() if not what.startswith("queues")]
        undone.append(deleted(DAEMON_SETS, NFD_WORKER)(client))
        said = " ".join(found())
    finally:
        for undo in undone:
            undo()
    for part in (KAI_SCHEDULER, "binder", SERVICE_ACCOUNT, NFD_WORKER):
        assert part in said
    assert not found()


@pytest.mark.deep
def test_a_workflow_needs_each_of_them(running: Simulation, tmp_path: Path) -> None:
    clusters = running.clusters()
    client, path = clusters.client(clusters.ids()[0]), str(workflow(tmp_path))
    for what, (remove, status) in TABLE.items():
        undo = remove(client)
        try:
            (without,) = physai(
                "run", path, "--stack", DEFAULT_STACK, "--json", expect=int(status != "COMPLETED")
            ).json["workflows"]
        finally:
            undo()
        assert without["status"] == status, f"without {what}"
        (with_it,) = physai("run", path, "--stack", DEFAULT_STACK, "--json").json["workflows"]
        assert with_it["status"] == "COMPLETED", f"with {what}"
