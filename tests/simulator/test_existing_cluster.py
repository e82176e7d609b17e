"""A stack on a cluster that exists already: 24 GPUs on three servers, work on both classes, and nothing left behind."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.cli.progress import Progress
from physical_ai.repository import ROOT
from physical_ai.simulator import remains
from physical_ai.simulator.existing_ground import FOUND, id_of
from physical_ai.simulator.home import Home
from physical_ai.simulator.inventory import Inventory, differences, inventory
from physical_ai.simulator.kubernetes import Client
from tests.simulator.test_platform_life import PROGRAM, Copy
from tests.support.waiting import until

STACK = "onprem-lab"
LAB = ROOT / "stacks" / f"Pulumi.{STACK}.yaml"
GPUS = {"b200-1": 8, "rtxpro-1": 8, "rtxpro-2": 8}
KINDS = {
    "kai.scheduler": {"configs", "schedulingshards", "topologies"},
    "monitoring.coreos.com": {"alertmanagers", "podmonitors", "prometheuses", "prometheusrules", "servicemonitors"},
    "nfd.k8s-sigs.io": {"nodefeaturegroups", "nodefeaturerules", "nodefeatures"},
    "nvidia.com": {"clusterpolicies", "gpuclusters", "nvidiadrivers"},
    "resource.nvidia.com": {"computedomaincliques", "computedomains"},
    "scheduling.run.ai": {"bindrequests", "podgroups", "queues"},
}
"""Definitions that remain: Helm never deletes what is in a chart's `crds/`."""
ISAAC = {"NVIDIA_DRIVER_CAPABILITIES": "all", "ACCEPT_EULA": "Y", "PRIVACY_CONSENT": "Y"}


@pytest.fixture
def copy(home: Home, tmp_path: Path) -> Copy:
    """The program with this one stack more, in the test's own home."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in PROGRAM:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder)
    shutil.copy(LAB, folder / "stacks")
    return Copy(folder)


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


def test_a_stack_comes_to_a_cluster_that_exists_works_and_leaves_it_as_it_was(copy: Copy, tmp_path: Path) -> None:
    simulation = copy.simulation(STACK)
    copy.physai("up", STACK)
    status = json.loads(copy.physai("status", STACK, "--json").stdout)
    offered = {node["name"]: node["gpus"] for pool in status["pools"] for node in pool["members"]}
    assert offered == GPUS
    assert simulation.cloud_resources() == {}

    answer = copy.physai("run", str(workflow(tmp_path)), "--stack", STACK, "--json").stdout
    ran = json.loads(answer)["workflows"][0]
    assert ran["status"] == "COMPLETED"
    placed = {task["name"]: task["node"].rpartition("-")[0] for task in ran["tasks"]}
    assert placed == {"train": "b200", "render": "rtxpro"}

    before: Inventory = json.loads((simulation.folder / FOUND).read_text())
    assert nodes(before) == {*GPUS, "cpu-1", "cpu-2", "cpu-3"}
    with Progress() as progress:
        simulation.destroy(progress)
    clusters = simulation.clusters()
    cluster = id_of(clusters)
    assert cluster is not None
    client = clusters.client(cluster)
    kept = differences(before, inventory(client))
    assert remains.divided(kept)[1] == []
    definitions = {line.rpartition("/")[2] for line in kept if "customresourcedefinitions" in line}
    assert definitions == {f"{kind}.{group}" for group, kinds in KINDS.items() for kind in kinds}

    refuses_a_foreign_operator(copy, client)


def refuses_a_foreign_operator(copy: Copy, client: Client) -> None:
    """The preview names the operator of somebody else, and changes nothing."""
    parts = ("daemonsets", "dcgm", "dcgmExporter", "devicePlugin", "driver", "gfd", "nodeStatusExporter", "operator")
    spec: dict[str, Any] = {part: {} for part in (*parts, "toolkit")}
    spec["operator"] = {"defaultRuntime": "containerd"}
    policy = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "theirs"}, "spec": spec}
    client.request("POST", "/api/v1/namespaces", {"metadata": {"name": "gpu-operator"}})
    client.request("POST", "/apis/nvidia.com/v1/clusterpolicies", policy)
    # What Kubernetes adds to every namespace comes a moment later.
    own = {"configmaps/gpu-operator/kube-root-ca.crt", "serviceaccounts/gpu-operator/default"}
    until(lambda: own <= set(inventory(client)), "the namespace is not complete")
    before = inventory(client)
    for command in ("preview", "up"):
        refused = copy.physai(command, STACK, expect=1)
        assert (
            "has the GPU Operator of an unknown release (ClusterPolicy theirs, not installed by Helm)" in refused.stderr
        )
        assert "The namespace gpu-operator exists, and this stack has not created it." in refused.stderr
    assert differences(before, inventory(client)) == []
