"""Resident process that has loaded the modules which the Pulumi program imports. For each command that runs the
program, the resident process forks a copy of itself, which saves the 1.5 seconds that the imports take.

The first command starts the resident process, whose socket is in a folder that only the user can open. There is one
resident process for each project, interpreter, installation and set of Python variables. A change of a loaded file
makes the process start again; the end of the project's last simulation ends the process. The resident process also
makes copies that run complete commands, which saves the imports of the commands.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from physical_ai.repository import PROJECT, ROOT, user_folder
from simulator.home import project_prefix

VARIABLE = "PHYSAI_RESIDENT_PROGRAM"
"""Environment variable that, set to `off`, makes each command load the program again."""
FOLDER, SOCKET = "programs", "socket"


def ask_for_copy(requests: int, answers: int, later: str = "") -> bool:
    """Asks the resident process for a copy that has the pipe `requests` as standard input and the pipe `answers` as
    standard output. Starts the resident process if none runs.

    Standard error, working directory and umask are those of this process. `later`: module that the resident process
    loads when it is idle. Returns False if no copy can be made.
    """
    return _ask({"later": later}, [requests, answers, sys.stderr.fileno()], start=True)


def ask_for_command(module: str, control: int) -> bool:
    """Asks the resident process for a copy that calls the function `serve` of the module `module` with the socket
    `control`.

    The copy has this process's standard streams, working directory, umask and `sys.path`. Returns False if no resident
    process runs.
    """
    streams = [stream.fileno() for stream in (sys.stdin, sys.stdout, sys.stderr)]
    return _ask({"module": module, "path": sys.path[0]}, [*streams, control], start=False)


def _ask(wanted: dict[str, str], files: list[int], *, start: bool) -> bool:
    if sys.platform != "linux" or os.environ.get(VARIABLE) == "off":
        return False
    umask = os.umask(0o077)
    os.umask(umask)
    message = json.dumps({"cwd": os.getcwd(), "umask": umask, **wanted}).encode()
    try:
        with _connected(_own_folder(), start=start) as connection:
            socket.send_fds(connection, [message], files)
    except OSError:
        return False  # none runs, or a file system without sockets, for example; the program is loaded again
    return True


def end(home: Path, project: Path = PROJECT) -> None:
    """Ends the project's resident processes in a home folder, unless the project still has a simulation there."""
    if has_simulations(home, project):
        return
    from simulator import processes  # not loaded by each command

    for folder in home.glob(f"{FOLDER}/{project_prefix(project)}-*"):
        processes.kill(folder)
        shutil.rmtree(folder, ignore_errors=True)


def has_simulations(home: Path, project: Path = PROJECT) -> bool:
    return any(home.glob(f"simulations/{project_prefix(project)}-*"))


def _own_folder() -> Path:
    """Folder with the socket of this user's resident process for this project, interpreter, installation and set of
    Python variables. Only the user can open the folder.
    """
    python = {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
    own = json.dumps([sys.executable, sys.version, str(ROOT), sys.path[1:], sorted(python.items())])
    folder = user_folder() / FOLDER / f"{project_prefix()}-{hashlib.sha256(own.encode()).hexdigest()[:8]}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is open to others")
    return folder


def _connected(folder: Path, *, start: bool) -> socket.socket:
    """A connection to the resident process of a folder; with `start` the process is started if it is not running."""
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    # The kernel takes no path of more than 108 characters.
    inside = os.open(folder, os.O_RDONLY)
    address = f"/proc/self/fd/{inside}/{SOCKET}"
    connection = socket.socket(socket.AF_UNIX)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two commands one starts it
        try:
            connection.connect(address)
        except (FileNotFoundError, ConnectionRefusedError):
            if not start:
                raise
            (folder / SOCKET).unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(address)
                listener.listen()
                _start(folder, listener)
                connection.connect(address)
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(inside)
        os.close(lock)
    return connection


def _start(folder: Path, listener: socket.socket) -> None:
    number = listener.fileno()
    with (folder / "log").open("ab") as log:
        subprocess.Popen(
            [sys.executable, "-m", "simulator.resident_process", str(folder), str(number)],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
