"""Two sides of a change as folders: what git gives, and that nothing is left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from physical_ai.cli.pull_request.trees import NoSuchRevision, Repository, Side, end_of_output, kill_processes, sides
from physical_ai.simulator.home import HOME_VARIABLE


class Checkout:
    """A repository with one commit on `main`, and a branch to change things on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("a.txt", "one")
        self.git("checkout", "--quiet", "-b", "change")

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
        command = ["git", *identity, *arguments]
        return subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        self.git("add", name)
        self.git("commit", "--quiet", "-m", name)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout")


@pytest.fixture
def repository(checkout: Checkout) -> Repository:
    return Repository(checkout.folder)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_base_is_where_the_head_left_it(checkout: Checkout, repository: Repository) -> None:
    left = checkout.git("rev-parse", "main")
    checkout.commit("b.txt", "mine")
    checkout.git("checkout", "--quiet", "main")
    checkout.commit("c.txt", "theirs")
    commit, tree = repository.head("change")
    assert repository.base("main", commit) == left
    assert repository.changed(left, tree) == ["b.txt"]


def test_without_a_name_the_head_is_the_checkout(checkout: Checkout, repository: Repository) -> None:
    (checkout.folder / "a.txt").write_text("two")
    (checkout.folder / "new.txt").write_text("untracked")
    (checkout.folder / ".gitignore").write_text("waste\n")
    (checkout.folder / "waste").write_text("x")
    before = checkout.git("status", "--porcelain")
    commit, tree = repository.head(None)
    assert repository.changed(repository.base("main", commit), tree) == [".gitignore", "a.txt", "new.txt"]
    assert checkout.git("status", "--porcelain") == before


def test_a_renamed_file_counts_by_both_names(checkout: Checkout, repository: Repository) -> None:
    checkout.git("mv", "a.txt", "ä b.txt")
    assert repository.changed("main", repository.head(None)[1]) == ["a.txt", "ä b.txt"]


@pytest.mark.parametrize("name", ["no-such-branch", "--output=x", ""])
def test_an_unknown_revision_is_reported(repository: Repository, name: str) -> None:
    with pytest.raises(NoSuchRevision, match="git has no commit"):
        repository.base(name, "HEAD")


def test_both_sides_have_folders_that_are_removed_even_after_a_failure(
    checkout: Checkout, repository: Repository, home: Path
) -> None:
    checkout.commit("a.txt", "two")
    seen: list[Side] = []

    def fail() -> None:
        with sides(repository, "main", "change") as both:
            seen.extend(both)
            assert [(side.folder / "a.txt").read_text() for side in both] == ["one", "two"]
            (both[0].home / "tools" / "built").write_text("kept")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not seen[0].folder.parent.exists()
    assert (home / "tools" / "built").read_text() == "kept"
    assert checkout.git("worktree", "list", "--porcelain").count("worktree ") == 1


def test_only_processes_of_the_folder_are_killed(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine" / "deep", tmp_path / "other"
    started: list[subprocess.Popen[bytes]] = []
    for folder in (mine, other):
        folder.mkdir(parents=True)
        started.append(subprocess.Popen([sys.executable, "-c", "input()"], cwd=folder, stdin=subprocess.PIPE))
    try:
        kill_processes(tmp_path / "mine")
        assert not psutil.pid_exists(started[0].pid)
        assert started[1].poll() is None
    finally:
        for process in started:
            process.kill()
            process.communicate()


def side(tmp_path: Path, program: str) -> Side:
    package = tmp_path / "tree" / "physical_ai" / "cli"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "__main__.py").write_text(program)
    return Side(tmp_path / "tree", tmp_path / "home")


def test_a_side_runs_its_own_code_in_its_own_home(tmp_path: Path) -> None:
    program = "import json, os, sys; print(json.dumps({'args': sys.argv[1:], 'home': os.environ['PHYSAI_HOME']}))"
    document, problem = side(tmp_path, program).document("up", "x", timeout=60)
    assert document == {"args": ["up", "x"], "home": str(tmp_path / "home")}
    assert problem == ""


def test_the_error_output_of_a_side_is_kept_without_its_folder(tmp_path: Path) -> None:
    broken = side(tmp_path, "import sys; sys.exit(f'{__file__}: no such size')")
    document, problem = broken.document("up", "x", timeout=60)
    assert document is None
    assert problem == "physical_ai/cli/__main__.py: no such size"


def test_a_side_that_hangs_is_killed_and_reported(tmp_path: Path) -> None:
    hanging = side(tmp_path, "import threading; threading.Event().wait()")
    document, problem = hanging.document("up", "x", timeout=1.2)
    assert document is None
    assert "did not finish" in problem


def test_only_the_end_of_a_long_output_is_kept(tmp_path: Path) -> None:
    shown = end_of_output("\n".join(map(str, range(100))), Side(tmp_path / "a", tmp_path / "h"), lines=3)
    assert shown == "97\n98\n99"
