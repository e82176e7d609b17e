"""Builds of command families. A family is a set of commands that are built from one Go module.

Every module's checksum is in `go.sum`. Each content of the family's go.mod and go.sum gets its own build, so a changed
pin leaves the old build in place, and going back needs no new build.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from simulator.tools.families import HERE, BuildFailed, Family, Progress, Report
from simulator.tools.go import GoMissing, find_go


def build(family: Family, folder: Path, cache: Path, report: Report, reason: str) -> None:
    """Builds a family in a temporary folder and then renames it, so that a killed build leaves nothing that looks
    finished.

    Raises:
        BuildFailed: a module cannot be fetched or compiled, or Go is missing and cannot be downloaded.
    """
    try:
        go = find_go(cache)
    except GoMissing as problem:
        raise BuildFailed(str(problem)) from problem
    log = cache / f"{family.name}.log"
    work = Path(tempfile.mkdtemp(prefix=f".{family.name}-", dir=cache))
    try:
        report(Progress(family.name, "build", 0, 0, reason))
        total = len(_go(family, go, log, "list", family.build_tags(), "-deps", "tool"))
        command = ("build", "-v", family.build_tags(), "-trimpath", "-ldflags", family.linker_flags())
        for done, _ in enumerate(_stream(family, go, log, *command, "-o", f"{work}{os.sep}", "tool"), start=1):
            report(Progress(family.name, "build", min(done, total), total))
        report(Progress(family.name, "build", total, total, finished=True))
        for built, known in family.commands.items():
            (work / built).rename(work / known)
        shutil.rmtree(folder, ignore_errors=True)  # one that has lost commands
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _go(family: Family, go: Path, log: Path, *args: str) -> list[str]:
    return list(_stream(family, go, log, *args))


def _stream(family: Family, go: Path, log: Path, *args: str) -> Iterator[str]:
    """Yields the go command's output line by line while the command runs."""
    # Flags of the user's own Go set-up (-mod=vendor, say) must not reach these modules; module proxy settings must.
    environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off", "CGO_ENABLED": "0"}
    with (
        log.open("w") as kept,
        subprocess.Popen(
            [go, *args],
            cwd=family.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            kept.write(line)
            yield line.rstrip()
    if process.returncode:
        tail = "\n".join(f"  {line}" for line in log.read_text().splitlines()[-8:])
        raise BuildFailed(
            f"{HERE / family.name}: go {args[0]} failed with exit code {process.returncode}\n{tail}\n"
            f"  Full log: {log}\n"
            "  Needed: the Go module proxy and some 3 GB of disk. Run the command again to continue."
        )
