"""`exec`: starts a command, forwards signals, and kills it when it does not end.

It is a separate process, so it keeps the exit code while the command's process hangs, and it can be the first process
of a container: it reaps orphaned processes.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from .environment import CONTROL
from .launch import Launch

_FORWARDED = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGWINCH,
)
_WAITED = {*_FORWARDED, signal.SIGCHLD, signal.SIGIO}
_SI_KERNEL = 0x80
"""si_code of a terminal's signals: the command, in the same process group, has received them too."""


@dataclass
class Progress:
    """What the supervised process has reported about its end."""

    deadline: float | None = None
    """When to kill it, in seconds of time.monotonic()."""
    cut_code: int = 0
    ended: int | None = None
    """The script's exit code, once it has ended."""
    cut: bool = False
    """Killed by this process."""
    forwarded: set[int] = field(default_factory=set[int])

    def receive(self, message: str) -> None:
        """Handles one message of guard.Supervisor."""
        verb, *rest = message.split()
        if verb == "arm":
            self.deadline, self.cut_code = float(rest[0]), int(rest[1])
        elif verb == "ended":
            self.ended = int(rest[0])
        else:
            self.deadline = self.ended = None

    def verdict(self, status: int) -> int:
        """The exit code for a wait status.

        Once the script has ended its code counts: closing may end by a signal (isaac-sim/IsaacLab#3730) or end with 0
        after a failure (isaac-sim/IsaacLab#6573). Before that, an end by signal n is 128 + n.
        """
        if self.cut:
            return self.cut_code
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            return 128 - code if self.ended is None or -code in self.forwarded else self.ended
        return code or self.ended or 0


def supervise(launch: Launch) -> int:
    """Runs a command to its end; the exit code for it. 126 and 127 as a shell has them where it can't be run."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        ours.setblocking(False)
        fcntl.fcntl(ours, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(ours, fcntl.F_SETFL, fcntl.fcntl(ours, fcntl.F_GETFL) | os.O_ASYNC)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED)
        try:
            with theirs:
                child = _spawn(launch, theirs, before)
        except OSError as fault:
            return _refused(launch.command[0], fault)
        return _follow(child, ours)


def _spawn(launch: Launch, line: socket.socket, mask: set[signal.Signals] | set[int]) -> int:
    """Starts the command with the signal mask of this process's start; returns its process id."""
    environment = dict(os.environ)
    if launch.reports:
        line.set_inheritable(True)
        environment[CONTROL] = str(line.fileno())
    defaults = [signal.SIGPIPE, signal.SIGXFSZ]  # Python itself ignores them
    return os.posix_spawnp(launch.command[0], launch.command, environment, setsigmask=mask, setsigdef=defaults)


def _refused(program: str, fault: OSError) -> int:
    _print(f"{program}: {fault.strerror}")
    return 127 if isinstance(fault, FileNotFoundError) else 126


def _follow(child: int, line: socket.socket) -> int:
    progress = Progress()
    while True:
        left = None if progress.deadline is None else progress.deadline - time.monotonic()
        info = signal.sigwaitinfo(_WAITED) if left is None else signal.sigtimedwait(_WAITED, max(left, 0))
        _listen(line, progress)
        if info is None:
            if progress.deadline is not None and progress.deadline <= time.monotonic():
                os.kill(child, signal.SIGKILL)
                progress.cut, progress.deadline = True, None
        elif info.si_signo == signal.SIGCHLD:
            status = _reap(child)
            if status is not None:
                _listen(line, progress)
                return _concluded(progress, status)
        elif info.si_signo != signal.SIGIO and info.si_code != _SI_KERNEL:
            progress.forwarded.add(info.si_signo)
            os.kill(child, info.si_signo)


def _listen(line: socket.socket, progress: Progress) -> None:
    while True:
        try:
            message = line.recv(256)
        except OSError:  # no more messages, or the other end is closed
            return
        if not message:
            return
        progress.receive(message.decode())


def _reap(child: int) -> int | None:
    """Reaps every process that has ended; the wait status of `child` if it is among them."""
    found: int | None = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == child:
            found = status


def _concluded(progress: Progress, status: int) -> int:
    code = progress.verdict(status)
    own = os.waitstatus_to_exitcode(status)
    if progress.cut:
        _print(f"killed while closing; the exit code is {code}")
    elif code != (128 - own if own < 0 else own):
        how = f"ended by signal {-own}" if own < 0 else f"ended with {own}"
        _print(f"{how} while closing, after the script ended with {code}; the script's exit code is used")
    return code


def _print(message: str) -> None:
    print(f"simulation_shutdown: {message}", file=sys.stderr, flush=True)


def replace(command: Sequence[str]) -> int:
    """Replaces this process by the command. Returns only where it can't be run."""
    try:
        os.execvp(command[0], list(command))  # noqa: S606 - to be the command, not to have it as a child
    except OSError as fault:
        return _refused(command[0], fault)
