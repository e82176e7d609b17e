"""The watchdog process: kills the process that started it, unless that one ends or cancels before.

A program of its own, run with `python -I -S watchdog.py CONTROL PIDFD PID BORN DEADLINE`. It is executed and not only
forked, so it inherits nothing of the parent: no pipe, no device file, no mapping of the GPU's memory.

CONTROL  a socket: this side sends `watching` once, the other may send `cancel`
PIDFD    a descriptor of the parent, or -1 where the kernel has none
PID BORN the parent's id and start time, for a kernel without such descriptors
DEADLINE seconds of time.monotonic()
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time

WATCHING, CANCEL = b"watching", b"cancel"
_CHECK_SECONDS = 0.1
"""Seconds between two checks of a parent without a descriptor."""


def born(pid: int) -> str:
    """When a process started, in the kernel's ticks, or empty: a later process with the same id has another time."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()


def watch(control: socket.socket, pidfd: int, pid: int, start: str, deadline: float) -> bool:
    """Waits for the parent's end, its message, or the deadline. Returns whether the parent was killed."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    if pidfd >= 0:
        poll.register(pidfd, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0:
        ready = {number for number, _ in poll.poll(1000 * (left if pidfd >= 0 else min(left, _CHECK_SECONDS)))}
        if pidfd in ready or (pidfd < 0 and born(pid) != start):
            return False
        if control.fileno() in ready:
            if control.recv(64) == CANCEL:
                return False
            # The parent closed its descriptors, or replaced itself. The deadline still applies to it.
            poll.unregister(control)
    try:
        if pidfd >= 0:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            return True
        if born(pid) == start:
            os.kill(pid, signal.SIGKILL)
            return True
    except (ProcessLookupError, PermissionError):
        pass
    return False


def main(arguments: list[str]) -> None:
    """Leaves the parent's children and session, so that neither wait() nor Ctrl-C in it reaches this process."""
    number, pidfd, pid = (int(text) for text in arguments[:3])
    if os.fork():
        os._exit(0)
    os.setsid()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    with socket.socket(fileno=number) as control:
        control.send(WATCHING)
        watch(control, pidfd, pid, arguments[3], float(arguments[4]))


if __name__ == "__main__":
    main(sys.argv[1:])
