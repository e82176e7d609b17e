"""Work on data of unknown origin, in a separate process with limits on time and memory."""

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
"""Function without arguments that returns a value which JSON can represent."""

_FORK = get_context("fork")
"""Context for forked processes: a new interpreter would take longer to start than the work may take."""


@dataclass(frozen=True)
class Limit:
    """Limits on the resources of one piece of work."""

    seconds: float
    """Seconds of CPU time."""
    memory: int
    """Bytes of memory beyond what the process already uses."""
    patience: float
    """Seconds of real time after which the work is stopped, however busy the machine is."""


class Stopped(Exception):
    """Raised where the work reached a limit, or ended its process."""


def run(work: Work, limit: Limit) -> Any:
    """Runs the work in a limited process, and returns its answer. Raises Stopped."""
    (answer,) = run_each([work], limit)
    if isinstance(answer, Stopped):
        raise answer
    return answer


def run_each(works: Sequence[Work], limit: Limit) -> Iterator[Any | Stopped]:
    """Answers of several pieces of work, in order. One process does all of them; if a piece of work is stopped, a new
    process does the rest.
    """
    done = 0
    while done < len(works):
        for answer in _run(works[done:], limit):
            done += 1
            yield answer


def _run(works: Sequence[Work], limit: Limit) -> Iterator[Any | Stopped]:
    """Answers from one process, in order; ends after the first piece of work that was stopped."""
    reader, writer = _FORK.Pipe(duplex=False)
    # Not a daemon process, which could not itself start the process for a template.
    child = _FORK.Process(target=_work, args=(writer, works, limit))
    child.start()
    writer.close()
    try:
        for _ in works:
            deadline = Timer(limit.patience, child.kill)
            deadline.start()
            try:
                # The answer is sent as JSON, which cannot contain code, unlike a pickle.
                answer = json.loads(reader.recv_bytes())
            except (EOFError, OSError, ValueError):
                # A stopped process sends nothing, or only part of its answer.
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
    """Runs in the child process: does the work within the limits, and sends the answers."""
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
        # Ends the child without a traceback, and without the parent's exit handlers.
        os._exit(0)


def _lower(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
