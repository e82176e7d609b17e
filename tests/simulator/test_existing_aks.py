"""The examples for an AKS cluster of one's own, run by the real engine with simulated Azure and a real API server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from physical_ai.repository import PROJECT_VARIABLE, ROOT
from simulator.clusters import Clusters
from simulator.home import HOME_VARIABLE, Home
from simulator.kubernetes import Client
from simulator.tools import toolbox
from tests.support.team_project import STACK, TeamProject

pytestmark = pytest.mark.deep  # in `make test`: what the examples declare
SECONDS = 900


@dataclass(frozen=True)
class Program:
    """Somebody's own Pulumi program, in a project whose settings nothing reads."""

    project: TeamProject
    home: Home

    def physai(self, *arguments: str) -> str:
        """What a command prints; fails with all of it when the command fails."""
        own = {
            PROJECT_VARIABLE: str(self.project.folder),
            HOME_VARIABLE: str(self.home.folder),
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run(
            [sys.executable, "-m", "workbench.cli", *arguments],
            cwd=self.project.folder,
            env={**os.environ, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"physai {' '.join(arguments)}: {done.returncode}\n{done.stdout}"
        return done.stdout

    def client(self) -> Client:
        folder = self.home.simulation(STACK, self.project.folder)
        clusters = Clusters(folder / "clusters", toolbox(self.home.tools))
        (cluster,) = clusters.ids()
        return clusters.client(cluster)


@pytest.fixture
def program(home: Home, tmp_path: Path) -> Program:
    project = TeamProject.made(tmp_path / "robots")
    shutil.copytree(ROOT / "docs" / "examples", project.folder, dirs_exist_ok=True)
    return Program(project, home)


def allocatable(client: Client) -> dict[str, int]:
    """GPUs that each pool of the cluster offers."""
    found: dict[str, int] = {}
    for node in client.get("/api/v1/nodes")["items"]:
        pool: str = node["metadata"]["labels"]["kubernetes.azure.com/agentpool"]
        found[pool] = found.get(pool, 0) + int(node["status"]["allocatable"].get("nvidia.com/gpu", 0))
    return found


def available(client: Client, namespace: str) -> dict[str, Any]:
    items: list[dict[str, Any]] = client.get(f"/apis/apps/v1/namespaces/{namespace}/deployments")["items"]
    return {each["metadata"]["name"]: each["status"].get("availableReplicas", 0) for each in items}


def test_a_pool_the_gpu_stack_and_osmo_come_to_a_cluster_of_ones_own_and_leave_it(program: Program) -> None:
    """The third example is built on the second, and that on the first."""
    program.project.write("__main__.py", "import gpu_stack\n")
    program.physai("up", STACK)
    assert allocatable(program.client()) == {"system": 0, "h100": 1}
    assert "no changes" in program.physai("up", STACK)

    program.project.write("__main__.py", "import osmo\n")
    program.physai("up", STACK)
    client = program.client()
    agents = available(client, "osmo-operator")
    assert len(agents) >= 2
    assert set(agents.values()) == {1}
    placed = client.get("/apis/apps/v1/namespaces/osmo-operator/deployments")["items"]
    selectors = [each["spec"]["template"]["spec"]["nodeSelector"] for each in placed]
    assert selectors == [{"kubernetes.azure.com/agentpool": "system"}] * len(placed)
    assert "deleted ManagedCluster robots" in program.physai("down", STACK)


def test_the_grid_driver_comes_alone(program: Program) -> None:
    program.project.write("__main__.py", "import grid_driver\n")
    program.physai("up", STACK)
    client = program.client()
    agents = client.get("/apis/apps/v1/namespaces/gpu-operator/daemonsets")["items"]
    assert [each["metadata"]["name"] for each in agents] == ["gpu-grid-driver-installer"]
    assert available(client, "gpu-operator") == {}
    program.physai("down", STACK)
