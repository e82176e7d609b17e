"""Ending a run from outside, and the lock that a killed one has left."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from simulator.cancellation import cancel
from simulator.checkpoint import Checkpoint
from simulator.errors import NothingToCancel

RUN = """
import select, signal, sys, filelock
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
lock = filelock.FileLock(sys.argv[1])
lock.acquire()
print("locked", flush=True)
while not select.select([sys.stdin], [], [], 0.05)[0]: pass  # short: a signal just before a wait does not end it
"""


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    return Checkpoint(tmp_path / "backend", "dev-westus2")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[psutil.Process]:
    """A process that holds the stack's lock until it is interrupted."""
    command = [sys.executable, "-c", RUN, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield psutil.Process(process.pid)
        process.kill()


def lock_of_engine(checkpoint: Checkpoint, pid: int) -> Path:
    file = checkpoint.backend / ".pulumi" / "locks" / "organization" / "physical-ai" / checkpoint.stack / "1.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"pid": pid, "username": "me", "hostname": "here", "timestamp": "2026-11-22T10:00:00Z"}))
    return file


def test_a_run_under_way_is_asked_to_end_and_waited_for(
    tmp_path: Path, checkpoint: Checkpoint, engine: psutil.Process
) -> None:
    file = lock_of_engine(checkpoint, engine.pid)
    assert "the run has ended" in cancel(checkpoint, tmp_path / "lock", [engine])
    assert not file.exists()
    with FileLock(tmp_path / "lock").acquire(blocking=False):
        pass


def test_the_lock_of_a_killed_run_is_removed_and_its_engine_ended(tmp_path: Path, checkpoint: Checkpoint) -> None:
    file = lock_of_engine(checkpoint, 4711)
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as orphan:
        done = cancel(checkpoint, tmp_path / "lock", [psutil.Process(orphan.pid)])
        assert orphan.wait() == -signal.SIGKILL
    assert "process 4711, 2026-11-22T10:00:00Z" in done
    assert not file.exists()


def test_without_a_run_and_a_lock_there_is_nothing_to_cancel(tmp_path: Path, checkpoint: Checkpoint) -> None:
    with pytest.raises(NothingToCancel):
        cancel(checkpoint, tmp_path / "lock", [])


def test_operations_whose_outcome_is_unknown_are_counted(tmp_path: Path, checkpoint: Checkpoint) -> None:
    lock_of_engine(checkpoint, 4711)
    file = checkpoint.backend / ".pulumi" / "stacks" / "physical-ai" / f"{checkpoint.stack}.json"
    file.parent.mkdir(parents=True)
    pending = [{"type": "creating", "resource": {}}]
    file.write_text(json.dumps({"checkpoint": {"latest": {"resources": [], "pending_operations": pending}}}))
    assert "the outcome of 1 of its operations is not known" in cancel(checkpoint, tmp_path / "lock", [])
