"""`physai upgrade`: what it shows and writes, and refusals that leave the project as it was."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from physical_ai import repository
from physical_ai.releases import installed, renames
from physical_ai.settings import load
from physical_ai.settings.layers import former_names
from tests.support.releases import release
from tests.unit.cli.test_cli_commands import call
from workbench.cli.new_project.pins import DISTRIBUTIONS
from workbench.cli.upgrading import project as projects
from workbench.cli.upgrading import run
from workbench.cli.upgrading.offered import NoSuchVersion, chosen
from workbench.cli.upgrading.project import write

OLD, NEW = "0.0.9", str(installed())
STEP = {"id": "drain", "text": "Let jobs end.", "when": "before", "required": True}
NOTES = (
    release(OLD, None),
    release(
        NEW,
        OLD,
        renamed=[
            {"from": "monitoring.keepDays", "to": "monitoring.retentionDays", "until": "9.0.0"},
            {"from": "network.range", "to": "network.addressSpace", "until": "9.0.0"},
        ],
        removed=[{"path": "cluster.speed", "instead": "Nothing is needed.", "cut": True}],
    ),
)
LAYER = "stacks/layers/base.yaml"
OLD_LAYER = "# ours\nmonitoring:\n  keepDays: 31  # a month\ncluster: {speed: 2}\n"
NEW_LAYER = "# ours\nmonitoring:\n  retentionDays: 31  # a month\n"


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A folder with files of the names of the new version's wheels."""
    return wheels_in(tmp_path)


def wheels_in(folder: Path) -> Path:
    made = folder / "wheels"
    made.mkdir()
    for name in DISTRIBUTIONS:
        (made / f"{name.replace('-', '_')}-{NEW}-py3-none-any.whl").write_text(name)
    return made


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "x")


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A committed project that `physai init` of an older version has written, with a setting of that version."""
    made = tmp_path_factory.mktemp("committed")
    folder = made / "team"
    code, _, err = call("init", str(folder), "--wheels", str(wheels_in(made)))
    assert code == 0, err
    for file in ("requirements.txt", "README.md", ".github/workflows/pull-request.yaml"):
        text = (folder / file).read_text()
        text = re.sub(rf"(physical-ai[\w-]*==|to version |@v){re.escape(NEW)}", rf"\g<1>{OLD}", text)
        (folder / file).write_text(text)
    with (folder / "requirements.txt").open("a") as file:
        file.write("# ours\nour-package==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n")
    (folder / LAYER).write_text(OLD_LAYER)
    commit(folder)
    return folder


@pytest.fixture
def team(committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, in which the command runs."""
    folder = shutil.copytree(committed, tmp_path / "team", symlinks=True)
    monkeypatch.setattr(repository, "PROJECT", folder)
    monkeypatch.setattr(run, "notes", lambda: NOTES)
    monkeypatch.setattr(former_names, "in_force", lambda: renames.in_force(NOTES))
    return folder


def refused(folder: Path, wheels: Path, *arguments: str) -> str:
    """The message of a refusal, which has left every file as it was."""
    before = git(folder, "status", "--porcelain")
    code, _, err = call("upgrade", NEW, "--wheels", str(wheels), "--yes", "--no-preview", *arguments)
    assert code == 2, err
    assert "Traceback" not in err
    assert git(folder, "status", "--porcelain") == before
    return err


def test_the_settings_are_rewritten_and_the_version_pinned_with_hashes(team: Path, wheels: Path) -> None:
    code, out, err = call("upgrade", "--wheels", str(wheels), "--yes", "--no-preview")
    assert code == 0, err
    assert f"upgrade from {OLD} to {NEW}" in out
    assert f"{LAYER}:3: monitoring.keepDays becomes monitoring.retentionDays" in out
    assert f"{LAYER}:4: cluster.speed is removed (Nothing is needed.)" in out
    assert "git revert" in out
    assert (team / LAYER).read_text() == NEW_LAYER
    pins = (team / "requirements.txt").read_text()
    assert re.search(rf"^physical-ai=={re.escape(NEW)} \\\n    --hash=sha256:[0-9a-f]{{64}}$", pins, re.MULTILINE)
    assert OLD not in pins
    assert pins.endswith("# Of this project.\n# ours\nour-package==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n")
    assert f"@v{NEW}\n" in (team / ".github/workflows/pull-request.yaml").read_text()
    assert f"to version {NEW}." in (team / "README.md").read_text()
    assert git(team, "status", "--porcelain").splitlines() == [
        "M .github/workflows/pull-request.yaml",
        " M README.md",
        " M requirements.txt",
        f" M {LAYER}",
    ]
    loaded = load("dev-westus2", root=team / "stacks", values=team / "values")
    assert loaded.settings.monitoring.retention_days == 31
    assert [str(each) for each in loaded.warnings if "renamed" in str(each)] == []


