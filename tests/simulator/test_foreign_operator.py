"""A cluster with a GPU Operator of another owner: by default nothing is changed; on request it is used unchanged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.readiness.existing_record import MARK_LABEL
from physical_ai.repository import ROOT
from physical_ai.settings import load
from simulator import existing_cluster, leftovers
from simulator.charts.source import chart_source
from simulator.cluster.objects import at
from simulator.home import Home
from simulator.inventory import Inventory, differences, inventory
from simulator.kubernetes import Client
from simulator.simulation import Simulation
from simulator.tools import toolbox
from tests.simulator.test_platform_life import PROGRAM, Copy
from tests.support.waiting import until
from workbench.cli.existing_cluster_input import existing_cluster_input
from workbench.cli.progress import Progress

STACK = "onprem-lab"
CHOICE = ("--set", "gpuOperator.existing=use")
POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
ONE = {"driver": {"version": "580.173.02", "nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": True}}}
"""Values of the owner of the cluster: one NVIDIADriver for every GPU node."""
GPUS = {"b200-1": 8, "rtxpro-1": 8, "rtxpro-2": 8}
RELEASES = ("--namespace", "gpu-operator", "--output", "json")


@pytest.fixture
def copy(home: Home, tmp_path: Path) -> Copy:
    """The program with the committed stack, without OSMO and what the operator of another owner does not have."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in PROGRAM:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder)
    file = folder / "stacks" / f"Pulumi.{STACK}.yaml"
    document: Any = yaml.safe_load(file.read_text())
    config = document["config"]
    del config["physical-ai:osmo"], config["physical-ai:dataServices"]
    config["physical-ai:monitoring"] = {"metrics": "none"}
    del config["physical-ai:pools"]["rtxpro"]["driver"]["moduleParameters"]
    file.write_text(yaml.safe_dump(document))
    return Copy(folder)


def helm(simulation: Simulation, *arguments: str, values: Mapping[str, Any] | None = None) -> str:
    program = str(toolbox(simulation.home.tools).path("helm"))
    environment = {**os.environ, "KUBECONFIG": str(simulation.folder / "kubeconfig")}
    given = json.dumps(values or {})
    done = subprocess.run(
        [program, *arguments], env=environment, input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def installed_before(copy: Copy) -> tuple[Simulation, Client, Inventory]:
    """A cluster as the stack describes it, with an installed GPU Operator whose drivers run."""
    settings = load(STACK, root=copy.folder / "stacks").settings
    existing, simulation = existing_cluster_input(settings), copy.simulation(STACK)
    assert existing is not None
    simulation.folder.mkdir(parents=True)
    existing_cluster.provide(existing, simulation.clusters(), simulation.folder)
    version = settings.gpu_operator.version
    chart = chart_source("gpu-operator", version, "https://helm.ngc.nvidia.com/nvidia")
    place = ("--namespace", "gpu-operator", "--create-namespace", "--wait", "--timeout", "2m", "--values", "-")
    helm(simulation, "install", "gpus", str(chart), *place, values=ONE)
    clusters = simulation.clusters()
    client = clusters.client(clusters.ids()[0])
    until(lambda: offered(client) == GPUS, "the operator of another owner offers no GPUs")
    return simulation, client, settled(client)


def settled(client: Client) -> Inventory:
    """Every object, once nothing changes any more: operands follow each other's labels."""
    seen: list[Inventory] = [{}]

    def is_same() -> bool:
        seen.append(inventory(client))
        return differences(*seen[-2:]) == []

    until(is_same, "the cluster keeps changing", every=3.0)
    return seen[-1]


def offered(client: Client) -> dict[str, int]:
    found = {each["metadata"]["name"]: each for each in client.get("/api/v1/nodes")["items"]}
    return {
        name: int(count)
        for name, each in found.items()
        if (count := at(each, "status.allocatable", {}).get("nvidia.com/gpu"))
    }


def revisions(simulation: Simulation) -> list[tuple[str, str]]:
    return [(each["name"], each["revision"]) for each in json.loads(helm(simulation, "list", *RELEASES))]


@pytest.mark.deep
def test_a_foreign_operator_is_left_alone_and_by_choice_used_as_it_is(copy: Copy) -> None:
    simulation, client, before = installed_before(copy)
    kubeconfig = f"target.kubeconfig={simulation.folder / 'kubeconfig'}"

    for command in ("preview", "up"):
        refused = copy.physai(command, STACK, expect=1).stderr
        assert "The cluster has the GPU Operator v26.7.1 (ClusterPolicy cluster-policy, Helm release" in refused
        assert "gpuOperator.existing: use leaves it as it is" in refused
        assert "It fits this stack." in refused
    checked = json.loads(copy.physai("check", STACK, "--set", kubeconfig, "--json", expect=3).stdout)
    owners = [each["message"] for each in checked["findings"] if each["topic"] == "owners"]
    assert any("The cluster has the GPU Operator v26.7.1" in each for each in owners)
    assert differences(before, inventory(client)) == []

    other = copy.physai("preview", STACK, *CHOICE, "--set", "gpuOperator.cdi=false", expect=1).stderr
    assert "cdi.enabled: it is true, and gpuOperator.cdi is false" in other
    shown = copy.physai("preview", STACK, *CHOICE)
    assert "is used as it is: the stack installs no release" in shown.stdout + shown.stderr
    assert "Release physical-ai-gpu-operator" not in shown.stdout
    assert differences(before, inventory(client)) == []

    copy.physai("up", STACK, *CHOICE)
    assert offered(client) == GPUS
    assert revisions(simulation) == [("gpus", "1")]
    assert "no changes" in copy.physai("preview", STACK, *CHOICE).stdout

    refuses_another_state(copy, client)
    with Progress() as progress:
        simulation.destroy(progress)
    assert leftovers.by_reason(differences(before, settled(client)))[1] == []


def refuses_another_state(copy: Copy, client: Client) -> None:
    """The same name, deployed from somewhere else: nothing is declared."""
    path = "/api/v1/namespaces/osmo-workflows"
    mark = client.get(path)["metadata"]["labels"][MARK_LABEL]
    assert mark
    for given in ("another", mark):
        client.patch(path, {"metadata": {"labels": {MARK_LABEL: given}}}, "application/merge-patch+json", {})
        shown = copy.physai("preview", STACK, *CHOICE, expect=0 if given == mark else 1)
        refusal = "the mark of its namespace osmo-workflows is another. Nothing is changed."
        assert (refusal in shown.stderr) is (given != mark)
