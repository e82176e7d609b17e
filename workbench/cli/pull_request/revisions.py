"""The git repository that contains a change: its revisions, and the files of each."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from simulator.errors import SimulationError


class NoSuchRevision(SimulationError):
    """Error for the name of a revision that git does not know."""


@dataclass(frozen=True)
class Repository:
    """The git repository that contains a change."""

    folder: Path

    def base(self, name: str, head: str) -> str:
        """The commit at which the head branched off from the base. Later commits of the base are not part of the
        change.
        """
        commit = self._commit(name)
        shared = self._git("merge-base", commit, head, check=False).stdout.decode().strip()
        return shared or commit

    def head(self, name: str | None) -> tuple[str, str]:
        """Commit and tree of the head. If `name` is None, the tree has the checkout's present files, untracked ones
        included.
        """
        commit = self._commit(name or "HEAD")
        return commit, self._git(
            "rev-parse", f"{commit}^{{tree}}"
        ).stdout.decode().strip() if name else self._working_tree()

    def changed(self, base: str, head: str) -> list[str]:
        """Paths of the files that differ between two trees. A renamed file is listed under both names."""
        out = self._git("diff", "--name-only", "--no-renames", "-z", base, head).stdout.decode()
        return [name for name in out.split("\0") if name]

    def export(self, tree: str, folder: Path) -> None:
        """Writes a tree's files into a folder. It uses a separate index, so that git keeps no record of the folder."""
        with tempfile.TemporaryDirectory() as scratch:
            environment = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
            self._git("read-tree", tree, environment=environment)
            self._git("checkout-index", "--all", f"--prefix={folder}/", environment=environment)

    def _working_tree(self) -> str:
        """A tree object with the checkout's present files. It is written with a separate index, so that the user's
        index does not change.
        """
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
            raise NoSuchRevision(
                f"git has no commit {name!r} in this repository.\n  Fetch it first:  git fetch origin {name}"
            )
        return found.stdout.decode().strip()

    def _git(
        self, *arguments: str, check: bool = True, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        command = ["git", "-C", str(self.folder), *arguments]
        ran = subprocess.run(command, capture_output=True, env={**os.environ, **(environment or {})}, check=False)
        if check and ran.returncode:
            raise SimulationError(f"git {arguments[0]}: {ran.stderr.decode().strip()}")
        return ran
