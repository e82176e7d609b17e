"""The agent's folder on the host, which belongs to root and is closed to others."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from grid_agent.memory import Memory, from_document, to_document
from grid_agent.shell import write_whole

STATE_DIR = "/var/lib/physical-ai/grid-driver"
FOLDERS = ("cache", "logs", "work", "agent")
KEPT_LOGS = 10
KEPT_AGENTS = 2


class UnsafeFolder(Exception):
    """The state folder belongs to another user, or is open to others; the text says which and why."""


class Locked(Exception):
    """Another agent works on this host."""


class Store:
    """Folder, lock and memory below `<root>/var/lib/physical-ai/grid-driver`."""

    def __init__(self, root: str = "/") -> None:
        self.folder = Path(root) / STATE_DIR.lstrip("/")
        self._lock: int | None = None

    def prepare(self) -> None:
        """Make the folder and prove it safe. Raises UnsafeFolder."""
        self.folder.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        for path in (self.folder.parent, self.folder, *(self.folder / name for name in FOLDERS)):
            path.mkdir(exist_ok=True, mode=0o700)
            _safe(path, private=path != self.folder.parent)

    def lock(self) -> None:
        """Hold the lock until this process ends, however it ends. Raises Locked."""
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise Locked(f"another agent holds {self.folder / 'lock'}") from None
        self._lock = descriptor

    def load(self) -> Memory:
        """The memory; a new one where there is none, or none that can be read."""
        try:
            return from_document(json.loads((self.folder / "memory.json").read_text()))
        except FileNotFoundError:
            return Memory()
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            logging.warning("memory.json can't be read (%s); starting afresh", error)
            return Memory()

    def save(self, memory: Memory) -> None:
        write_whole(self.folder / "memory.json", json.dumps(to_document(memory), indent=1))

    def tidy(self) -> None:
        """Drop old logs and temporary files of writers that were killed."""
        logs = sorted((self.folder / "logs").glob("*.log"), key=lambda path: path.stat().st_mtime)
        for path in logs[:-KEPT_LOGS]:
            path.unlink(missing_ok=True)
        for path in self.folder.glob(".*.json.*"):
            path.unlink(missing_ok=True)

    def own_copy(self, files: Mapping[str, bytes]) -> Path:
        """A copy of the agent's files that outlives its pod: jobs run from it. Returns its folder, below the root."""
        digest = hashlib.sha256(b"".join(name.encode() + b"\0" + data for name, data in files.items())).hexdigest()[:16]
        folder = self.folder / "agent" / digest
        whole = {name: folder / name for name in files}
        if not all(path.is_file() and path.read_bytes() == files[name] for name, path in whole.items()):
            part = folder.with_name(f".{digest}.{os.getpid()}")
            shutil.rmtree(part, ignore_errors=True)
            for name, data in files.items():
                (part / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                (part / name).write_bytes(data)
            shutil.rmtree(folder, ignore_errors=True)
            part.rename(folder)
        self._forget_agents(folder)
        return folder

    def _forget_agents(self, used: Path) -> None:
        """Keep the copy in use and the one before, which a running job may read."""
        others = sorted((self.folder / "agent").iterdir(), key=lambda path: path.stat().st_mtime)
        for path in [path for path in others if path != used][: -(KEPT_AGENTS - 1)]:
            shutil.rmtree(path, ignore_errors=True)


def program(package: Path, scripts: Path) -> dict[str, bytes]:
    """The agent's files, by path."""
    modules = sorted(package.rglob("*.py"))
    files = {f"grid_agent/{path.relative_to(package).as_posix()}": path.read_bytes() for path in modules}
    return files | {f"host/{path.name}": path.read_bytes() for path in sorted(scripts.glob("*.sh"))}


def _safe(path: Path, private: bool) -> None:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeFolder(f"{path} is not a folder; remove it")
    if found.st_uid != 0:
        raise UnsafeFolder(f"{path} belongs to user {found.st_uid}, not to root; remove it")
    mode = stat.S_IMODE(found.st_mode)
    if private and mode & 0o077:
        path.chmod(0o700)
    elif mode & 0o022:
        raise UnsafeFolder(f"{path} can be written by others (mode {mode:04o}); chmod it to 0755")
