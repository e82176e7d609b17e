"""Signals to `python -m simulation_shutdown exec`, and to the script that it runs."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.host.shutdown_runs import finish, script, start, supervised

DEEP = pytest.mark.deep


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        *(pytest.param(each, marks=pytest.mark.deep) for each in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)),
    ],
)
def test_signals_reach_the_script(tmp_path: Path, number: signal.Signals) -> None:
    name = script(
        tmp_path,
        f"from helpers import *\nsignal.signal({number:d}, lambda *_: sys.exit(40))\n"
        "print('on', flush=True)\nsleep_until_signalled()",
    )
    process = supervised(["--", "python", name], cwd=tmp_path)
    assert process.stdout
    assert process.stdout.readline() == "on\n"
    process.send_signal(number)
    assert finish(process).code == 40


def test_interrupt_from_the_terminal_reaches_the_script_once(tmp_path: Path) -> None:
    """The terminal signals every process in the foreground, including the script."""
    name = script(
        tmp_path,
        """
from helpers import *
received = []
signal.signal(signal.SIGINT, lambda *_: received.append(1))
os.kill(os.getppid(), signal.SIGSTOP)  # or the second would come while the first is being handled
print("on", flush=True)
while not received: time.sleep(0.01)
os.kill(os.getppid(), signal.SIGCONT)
time.sleep(0.3)
print("received", len(received), flush=True)
""",
    )
    helper = [sys.executable, "-m", "simulation_shutdown", "exec", "--", "python", name]
    process = start([sys.executable, "-c", f"import pty; pty.spawn({helper!r})"], cwd=tmp_path)
    assert process.stdin
    assert process.stdout
    while process.stdout.readline().strip() not in ("on", ""):
        pass
    process.stdin.write("\x03")
    process.stdin.flush()
    assert "received 1\n" in process.stdout.read()
    finish(process)


def test_script_that_a_signal_ends_says_so_by_its_code() -> None:
    process = supervised(["--", "python", "-c", "print('on', flush=True); import time; time.sleep(60)"])
    assert process.stdout
    assert process.stdout.readline() == "on\n"
    process.terminate()
    assert finish(process).code == 143
