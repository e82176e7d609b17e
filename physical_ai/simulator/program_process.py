"""The program's own process, in which the SDKs load while the command, the control plane and the engine start."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from physical_ai.simulator.errors import EngineFailed

_started: list[subprocess.Popen[str]] = []


def start() -> None:
    """Starts the process, which ends with this one. Ctrl-C does not reach it: the engine ends the program."""
    command = [sys.executable, "-m", "physical_ai.simulator.program"]
    _started.append(
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0)
    )


def is_started() -> bool:
    return bool(_started)


def address() -> str | None:
    """Where the engine reaches the program, `127.0.0.1:PORT`, which gets this process's environment variables.

    None where no process was started: the program then runs in this one.

    Raises:
        EngineFailed: the process has ended.
    """
    for process in _started:
        return f"127.0.0.1:{_answer(process, json.dumps(dict(os.environ)))}"
    return None


def _answer(process: subprocess.Popen[str], request: str) -> int:
    """The port with which the process answers a request."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        print(request, file=process.stdin, flush=True)
        return int(process.stdout.readline())
    except (BrokenPipeError, ValueError):
        raise EngineFailed("the program's process has ended; its last lines are above") from None
