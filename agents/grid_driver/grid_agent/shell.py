"""Files and commands of the host, all below one root."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from grid_agent.report import bounded
from grid_agent.report.bounded import NOT_FOUND, TIMED_OUT, TOO_MUCH
from grid_agent.report.plain import plain

__all__ = ["NOT_FOUND", "TIMED_OUT", "TOO_MUCH", "Result", "Shell", "write_whole"]

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C",
    "HOME": "/root",
    "DEBIAN_FRONTEND": "noninteractive",
}


@dataclass(frozen=True)
class Result:
    """How a command ended.

    `code` is TIMED_OUT for one that took too long, TOO_MUCH for one that printed too much, NOT_FOUND for one that does
    not exist.
    """

    code: int
    out: str = ""
    err: str = ""

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def complaint(self) -> str:
        """The first line that is not empty, for a message."""
        words = {
            TIMED_OUT: "timed out",
            TOO_MUCH: f"printed more than {bounded.MOST >> 20} MiB and was ended",
            NOT_FOUND: "not found",
        }
        lines = (plain(line) for line in (self.err + "\n" + self.out).splitlines())
        return words.get(self.code) or next(filter(None, lines), f"exit code {self.code}")


class Shell:
    """The host below `root`; commands run under chroot where that is not `/`."""

    def __init__(self, root: str = "/", seconds: float = 30) -> None:
        self.root = Path(root)
        self.seconds = seconds

    def path(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def run(self, *command: str) -> Result:
        """Run a short command: never longer than `seconds`, and never to print more than the agent has memory for.

        A process that even SIGKILL does not end is left behind.
        """
        there = [] if self.root == Path("/") else ["chroot", str(self.root)]
        ended = bounded.run([*there, *command], self.seconds, ENVIRONMENT)
        return Result(ended.code, ended.out, ended.err)

    def read(self, path: str) -> str | None:
        """A file's text; None where it does not exist or can't be read."""
        try:
            return self.path(path).read_text(errors="replace")
        except OSError:
            return None

    def read_json(self, path: str) -> dict[str, Any] | None:
        """A JSON object; None where there is none."""
        try:
            found: Any = json.loads(self.read(path) or "")
        except (ValueError, RecursionError):
            return None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file completely or not at all: temporary file, fsync, rename, fsync of the folder."""
        write_whole(self.path(path), text, mode)

    def remove(self, path: str) -> None:
        self.path(path).unlink(missing_ok=True)


def write_whole(path: Path, text: str, mode: int = 0o600) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    try:
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
