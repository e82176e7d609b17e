"""Two sides of a change as folders: what git gives, and that nothing is left behind."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from simulator.home import HOME_VARIABLE
from tests.support.waiting import until
from workbench.cli.pull_request.affected import own_files
from workbench.cli.pull_request.revisions import NoSuchRevision, Repository
from workbench.cli.pull_request.trees import Side, end_of_output, kill_processes, sides

GET_CHILD_SUBREAPER = 37
"""Option of prctl(2)."""


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


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process adopts orphans")
def test_a_daemon_that_has_left_folder_session_and_environment_is_killed(
    checkout: Checkout, repository: Repository, tmp_path: Path
) -> None:
    """What the code of a change starts may not live on, whatever it does to hide."""
    checkout.commit("a.txt", "two")
    noted = tmp_path / "daemon"
    daemon = f"import os, time; open({str(noted)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    leave = (
        "import os, subprocess, sys\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    os.chdir('/')\n"
        f"    subprocess.Popen([sys.executable, '-c', {daemon!r}], env={{}}, start_new_session=True)\n"
    )
    with sides(repository, "main", "change"):
        subprocess.run([sys.executable, "-c", leave], check=True)
        until(lambda: noted.exists() and noted.read_text(), "the daemon has not started")
        assert psutil.pid_exists(int(noted.read_text()))
    assert not psutil.pid_exists(int(noted.read_text()))


def test_orphans_of_later_commands_are_left_to_the_system(checkout: Checkout, repository: Repository) -> None:
    """A process that adopts them without reaping them keeps each as a zombie: to others it still runs."""
    checkout.commit("a.txt", "two")
    with sides(repository, "main", "change"):
        pass
    adopts = ctypes.c_int(-1)
    ctypes.CDLL(None).prctl(GET_CHILD_SUBREAPER, ctypes.byref(adopts), 0, 0, 0)
    assert adopts.value == 0


def side(tmp_path: Path, program: str) -> Side:
    package = tmp_path / "tree" / "workbench" / "cli"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "__main__.py").write_text(program)
    return Side(tmp_path / "tree", tmp_path / "home")


def test_a_side_runs_its_own_code_in_its_own_home(tmp_path: Path) -> None:
    program = "import json, os, sys; print(json.dumps({'args': sys.argv[1:], 'home': os.environ['PHYSAI_HOME']}))"
    document, problem = side(tmp_path, program).document("up", "x", timeout=300)
    assert document == {"args": ["up", "x"], "home": str(tmp_path / "home")}
    assert problem == ""


ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"


@pytest.mark.parametrize("shares_tools", [False, True])
def test_a_side_gets_no_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shares_tools: bool
) -> None:
    for name in (
        "PHYSAI_SECRET_TOKEN",
        "AZURE_CLIENT_SECRET",
        "GITHUB_TOKEN",
        "PULUMI_CONFIG_PASSPHRASE",
        "SSH_AUTH_SOCK",
        "AWS_PROFILE",
    ):
        monkeypatch.setenv(name, "hidden")
    monkeypatch.setenv("GOPROXY", "https://user:hidden@example.com")
    monkeypatch.setenv("HTTP_PROXY", "user:hidden@proxy.example.com:3128")
    monkeypatch.setenv("PHYSAI_TOOLS_FROM", "build")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.com:3128")
    code = side(tmp_path, ENVIRONMENT)
    found, _ = Side(code.folder, code.home, shares_tools).document("up", timeout=300)
    assert found is not None
    assert "hidden" not in json.dumps(found)
    assert {"PATH", "HTTPS_PROXY", "PHYSAI_HOME", "PHYSAI_TOOLS_FROM", "PYTHONPATH"} <= set(found)
    assert (found["HOME"] == str(code.home)) is not shares_tools


def test_the_head_can_change_no_tools_but_its_own(checkout: Checkout, repository: Repository, home: Path) -> None:
    tool = home / "tools" / "etcd-1"
    tool.mkdir(parents=True)
    (tool / "etcd").write_text("built")
    (home / "tools" / "etcd.lock").touch()
    checkout.commit("a.txt", "two")
    with sides(repository, "main", "change") as (base, head):
        (base.home / "tools" / "helm-1").mkdir()
        (base.home / "tools" / "prometheus-1").mkdir()  # neither `up` nor `preview` runs it
        head.copy_tools()
        assert sorted(each.name for each in (head.home / "tools").iterdir()) == ["etcd-1", "helm-1"]
        (head.home / "tools" / "etcd-1" / "etcd").write_text("changed")
        (head.home / "tools" / "kwok-1").mkdir()
        head.copy_tools()
        base.copy_tools()
        assert (head.home / "tools" / "etcd-1" / "etcd").read_text() == "changed"
    assert (tool / "etcd").read_text() == "built"
    assert sorted(each.name for each in tool.parent.iterdir()) == ["etcd-1", "etcd.lock", "helm-1", "prometheus-1"]


def test_links_of_a_tree_are_not_followed_out_of_it(checkout: Checkout, repository: Repository, tmp_path: Path) -> None:
    """As `.venv`, and as files and folders of stacks: binary, endless, missing, or with a profile."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "Pulumi.dev-westus2.yaml").write_text("config: {physical-ai:profile: secret}\n")
    stacks = checkout.folder / "stacks"
    (stacks / "layers" / "env").mkdir(parents=True)
    targets = {
        "Pulumi.dev-westus2.yaml": tmp_path / "outside" / "Pulumi.dev-westus2.yaml",
        "Pulumi.prod-westus2.yaml": Path(sys.executable),
        "Pulumi.qa-westus2.yaml": Path("/dev/zero"),
        "layers/base.yaml": Path("missing.yaml"),
        "layers/env/dev.yaml": Path("dev.yaml"),
    }
    for name, target in targets.items():
        (stacks / name).symlink_to(target)
    (checkout.folder / ".venv").symlink_to(tmp_path / "outside")
    with sides(repository, "main", repository.head(None)[1]) as (_, head):
        found = own_files(head.folder / "stacks")
        assert sorted(found) == ["dev-westus2", "prod-westus2", "qa-westus2"]
        assert not any("secret" in file for files in found.values() for file in files)
        (head.folder / "all").symlink_to(tmp_path / "outside")
        assert not any("secret" in file for files in own_files(head.folder / "all").values() for file in files)
    assert (tmp_path / "outside" / "Pulumi.dev-westus2.yaml").exists()


def test_the_error_output_of_a_side_is_kept_without_its_folder(tmp_path: Path) -> None:
    broken = side(tmp_path, "import sys; sys.exit(f'{__file__}: no such size')")
    document, problem = broken.document("up", "x", timeout=300)
    assert document is None
    assert problem == "workbench/cli/__main__.py: no such size"


def test_a_side_that_hangs_is_killed_and_reported(tmp_path: Path) -> None:
    hanging = side(tmp_path, "import threading; threading.Event().wait()")
    document, problem = hanging.document("up", "x", timeout=1.2)
    assert document is None
    assert "did not finish" in problem


def test_only_the_end_of_a_long_output_is_kept(tmp_path: Path) -> None:
    shown = end_of_output("\n".join(map(str, range(100))), Side(tmp_path / "a", tmp_path / "h"), lines=3)
    assert shown == "97\n98\n99"
