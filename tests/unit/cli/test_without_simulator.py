"""The workbench without the simulator: files and clusters are read, and other commands say what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from physical_ai.repository import ROOT
from simulator.tools.install import VARIABLE, Origin
from tests.support.paths import SAMPLES
from workbench.cli.commands.simulate import TOOLS_FROM, ToolsFrom

BLOCKED = """
import importlib.util, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "simulator":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "simulator" else found(name, package)
sys.meta_path.insert(0, Blocked())
sys.argv[0] = "physai"
from workbench.cli.__main__ import main
main()
"""
KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://127.0.0.1:9"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
users: [{name: a, user: {token: x}}]
"""

SIMULATED = ("preview", "status", "run a.yaml", "policy")
OTHERS = ("why h100gpu", "doctor", "accept", "evidence node-a")


def physai(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, *arguments],
        cwd=ROOT,
        env=os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_workflows_are_checked() -> None:
    code, text = physai("lint", str(SAMPLES))
    assert (code, "0 errors" in text) == (0, True), text


@pytest.mark.deep  # in `make test`: a command that needs the simulator, below
def test_the_version_says_that_it_is_not_installed() -> None:
    assert "simulator not installed" in physai("--version")[1]


@pytest.mark.parametrize("command", ["gates", *(pytest.param(each, marks=pytest.mark.deep) for each in OTHERS)])
def test_a_cluster_is_asked(command: str, tmp_path: Path) -> None:
    """Nothing answers at its address."""
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG)
    code, text = physai(*command.split(), "--kubeconfig", str(file))
    assert code in (1, 2), text
    assert "127.0.0.1:9" in text
    assert "Traceback" not in text
    assert "needs the simulator" not in text


@pytest.mark.deep  # in `make test`: a cluster that is asked, above
def test_metrics_are_asked() -> None:
    code, text = physai("usage", "--prometheus", "http://127.0.0.1:9")
    assert (code, "needs the simulator" in text) == (1, False), text


@pytest.mark.parametrize(
    "command",
    ["up", *(pytest.param(each, marks=pytest.mark.deep) for each in SIMULATED)],
)
def test_what_to_install_is_said(command: str) -> None:
    code, text = physai(*command.split())
    assert code == 2
    assert f"`physai {command.split(maxsplit=1)[0]}` needs the simulator, which is not installed.\n" in text
    assert "pip install 'physical-ai-workbench[simulator]'" in text


def test_the_origins_of_tools_are_the_simulators() -> None:
    assert list(get_args(get_args(ToolsFrom)[0])) == [each.value for each in Origin]
    assert TOOLS_FROM == VARIABLE
