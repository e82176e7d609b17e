"""Command `python -m simulator.tools`. It does the same as `physai tools`, and needs no installed Python packages."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

from physical_ai.repository import user_folder
from simulator.tools.bars import ToolBars, announcement, usable_cores
from simulator.tools.families import BuildFailed, Report
from simulator.tools.install import Missing, Origin, missing, toolbox
from simulator.tools.reporting import ToolLines


def main() -> None:
    parser = argparse.ArgumentParser(description="Install the engine and control-plane programs.")
    parser.add_argument("--from", dest="origin", type=Origin, choices=list(Origin), help="$PHYSAI_TOOLS_FROM or auto")
    given, cache = parser.parse_args().origin, user_folder() / "tools"
    try:
        origin = given or Origin.of_environment()
        absent = missing(cache, origin)
        if text := announcement(absent, usable_cores()):
            _write(f"{text}\n")
        with _reporting(absent) as report:
            toolbox(cache, report, origin=origin)
    except BuildFailed as problem:
        sys.exit(f"error: {problem}")


@contextmanager
def _reporting(absent: Missing) -> Generator[Report]:
    """Function that reports progress: on a terminal with bars, otherwise with lines of text."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield ToolLines(lambda line: _write(f"{line}\n"), regular=True).report
        return
    bars = ToolBars(absent, _write)
    try:
        yield bars.report
    finally:
        bars.close()


def _write(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
