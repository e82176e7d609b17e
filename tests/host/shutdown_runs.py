"""Runs of small scripts that end, or would not, the way Isaac Sim's do."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""Seconds after which a run hangs. Clocks in the scripts are well below one."""

PRELUDE = """\
import atexit, ctypes, logging, os, signal, sys, threading, time
import simulation_shutdown
from simulation_shutdown import exit_now, prepare_for_shutdown

def hang():  # PyDLL keeps the interpreter's lock
    ctypes.PyDLL(None).pause()

def sleep_until_signalled():  # short: a signal that comes just before a sleep begins does not end it
    while True: time.sleep(0.05)

def spin(library):
    ctypes.PyDLL(library).spin()

def dud():
    class Dud:
        def __init__(self, *arguments): pass
        def cancel(self): pass
    simulation_shutdown.handle.ExitTimer = Dud
    simulation_shutdown.handle.GRACE = 0.1

def no_timers():
    def none(*arguments): raise OSError("no timers here")
    simulation_shutdown.handle.ExitTimer = none
"""

_started: list[subprocess.Popen[str]] = []


@dataclass(frozen=True)
class Run:
    """How a script ended. `code` is negative for a death by signal."""

    code: int
    out: str
    err: str


@cache
def spinning_library() -> str:
    """A C library whose `spin` never returns, or empty without a C compiler."""
    compiler = shutil.which("cc")
    if not compiler:
        return ""
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"spin-{os.getuid()}"  # noqa: S108 - reused by later runs
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / "spin.so"
    if not library.exists():
        source, made = folder / f"{os.getpid()}.c", folder / f"{os.getpid()}.so"
        source.write_text("void spin(void) { for (volatile int turns = 0;; turns++) ; }\n")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(made), str(source)], check=True, timeout=PATIENCE)
        made.rename(library)
    return str(library)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SIMULATION_SHUTDOWN", "PYTHON"))}
    ours = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **ours, **(extra or {})}


def start(
    command: Sequence[str], variables: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.Popen[str]:
    """Starts a command with pipes, in a session of its own."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(variables),
        cwd=cwd,
        start_new_session=True,
    )
    _started.append(process)
    return process


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Ends what a test that failed has left behind."""
    yield
    while _started:
        end(_started.pop())


def finish(process: subprocess.Popen[str]) -> Run:
    """Waits for the end of a process and of its pipes. A run that hangs fails the test."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        end(process)
        out, err = process.communicate()
        raise AssertionError(f"still there after {PATIENCE:g} s\n{out}{err}") from None
    return Run(process.returncode, out, err)


def end(process: subprocess.Popen[str]) -> None:
    """Ends a process and what it leaves behind, which may hold its pipes."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def command(script: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", PRELUDE + script, *arguments]


def run(script: str, *, inside: Sequence[str] = (), variables: Mapping[str, str] | None = None) -> Run:
    """Runs a script to its end, `inside` naming a command that runs commands."""
    return finish(start([*inside, *command(script)], variables))


def supervised(
    arguments: Sequence[str], variables: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.Popen[str]:
    """`python -m simulation_shutdown exec …`"""
    return start([sys.executable, "-m", "simulation_shutdown", "exec", *arguments], variables, cwd)


def script(folder: Path, body: str, *, name: str = "train.py") -> str:
    """Writes a script beside its helpers; its name."""
    (folder / "helpers.py").write_text(PRELUDE)
    (folder / name).write_text(body)
    return name


def watchdogs_of(pid: int) -> list[Path]:
    """The /proc folders of the watchdogs that watch a process."""
    return [entry for entry in Path("/proc").iterdir() if entry.name.isdigit() and _watches(entry, pid)]


def _watches(entry: Path, pid: int) -> bool:
    try:
        words = (entry / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return len(words) > 6 and words[3].endswith(b"/watchdog.py") and words[6] == str(pid).encode()


def gone(what: str, alive: Callable[[], object]) -> None:
    until(lambda: not alive(), f"not yet: {what}", every=0.01)


def new_pid_namespace() -> list[str]:
    """A command that runs another as the first process of a PID namespace."""
    return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]


@cache
def why_no_pid_namespace() -> str | None:
    """One word on why no PID namespace can be made here, or nothing."""
    if not shutil.which("unshare"):
        return "unshare not found"
    done = subprocess.run([*new_pid_namespace(), "true"], capture_output=True, text=True, check=False)
    return (done.stderr.strip() or f"exit {done.returncode}") if done.returncode else None
