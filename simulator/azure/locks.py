"""Locks between processes and threads: a cluster's autoscaler runs beside the deployment."""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType


class SharedLock:
    """A re-entrant lock on the content of a file, for all threads of all processes that use the file.

    `refresh` is called each time the lock is acquired, because another process may have changed the file.
    """

    def __init__(self, path: Path, refresh: Callable[[], None]) -> None:
        self._path, self._refresh = path.with_name(f"{path.name}.lock"), refresh
        self._threads = threading.RLock()
        self._depth = 0
        self._file = -1

    def __enter__(self) -> None:
        self._threads.acquire()
        try:
            if self._depth == 0:
                self._file = _locked(self._path)
                self._refresh()
            self._depth += 1
        except BaseException:
            self._release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        self._release()

    def _release(self) -> None:
        if self._depth == 0 and self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._threads.release()


class PoolLocks:
    """Locks for the nodes of each pool: one writer at a time. Never acquire one while holding the `SharedLock`."""

    def __init__(self, path: Path) -> None:
        self._folder = path.with_name(f"{path.name}.locks")

    @contextmanager
    def of(self, key: str) -> Generator[None]:
        self._folder.mkdir(exist_ok=True)
        file = _locked(self._folder / hashlib.sha256(key.encode()).hexdigest()[:16])
        try:
            yield
        finally:
            os.close(file)


def _locked(path: Path) -> int:
    """A file descriptor that holds the lock until it is closed; the end of the process closes it, too."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    return file
