"""What the benchmarks share: a home of their own, the `physai` command in it, medians, and tables.

Machines differ, so no figure here passes or fails. What can be compared between machines are the ratios, each against
an alternative that was measured in the same run.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from simulator.home import HOME_VARIABLE, Home
from simulator.simulation import Simulation
from simulator.tools import toolbox
from simulator.tools.reporting import ToolLines

DEFAULT_STACK = "dev-westus2"


@dataclass(frozen=True)
class Finished:
    """A command that has ended. `code` is negative when a signal ended it."""

    code: int
    seconds: float
    stdout: str
    stderr: str

    def document(self) -> Any:
        """What `--json` printed."""
        return json.loads(self.stdout)


Strike = Callable[[subprocess.Popen[str]], None]
"""What is done to a `physai` while it works."""


def kill_group(process: subprocess.Popen[str]) -> None:
    """SIGKILL for the command and all it works with, as when a CI job is cancelled or a terminal window closed."""
    os.killpg(process.pid, signal.SIGKILL)


def kill_command(process: subprocess.Popen[str]) -> None:
    """SIGKILL for the command alone; its engine finds its providers gone."""
    process.kill()


def kill_engine(process: subprocess.Popen[str]) -> None:
    """SIGKILL for the engine alone, as when memory runs out. It need not be a child: copies run commands, too."""
    home = psutil.Process(process.pid).environ()[HOME_VARIABLE]
    for each in psutil.process_iter(["name", "environ"]):
        found = each.info["environ"] or {}
        if each.info["name"] == "pulumi" and found.get("PULUMI_HOME", "").startswith(f"{home}{os.sep}"):
            each.kill()


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ctrl-C, which reaches command and engine."""
    os.killpg(process.pid, signal.SIGINT)


@dataclass(frozen=True)
class Place:
    """One stack in a home of its own."""

    home: Home
    stack: str

    @property
    def simulation(self) -> Simulation:
        return Simulation(self.stack, self.home)

    def physai(
        self, command: str, *arguments: str, after: float | None = None, strike: Strike | None = None
    ) -> Finished:
        """Runs `physai COMMAND STACK …` to its end; with `strike`, that is called when so many seconds have passed."""
        process = self.start(command, *arguments)
        began = time.monotonic()
        try:
            try:
                stdout, stderr = process.communicate(timeout=after if strike is not None else None)
            except subprocess.TimeoutExpired:
                (strike or kill_group)(process)
                stdout, stderr = process.communicate()
        except BaseException:
            kill_group(process)
            process.wait()
            raise
        return Finished(process.returncode, time.monotonic() - began, stdout, stderr)

    def start(self, command: str, *arguments: str) -> subprocess.Popen[str]:
        """Starts `physai` as the leader of a process group; the control plane it starts is not part of that."""
        return subprocess.Popen(
            [sys.executable, "-m", "workbench.cli", command, self.stack, *arguments],
            env={**os.environ, HOME_VARIABLE: str(self.home.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def must(self, command: str, *arguments: str) -> Finished:
        """Like `physai`, for what has to work before anything can be measured."""
        finished = self.physai(command, *arguments)
        if finished.code != 0:
            raise SystemExit(f"physai {command} {self.stack} ended with {finished.code}:\n{finished.stderr}")
        return finished


@contextmanager
def place(stack: str = DEFAULT_STACK) -> Generator[Place]:
    """A home in a temporary folder with the user's built commands in it; nothing of it is left at the end."""
    tools = Home.of_user().tools
    toolbox(tools, ToolLines(note, regular=True).report)
    with tempfile.TemporaryDirectory(prefix="physai-bench-") as folder:
        (Path(folder) / "tools").symlink_to(tools.resolve())
        here = Place(Home(Path(folder)), stack)
        before = signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # not without the clean-up below
        try:
            yield here
        finally:
            here.simulation.discard()
            signal.signal(signal.SIGTERM, before)


def timed(action: Callable[[], object]) -> float:
    """Seconds an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def typical(action: Callable[[], object], times: int) -> float:
    """The median of the seconds an action takes."""
    return statistics.median(timed(action) for _ in range(times))


def note(text: str) -> None:
    """Says on stderr how far the benchmark is."""
    print(text, file=sys.stderr, flush=True)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints rows below their columns: numbers with two digits and to the right, text as it is."""
    text = [[f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *text, strict=True)]
    number = [all(isinstance(cell, int | float) for cell in column) for column in zip(*rows, strict=True)]
    print(f"\n{title}")
    for line in ([*columns], *text):
        cells = zip(line, widths, number or [False] * len(line), strict=True)
        print("  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in cells).rstrip())
    sys.stdout.flush()
