"""Command `python -m simulator.tools`. It does the same as `physai tools`, and needs no installed Python packages. With
`--packages` it installs those, too, at the same time.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from physical_ai.repository import user_folder
from simulator.tools.bars import ToolBars, announcement, usable_cores
from simulator.tools.disk import writing
from simulator.tools.errors import BuildFailed
from simulator.tools.families import Report
from simulator.tools.install import Missing, Origin, missing, toolbox
from simulator.tools.python_packages import PackagesFailed, install_packages, pinned_packages
from simulator.tools.reporting import ToolLines


def main() -> int:
    given = _arguments()
    cache = user_folder() / "tools"
    try:
        origin: Origin = given.origin or Origin.of_environment()
        with writing(cache):
            absent = missing(cache, origin) if given.tools else Missing((), ())
    except BuildFailed as problem:
        return _failed(problem)
    packages = f"{pinned_packages(given.packages)} Python packages of {given.packages}" if given.packages else ""
    if text := announcement(absent, usable_cores(), packages):
        _write(f"{text}\n")
    with _reporting(absent) as report:
        failures = list[BuildFailed]()
        tools = threading.Thread(target=_tools, args=(cache, origin, report, failures))
        if given.tools:
            tools.start()
        problem = _packages(given.packages, report) if given.packages else None
        if given.tools:
            tools.join()
    for each in failures:
        _failed(each)
    if problem is not None:
        return _failed(problem)
    # Where packages are installed, too, the command that needs the tools tries again, and fails for the same reason.
    return 1 if failures and not given.packages else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Install the engine and control-plane programs.")
    parser.add_argument("--from", dest="origin", type=Origin, choices=list(Origin), help="$PHYSAI_TOOLS_FROM or auto")
    parser.add_argument("--packages", type=Path, metavar="FILE", help="also the Python packages that this file pins")
    parser.add_argument("--no-tools", dest="tools", action="store_false", help="only the Python packages")
    return parser.parse_args()


def _tools(cache: Path, origin: Origin, report: Report, failures: list[BuildFailed]) -> None:
    try:
        toolbox(cache, report, origin=origin)
    except BuildFailed as problem:
        failures.append(problem)


def _packages(requirements: Path, report: Report) -> PackagesFailed | None:
    try:
        install_packages(requirements, report)
    except PackagesFailed as problem:
        return problem
    return None


def _failed(problem: Exception) -> int:
    _write(f"error: {problem}\n")
    return 1


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
    sys.exit(main())
