"""Execution of commands in a copy of the resident process, which saves the second that their imports take.

This module imports little, because it runs before the command does. `command_copy` has the code that runs in the copy.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from workbench.cli.exit_codes import FAILED

COMMANDS = frozenset(
    {
        *("up", "preview", "refresh", "down", "status", "gates", "why", "doctor", "run", "explain"),
        *("alerts", "fault", "evidence", "usage", "accept", "unstick"),
        *("lint", "policy", "cost", "time", "compat"),
    }
)
"""Commands that run in a copy of the resident process: those that one uses while a simulation runs. Without a running
simulation there is no resident process.
"""
COPY = "workbench.cli.command_copy"
"""Module whose function `serve` runs in the copy."""
PATIENCE = 60.0
"""Longest time in seconds that a copy may take to answer, including imports that the resident process has not made
yet.
"""
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(arguments: Sequence[str]) -> int | None:
    """Runs a command line in a copy of the resident process. Returns the exit code, or None if the command must run in
    this process: it is not in `COMMANDS`, or there is no resident process.
    """
    if not arguments or arguments[0] not in COMMANDS or {"-h", "--help"} & set(arguments):
        return None
    if any(stream is None for stream in (sys.stdin, sys.stdout, sys.stderr)):  # the caller has closed a stream
        return None
    try:
        from simulator import resident
    except ModuleNotFoundError:  # it is an optional distribution
        return None
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            if not resident.ask_for_command(COPY, theirs.fileno()):
                return None
        return _answer(ours, _request(arguments))


def _request(arguments: Sequence[str]) -> dict[str, Any]:
    """The request to the resident process: the arguments, and the state of this process that the copy takes over."""
    streams = [(stream.encoding, stream.errors) for stream in (sys.stdin, sys.stdout, sys.stderr)]
    state = {"environment": dict(os.environ), "nice": os.nice(0), "streams": streams}
    return {"arguments": [*arguments], **state}


def _answer(control: socket.socket, request: dict[str, Any]) -> int | None:
    try:
        control.settimeout(PATIENCE)
        control.sendall(json.dumps(request).encode() + b"\n")
        if not control.recv(1):
            return None  # the resident process has ended, or could not load the module; nothing has begun
        control.settimeout(None)
        with _passing_signals(control):
            answer = control.recv(16)
    except OSError:
        return None
    if not answer:
        print("physai: the process of this command was killed", file=sys.stderr)
        return FAILED
    return int(answer)


@contextmanager
def _passing_signals(control: socket.socket) -> Generator[None]:
    """Passes the signals that this process receives on to the copy. The copy ends when this process ends."""

    def passed(number: int, _: FrameType | None) -> None:
        control.sendall(bytes([number]))

    signals = [number for number in PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, passed) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
