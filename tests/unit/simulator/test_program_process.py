"""The program's own process: it answers its command, gets no signal from a terminal, and ends with the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest

from physical_ai.simulator import program_process
from physical_ai.simulator.errors import EngineFailed

COMMAND = """
import os, signal
from physical_ai.simulator import program_process
program_process.start()
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.killpg(0, signal.SIGINT)
[process] = program_process._started
print(process.pid, program_process.address(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_process_outlives_an_interrupt_but_not_its_command() -> None:
    command = subprocess.run(
        [sys.executable, "-c", COMMAND], check=False, capture_output=True, text=True, process_group=0
    )
    assert command.returncode == -signal.SIGKILL, command.stderr
    pid, address = command.stdout.split()
    assert address.startswith("127.0.0.1:")
    psutil.wait_procs([psutil.Process(int(pid))] if psutil.pid_exists(int(pid)) else [], timeout=60)
    assert not psutil.pid_exists(int(pid))


def test_a_process_that_has_ended_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    monkeypatch.setattr(program_process, "_started", [ended])
    with pytest.raises(EngineFailed, match="the program's process has ended"):
        program_process.address()
    assert ended.wait() == os.EX_OK


def test_without_a_process_the_program_runs_in_the_command() -> None:
    assert not program_process.is_started()
    assert program_process.address() is None
