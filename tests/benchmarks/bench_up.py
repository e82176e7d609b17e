"""From nothing to a deployed stack and back, with warm tools: what takes the time, and how it compares to the engine
alone, which runs an empty program in the same way.

Phases: `start` is the interpreter with its imports; `settings` loads and judges them; `control plane` brings it up as
far as the operation waits for it; `engine` goes from there to the engine's first sign of life; `program` to the first
resource; `cluster`, `pools` and `rest` to the last of each; `close` is all that follows.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from measure import DEFAULT_STACK, Place, note, place, table
from timeline import PROCESSOR

from simulator.home import HOME_VARIABLE

TIMELINE = Path(__file__).with_name("timeline.py")
OPERATIONS = ("up", "up again", "preview", "down")
ENDS = {
    "start": "imports",
    "settings": "settings",
    "control plane": "deploy",
    "engine": "engine",
    "program": "resources",
    "cluster": "cluster",
    "pools": "pools",
    "rest": "summary",
    "close": "end",
}
"""Phase → the mark it ends with, in order."""
SAME = {"preview": "deploy", "destroy": "deploy"}
"""What the engine's part begins with in other operations than `up`."""

Marks = Mapping[str, float]


def main() -> None:
    options = _options()
    runs: dict[str, list[Marks]] = {name: [] for name in (*OPERATIONS, "empty")}
    for number in range(options.times):
        with place(options.stack) as here:
            for name, marks in runs.items():
                marks.append(_run(here, "up" if name == "up again" else name))
        note(f"round {number + 1} of {options.times}")
    phases = [
        {name: _phases(marks) for name, marks in zip(runs, row, strict=True)}
        for row in zip(*runs.values(), strict=True)
    ]
    _report(phases, runs["empty"], options.stack)
    _report_processor(runs)


def _run(here: Place, operation: str) -> Marks:
    command = [sys.executable, str(TIMELINE), operation, here.stack, str(time.time())]
    finished = subprocess.run(
        command, env={**os.environ, HOME_VARIABLE: str(here.home.folder)}, capture_output=True, text=True, check=False
    )
    if finished.returncode != 0:
        raise SystemExit(f"{operation} failed:\n{finished.stderr}")
    return json.loads(finished.stdout)


def _phases(marks: Marks) -> dict[str, float]:
    """Seconds by phase; one that an operation has nothing of is absent."""
    marks = {SAME.get(name, name): at for name, at in marks.items()}
    phases: dict[str, float] = {}
    before = 0.0
    for phase, end in ENDS.items():
        if end in marks and marks[end] > before:
            phases[phase] = marks[end] - before
            before = marks[end]
    return phases


def _report(rounds: list[dict[str, dict[str, float]]], empty: list[Marks], stack: str) -> None:
    def median(name: str, phase: str) -> float:
        return statistics.median(row[name].get(phase, 0.0) for row in rounds)

    totals = {name: statistics.median(sum(row[name].values()) for row in rounds) for name in OPERATIONS}
    rows: list[list[object]] = []
    for phase in ENDS:
        row: list[object] = [phase]
        for name in OPERATIONS:
            row += [median(name, phase), f"{median(name, phase) / totals[name]:4.0%}"]
        rows.append(row)
    rows.append(["all", *(cell for name in OPERATIONS for cell in (totals[name], "100%"))])
    columns = ("seconds", *(cell for name in OPERATIONS for cell in (name, "share")))
    table(f"{stack}, warm tools, median of {len(rounds)}", columns, rows)

    ratios: list[list[object]] = []
    for name in OPERATIONS:
        alone = statistics.median(marks[f"empty {name.split()[0]}"] for marks in empty)
        engine = sum(median(name, phase) for phase in ("engine", "program", "cluster", "pools", "rest"))
        ratios.append([name, engine, alone, engine / alone])
    table("the engine's part against an empty program", ("", "this program", "empty", "ratio"), ratios)


def _report_processor(runs: Mapping[str, list[Marks]]) -> None:
    """Processor time, which other work on the machine changes less than it changes waiting."""
    rows: list[list[object]] = []
    for name in OPERATIONS:
        seconds = {of: statistics.median(marks[of] for marks in runs[name]) for of in PROCESSOR}
        total = sum(seconds.values())
        rows.append([name, *(cell for part in seconds.values() for cell in (part, f"{part / total:4.0%}")), total])
    columns = ("", *(cell for of in PROCESSOR for cell in (of.removeprefix("processor: "), "share")), "all")
    table("seconds of processor time", columns, rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3, help="rounds; the medians are printed (default: 3)")
    parser.add_argument("--stack", default=DEFAULT_STACK)
    return parser.parse_args()


if __name__ == "__main__":
    main()
