"""The commands of docs/runbooks, typed as written on a simulated stack to which it has happened.

A block that only Azure can answer is marked on its page: `<!-- Only on Azure: reason. -->`, in the line before it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from physical_ai.repository import ROOT
from simulator.checkpoint import Checkpoint
from simulator.entra import DEPLOYER
from simulator.kubernetes.client import MERGE_PATCH
from simulator.simulation import Simulation
from tests.simulator.killed_install import administrator, kill_during_install, releases
from tests.simulator.physai import physai
from tests.support.documentation import parts
from workbench.cli.exit_codes import FINDINGS

pytestmark = pytest.mark.usefixtures("saved_at_each_step")

WRITTEN = (
    path for path in sorted((ROOT / "docs" / "runbooks").glob("*.md")) if "\nGenerated from" not in path.read_text()
)
PAGES = {path.stem: path for path in WRITTEN}
"""Not the generated page, whose commands are about nodes of an alert."""
ONLY_ON_AZURE = re.compile(r"\s*<!-- Only on Azure: .+\. -->")
STACK = "dev-westus2"
POOL, CREDENTIAL = "physical-ai-rtxprogpu-nodes", "physical-ai-osmo-workflows-osmo-workflow"
VALUES = "physical-ai-osmo-service-values"
PLACEHOLDERS = re.compile(r"\b(STACK|NAMESPACE|NAME|REVISION|ID|URN)\b")


def blocks(page: str) -> list[str]:
    """The command blocks of a page that the simulator reaches."""
    lines = PAGES[page].read_text().splitlines()
    found = [block for block in parts(PAGES[page])[1] if block.info == "sh"]
    assert found, f"{page} has no command"
    return [block.text for block in found if not ONLY_ON_AZURE.fullmatch(lines[block.line - 3])]


@dataclass
class Terminal:
    """A shell of a user who follows pages. `typed` are the blocks so far."""

    simulation: Simulation
    folder: Path
    typed: list[str] = field(default_factory=list[str])
    exported: dict[str, str] = field(default_factory=dict[str, str])

    def type(self, page: str, part: str, **values: str) -> str:
        """Types the one block of a page that contains `part`, of those not typed yet, and answers yes.

        `values` are those of its placeholders.
        """
        (block,) = (each for each in blocks(page) if part in each and each not in self.typed)
        self.typed.append(block)
        self.exported |= dict(re.findall(r"^ *export (\w+)=(\S+)$", block, re.MULTILINE))
        known = {"STACK": STACK, **values}
        return self.run(PLACEHOLDERS.sub(lambda found: known[found[0]], block))

    def run(self, command: str, *, fails: bool = False) -> str:
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", command],
            cwd=self.folder,
            env=self._environment(),
            input="y\n" * 9,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) is fails, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def has_typed_all_of(self, *pages: str) -> None:
        assert sorted(self.typed) == sorted(block for page in pages for block in blocks(page))

    def _environment(self) -> dict[str, str]:
        commands = self.folder / "bin"
        if not commands.exists():
            commands.mkdir()
            for name, module in (
                ("pulumi", ["tests.simulator.pipeline_commands", "pulumi"]),
                ("physai", ["workbench.cli"]),
            ):
                words = shlex.join([sys.executable, "-m", *module])
                (commands / name).write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {words} "$@"\n')
                (commands / name).chmod(0o700)
        simulated = {key: each for key, each in self.simulation.environment().items() if key != "KUBECONFIG"}
        path = f"{commands}{os.pathsep}{simulated['PATH']}"
        return {
            **os.environ,
            **simulated,
            "PATH": path,
            "ARM_CLIENT_ID": DEPLOYER.client_id,
            "AZURE_CLIENT_ID": DEPLOYER.client_id,
            "PULUMI_SKIP_CONFIRMATIONS": "true",
            **self.exported,
        }


def test_every_page_is_typed_by_a_test() -> None:
    here = Path(__file__).read_text()
    assert [page for page in PAGES if f'"{page}"' not in here] == []


@pytest.mark.deep
def test_a_cluster_that_was_stopped(stopped: Simulation, tmp_path: Path) -> None:
    """As after a restart of the laptop: both plugins of the plain command find the API server stopped."""
    terminal = Terminal(stopped, tmp_path)
    terminal.run("pulumi refresh --stack dev-westus2 --target '**azure-native:resources:ResourceGroup::**'")
    assert "unchanged" in terminal.type("stopped-cluster", "pulumi up")
    terminal.has_typed_all_of("stopped-cluster")


@pytest.mark.deep
def test_a_run_that_was_killed_a_stuck_release_and_a_lost_state(deployed: Simulation, tmp_path: Path) -> None:
    terminal = Terminal(deployed, tmp_path)
    kill_during_install(deployed, STACK)
    the_lock_is_removed(deployed, terminal)
    what_exists_is_taken_over(deployed, terminal)
    the_state_is_lost_and_restored(deployed, terminal)
    terminal.has_typed_all_of("locked-stack", "cancelled-run", "stuck-release", "lost-state")


def the_lock_is_removed(simulation: Simulation, terminal: Terminal) -> None:
    refused = terminal.run(f"pulumi up --stack {STACK}", fails=True)
    assert "the stack is currently locked by 1 lock(s)" in refused
    (lock,) = (simulation.folder / "backend").glob(f".pulumi/locks/**/{STACK}/*.json")
    text = lock.read_text()
    terminal.type("locked-stack", "pulumi cancel")
    assert simulation.locks() == []
    lock.write_text(text)
    found = physai("unstick", STACK, "--json", expect=FINDINGS).json["repairs"]
    assert [each["commands"][0][:3] for each in found] == [
        ["pulumi", "cancel", STACK],
        ["pulumi", "stack", "import"],
        ["helm", "uninstall", "kai-scheduler"],
    ]
    assert json.loads(text)["username"] in found[0]["problem"]


def what_exists_is_taken_over(simulation: Simulation, terminal: Terminal) -> None:
    """The rest of what the killed run left, creations that it did not record, and what the state does not know."""
    not_recorded(simulation, POOL, CREDENTIAL, VALUES)
    nodes = administrator(simulation).get("/api/v1/nodes", {"labelSelector": "agentpool=rtxprogpu"})["items"]
    refused = terminal.run(f"pulumi up --stack {STACK} --target '**::{POOL}'", fails=True)
    assert "the stack is currently locked" in refused
    done = terminal.type("cancelled-run", "physai unstick")
    assert "The stack is locked" in done, "a run that finds the lock names it"
    # Beside what the killed run was creating itself.
    assert re.search(rf"Takes over [\w, -]*\b{POOL}\b", done)
    assert "Helm release kai-scheduler/kai-scheduler is pending-install in revision 1" in done
    assert simulation.locks() == []
    assert not Checkpoint(simulation.folder / "backend", STACK).pending()
    assert releases(administrator(simulation), "pending-install") == []
    previewed = terminal.type("cancelled-run", "pulumi preview")
    for name in (POOL, CREDENTIAL, VALUES):
        assert f"{name} create" not in previewed
        assert f"{name} replace" not in previewed
    after = administrator(simulation).get("/api/v1/nodes", {"labelSelector": "agentpool=rtxprogpu"})["items"]
    assert [each["metadata"]["uid"] for each in after] == [each["metadata"]["uid"] for each in nodes]

    forgotten = urn(simulation, VALUES)
    terminal.run(f"pulumi state delete {shlex.quote(forgotten)} --stack {STACK} --yes")
    assert "already exists" in terminal.run(f"pulumi up --stack {STACK} --target {shlex.quote(forgotten)}", fails=True)
    terminal.type("cancelled-run", "PULUMI_K8S_UPSERT_EXISTING_OBJECTS")
    assert urn(simulation, VALUES) == forgotten
    terminal.type("stuck-release", "pulumi stack output kubeconfig")
    assert "nothing is stuck" in terminal.type("stuck-release", "physai unstick")
    by_hand(simulation, terminal)


def not_recorded(simulation: Simulation, *names: str) -> None:
    """Makes the state that of a run killed between the creation of these resources and their record."""
    file = Checkpoint(simulation.folder / "backend", STACK).file
    assert file is not None
    document = json.loads(file.read_text())
    latest = document["checkpoint"]["latest"]
    found = [each for each in latest["resources"] if each["urn"].rpartition("::")[2] in names]
    latest["resources"] = [each for each in latest["resources"] if each not in found]
    results = ("id", "outputs", "created", "modified")
    begun = [{key: value for key, value in each.items() if key not in results} for each in found]
    latest["pending_operations"] = [
        *(latest.get("pending_operations") or []),
        *({"type": "creating", "resource": each} for each in begun),
    ]
    file.write_text(json.dumps(document))


def by_hand(simulation: Simulation, terminal: Terminal) -> None:
    """A failed upgrade of a release that worked before; then an install that failed."""
    release = {"NAME": "osmo-operator", "NAMESPACE": "osmo-operator"}
    terminal.run("KUBECONFIG=kubeconfig.yaml helm rollback osmo-operator 1 -n osmo-operator")
    mark_last_revision(simulation, "failed")
    (repair,) = physai("unstick", STACK, "--json", expect=FINDINGS).json["repairs"]
    assert repair["commands"][0][:2] == ["helm", "rollback"]
    assert "osmo-operator" in terminal.run(f"physai unstick {STACK} --yes")
    assert "nothing is stuck" in physai("unstick", STACK).out
    terminal.type("stuck-release", "helm history", **release)
    terminal.type("stuck-release", "helm rollback NAME REVISION", **release, REVISION="1")
    terminal.type("stuck-release", "helm rollback NAME -n", **release)
    terminal.type("stuck-release", "helm uninstall", **release)
    assert "nothing is stuck" in physai("unstick", STACK).out


def mark_last_revision(simulation: Simulation, status: str) -> None:
    """Gives helm's last record of the agents' release this status, as a run leaves it that failed."""
    cluster, path = administrator(simulation), "/api/v1/namespaces/osmo-operator/secrets"
    records = cluster.get(path, {"labelSelector": "owner=helm,name=osmo-operator"})["items"]
    last = max(records, key=lambda each: int(each["metadata"]["labels"]["version"]))
    cluster.patch(f"{path}/{last['metadata']['name']}", {"metadata": {"labels": {"status": status}}}, MERGE_PATCH)


def the_state_is_lost_and_restored(simulation: Simulation, terminal: Terminal) -> None:
    state = Checkpoint(simulation.folder / "backend", STACK).file
    assert state is not None
    text = state.read_text()
    state.unlink()
    assert "no stack named" in terminal.run(f"pulumi up --stack {STACK}", fails=True)
    assert "file://" in terminal.type("lost-state", "pulumi whoami")
    state.write_text(text)
    preview = terminal.type("lost-state", "pulumi preview")
    assert " to delete" not in preview
    assert " to replace" not in preview


@pytest.mark.deep
def test_a_cluster_that_was_deleted_outside_of_the_program(deployed: Simulation, tmp_path: Path) -> None:
    """`test_stack.py` replaces a cluster, and `test_year.py` destroys one without its API server."""
    terminal = Terminal(deployed, tmp_path)
    for commands in (["--replace"], ["pulumi refresh", "pulumi up"]):
        with deployed.azure() as cloud:
            cloud.delete(deployed.clusters().ids()[0])
        for part in commands:
            terminal.type("lost-cluster", part)
        assert len(deployed.clusters().ids()) == 1
        assert administrator(deployed).get("/api/v1/namespaces/gpu-operator")
        assert not physai("preview", "--json", STACK).json["changes"]
    terminal.type("lost-cluster", "pulumi destroy")
    assert deployed.cloud_resources() == {}
    terminal.has_typed_all_of("lost-cluster")


def resources(simulation: Simulation) -> list[dict[str, Any]]:
    return Checkpoint(simulation.folder / "backend", STACK).resources()


def urn(simulation: Simulation, name: str) -> str:
    (found,) = (each["urn"] for each in resources(simulation) if each["urn"].endswith(f"::{name}"))
    return found
