"""Processor time by process: of every process that works for one home, while something runs.

A process belongs to a home by its environment, or by the folder it runs in; homes below it count, too. Ended processes
count as of the last sample, so the shortest ones are missed; the machine's other work changes these figures less than
it changes waiting.
"""

from __future__ import annotations

import os
import statistics
import threading
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from measure import table

from simulator.home import HOME_VARIABLE

LEAST = 0.01
"""Share of the processor time below which a process is not printed."""
INTERVAL = 0.05
"""Seconds between two samples."""
NEW = 0.5
"""Seconds in which a process may still become another program, and so get another name."""


@dataclass
class _Seen:
    process: psutil.Process
    name: str
    before: float
    seconds: float
    age: float = 0.0


@dataclass
class Shares:
    """Seconds of processor time by the name of a process, complete when `measured` ends."""

    home: Path
    _seen: dict[tuple[int, float], _Seen] = field(default_factory=dict[tuple[int, float], _Seen])
    _foreign: set[int] = field(default_factory=set[int])

    def by_name(self) -> dict[str, float]:
        found: defaultdict[str, float] = defaultdict(float)
        for each in self._seen.values():
            found[each.name] += each.seconds - each.before
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def sample(self, *, is_first: bool = False) -> None:
        for pid in set(psutil.pids()) - self._foreign - {os.getpid()}:
            try:
                self._add(psutil.Process(pid), is_first=is_first)
            except psutil.Error:
                continue

    def _add(self, process: psutil.Process, *, is_first: bool) -> None:
        key = process.pid, process.create_time()
        seen = self._seen.get(key)
        times = process.cpu_times()
        if seen is None or seen.age < NEW:
            if not self._belongs(process):
                self._foreign.add(process.pid)
                return
            if seen is None:
                before = times.user + times.system if is_first else 0.0
                seen = self._seen[key] = _Seen(process, "", before, before)
            seen.name = _name(process.cmdline())
        seen.age += INTERVAL
        seen.seconds = times.user + times.system

    def _belongs(self, process: psutil.Process) -> bool:
        own = f"{self.home}{os.sep}"
        return any(
            f"{folder}{os.sep}".startswith(own) for folder in (process.environ().get(HOME_VARIABLE, ""), process.cwd())
        )


@contextmanager
def measured(home: Path) -> Generator[Shares]:
    shares, ended = Shares(home.resolve()), threading.Event()
    shares.sample(is_first=True)

    def watch() -> None:
        while not ended.wait(INTERVAL):
            shares.sample()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield shares
    finally:
        ended.set()
        thread.join()
        shares.sample()


def print_shares(title: str, rounds: Sequence[Mapping[str, float]]) -> None:
    """The medians of some rounds."""
    names = {name: statistics.median(each.get(name, 0.0) for each in rounds) for each in rounds for name in each}
    total = sum(names.values())
    shown = sorted(((seconds, name) for name, seconds in names.items() if seconds >= LEAST * total), reverse=True)
    rows = [[name, seconds, f"{seconds / total:4.0%}"] for seconds, name in shown]
    table(f"{title}: processor time by process", ("process", "seconds", "share"), rows)


def _name(command: list[str]) -> str:
    """`physai`, the module or file that Python runs, or the program and its first word: `helm install`."""
    words = [Path(command[0]).name, *command[1:]]
    if "-m" in words[1:3]:
        words = [words[words.index("-m") + 1]]
    elif words[0].startswith("python"):
        words = [Path(next((word for word in words[1:] if not word.startswith("-")), words[0])).name]
    verbs = [word for word in words[1:] if not word.startswith("-")][:1] if words[0] in ("helm", "pulumi") else []
    return " ".join([words[0].removeprefix("simulator."), *verbs])
