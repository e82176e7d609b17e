"""Two sides of a change as folders: what git knows of them, and how a side runs its own `physai`."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from physical_ai.simulator.errors import SimulationError
from physical_ai.simulator.home import HOME_VARIABLE, Home

SHARED = ("tools", "charts")
"""What a home apart shares with the user's: what was built, and what was fetched."""
PYTHON_PATH = ("", "agents", "agents/grid_driver")
WHERE = "import sys; from physical_ai.simulator.home import Home; print(Home.of_user().simulation(sys.argv[1]))"
ENDED_SECONDS = 10


class NoSuchRevision(SimulationError):
    """Git knows nothing of the name given."""


@dataclass(frozen=True)
class Ran:
    """A command that has ended. `timed_out` says that it was made to."""

    code: int
    out: str
    err: str
    timed_out: bool = False


@dataclass(frozen=True)
class Repository:
    """The checkout that a change is in."""

    folder: Path

    def base(self, name: str, head: str) -> str:
        """Where the head left the base: what has gone into the base since is no part of the change."""
        commit = self._commit(name)
        shared = self._git("merge-base", commit, head, check=False).stdout.decode().strip()
        return shared or commit

    def head(self, name: str | None) -> tuple[str, str]:
        """Commit and tree of the head; without a name the tree is the checkout as it is, untracked files too."""
        commit = self._commit(name or "HEAD")
        return commit, self._git("rev-parse", f"{commit}^{{tree}}").stdout.decode().strip() if name else self._written()

    def changed(self, base: str, head: str) -> list[str]:
        """Files that differ, a renamed one by both its names."""
        out = self._git("diff", "--name-only", "--no-renames", "-z", base, head).stdout.decode()
        return [name for name in out.split("\0") if name]

    def export(self, tree: str, folder: Path) -> None:
        """Writes a tree's files. Git keeps no record of the folder, so nothing is left in it whatever happens."""
        archive = self._git("archive", "--format=tar", tree).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")

    def _written(self) -> str:
        """The working tree as a tree of git's, by an index of our own: the user's is not touched."""
        with tempfile.TemporaryDirectory() as scratch:
            index = Path(scratch) / "index"
            own = Path(self._git("rev-parse", "--absolute-git-dir").stdout.decode().strip()) / "index"
            if own.exists():
                shutil.copy(own, index)
            environment = {"GIT_INDEX_FILE": str(index)}
            self._git("add", "--all", environment=environment)
            return self._git("write-tree", environment=environment).stdout.decode().strip()

    def _commit(self, name: str) -> str:
        found = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", check=False)
        if found.returncode:
            raise NoSuchRevision(f"git knows no commit {name!r} here.\n  Fetch it first:  git fetch origin {name}")
        return found.stdout.decode().strip()

    def _git(
        self, *arguments: str, check: bool = True, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        command = ["git", "-C", str(self.folder), *arguments]
        ran = subprocess.run(command, capture_output=True, env={**os.environ, **(environment or {})}, check=False)
        if check and ran.returncode:
            raise SimulationError(f"git {arguments[0]}: {ran.stderr.decode().strip()}")
        return ran


@dataclass(frozen=True)
class Side:
    """One side's files, and the home that its simulations are kept in."""

    folder: Path
    home: Path

    def physai(self, *arguments: str, timeout: float | None = None) -> Ran:
        """Runs this side's own `physai`, with the packages of this process."""
        return self._python("-m", "physical_ai.cli", *arguments, timeout=timeout)

    def simulation(self, stack: str) -> Path:
        """Where this side keeps a simulated stack. Raises SimulationError when its code can't say."""
        ran = self._python("-c", WHERE, stack)
        if ran.code:
            raise SimulationError(f"{self.folder.name}: {last_words(ran.err, self)}")
        return Path(ran.out.strip())

    def document(self, *arguments: str, timeout: float) -> tuple[dict[str, Any] | None, str]:
        """The JSON that a command prints; None and what it said instead where there is none."""
        ran = self.physai(*arguments, timeout=timeout)
        if ran.timed_out:
            return None, f"`physai {arguments[0]}` was not done after {timeout / 60:.0f} minutes."
        try:
            return (json.loads(ran.out), "") if ran.code == 0 else (None, last_words(ran.err, self))
        except ValueError:
            return None, f"`physai {arguments[0]}` printed no JSON: {ran.out[:200]}"

    def _python(self, *arguments: str, timeout: float | None = None) -> Ran:
        environment = {
            **os.environ,
            HOME_VARIABLE: str(self.home),
            "PYTHONPATH": os.pathsep.join(str(self.folder / part) for part in PYTHON_PATH),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, *arguments]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                _end_group(process)
                out, err = process.communicate()
                return Ran(process.returncode, out, err, timed_out=True)
            except BaseException:
                _end_group(process)
                raise
        return Ran(process.returncode, out, err)


def last_words(text: str, side: Side, lines: int = 20) -> str:
    """The end of what a command said, without folders that mean nothing to a reader."""
    told = text.replace(f"{side.folder}/", "").replace(str(side.home), "$PHYSAI_HOME").strip().splitlines()
    return "\n".join(told[-lines:]) or "it said nothing"


@contextmanager
def sides(repository: Repository, base: str, head: str) -> Generator[tuple[Side, Side]]:
    """Base and head in folders of their own, which go again with every process that runs in them."""
    folder = Path(tempfile.mkdtemp(prefix="physai-pr-")).resolve()
    try:
        home = folder / "home"
        home.mkdir()
        users = Home.of_user().folder
        for name in SHARED:
            (users / name).mkdir(parents=True, exist_ok=True)
            (home / name).symlink_to(users / name)
        both = Side(folder / "base", home), Side(folder / "head", home)
        for side, tree in zip(both, (base, head), strict=True):
            repository.export(tree, side.folder)
        yield both
    finally:
        end_processes(folder)
        shutil.rmtree(folder, ignore_errors=True)


def end_processes(folder: Path) -> None:
    """Ends every process that works in `folder` or below it."""
    live: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(folder):
                process.kill()
                live.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    psutil.wait_procs(live, timeout=ENDED_SECONDS)


def _end_group(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
