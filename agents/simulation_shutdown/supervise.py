"""`exec`: starts a command, passes signals on, and ends it when it does not end by itself.

It is a process of its own, so it holds the exit code while the command's process hangs, and it can be the first process
of a container: it reaps what nobody waits for.
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
"""si_code of what a terminal sends: the command, in the same process group, has had it too."""


@dataclass
class Progress:
    """What the supervised process has said of its end."""

    deadline: float | None = None
    """When to kill it, in seconds of time.monotonic()."""
    cut_code: int = 0
    ended: int | None = None
    """The script's exit code, once it is over."""
    cut: bool = False
    """Killed by us."""
    forwarded: set[int] = field(default_factory=set[int])

    def hear(self, words: str) -> None:
        """Takes in one message of guard.Supervisor."""
        verb, *rest = words.split()
        if verb == "arm":
            self.deadline, self.cut_code = float(rest[0]), int(rest[1])
        elif verb == "ended":
            self.ended = int(rest[0])
        else:
            self.deadline = self.ended = None

    def verdict(self, status: int) -> int:
        """The exit code for a wait status.

        Once the script is over its code counts: closing may die of a signal (isaac-sim/IsaacLab#3730) or end with 0
        after a failure (isaac-sim/IsaacLab#6573). Before that, a death by signal n is 128 + n.
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
    """Starts the command with the signals that we were started with; its process id."""
    environment = dict(os.environ)
    if launch.reports:
        line.set_inheritable(True)
        environment[CONTROL] = str(line.fileno())
    defaults = [signal.SIGPIPE, signal.SIGXFSZ]  # Python itself ignores them
    return os.posix_spawnp(launch.command[0], launch.command, environment, setsigmask=mask, setsigdef=defaults)


def _refused(program: str, fault: OSError) -> int:
    _say(f"{program}: {fault.strerror}")
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
            words = line.recv(256)
        except OSError:  # nothing more for now, or the other end is gone
            return
        if not words:
            return
        progress.hear(words.decode())


def _reap(child: int) -> int | None:
    """Collects every process that has ended; the wait status of `child` if it is among them."""
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
        _say(f"killed while closing; the exit code is {code}")
    elif code != (128 - own if own < 0 else own):
        how = f"died of signal {-own}" if own < 0 else f"ended with {own}"
        _say(f"{how} while closing, after the script's end with {code}: the script's code counts")
    return code


def _say(words: str) -> None:
    print(f"simulation_shutdown: {words}", file=sys.stderr, flush=True)


def replace(command: Sequence[str]) -> int:
    """Becomes the command, as if there were no helper. Returns only where it can't be run."""
    try:
        os.execvp(command[0], list(command))  # noqa: S606 - to be the command, not to have it as a child
    except OSError as fault:
        return _refused(command[0], fault)
