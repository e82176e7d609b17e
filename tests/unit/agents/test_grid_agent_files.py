"""The GRID agent's files can run where they have to: a node's own Python and bash, from a ConfigMap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from physical_ai.repository import GRID_AGENT
from tests.support.cases import in_one_test

FOLDER = GRID_AGENT
MODULES = sorted((FOLDER / "grid_agent").glob("*.py"))
SCRIPTS = sorted((FOLDER / "host").glob("*.sh"))
SHELLCHECK = Path(sys.executable).with_name("shellcheck")


@in_one_test("path", MODULES, ids=[path.name for path in MODULES])
def test_modules_need_nothing_but_python_3_10(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 10))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= {*sys.stdlib_module_names, "grid_agent"}


def test_files_fit_into_a_configmap() -> None:
    assert sum(path.stat().st_size for path in (*MODULES, *SCRIPTS)) < 900_000


def test_decisions_know_no_clock_no_files_and_no_network() -> None:
    """What the simulator and the tests rely on: the same facts lead to the same plan."""
    forbidden = {"os", "time", "random", "subprocess", "socket", "urllib", "pathlib", "datetime"}
    for name in ("decide", "faults", "unsupported", "preconditions", "early_pods", "transitions", "plan", "machine"):
        tree = ast.parse((FOLDER / "grid_agent" / f"{name}.py").read_text())
        found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        found |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not {each.partition(".")[0] for each in found} & forbidden, name


@pytest.mark.skipif(not SHELLCHECK.exists(), reason="no shellcheck in this environment")
def test_scripts_pass_shellcheck() -> None:
    found = subprocess.run([SHELLCHECK, "-x", *SCRIPTS], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
