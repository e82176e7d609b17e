"""Cancellation of a simulation's run by another command: ends a running run, or removes the lock of a killed one."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from simulator.checkpoint import Checkpoint
from simulator.errors import Busy, NothingToCancel

PATIENCE = 120
"""Seconds that a run gets to end and to record what it has done. A running operation is not interrupted."""


def cancel(checkpoint: Checkpoint, lock: Path, running: Sequence[psutil.Process]) -> str:
    """Cancels the run or removes its lock; returns a report. `running`: the stack's engines; `lock`: the file that
    every command locks.

    Raises:
        NothingToCancel: no run is under way, and there is no lock.
        Busy: the run was asked to end and has not ended in time.
    """
    if _is_locked(lock):
        for engine in running:
            engine.send_signal(signal.SIGINT)
        _wait(lock)
        checkpoint.unlock()
        return "the run has ended; what it had done is recorded. Run the same command again to continue"
    if not (left := checkpoint.locks()):
        raise NothingToCancel("no run is under way, and no run has left a lock; there is nothing to cancel")
    for engine in running:
        engine.kill()  # without the command that started it, it can only fail
    checkpoint.unlock()
    holder = left[0]
    pending = len(checkpoint.pending())
    words = f"; the outcome of {pending} of its operations is not known" if pending else ""
    return f"removed the lock of a run that was killed (process {holder.get('pid')}, {holder.get('timestamp')}){words}"


def _is_locked(path: Path) -> bool:
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    lock.release()
    return False


def _wait(path: Path) -> None:
    try:
        with FileLock(path).acquire(timeout=PATIENCE):
            return
    except Timeout:
        raise Busy(
            f"the run has been asked to end, and has not ended within {PATIENCE} s.\n"
            "  Wait for it, or end its process, and run `physai cancel` again."
        ) from None
