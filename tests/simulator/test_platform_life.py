"""The whole life of a platform: from nothing to workflows, a second region, a restore, an upgrade, and its end.

It runs in a copy of the repository: a control plane reads the settings of the stacks that it serves from their files.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog import osmo
from physical_ai.repository import ROOT
from simulator.cluster.pods import ended
from simulator.home import Home
from simulator.kubernetes import Client
from simulator.simulation import Simulation
from simulator.subscription import AZURE_FILE
from tests.simulator.test_osmo_platform import PLATFORM, PODS, Json, running_pod, token_secret, workflow_without_end
from tests.support.paths import SAMPLES
from tests.support.waiting import until

STACK, REGION = "dev-westus2", "prod-swedencentral"
BACKEND = "sweden"
PROGRAM = (
    *("__main__.py", "Pulumi.yaml", "pyproject.toml"),
    *("agents", "components", "manifests", "parts", "physical_ai", "simulator", "stacks", "values", "workbench"),
)
"""What a stack is deployed from."""


@dataclass
class SimulationOfCopy(Simulation):
    """Simulations of two checkouts have folders of their own."""

    checkout: Path = ROOT

    @property
    def folder(self) -> Path:
        return self.home.simulation(self.stack, self.checkout)


@dataclass(frozen=True)
class Copy:
    """The program with stack files of the test's own."""

    folder: Path

    def physai(self, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        done = subprocess.run(
            [*_COMMAND, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == expect, f"physai {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def follow(self, *arguments: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        return subprocess.Popen(
            [*_COMMAND, *arguments],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def simulation(self, stack: str) -> Simulation:
        return SimulationOfCopy(stack, checkout=self.folder)

    def client(self, stack: str) -> Client:
        clusters = self.simulation(stack).clusters()
        return clusters.client(clusters.ids()[0])

    def azure(self, stack: str) -> Json:
        return json.loads((self.simulation(stack).folder / AZURE_FILE).read_text())

    def resources(self, stack: str, kind: str) -> list[Json]:
        return [row for row in self.azure(stack)["resources"] if row["kind"] == kind]

    def platform(self, **changes: Any) -> tuple[str, str]:
        """Options that make a stack a platform."""
        file = self.folder / "platform.yaml"
        file.write_text(yaml.safe_dump({**PLATFORM, "osmo": {**PLATFORM["osmo"], "backends": [REGION], **changes}}))
        return "-f", str(file)

    def region(self, **changes: Any) -> None:
        """Makes the second region's stack a backend of the platform."""
        file = self.folder / "stacks" / f"Pulumi.{REGION}.yaml"
        stack: dict[str, Any] = yaml.safe_load((ROOT / "stacks" / file.name).read_text())
        host = PLATFORM["osmo"]["access"]["host"]
        own = {"mode": "backend", "backendName": BACKEND, "serviceUrl": f"https://{host}", "login": "token", **changes}
        stack["config"] |= {"physical-ai:osmo": own, "physical-ai:protect": False}
        file.write_text(yaml.safe_dump(stack))


_COMMAND = (sys.executable, "-m", "workbench.cli")


@pytest.fixture
def copy(home: Home, tmp_path: Path) -> Copy:
    folder = tmp_path / "copy"
    folder.mkdir()
    for name in PROGRAM:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    return Copy(folder)


@pytest.mark.deep
def test_a_platform_from_the_first_deployment_to_its_end(copy: Copy, tmp_path: Path) -> None:
    copy.region()
    old = copy.platform(imageTag="6.3.0")
    copy.physai("up", STACK, *old)
    filled = datetime.now(UTC)
    _workflows_run_for_users_with_a_role(copy)

    served: Mapping[str, str] = copy.simulation(STACK).outputs()["osmo"]["served"][REGION]
    copy.region(tokenFrom=dict(served))
    copy.physai("up", REGION)
    token = token_secret(copy.client(REGION))["token"]

    _a_token_is_rotated_under_a_running_workflow(copy, served, tmp_path)
    assert token_secret(copy.client(REGION))["token"] != token

    rotated = {"tokenRotation": "2026-12"}
    upgraded = copy.platform(imageTag="6.3.1", **rotated)
    copy.physai("up", STACK, *upgraded)
    assert _images(copy.client(STACK)) == {"6.3.1"}
    older = copy.physai("preview", STACK, *copy.platform(imageTag="6.3.0", **rotated), expect=1)
    assert "6.3.0" in older.stderr
    upgraded = copy.platform(imageTag="6.3.1", **rotated)

    moment = filled.strftime("%Y-%m-%dT%H:%M:%SZ")
    restored = (*upgraded, "--set", f"dataServices.postgres.restore.at={moment}")
    copy.physai("up", STACK, *restored)
    assert len(copy.resources(STACK, "PostgresServer")) == 2
    copy.physai("preview", STACK, *restored, "--expect-no-changes")
    _workflows_run_for_users_with_a_role(copy)

    vault = copy.resources(STACK, "Vault")[0]["inputs"]["vaultName"].lower()
    copy.physai("up", STACK, "--set", "osmo.mode=namespaces")
    assert vault in copy.azure(STACK)["deletedVaults"]
    for stack in (REGION, STACK):
        copy.physai("down", stack)
        assert not copy.simulation(stack).exists


def _workflows_run_for_users_with_a_role(copy: Copy) -> None:
    sample = str(SAMPLES / "train-and-evaluate.yaml")
    done = json.loads(copy.physai("run", sample, "--json").stdout)
    assert [each["status"] for each in done["workflows"]] == ["COMPLETED"]
    assert "403 bystander has no role" in copy.physai("run", sample, "--as", "bystander", expect=1).stderr


def _a_token_is_rotated_under_a_running_workflow(copy: Copy, served: Mapping[str, str], folder: Path) -> None:
    client = copy.client(STACK)
    before = token_secret(client)["token"]
    with copy.follow("run", str(workflow_without_end(folder)), "--json") as follower:
        try:
            pod = until(lambda: running_pod(client) or follower.poll() is not None, "the task does not run")
            assert follower.poll() is None, "the command ended before the task ran"
            copy.region(tokenFrom=dict(served), tokenRotation="2026-12")
            copy.physai("up", STACK, *copy.platform(imageTag="6.3.0", tokenRotation="2026-12"))
            copy.physai("up", REGION)
            after = token_secret(client)
            assert after["previous-token"] == before != after["token"]
            assert running_pod(client)["metadata"]["uid"] == pod["metadata"]["uid"]
            exits = {each["name"]: (0, "") for each in pod["spec"]["containers"]}
            status = f"{PODS}/{pod['metadata']['name']}/status"
            client.patch(status, {"status": ended(pod, exits)}, "application/merge-patch+json")
            out, _ = follower.communicate(timeout=300)
        finally:
            follower.kill()
    assert json.loads(out)["workflows"][0]["status"] == "COMPLETED"


def _images(client: Client) -> set[str]:
    """Tags of the images that OSMO's own control plane runs."""
    found: list[Json] = client.get(f"/apis/apps/v1/namespaces/{osmo.CONTROL_NAMESPACE}/deployments")["items"]
    images = {each["image"] for item in found for each in item["spec"]["template"]["spec"]["containers"]}
    return {image.partition("@")[0].rpartition(":")[2] for image in images if "/osmo/" in image}
