"""The two sides of a change, base and head: their files from git in temporary folders, and calls of the `physai` that
each side contains.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from physical_ai.repository import ROOT
from simulator import clock, resident
from simulator.engine import STATE_AT_THE_END
from simulator.home import HOME_VARIABLE, Home
from simulator.tools import LINTERS, TELEMETRY
from simulator.tools.install import VARIABLE as TOOLS_FROM
from workbench.cli.options import USUAL_WORK_VARIABLE
from workbench.cli.pull_request.bytecode import take_bytecode
from workbench.cli.pull_request.revisions import Repository

SHARED = ("tools", "charts")
"""Folders with built programs and downloaded charts. The base uses those in the user's home folder; the head gets
copies.
"""
PYTHON_PATH = ("", "agents", "agents/grid_driver")
PASSED_ON = re.compile(
    r"PATH|LD_LIBRARY_PATH|TMPDIR|TZ|TERM|LANG|LANGUAGE|LC_\w+|(HTTPS?|ALL|NO)_PROXY|SSL_CERT_(FILE|DIR)|GO(PROXY|SUMDB|TOOLCHAIN|GC)"
    rf"|{TOOLS_FROM}|{clock.VARIABLE}|{clock.IDLE_VARIABLE}",
    re.IGNORECASE,
)
"""Pattern of the names of environment variables that the commands of base and head get: programs need these variables
to run and to download tools. All other variables may be secret, even variables with this project's prefix.
"""
_LOGIN = re.compile(r"[^/@\s]+:[^/@\s]*@|//[^/]*@")
"""Pattern of a user name and password in an address, with or without `//`. Programs accept both forms for a proxy."""
UNUSED = tuple(f"{family.name}-" for family in (*LINTERS, *TELEMETRY))
"""Prefixes of the names of tool folders that are not copied, because neither `up` nor `preview` runs these tools."""
KILL_SECONDS, KILL_ROUNDS = 10, 20
SET_CHILD_SUBREAPER = 36
"""Option of prctl(2) that makes this process the parent of its orphaned descendants, in place of the process with PID
1.
"""


@dataclass(frozen=True)
class Completed:
    """Result of a command that has ended, or was killed at its time limit."""

    code: int
    out: str
    err: str
    timed_out: bool = False


@dataclass(frozen=True)
class Side:
    """Version of a project before or after a change: the folder with its files, and the home folder for simulations."""

    folder: Path
    home: Path
    shares_tools: bool = False
    """True if the home folder uses the user's own tools. If False, it has copies of the tools, because the code of the
    change could damage them.
    """
    platform: Path | None = None
    """Folder with the packages of another version of the platform, which a team's project runs; None for the version of
    this process.
    """

    def copy_tools(self) -> None:
        """Copies the tools and charts that this home folder lacks from the user's home folder."""
        for name in () if self.shares_tools else SHARED:
            for tool in sorted(_users_home().glob(f"{name}/*/")):
                copy = self.home / name / tool.name
                if not copy.exists() and not tool.name.startswith(UNUSED):
                    shutil.copytree(tool, copy, symlinks=True)

    def physai(self, *arguments: str, timeout: float | None = None) -> Completed:
        """Runs the `physai` of base or head, with the Python packages of this process."""
        return self._python("-m", self._command(), *arguments, timeout=timeout)

    def _command(self) -> str:
        """Name of the package with the commands: `cli` within `physical_ai` if this side has such a folder, as in
        commits before 2026-11-28; otherwise `workbench.cli`.

        A team's project has neither package, so the installed `workbench.cli` runs for its base and its head.
        """
        own = self.folder / "physical_ai" / "cli"
        return ".".join(("physical_ai", "cli")) if own.is_dir() else "workbench.cli"

    def simulation(self, stack: str) -> Path:
        """Folder of the simulation of a stack in this home folder."""
        return Home(self.home).simulation(stack, self.folder)

    def document(self, *arguments: str, timeout: float) -> tuple[dict[str, Any] | None, str]:
        """The JSON document that a command prints, and the command's error output. If the command succeeds, the error
        output is empty; if it fails, the document is None.
        """
        ran = self.physai(*arguments, timeout=timeout)
        if ran.timed_out:
            return None, f"`physai {arguments[0]}` did not finish within {timeout / 60:.0f} minutes."
        try:
            return (json.loads(ran.out), "") if ran.code == 0 else (None, end_of_output(ran.err, self))
        except (ValueError, RecursionError):
            return None, f"`physai {arguments[0]}` printed no JSON: {ran.out[:200]}"

    def _python(self, *arguments: str, timeout: float | None = None) -> Completed:
        passed_on = {name: value for name, value in os.environ.items() if _is_passed_on(name, value)}
        environment = {
            **passed_on,
            # Go and other programs keep caches there.
            "HOME": os.environ.get("HOME", str(self.home)) if self.shares_tools else str(self.home),
            HOME_VARIABLE: str(self.home),
            USUAL_WORK_VARIABLE: "1",  # nothing runs in the simulation of a base
            **STATE_AT_THE_END,  # a simulation of a side is removed in any case
            resident.VARIABLE: "off",  # each stack needs only one command, so a resident process would not pay off
            "PYTHONPATH": os.pathsep.join(str(each) for each in self._path()),
        }
        command = [sys.executable, *arguments]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                _kill_group(process)
                out, err = process.communicate()
                return Completed(process.returncode, out, err, timed_out=True)
            except BaseException:
                _kill_group(process)
                raise
        return Completed(process.returncode, out, err)

    def _path(self) -> list[Path]:
        """Folders from which Python imports before it looks for installed packages."""
        return [*(self.folder / part for part in PYTHON_PATH), *([self.platform] if self.platform is not None else [])]


