"""Builds of the simulator's tools on a machine that has none: processor time for each, with Go's caches empty at first.

The modules are downloaded again, too, because their unpacking and verification is a part of a first build. What one
build has compiled serves the next, as in `make up`; so the order is that of `make up`, and a tool alone takes longer.
With `--warm-modules` Go's own folder of modules is used, to measure the compilation alone.

Packages of Python are the other part of a first `make up`: `--packages` measures those, in an environment of their own.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from measure import note, table

from physical_ai.repository import ROOT
from simulator.tools import FAMILIES, KUBECTL, Origin, toolbox
from simulator.tools.reporting import ToolLines


def main() -> None:
    options = _options()
    known = {family.name: family for family in (*FAMILIES, KUBECTL)}
    chosen = [known[name] for name in options.tool] if options.tool else list(FAMILIES)
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory(prefix="physai-bench-") as name:
        folder = Path(name)
        if options.packages:
            rows.append(["Python packages", *_measured(lambda: _packages(folder / "venv")), 0])
        os.environ["GOCACHE"] = str(folder / "go-build")
        if not options.warm_modules:
            os.environ["GOMODCACHE"] = str(folder / "go-modules")
        for family in chosen:
            report = ToolLines(note, regular=True).report
            measured = _measured(partial(toolbox, folder / "tools", report, [family], Origin.BUILD))
            note(f"{family.name}: {measured[0]:.0f} s of processor time in {measured[1]:.0f} s")
            size = sum(file.stat().st_size for file in folder.glob(f"tools/{family.name}-v*/*"))
            rows.append([family.name, *measured, size / 1e6])
    processor, seconds = (sum(float(str(row[at])) for row in rows) for at in (1, 2))
    rows.append(["all", processor, seconds, sum(float(str(row[3])) for row in rows)])
    table(f"first builds, load {os.getloadavg()[0]:.1f}", ("", "processor s", "seconds", "MB"), rows)
    print(f"{processor / 60:.1f} minutes of processor time")


def _measured(action: Callable[[], object]) -> tuple[float, float]:
    """Seconds of processor time that an action and the programs that it runs take, and seconds that it takes."""
    before, began = _processor(), time.monotonic()
    action()
    return _processor() - before, time.monotonic() - began


def _processor() -> float:
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _packages(environment: Path) -> None:
    """Makes an environment, and installs what a deployment needs into it."""
    python = str(environment / "bin" / "python")
    installing = [python, "-m", "simulator.tools", "--no-tools", "--packages", "requirements-dev.txt"]
    for command in ([sys.executable, "-m", "venv", str(environment)], installing):
        subprocess.run(command, cwd=ROOT, check=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", action="append", metavar="NAME", help="only this tool, such as etcd; repeatable")
    parser.add_argument("--warm-modules", action="store_true", help="use the modules that Go has already downloaded")
    parser.add_argument("--packages", action="store_true", help="also measure the Python packages")
    return parser.parse_args()


if __name__ == "__main__":
    main()
