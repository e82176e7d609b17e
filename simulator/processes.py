"""Processes that outlive the command that started them, found by their working directory.

A process belongs to a folder if the folder is its working directory. Pid files are not used: a pid file can be out of
date, or can lack a process that was started just before a crash.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

GRACE = 8.0
"""Seconds that a process gets to end after SIGTERM, before SIGKILL."""

GO_COLLECTION = "300"
"""Value of GOGC for the Go programs. With 300, the heap may grow to four times its size before a garbage collection;
Go's default is twice the size. It saves a seventh of the processor time and costs 0.2 GiB of memory for each cluster.
"""

PROXY_VARIABLES = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy", "kubeconfig"})


def start(name: str, command: Sequence[str | Path], folder: Path, extra: Mapping[str, str] | None = None) -> None:
    """Starts a daemon in `folder`, which appends its output to `<name>.log` there."""
    environment = {key: value for key, value in os.environ.items() if key.lower() not in PROXY_VARIABLES}
    environment.setdefault("GOGC", GO_COLLECTION)
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
    """This user's live processes whose working directory is `folder`, by the name of their executable or
    Python module.
    """
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


def engines(home: Path) -> list[psutil.Process]:
    """Running engines whose PULUMI_HOME is this folder."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if process.name() == "pulumi" and process.environ().get("PULUMI_HOME") == str(home):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def started_at(pid: int) -> float:
    """Start time of a process in seconds since the epoch, which together with the process id identifies the process."""
    return psutil.Process(pid).create_time()


def is_running(pid: int, started: float) -> bool:
    """True if the process with this id and start time is still running."""
    try:
        return started_at(pid) == started
    except psutil.NoSuchProcess:
        return False


def kill(folder: Path) -> None:
    """Kills the processes of `folder`, so that its data can be removed."""
    live = list(running(folder).values())
    for process in live:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(live, timeout=GRACE)


def stop(folder: Path, *groups: Sequence[str]) -> None:
    """Stops the processes of `folder`. `groups`: names of processes to stop first, one group after the other; all other
    processes are stopped last.
    """
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