def end_of_output(text: str, side: Side, lines: int = 20) -> str:
    """The last lines of a command's output, without the names of temporary folders."""
    shown = text.replace(f"{side.folder}/", "").replace(str(side.home), "$PHYSAI_HOME").strip().splitlines()
    return "\n".join(shown[-lines:]) or "it printed nothing"


@contextmanager
def sides(repository: Repository, base: str, head: str) -> Generator[tuple[Side, Side]]:
    """Base and head in temporary folders. At the end, processes that run in the folders are killed, and the folders
    removed.
    """
    folder = Path(tempfile.mkdtemp(prefix="physai-pr-")).resolve()
    before = adopt_orphans()
    try:
        both = (
            Side(folder / "base", folder / "base-home", shares_tools=True),
            Side(folder / "head", folder / "head-home"),
        )
        for side in both:
            side.home.mkdir()
        for name in SHARED:
            (_users_home() / name).mkdir(parents=True, exist_ok=True)
            (both[0].home / name).symlink_to(_users_home() / name)
        for side, tree in zip(both, (base, head), strict=True):
            repository.export(tree, side.folder)
        take_bytecode(both[0].folder, ROOT)
        yield both
    finally:
        kill_processes(folder)
        kill_descendants(before)
        adopt_orphans(adopt=False)
        shutil.rmtree(folder, ignore_errors=True)


def kill_processes(folder: Path) -> None:
    """Kills every process whose working directory is `folder`, or a folder below it."""
    killed: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(folder):
                process.kill()
                killed.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    psutil.wait_procs(killed, timeout=KILL_SECONDS)


def adopt_orphans(*, adopt: bool = True) -> set[int]:
    """Makes this process the parent of its orphaned descendants or, if `adopt` is False, stops adopting them. Returns
    the process ids of all present descendants.

    Every process that the code of base or head starts can then be found and ended. This works only on Linux. Elsewhere,
    a process is lost if it changes both its folder and its session.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)
    return {each.pid for each in psutil.Process().children(recursive=True)}


def kill_descendants(but: set[int]) -> None:
    """Kills all descendants of this process except those in `but`, including descendants that start meanwhile."""
    for _ in range(KILL_ROUNDS):
        found = [each for each in psutil.Process().children(recursive=True) if each.pid not in but]
        if not found:
            return
        for each in found:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        psutil.wait_procs(found, timeout=KILL_SECONDS)


def _users_home() -> Path:
    return Home.of_user().folder


def _is_passed_on(name: str, value: str) -> bool:
    """True if the commands of base and head get this environment variable: its name is in PASSED_ON, and its value has
    no password in an address.
    """
    return PASSED_ON.fullmatch(name) is not None and not _LOGIN.search(value)


def _kill_group(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