def test_check_writes_nothing_and_allows_changes_that_are_not_committed(team: Path, wheels: Path) -> None:
    (team / "README.md").write_text("mine")
    before = git(team, "status", "--porcelain")
    code, out, err = call("upgrade", NEW, "--wheels", str(wheels), "--check", "--no-preview", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert (document["written"], document["from"], document["to"]) == (False, OLD, NEW)
    assert [each["to"] for each in document["settings"]] == ["monitoring.retentionDays", None]
    assert document["stacks"][0]["stack"] == "dev-westus2"
    assert git(team, "status", "--porcelain") == before


def test_without_a_newer_version_there_is_nothing_to_do(team: Path, wheels: Path) -> None:
    text = (team / "requirements.txt").read_text().replace(f"=={OLD}", f"=={NEW}")
    (team / "requirements.txt").write_text(text)
    code, out, _ = call("upgrade", "--wheels", str(wheels), "--check")
    assert (code, out) == (0, f"version {NEW} is pinned, and no newer one is offered\n")
    code, out, _ = call("upgrade", "--wheels", str(wheels), "--check", "--json")
    assert (code, json.loads(out)["to"]) == (0, None)


def test_changes_that_are_not_committed_are_refused(team: Path, wheels: Path) -> None:
    (team / "README.md").write_text("mine")
    assert "changes that are not committed: README.md.\n  Commit them" in refused(team, wheels)


def test_a_stack_that_the_new_version_does_not_load_is_told_with_file_and_line(team: Path, wheels: Path) -> None:
    (team / "values/gpu-operator/values.yaml").write_text("dcgmExporter:\n  keyThatDied: 1\n")
    (team / "stacks/layers/env").mkdir()
    (team / "stacks/layers/env/dev.yaml").write_text("pools: {h100gpu: {keyOfTheFuture: 1}}\n")
    commit(team)
    assert "stacks/layers/env/dev.yaml:1: pools.h100gpu.keyOfTheFuture" in refused(team, wheels)
    (team / "stacks/layers/env/dev.yaml").write_text("{}\n")
    commit(team)
    assert "values/gpu-operator/values.yaml:2: dcgmExporter.keyThatDied" in refused(team, wheels)


@pytest.mark.deep  # in `make test`: the refusal in tests/unit/upgrade/test_judging.py
def test_a_required_step_is_confirmed(team: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "notes", lambda: (NOTES[0], release(NEW, OLD, steps=[STEP])))
    (team / LAYER).write_text("# nothing\n")
    commit(team)
    assert "The step drain comes first: Let jobs end." in refused(team, wheels)
    code, out, err = call("upgrade", NEW, "--wheels", str(wheels), "--yes", "--no-preview", "--done", "drain")
    assert code == 0, err
    assert "before the deployment, drain: Let jobs end." in out


def test_a_folder_that_is_no_project_of_a_team_is_refused(wheels: Path) -> None:
    code, _, err = call("upgrade", NEW, "--wheels", str(wheels), "--check")
    assert code == 2
    assert "is not a team's project" in err
    assert "Change into the project that `physai init` wrote" in err


def test_without_a_terminal_it_asks_for_an_option(team: Path, wheels: Path) -> None:
    code, _, err = call("upgrade", NEW, "--wheels", str(wheels))
    assert (code, "--yes writes the files, and --check only shows what changes" in err) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "pins no version of physical-ai"), ("physical-ai==latest\n", "'latest' is not a version")],
)
def test_a_project_without_a_version_is_told_what_to_write(team: Path, wheels: Path, text: str, said: str) -> None:
    (team / "requirements.txt").write_text(text)
    commit(team)
    assert said in refused(team, wheels)


def test_a_version_that_is_not_offered_is_told_with_those_that_are(wheels: Path, tmp_path: Path) -> None:
    for name in ("physical_ai-0.0.9-py3-none-any.whl", "physical_ai-9.0.0rc1-py3-none-any.whl"):
        (wheels / name).touch()
    with pytest.raises(NoSuchVersion, match=rf"no version 7\.0\.0 in .*\n  Versions there: 0\.0\.9, {NEW}, 9\.0\.0rc1"):
        chosen("7.0.0", wheels)
    assert str(chosen(None, wheels)) == NEW, "a version before its release is only chosen by its name"
    assert str(chosen("v9.0.0rc1", wheels)) == "9.0.0rc1"
    with pytest.raises(NoSuchVersion, match="has no wheel of physical-ai"):
        chosen(None, tmp_path)
    with pytest.raises(NoSuchVersion, match="is not a folder"):
        chosen(None, tmp_path / "none")


def test_of_files_that_cannot_all_be_written_none_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("before")
    replace, done = projects.os.replace, list[str]()

    def fail(source: str, target: Path) -> None:
        if done:
            raise OSError(28, "No space left on device")
        done.append(target.name)
        replace(source, target)

    monkeypatch.setattr(projects.os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, {"a": "after", "b": "after", "new/c": "after"})
    assert done == ["a"]
    assert {each.name: each.read_text() for each in tmp_path.iterdir() if each.is_file()} == {
        "a": "before",
        "b": "before",
    }
