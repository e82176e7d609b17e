"""Builds of command families. A family is a set of commands that are built from one Go module.

Every module's checksum is in `go.sum`. Each content of the family's go.mod and go.sum gets its own build, so a changed
pin leaves the old build in place, and going back needs no new build.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from simulator.tools.errors import BuildFailed
from simulator.tools.families import Family, Progress, Report
from simulator.tools.go import GoMissing, find_go
from simulator.tools.go_errors import explanation
from simulator.tools.left_out import leaves_out, module_of, without

FLAGS = (
    "-trimpath",
    # The linker leaves debug information out, so the compiler need not make it.
    "-gcflags=all=-dwarf=false",
)
"""Options of `go build`."""
COLLECTOR = {"GOGC": "400"}
"""Settings of the compiler's garbage collector, which otherwise takes a good part of its processor time."""


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
        module, commands = family.folder, work / "commands"
        if leaves_out(module):
            module = without(module, _downloaded(family, go, log), work)
        total = len(_go(family, module, go, log, "list", family.build_tags(), "-deps", *family.programs))
        command = ("build", "-v", family.build_tags(), *FLAGS, "-ldflags", family.linker_flags())
        lines = _stream(family, module, go, log, *command, "-o", f"{commands}{os.sep}", *family.programs)
        for done, _ in enumerate(lines, start=1):
            report(Progress(family.name, "build", min(done, total), total))
        report(Progress(family.name, "build", total, total, finished=True))
        for built, known in family.commands.items():
            (commands / built).rename(commands / known)
        shutil.rmtree(folder, ignore_errors=True)  # one that has lost commands
        commands.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _downloaded(family: Family, go: Path, log: Path) -> Path:
    """Folder in Go's cache with the module of which parts are left out. Its checksum is in `go.sum`."""
    lines = _go(family, family.folder, go, log, "mod", "download", "-json", module_of(family.folder))
    # Lines before the document are notes on downloads.
    return Path(json.loads("\n".join(lines[lines.index("{") :]))["Dir"])


def _go(family: Family, module: Path, go: Path, log: Path, *args: str) -> list[str]:
    return list(_stream(family, module, go, log, *args))


def _stream(family: Family, module: Path, go: Path, log: Path, *args: str) -> Iterator[str]:
    """Yields the go command's output line by line while the command runs."""
    # Flags of the user's own Go set-up (-mod=vendor, say) must not reach these modules; module proxy settings must.
    environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off", "CGO_ENABLED": "0"}
    environment = {**COLLECTOR, **environment}
    with (
        log.open("w") as kept,
        subprocess.Popen(
            [go, *args],
            cwd=module,
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
        said = explanation(log.read_text(encoding="utf-8", errors="replace").splitlines(), log)
        raise BuildFailed(f"simulator/tools/{family.folder.name}: go {args[0]} failed: {said}")
