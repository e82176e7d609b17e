"""A stack on a cluster that exists already: 24 GPUs on three servers, work on both classes, and nothing left behind."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator import leftovers
from simulator.charts import crds
from simulator.existing_cluster import FOUND, id_of
from simulator.home import Home
from simulator.inventory import Inventory, differences, inventory
from simulator.kubernetes import Client
from simulator.kubernetes.client import MERGE_PATCH
from simulator.kubernetes.definitions import DEFINITIONS
from simulator.simulation import Simulation
from tests.simulator.physai import physai
from tests.support.waiting import until
from workbench.cli.progress import Progress

STACK = "onprem-lab"
CORDON = "node.kubernetes.io/unschedulable"
GPUS = {"b200-1": 8, "rtxpro-1": 8, "rtxpro-2": 8}
ISAAC = {"NVIDIA_DRIVER_CAPABILITIES": "all", "ACCEPT_EULA": "Y", "PRIVACY_CONSENT": "Y"}


def workflow(folder: Path) -> Path:
    """A task on all GPUs of the B200 server, then one on half of an RTX PRO server's."""
    tasks: list[dict[str, Any]] = [
        {"name": "train", "resource": "train", "image": "nvcr.io/nvidia/pytorch:25.10-py3", "command": ["train"]},
        {
            "name": "render",
            "resource": "render",
            "image": "nvcr.io/nvidia/isaac-sim:6.2.0",
            "environment": ISAAC,
            "inputs": [{"task": "train"}],
            "command": ["render"],
        },
    ]
    resources = {
        "train": {"platform": "b200", "gpu": 8, "cpu": 64, "memory": "512Gi", "storage": "100Gi"},
        "render": {"platform": "rtxpro", "gpu": 4, "cpu": 32, "memory": "128Gi", "storage": "100Gi"},
    }
    timeout = {"exec_timeout": "1h", "queue_timeout": "1h"}
    file = folder / "both.yaml"
    document = {"name": "both-classes", "timeout": timeout, "resources": resources, "tasks": tasks}
    file.write_text(yaml.safe_dump({"workflow": document}))
    return file


def nodes(found: Inventory) -> set[str]:
    return {place.removeprefix("nodes/") for place in found if place.startswith("nodes/")}


@pytest.mark.deep  # in `make test`: the resources in test_existing_clusters.py; previews in test_stack.py
def test_a_preview_shows_what_comes_into_the_cluster_and_leaves_nothing(home: Home) -> None:
    """What it installs is in unit tests of the components; the whole life of such a stack is below."""
    shown = physai("preview", STACK, "--json").json["changes"]
    types = {each["type"] for each in shown}
    assert {"kubernetes:helm.sh/v3:Release", "kubernetes:core/v1:Namespace"} <= types
    assert not any(each.startswith("azure-native:") for each in types)
    assert not Simulation(STACK, home).exists


@pytest.mark.deep
def test_a_stack_comes_to_a_cluster_that_exists_works_and_leaves_it_as_it_was(home: Home, tmp_path: Path) -> None:
    simulation = Simulation(STACK, home)
    physai("up", STACK)
    offered = {
        node["name"]: node["gpus"]
        for pool in physai("status", STACK, "--json").json["pools"]
        for node in pool["members"]
    }
    assert offered == GPUS
    assert simulation.cloud_resources() == {}

    ran = physai("run", str(workflow(tmp_path)), "--stack", STACK, "--json").json["workflows"][0]
    assert ran["status"] == "COMPLETED"
    placed = {task["name"]: task["node"].rpartition("-")[0] for task in ran["tasks"]}
    assert placed == {"train": "b200", "render": "rtxpro"}

    before: Inventory = json.loads((simulation.folder / FOUND).read_text())
    assert nodes(before) == {*GPUS, "cpu-1", "cpu-2", "cpu-3"}
    clusters = simulation.clusters()
    cluster = id_of(clusters)
    assert cluster is not None
    client = clusters.client(cluster)
    takes_over_the_marks(client, "b200-1")
    said = io.StringIO()
    with redirect_stderr(said), Progress() as progress:
        simulation.destroy(progress)
    # The stack has `target.leave: nothing`.
    kept = differences(before, inventory(client))
    # The namespace of reservations comes with what Kubernetes gives to each.
    reasons = {leftovers.RESERVATIONS: 3, leftovers.RESOURCE: 2 * len(GPUS)}
    assert leftovers.by_reason(kept) == (reasons, [])
    file = home.leftovers(simulation.folder.name)
    assert file.read_text().splitlines() == kept
    assert f"6 remain: {leftovers.RESOURCE}" in said.getvalue()

    refuses_a_foreign_operator(client)


def takes_over_the_marks(client: Client, name: str) -> None:
    """The node is cordoned, a run keeps the cordon's taint, and it is uncordoned: another manager owns its taints then,
    and one of its labels."""
    path = f"/api/v1/nodes/{name}"

    def taints() -> set[str]:
        return {each["key"] for each in client.get(path)["spec"].get("taints", [])}

    client.patch(path, {"spec": {"unschedulable": True}}, MERGE_PATCH, {"fieldManager": "kubectl-cordon"})
    until(lambda: CORDON in taints(), "the cordon has no taint")
    physai("up", STACK, "--refresh")
    assert taints() == {"nvidia.com/gpu", CORDON}
    client.patch(path, {"spec": {"unschedulable": None}}, MERGE_PATCH, {"fieldManager": "kubectl-uncordon"})
    until(lambda: CORDON not in taints(), "the taint of the cordon remains")
    for value in ("other", "b200"):
        client.patch(
            path, {"metadata": {"labels": {"agentpool": value}}}, MERGE_PATCH, {"fieldManager": "kubectl-label"}
        )
    fields = client.get(path)["metadata"]["managedFields"]
    owners = {each["manager"] for each in fields if "f:taints" in each["fieldsV1"].get("f:spec", {})}
    assert owners == {"kube-controller-manager"}


def refuses_a_foreign_operator(client: Client) -> None:
    """The preview names the operator of another owner, and changes nothing."""
    for definition in crds("gpu-operator", "v26.7.1"):
        client.request("POST", DEFINITIONS, definition)
    parts = ("daemonsets", "dcgm", "dcgmExporter", "devicePlugin", "driver", "gfd", "nodeStatusExporter", "operator")
    spec: dict[str, Any] = {part: {} for part in (*parts, "toolkit")}
    spec["operator"] = {"defaultRuntime": "containerd"}
    policy = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "theirs"}, "spec": spec}
    until(lambda: client.find("/apis/nvidia.com/v1/clusterpolicies") is not None, "the kind is not served")
    client.request("POST", "/api/v1/namespaces", {"metadata": {"name": "gpu-operator"}})
    client.request("POST", "/apis/nvidia.com/v1/clusterpolicies", policy)
    # What Kubernetes adds to every namespace comes a moment later.
    own = {"configmaps/gpu-operator/kube-root-ca.crt", "serviceaccounts/gpu-operator/default"}
    until(lambda: own <= set(inventory(client)), "the namespace is not complete")
    before = inventory(client)
    for command in ("preview", "up"):
        refused = physai(command, STACK, expect=1)
        assert "has the GPU Operator of an unknown release (ClusterPolicy theirs, not installed by Helm)" in refused.err
        assert "The namespace gpu-operator exists, and this stack has not created it." in refused.err
    assert differences(before, inventory(client)) == []
