"""The reasons for which no release is made of a checkout: each is said with what to do, and no file is written."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from docs.generator.release import __main__ as command
from docs.generator.release import rehearsal
from docs.generator.release.problems import NotReleasable
from docs.generator.release.version import released
from tests.support import release_checkout
from tests.support.release_checkout import commit, git

VERSION = "1.2.3"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return release_checkout.write(tmp_path / "checkout")


def refused(checkout: Path, *, tag: str = "") -> str:
    """The reason for which nothing is made; fails if something is."""
    folder = checkout.parent / "files"
    with pytest.raises(NotReleasable) as problem:
        rehearsal.rehearse(checkout, folder, tag=tag)
    assert not folder.exists()
    return str(problem.value)


def test_a_tree_with_changes_a_shallow_clone_and_no_repository_are_refused(checkout: Path, tmp_path: Path) -> None:
    (checkout / "more.py").write_text("x = 1\n")
    assert "Changes are in no commit: ?? more.py" in refused(checkout)
    commit(checkout, "More")
    shallow = tmp_path / "shallow" / "checkout"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{checkout}", str(shallow))
    assert "git fetch --unshallow --tags" in refused(shallow)
    plain = tmp_path / "plain" / "checkout"
    shutil.copytree(checkout, plain, ignore=shutil.ignore_patterns(".git"))
    assert "It is no Git checkout" in refused(plain)


def test_without_git_the_reason_is_said(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "git\n  It is not installed" in refused(checkout)


def test_a_version_that_was_tagged_is_not_released_again(checkout: Path) -> None:
    git(checkout, "tag", f"v{VERSION}")
    assert f"v{VERSION}\n  The tag exists already, of commit {git(checkout, 'rev-parse', 'HEAD')[:12]}" in refused(
        checkout
    )


@pytest.mark.parametrize(
    ("tag", "prepare", "problem"),
    [
        ("v1.2.4", [], "The version is 1.2.3, whose tag is v1.2.3"),
        ("v1.2.3", [], "The tag is missing in this clone.\n  Fetch it: git fetch origin tag v1.2.3"),
        ("v1.2.3", [("tag", "v1.2.3")], "It has no author and no signature"),
        (
            "v1.2.3",
            [("tag", "-a", "v1.2.3", "-m", "x"), ("commit", "--quiet", "--allow-empty", "-m", "Later")],
            "is checked out.\n  Check it out: git checkout v1.2.3",
        ),
    ],
)
def test_a_given_tag_has_to_be_the_versions_and_the_commits(
    checkout: Path, tag: str, prepare: list[tuple[str, ...]], problem: str
) -> None:
    for words in prepare:
        git(checkout, *words)
    assert problem in refused(checkout, tag=tag)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("## 1.2.3 - 2026-11-28", "## 1.2.3", "CHANGELOG.md:7: ## 1.2.3\n  The heading has no day"),
        ("## 1.2.3 - 2026-11-28", "## 1.2.3 - 2026-13-28", "The heading has no day"),
        ("\n- A pool of GPUs.\n", "\n", "CHANGELOG.md:7: ## 1.2.3 - 2026-11-28\n  The section has no entry"),
    ],
)
def test_a_section_of_the_change_log_that_nobody_can_use_is_refused(
    checkout: Path, old: str, new: str, problem: str
) -> None:
    text = (checkout / "CHANGELOG.md").read_text()
    assert old in text
    (checkout / "CHANGELOG.md").write_text(text.replace(old, new))
    commit(checkout, "Change the log")
    assert problem in refused(checkout)


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        (
            "workbench/pyproject.toml",
            'version = "1.2.3"',
            'version = "1.2.2"',
            "workbench/pyproject.toml:3\n  It has 1.2.2",
        ),
        ("simulator/pyproject.toml", "ai==1.2.3", "ai==1.2.2", "simulator/pyproject.toml:7\n  It has 1.2.2"),
        ("pyproject.toml", 'version = "1.2.3"', 'version = "1.2.dev0"', "pyproject.toml:3: version\n  '1.2.dev0'"),
        ("pyproject.toml", 'version = "1.2.3"', "", "It has no version of its own"),
    ],
)
def test_places_that_differ_are_named_with_their_line(
    checkout: Path, file: str, old: str, new: str, problem: str
) -> None:
    path = checkout / file
    path.write_text(path.read_text().replace(old, new))
    commit(checkout, "Differ")
    assert problem in refused(checkout)


def test_an_archive_with_a_path_of_the_machine_is_not_released(checkout: Path) -> None:
    """Other contents that nobody should get are in `test_release.py`."""
    (checkout / "physical_ai" / "where.py").write_text(f"PATH = '{checkout}/x'\n")
    commit(checkout, "Add a file")
    assert f"It has physical_ai/where.py with the path {checkout} of this machine" in refused(checkout)


def test_a_distribution_without_its_licence_and_one_that_does_not_build_are_named(checkout: Path) -> None:
    (checkout / "simulator" / "LICENSE").unlink()
    commit(checkout, "Remove")
    assert refused(checkout) == "physical_ai_simulator-1.2.3-py3-none-any.whl\n  It has no licence."
    project = checkout / "workbench" / "pyproject.toml"
    project.write_text(project.read_text().replace("dependencies = [", "dependencies = [1, "))
    commit(checkout, "Break")
    assert "workbench/pyproject.toml\n  physical-ai-workbench cannot be built: " in refused(checkout)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--version", "2.0.0", "--day", "2026-12-31"], "releases/data/2.0.0.yaml\n  The file is missing"),
        (["--version", VERSION, "--day", "31.12.2026"], "DAY=31.12.2026\n  It is no day"),
        (["--version", "2", "--day", "2026-12-31"], "VERSION=2\n"),
    ],
)
def test_a_version_that_is_refused_for_its_day_is_in_no_file(
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    problem: str,
) -> None:
    monkeypatch.setattr(command, "ROOT", checkout)
    assert command.main(words) == 2
    assert problem in capsys.readouterr().err
    assert released(checkout) == VERSION
    assert subprocess.run(["git", "status", "--porcelain"], cwd=checkout, capture_output=True, check=True).stdout == b""
