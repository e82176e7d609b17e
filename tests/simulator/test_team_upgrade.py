"""A team's repository of one version, upgraded to the next one: two versions as wheels in one folder, and nothing of
the checkout can be imported there.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from physical_ai.releases import installed
from physical_ai.repository import ROOT
from simulator.home import Home
from tests.simulator.test_team_repository import STACK, Team, git, own_pins
from workbench.cli.new_project.pins import DISTRIBUTIONS

pytestmark = [
    pytest.mark.deep,  # in `make test`: tests/unit/cli/test_upgrade.py, which runs no second version
    pytest.mark.timeout(3600),
]

OLD, NEW = "0.0.9", str(installed())
MODEL, LAYER, NOTES = (
    "physical_ai/settings/models/cluster.py",
    "stacks/layers/env/dev.yaml",
    "physical_ai/releases/data",
)
FIRST = f"version: {OLD}\ndate: 2027-01-01\nupgradeFrom: null\nsummary: One.\nback: {{open: true, text: None.}}\n"
SECOND = f"""
version: {NEW}
date: 2027-02-01
upgradeFrom: {OLD}
summary: A setting has a clearer name.
renamed:
  - {{from: cluster.apiAccess.invokeCommand, to: cluster.apiAccess.runCommand, until: 9.0.0}}
resources:
  - {{type: Workspace, what: restarted, why: Its daily cap is lower.}}
back: {{open: true, text: Nothing more.}}
"""
OWN_LAYER = "cluster:\n  apiAccess:\n    invokeCommand: true  # for the office\n"


def checkout(folder: Path, version: str, edits: dict[str, tuple[str, str]], notes: dict[str, str]) -> Path:
    """A copy of the checkout with another version, other texts in files, and only these notes of releases."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for path in filter(None, listed.split("\0")):
        if not path.startswith(("tests/", "docs/")) and (ROOT / path).is_file():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
    for own in (".", "workbench", "simulator"):
        file = folder / own / "pyproject.toml"
        numbers = rf'(^version = "|"physical-ai[\w-]*==){re.escape(NEW)}"'
        file.write_text(re.sub(numbers, rf'\g<1>{version}"', file.read_text(), flags=re.MULTILINE))
    for path, (before, after) in edits.items():
        text = (folder / path).read_text()
        assert before in text, path
        (folder / path).write_text(text.replace(before, after))
    for file in (folder / NOTES).glob("*.yaml"):
        file.unlink()
    for name, text in notes.items():
        (folder / NOTES / f"{name}.yaml").write_text(text)
    return folder


@pytest.fixture
def team(tmp_path: Path, home: Home) -> Team:
    """A machine with the wheels of both versions."""
    made = Team(tmp_path / "machine", home)
    made.folder.mkdir()
    former = "run_command: bool = Field("
    old = {MODEL: (former, f'{former}alias="invokeCommand", '), LAYER: ("dailyQuotaGb: 1", "dailyQuotaGb: 2")}
    for source in (
        checkout(tmp_path / "old", OLD, old, {OLD: FIRST}),
        checkout(tmp_path / "new", NEW, {}, {OLD: FIRST, NEW: SECOND}),
    ):
        for own in (".", "workbench", "simulator"):
            made.run(
                sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(made.wheels), cwd=source / own
            )
    return made


def pins(team: Team, version: str) -> Path:
    """A file that pins the three packages in a version."""
    file = team.folder / f"{version}.txt"
    for name in DISTRIBUTIONS:
        (wheel,) = team.wheels.glob(f"{name.replace('-', '_')}-{version}-*.whl")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        with file.open("a") as text:
            text.write(f"{name}=={version} --hash=sha256:{digest}\n")
    return file


def test_a_team_upgrades_to_the_next_version(team: Team) -> None:
    python = team.environment(team.folder / "tool", pins(team, OLD))
    physai = str(python.with_name("physai"))
    project, wheels = team.folder / "gpu-platform", ("--wheels", str(team.wheels))
    team.run(physai, "init", str(project), *wheels)
    layer = project / "stacks" / "layers" / "base.yaml"
    layer.write_text(OWN_LAYER)
    git(team, project, "add", "--all")
    git(team, project, "commit", "--quiet", "-m", "Start")
    assert re.search(r"invokeCommand +true", team.run(physai, "explain", STACK, "cluster.apiAccess", cwd=project))

    missing = team.run(physai, "upgrade", "7.0.0", *wheels, "--check", cwd=project, expect=2)
    assert f"There is no version 7.0.0 in {team.wheels}.\n  Versions there: {OLD}, {NEW}." in missing
    older = team.run(physai, "upgrade", OLD, *wheels, "--check", cwd=project, expect=2)
    assert f"requirements.txt pins version {OLD} already" in older

    # What the new version does to the stack that the old one has deployed.
    shown = team.run(physai, "upgrade", *wheels, "--check", cwd=project)
    assert f"upgrade from {OLD} to {NEW}\n  {NEW} (2027-02-01): A setting has a clearer name." in shown
    assert "base.yaml:3: cluster.apiAccess.invokeCommand becomes cluster.apiAccess.runCommand" in shown
    assert re.search(rf"stack {STACK}\n  No running work ends\.\n  1 to update\n", shown), shown
    assert re.search(r"update Workspace .*: Its daily cap is lower\.", shown), shown
    assert team.run("git", "status", "--porcelain", cwd=project) == ""

    (project / "Makefile").open("a").write("# changed\n")
    assert "not committed: Makefile" in team.run(physai, "upgrade", *wheels, "--yes", cwd=project, expect=2)
    git(team, project, "checkout", "--quiet", "Makefile")
    team.run(physai, "upgrade", NEW, *wheels, "--yes", "--no-preview", cwd=project)
    assert layer.read_text() == OWN_LAYER.replace("invokeCommand", "runCommand")
    digest = re.search(r"physical-ai==.*sha256:(\w+)", pins(team, NEW).read_text())
    assert digest is not None
    assert f"physical-ai=={NEW} \\\n    --hash=sha256:{digest[1]}\n" in (project / "requirements.txt").read_text()
    assert OLD not in (project / "requirements.txt").read_text()
    assert "already" in team.run(physai, "upgrade", NEW, *wheels, "--check", cwd=project, expect=2)

    # The old version, which is still in the environment, says which one the project wants.
    former = team.run(physai, "explain", STACK, cwd=project, expect=2)
    assert "base.yaml:3: cluster.apiAccess.runCommand" in former
    assert f"The project pins version {NEW} of the platform, and version {OLD} runs." in former
    offline = ("--quiet", "--no-index", "--no-deps", "--require-hashes", "--find-links", str(team.wheels))
    wanted = own_pins(project, team.folder / "own.txt")
    team.run(str(python), "-m", "pip", "install", *offline, "-r", str(wanted))
    explained = team.run(physai, "explain", STACK, "cluster.apiAccess", cwd=project)
    assert re.search(r"runCommand +true +stacks/layers/base.yaml", explained)
    assert "warning" not in team.run(physai, "explain", STACK, cwd=project)
