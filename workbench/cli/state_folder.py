"""Folder with the state and the evidence of a command that works in stages and can be continued."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from physical_ai.repository import PROJECT, user_folder

STATE = "state.json"


class Busy(Exception):
    """Error if another process works with the same folder."""


def folder_of(kind: str, name: str, *, simulated: bool) -> Path:
    """Path of a folder below the user's folder. Each project has folders of its own."""
    checkout = hashlib.sha256(str(PROJECT).encode()).hexdigest()[:8]
    return user_folder() / kind / f"{checkout}-{name}{'-simulated' if simulated else ''}"


def make_private(file: Path) -> None:
    """Creates a file that only the user can read, or takes other users' rights to an existing one away."""
    file.touch(mode=0o600)
    file.chmod(0o600)


@dataclass(frozen=True)
class StateFolder:
    """Folder with a state file and with files of evidence."""

    path: Path

    @property
    def state(self) -> Path:
        return self.path / STATE

    @contextmanager
    def held(self) -> Generator[None]:
        """Locks the folder, so that only one process uses it. Raises Busy if another process has locked it."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path.chmod(0o700)
        with (self.path / "lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Busy from None
            yield

    def keep(self, name: str, content: str) -> None:
        """Writes a file that only the user can read. If the process dies meanwhile, the former file remains."""
        new = self.path / f"{name}.new"
        make_private(new)
        new.write_text(content, encoding="utf-8")
        new.replace(self.path / name)

    def evidence(self, number: int, name: str) -> Path:
        """Path of a new file for the output of a stage's command."""
        attempt = 1
        while (file := self.path / f"{number:02}-{name}-{attempt}.txt").exists():
            attempt += 1
        return file
