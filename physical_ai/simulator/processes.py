"""Processes that outlive the command which started them, found again by the folder they run in.

There is no pid file to go stale or to miss a process that was started a moment before a crash: a process belongs to
a folder when that folder is its working directory.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

GRACE = 8.0
"""Seconds a process gets to end by itself."""

PROXY_VARIABLES = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy", "kubeconfig"})


def start(name: str, command: Sequence[str | Path], folder: Path, extra: Mapping[str, str] | None = None) -> None:
    """Starts a daemon in `folder`, its output appended to `<name>.log` there."""
    environment = {key: value for key, value in os.environ.items() if key.lower() not in PROXY_VARIABLES}
    with (folder / f"{name}.log").open("ab") as log:
        subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env={**environment, **(extra or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def running(folder: Path) -> dict[str, psutil.Process]:
    """This user's live processes that run in `folder`, by the name of their executable or Python module."""
    found: dict[str, psutil.Process] = {}
    home = str(folder.resolve())
    for process in psutil.process_iter():
        try:
            if process.cwd() == home and process.status() != psutil.STATUS_ZOMBIE:
                found[_name(process)] = process
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def _name(process: psutil.Process) -> str:
    command = process.cmdline()
    is_module = len(command) > 2 and command[1] == "-m"
    return command[2] if is_module else process.name()


def birth(pid: int) -> float:
    """When a process began, in seconds since the epoch: with its number, what tells it from every other."""
    return psutil.Process(pid).create_time()


def lives(pid: int, born: float) -> bool:
    """Whether the very process that was born then is still there."""
    try:
        return birth(pid) == born
    except psutil.NoSuchProcess:
        return False


def kill(folder: Path) -> None:
    """Ends the processes of `folder` at once, for when nothing of theirs is to be kept."""
    live = list(running(folder).values())
    for process in live:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(live, timeout=GRACE)


def stop(folder: Path, *groups: Sequence[str]) -> None:
    """Ends the processes of `folder`, group after group in the order given, then whatever is left."""
    live = running(folder)
    named = [[live.pop(name) for name in group if name in live] for group in groups]
    for group in [*named, list(live.values())]:
        _end(group)


def _end(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        try:
            process.terminate()
        except psutil.NoSuchProcess:
            continue
    _, left = psutil.wait_procs(processes, timeout=GRACE)
    for process in left:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(left, timeout=GRACE)
