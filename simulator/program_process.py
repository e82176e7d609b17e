"""The program's own process, in which the SDKs load while the command, the control plane and the engine start.

It is a copy of the resident process (`resident`) if there is one, else a new process.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass
from typing import IO

from simulator import resident
from simulator.errors import EngineFailed

PATIENCE = 60.0
"""Maximum wait, in seconds, for the answer of a copied process. A copy of the resident process answers within
milliseconds, a new process within a second.
"""


@dataclass(frozen=True)
class Process:
    """The two pipes to a program's process. Closing `requests` ends the process."""

    requests: IO[str]
    answers: IO[str]
    is_copy: bool = False

    def port(self, request: str) -> int | None:
        """The port with which the process answers `request`. None if the process has ended, or if the process is a copy
        and does not answer in time.
        """
        try:
            print(request, file=self.requests, flush=True)
            if self.is_copy and not select.select([self.answers], [], [], PATIENCE)[0]:
                return None
            return int(self.answers.readline())
        except (BrokenPipeError, ValueError):
            return None


_started: list[Process] = []


def start(later: str = "") -> None:
    """Starts the program's process, which ends together with this process. Ctrl-C does not reach it, because the engine
    ends the program.

    `later`: module that the resident process loads when it is idle.
    """
    _started.append(_copy(later) or _new())


def is_started() -> bool:
    return bool(_started)


def address() -> str | None:
    """Address at which the engine reaches the program, `127.0.0.1:PORT`. The program gets the environment of the
    calling process. None if no process was started: the program then runs inside the calling process.

    Raises:
        EngineFailed: the process has ended.
    """
    if not _started:
        return None
    request = json.dumps(dict(os.environ))
    port = _started[0].port(request)
    if port is None and _started[0].is_copy:
        # The resident process was killed, or could not load the program. A new one says why.
        _started[0] = _new()
        port = _started[0].port(request)
    if port is None:
        raise EngineFailed("the program's process has ended; its last lines are above")
    return f"127.0.0.1:{port}"


def _new() -> Process:
    command = [sys.executable, "-m", "simulator.program"]
    # The process ends once its pipes are closed; nothing waits for it.
    made = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0)
    assert made.stdin is not None
    assert made.stdout is not None
    return Process(made.stdin, made.stdout)


def _copy(later: str) -> Process | None:
    """A copy of the resident process; None if no copy can be made."""
    read_requests, requests = os.pipe()
    answers, write_answers = os.pipe()
    try:
        is_asked = resident.ask_for_copy(read_requests, write_answers, later)
    finally:
        os.close(read_requests)
        os.close(write_answers)
    made = Process(os.fdopen(requests, "w"), os.fdopen(answers), is_copy=True)
    if is_asked:
        return made
    made.requests.close()
    made.answers.close()
    return None
