"""Work on data of unknown origin, in a process of its own with limits of time and memory."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Timer
from typing import Any

Work = Callable[[], Any]
"""Returns a value that JSON can carry."""

_FORK = get_context("fork")
"""A new interpreter would take longer to start than the work is allowed to take."""


@dataclass(frozen=True)
class Limit:
    """Limits on the resources of one piece of work."""

    seconds: float
    """Seconds of CPU time."""
    memory: int
    """Bytes beyond what the process uses already."""
    patience: float
    """Seconds on the clock, after which the work is stopped however busy the machine is."""


class Stopped(Exception):
    """Raised where the work reached a limit, or ended its process."""


def run(work: Work, limit: Limit) -> Any:
    """The work's answer. Raises Stopped."""
    (answer,) = run_each([work], limit)
    if isinstance(answer, Stopped):
        raise answer
    return answer


def run_each(works: Sequence[Work], limit: Limit) -> Iterator[Any | Stopped]:
    """The answer of each work in order. One process does them all; after a stopped work, another one continues."""
    done = 0
    while done < len(works):
        for answer in _run(works[done:], limit):
            done += 1
            yield answer


def _run(works: Sequence[Work], limit: Limit) -> Iterator[Any | Stopped]:
    """Answers of one process, up to the first work that was stopped."""
    reader, writer = _FORK.Pipe(duplex=False)
    # It is no daemon, which could not start the process of a template.
    child = _FORK.Process(target=_work, args=(writer, works, limit))
    child.start()
    writer.close()
    try:
        for _ in works:
            deadline = Timer(limit.patience, child.kill)
            deadline.start()
            try:
                # The answer is JSON, which can't carry code, unlike a pickle.
                answer = json.loads(reader.recv_bytes())
            except (EOFError, OSError, ValueError):
                # A process that was stopped sends nothing, or a part of its answer.
                yield Stopped()
                return
            finally:
                deadline.cancel()
                deadline.join()
            yield answer
    finally:
        child.kill()
        child.join()
        reader.close()


def _work(writer: Connection, works: Sequence[Work], limit: Limit) -> None:
    """The child process: does the work within the limits and sends the answers."""
    try:
        os.environ.clear()
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        _lower(resource.RLIMIT_CPU, math.ceil(limit.seconds * len(works)) + 1)
        if sys.platform == "linux":
            with open("/proc/self/statm", encoding="ascii") as statm:
                used = int(statm.read().split()[0]) * resource.getpagesize()
            _lower(resource.RLIMIT_AS, used + limit.memory)
        for work in works:
            signal.setitimer(signal.ITIMER_PROF, limit.seconds)
            writer.send_bytes(json.dumps(work()).encode())
    finally:
        # The child prints no traceback, and runs no exit handlers of the parent process.
        os._exit(0)


def _lower(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
