"""Installation of pinned Python packages with pip, with its progress.

pip says nothing for minutes while it unpacks, so the unpacked packages are counted in the folder they are unpacked to.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import threading
from collections import deque
from pathlib import Path

from simulator.tools.families import Progress, Report

NAME = "Python packages"
SECONDS_BETWEEN_COUNTS = 0.5
PIP = (
    *("install", "--no-deps", "--require-hashes", "--disable-pip-version-check", "--no-input", "--progress-bar=off"),
    # Of 15,000 modules a run imports a tenth. Python compiles those when it first imports them.
    "--no-compile",
)
"""Arguments of pip. The pins are complete, so pip has nothing to resolve: it would choose a newer release than the
pinned one where a package asks for another with an extra, and refuse it for its hash.
"""
_PINNED = re.compile(r"^[A-Za-z0-9][^\s=]*==", re.MULTILINE)
_LAST_LINES = 12


class PackagesFailed(Exception):
    """Error if pip could not install the packages; the text has its last lines."""


def pinned_packages(requirements: Path) -> int:
    """Number of packages that a file of requirements pins, whatever machine they are for."""
    return len(_PINNED.findall(requirements.read_text(encoding="utf-8")))


def install_packages(requirements: Path, report: Report, python: str = sys.executable) -> None:
    """Installs the packages of `requirements` into the environment of `python`.

    Raises:
        PackagesFailed: pip has failed.
    """
    total = pinned_packages(requirements)
    report(Progress(NAME, "collect", 0, total))
    last = deque[str](maxlen=_LAST_LINES)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    command = [python, "-m", "pip", *PIP, "--requirement", str(requirements)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None
        with _UnpackedPackages(total, report) as unpacked:
            collected = 0
            for line in pip.stdout:
                last.append(line.rstrip())
                if line.startswith(("Collecting ", "Requirement already satisfied")):
                    collected += 1
                    report(Progress(NAME, "collect", min(collected, total), total))
                elif line.startswith("Installing collected packages"):
                    report(Progress(NAME, "collect", total, total, finished=True))
                    unpacked.count()
    if pip.returncode:
        said = "\n".join(f"  {line}" for line in last)
        raise PackagesFailed(f"pip could not install {requirements.name} (exit code {pip.returncode}):\n{said}")
    unpacked.finish()


class _UnpackedPackages:
    """Counter of packages that pip has unpacked, which reports regularly once `count` is called."""

    def __init__(self, total: int, report: Report) -> None:
        self._total, self._report = total, report
        self._folder = Path(sysconfig.get_path("purelib"))
        self._before = self._present()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> _UnpackedPackages:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def count(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        if self._thread.ident is not None:
            self._report(Progress(NAME, "unpack", self._total, self._total, finished=True))

    def _run(self) -> None:
        while True:
            new = self._present() - self._before
            self._report(Progress(NAME, "unpack", min(new, self._total), self._total))
            if self._ended.wait(SECONDS_BETWEEN_COUNTS):
                return

    def _present(self) -> int:
        return sum(1 for _ in self._folder.glob("*.dist-info"))
