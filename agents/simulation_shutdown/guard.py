"""Processes that kill this one when it hangs: a watchdog, or the `exec` that started it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from . import watchdog

_STARTS_WITHIN = 10.0
"""Seconds in which an interpreter has to start."""


class Watchdog:
    """Kills this process at `deadline`, in seconds of time.monotonic(). OSError where it can't be started."""

    def __init__(self, deadline: float) -> None:
        pidfd = _own_descriptor()
        try:
            identity = (str(os.getpid()), watchdog.born(os.getpid()))
            if pidfd < 0 and not identity[1]:
                raise OSError("neither pidfd_open nor /proc identifies this process")
            self._line = _first_that_starts(pidfd, identity, deadline)
        finally:
            if pidfd >= 0:
                os.close(pidfd)

    def cancel(self) -> None:
        """Ends the watchdog. Has no effect where it has already ended."""
        _send(self._line, watchdog.CANCEL)
        with suppress(OSError):
            os.close(self._line)


def _send(line: int, message: bytes) -> None:
    """Sends a message, if the other end is open. `line` stays a number: an object would close it when Python ends."""
    with suppress(OSError):
        control = socket.socket(fileno=line)
        try:
            control.send(message, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
        finally:
            control.detach()


def _own_descriptor() -> int:
    try:
        return os.pidfd_open(os.getpid())
    except (AttributeError, OSError):  # before Linux 5.3, or forbidden by the container's seccomp profile
        return -1


def _first_that_starts(pidfd: int, identity: tuple[str, str], deadline: float) -> int:
    errors: list[str] = []
    for python in _interpreters():
        answer = _attempt(python, pidfd, identity, deadline)
        if isinstance(answer, int):
            return answer
        errors.append(f"{python}: {answer}")
    raise OSError(f"no Python interpreter starts ({'; '.join(errors) or 'none found'})")


def _attempt(python: str, pidfd: int, identity: tuple[str, str], deadline: float) -> int | str:
    """The socket of the watchdog, or why this interpreter could not start it."""
    try:
        return _start(python, pidfd, identity, deadline)
    except (OSError, subprocess.SubprocessError) as fault:
        return str(fault)


def _interpreters() -> Iterator[str]:
    """This interpreter by its names, then any other: Kit's own executable can't be started as Python."""
    seen: set[str] = set()
    for path in (sys.executable, getattr(sys, "_base_executable", ""), "/proc/self/exe", shutil.which("python3")):
        real = os.path.realpath(path) if path else ""
        if path and real not in seen and Path(real).name.startswith("python") and os.access(real, os.X_OK):
            seen.add(real)
            yield path


def _start(python: str, pidfd: int, identity: tuple[str, str], deadline: float) -> int:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        program = str(Path(watchdog.__file__).resolve())
        arguments = (str(theirs.fileno()), str(pidfd), *identity, repr(deadline))
        # Isaac Sim's start script preloads a library of Carbonite, which this process does not need.
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        # Not os.fork: handlers that libraries registered for it (gRPC has some) may wait for locks of lost threads.
        process = subprocess.Popen(
            [python, "-I", "-S", program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=environment,
            pass_fds=[theirs.fileno(), *([pidfd] if pidfd >= 0 else [])],
        )
    try:
        process.wait(_STARTS_WITHIN)
        ours.settimeout(_STARTS_WITHIN)
        if ours.recv(64) != watchdog.WATCHING:
            raise OSError(f"it ended with {process.returncode}")
    except BaseException:
        process.kill()
        ours.close()
        raise
    return ours.detach()


class Supervisor:
    """The connection to `python -m simulation_shutdown exec`, for exactly the process that it started."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._line = descriptor
        self._pid = os.getpid()

    def is_ours(self) -> bool:
        """False in a forked child: its end is not the script's."""
        return os.getpid() == self._pid

    def arm(self, deadline: float, code: int) -> None:
        """Requests a kill at `deadline`, with exit code `code`."""
        _send(self._line, f"arm {deadline!r} {code}".encode())

    def ended(self, code: int) -> None:
        """The script has ended with `code`, which counts whatever happens while closing."""
        _send(self._line, f"ended {code}".encode())

    def cancel(self) -> None:
        """The timeout is off, and the script continues."""
        _send(self._line, b"cancel")
