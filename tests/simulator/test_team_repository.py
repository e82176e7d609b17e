"""A team's repository, typed: wheels, `physai init`, the two commands of its README, a change, and a pull request.

Only the three wheels and their dependencies can be imported there, nothing of the checkout.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from physical_ai.repository import HOME_VARIABLE, PROJECT_VARIABLE, ROOT
from simulator.home import Home

pytestmark = [
    pytest.mark.deep,  # in `make test`: the wheels' files, layers of a team and the files of `init` in unit tests
    pytest.mark.timeout(3600),  # above the bound of each command, which names the command
]
STACK = "dev-westus2"
MAKE_SECONDS = 1500


IMPORTS = """
import importlib, pkgutil

for name in ("physical_ai", "components", "parts", "workbench", "simulator"):
    package = importlib.import_module(name)
    for each in pkgutil.walk_packages(package.__path__, f"{name}."):
        if not each.name.endswith("__main__"):
            importlib.import_module(each.name)
print("all modules were imported")
"""


@dataclass(frozen=True)
class Team:
    """A machine of a team's: a folder with wheels, and an environment with the platform, outside the checkout."""

    folder: Path
    home: Home

    def run(self, *command: str, cwd: Path | None = None, expect: int = 0) -> str:
        """What a command prints; fails with all of it when its exit code is not the expected one."""
        done = subprocess.run(
            command,
            cwd=cwd or self.folder,
            env={**self.variables(), HOME_VARIABLE: str(self.home.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=MAKE_SECONDS,
            check=False,
        )
        assert done.returncode == expect, f"{' '.join(command)}: {done.returncode}\n{done.stdout}"
        return done.stdout

    def variables(self) -> dict[str, str]:
        """Environment variables of commands."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        kept.pop(PROJECT_VARIABLE, None)
        return kept

    def environment(self, folder: Path, pins: Path | None = None) -> Path:
        """Environment with the wheels, and with the packages that they need from the one of this process."""
        self.run(sys.executable, "-m", "venv", str(folder))
        python = folder / "bin" / "python"
        own = ("--no-index", "--no-deps", "--find-links", str(self.wheels))
        wanted = ["--require-hashes", "-r", str(pins)] if pins else ["physical-ai-workbench", *OTHERS]
        self.run(str(python), "-m", "pip", "install", "--quiet", *own, *wanted)
        (site,) = folder.glob("lib/python3*/site-packages")
        paths = {sysconfig.get_paths()["purelib"], *(path for path in sys.path if path.endswith("site-packages"))}
        (site / "dependencies.pth").write_text("".join(f"{path}\n" for path in sorted(paths)))
        return python

    @property
    def wheels(self) -> Path:
        return self.folder / "wheels"


OTHERS = ("physical-ai", "physical-ai-simulator")


@pytest.fixture
def team(tmp_path: Path, home: Home) -> Team:
    made = Team(tmp_path / "machine", home)
    made.folder.mkdir()
    for own in (".", "workbench", "simulator"):
        made.run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(made.wheels), cwd=ROOT / own)
    return made


def git(team: Team, project: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
    team.run("git", *identity, *arguments, cwd=project)


def own_pins(project: Path, file: Path) -> Path:
    """A file with the pins of the platform's packages alone."""
    text = (project / "requirements.txt").read_text()
    file.write_text("".join(re.findall(r"^physical-ai\S*==.*\n(?:    .*\n)+", text, re.MULTILINE)))
    return file


def test_a_team_starts_deploys_changes_and_reviews_from_its_own_repository(team: Team) -> None:
    python = team.environment(team.folder / "tool")
    physai = str(python.with_name("physai"))
    project = team.folder / "gpu-platform"
    assert "all modules were imported" in team.run(str(python), "-c", IMPORTS)
    # Without a project: workflows can be checked, and a stack cannot be deployed.
    assert "0 errors" in team.run(physai, "lint", str(ROOT / "workbench" / "osmo" / "samples"))
    assert "physai init DIR" in team.run(physai, "explain", "prod-westus2", expect=2)

    team.run(physai, "init", str(project), "--wheels", str(team.wheels))
    own = team.environment(project / ".venv", own_pins(project, team.folder / "own.txt"))
    (project / ".venv" / ".ready").touch()
    imported = "import sys, physical_ai, components, parts, workbench, simulator as s; print(s.__file__, *sys.path)"
    assert str(ROOT) not in re.sub(r"\S+/site-packages\b", "", team.run(str(own), "-c", imported, cwd=project))
    git(team, project, "add", "--all")
    git(team, project, "commit", "--quiet", "-m", "Start")

    try:
        printed = team.run("make", "up", cwd=project)
        assert re.search(r"train-and-evaluate-1 train +h100 .*COMPLETED", printed)
        assert re.search(r"98 created|\d+ created", printed)
        assert team.run("git", "status", "--porcelain", cwd=project) == ""
        assert " passed" in team.run("make", "test", cwd=project)

        layer = project / "stacks" / "layers" / "env" / "dev.yaml"
        layer.parent.mkdir()
        layer.write_text("pools: {h100gpu: {scale: {max: 3}}}\n")
        values = project / "values" / "gpu-operator" / "values.yaml"
        values.write_text("dcgmExporter: {resources: {limits: {memory: 999Mi}}}\n")
        explained = team.run(physai, "explain", STACK, "pools.h100gpu.scale", cwd=project)
        assert re.search(r"scale.max +3 +stacks/layers/env/dev.yaml", explained)
        assert re.search(r"scale.min +0 +physical-ai-\S+/layers/env/dev.yaml", explained)
        changed = team.run("make", "preview", cwd=project)
        assert "maxCount: 2 → 3" in changed
        assert "999Mi" in changed

        comment = team.run("make", "pr-preview", "BASE=HEAD", cwd=project)
        assert "`maxCount`: `2` → `3`" in comment
        assert "stacks/layers/env/dev.yaml" in comment

        values.write_text("dcgmExporter: {resorces: {}}\n")
        refused = team.run("make", "preview", cwd=project, expect=2)
        assert "values/gpu-operator/values.yaml:1: dcgmExporter.resorces" in refused
        assert "resorces" in team.run("make", "test", cwd=project, expect=2)
    finally:
        team.run("make", "down", cwd=project)
