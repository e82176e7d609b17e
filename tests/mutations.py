"""Deliberate faults in the code, each of which the named tests have to find: `python -m tests.mutations [NAME ...]`.

Each fault is put into a copy of the checkout, where the tests then have to fail. A fault whose text is no longer in its
file is an error too: replace it by one of the same kind. Tests that find none of these prove little.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

from physical_ai.repository import ROOT

FILE = Path(__file__).with_suffix(".yaml")
NOT_COPIED = (".git", ".venv*", ".site", ".pytest_cache", ".ruff_cache", ".hypothesis", "__pycache__", "node_modules")
FAILED, BROKEN = 1, 2
"""Exit codes of pytest: a test failed; a module of tests could not be imported."""


@dataclass(frozen=True)
class Mutation:
    """One fault: `old` becomes `new` in `file`, and a test in the path `tests` has to fail."""

    file: str
    old: str
    new: str
    tests: str

    @property
    def name(self) -> str:
        return f"{self.file}: {self.old.strip()}"

    def applied(self, text: str) -> str:
        """The file's text with the fault in it.

        Raises:
            ValueError: the text to replace is missing, or not unique.
        """
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: found {text.count(self.old)} times, expected once")
        return text.replace(self.old, self.new)


def mutations() -> list[Mutation]:
    """Those on record."""
    return [Mutation(**each) for each in yaml.safe_load(FILE.read_text())]


class Copies:
    """Copies of the checkout, one for each thread."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._own, self._changes = folder, threading.local(), 0

    def mine(self) -> Path:
        if not hasattr(self._own, "path"):
            self._own.path = self._folder / str(threading.get_ident())
            shutil.copytree(ROOT, self._own.path, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
        return self._own.path

    def write(self, path: Path, text: str) -> None:
        """Python compiles a module anew only when its time differs by a second."""
        path.write_text(text)
        self._changes += 1
        seen = path.stat().st_mtime + 10 * self._changes
        os.utime(path, (seen, seen))

    def verdict(self, mutation: Mutation) -> str:
        """What is wrong with the tests, empty when they find the fault."""
        folder = self.mine()
        file = folder / mutation.file
        before = file.read_text()
        self.write(file, mutation.applied(before))
        command = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", mutation.tests)
        try:
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        finally:
            self.write(file, before)
        if ran.returncode in (FAILED, BROKEN):
            return ""
        return "no test found it" if ran.returncode == 0 else f"pytest ended with {ran.returncode}\n{ran.stdout}"


def main(names: Sequence[str]) -> int:
    chosen = [each for each in mutations() if not names or any(name in each.name for name in names)]
    if not chosen:
        print(
            f"no fault's name contains {' or '.join(names)}; names begin with the file, as in {FILE}", file=sys.stderr
        )
        return 2
    for each in chosen:
        each.applied((ROOT / each.file).read_text())  # before any test runs
    missed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        for each, verdict in zip(chosen, pool.map(Copies(Path(folder)).verdict, chosen), strict=True):
            missed += bool(verdict)
            print(f"{'MISSED' if verdict else 'found '} {each.name}{f': {verdict}' if verdict else ''}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
