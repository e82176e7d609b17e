"""Runs a program that may never end, or print without end."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST = 4 << 20
"""Bytes that a program may print: a report of nvidia-smi has some 30 KiB for each GPU."""
GRACE = 2.0
"""Seconds for a program to end after SIGKILL; one that does not is left behind."""
TIMED_OUT, TOO_MUCH, NOT_FOUND = 124, 125, 127


@dataclass(frozen=True)
class Ended:
    """How a program ended. `code` is TIMED_OUT, TOO_MUCH or NOT_FOUND where it did not end by itself."""

    code: int
    out: str = ""
    err: str = ""


def run(
    command: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None, most: int = MOST
) -> Ended:
    """Run a program to its end, never longer than `seconds`, and never more than `most` bytes of both its outputs."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if environment is None else dict(environment),
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        return Ended(NOT_FOUND, err=str(error))
    out, err = bytearray(), bytearray()
    code = _read(process, {process.stdout: out, process.stderr: err}, time.monotonic() + seconds, most)
    if code:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    if code or process.returncode is None:
        return Ended(code or TIMED_OUT)
    return Ended(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def _read(process: subprocess.Popen[bytes], pipes: Mapping[object, bytearray], until: float, most: int) -> int:
    """Both outputs to their end; TIMED_OUT or TOO_MUCH where they have none in time or in size."""
    with selectors.DefaultSelector() as waiting:
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            if (left := until - time.monotonic()) <= 0:
                return TIMED_OUT
            for key, _ in waiting.select(left):
                data = os.read(key.fd, 1 << 16)
                pipes[key.fileobj].extend(data)
                if not data:
                    waiting.unregister(key.fileobj)
                if sum(map(len, pipes.values())) > most:
                    return TOO_MUCH
    try:
        process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    return 0
