"""Command `python -m simulator.resident_process FOLDER SOCKET`: the resident process that `simulator.resident` starts.

The process starts no thread and opens no gRPC connection, because neither works in a forked copy.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from physical_ai.repository import PROJECT, is_own_module
from simulator import resident
from simulator.home import project_prefix

IDLE_SECONDS = 60.0
"""Seconds without a request after which the process checks if the project still has a simulation, and ends if it has
none.
"""

SOON_SECONDS = 6.0
"""Seconds between the start of the process and the loading of the modules that a run of the program uses. The first
copy loads these modules itself; without the delay, the process would load them at the same time and slow the copy down.
"""

LATER_SECONDS = 30.0
"""Seconds between the last request and the loading of the modules that commands use. Without the delay, the loading
would compete for processors with the command that has just begun.
"""

Stamp = tuple[int, int, int]
"""Identity of a file's content: time of the last change, size and inode; zeros if the file does not exist."""

_read: set[str] = set()
"""Paths of the files that this process has read, as reported by its audit hook."""


def main() -> None:
    folder, listener = Path(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))
    began_in = os.getcwd()
    assert folder.name.startswith(project_prefix()), f"{PROJECT} is another project"
    os.chdir(folder)  # the process is found by its folder when the simulation ends
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing waits for copies
    sys.addaudithook(_listen)
    loaded = _load(_import_program)
    is_complete, later = False, ""
    if asked := sys.argv[3:]:
        later = _answer(listener, asked[0], [int(file) for file in asked[1:]], loaded)
    while True:
        listener.settimeout((LATER_SECONDS if later else IDLE_SECONDS) if is_complete else SOON_SECONDS)
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            if not is_complete:
                _load_also(_import_used, loaded)
                is_complete = True
                continue
            if not resident.has_simulations(folder.parent.parent):
                break
            if later:
                _load_module(later, loaded)
                later = ""
            continue
        with connection:
            message, files, _, _ = socket.recv_fds(connection, 1 << 16, 4)
        if not message:
            continue  # the command was killed before it asked
        if stamps(loaded) != loaded:
            if "module" in json.loads(message):  # the command loads what it needs, which is less than the program
                _close(files)
                continue
            os.chdir(began_in)
            _start_over(folder, listener, message.decode(), files)
        later = _answer(listener, message.decode(), files, loaded) or later
    shutil.rmtree(folder, ignore_errors=True)


def _import_program() -> None:
    from simulator import program

    program.import_all()


def _import_used() -> None:
    from simulator import program

    program.import_used()


def _load_module(module: str, loaded: dict[str, Stamp]) -> None:
    if module not in sys.modules:
        _load_also(lambda: importlib.import_module(module), loaded)


def _load_also(load: Callable[[], object], loaded: dict[str, Stamp]) -> None:
    """Calls `load`, and adds the files that the call has read to `loaded`."""
    found = _load(load)
    loaded |= {path: stamp for path, stamp in found.items() if path not in loaded}


def _load(load: Callable[[], object]) -> dict[str, Stamp]:
    """Calls `load`, and returns a stamp for each file that this process has read so far.

    A file that was written during the call gets the stamp `(0, 0, 0)`: it counts as changed, because this process may
    have read the earlier content.
    """
    # The support for forks is for processes with connections, and prints warnings.
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    began = time.time_ns()
    gc.disable()  # the collector would search the SDKs' thousands of classes again and again, and free nothing
    load()
    gc.freeze()  # what is never collected remains shared with the copies
    gc.enable()
    if threading.active_count() > 1:
        raise RuntimeError(f"an import has started a thread: {threading.enumerate()}")
    modules = {file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    read = {file for file in _read if "__pycache__" not in file}
    files = {file for file in modules | read if not file.startswith(("/proc/", "/sys/")) and Path(file).is_file()}
    # A new file may take precedence over a loaded one, so the folders of packages are stamped too.
    folders = {str(Path(file).parent) for file in modules if is_own_module(file)}
    folders |= {folder for folder in sys.path if folder.endswith("-packages")}
    found = stamps({sys.executable, *files, *folders})
    # A file that was written during the call may have been read before that, so it gets zeros, which match no stamp.
    return {path: (0, 0, 0) if path in files and stamp[0] >= began else stamp for path, stamp in found.items()}


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str) and arguments[2] & os.O_ACCMODE == os.O_RDONLY:
        _read.add(os.path.abspath(arguments[0]))


def stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    """Stamps of files and folders. A changed stamp shows that a file, or the list of files in a folder, has changed."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


def _start_over(folder: Path, listener: socket.socket, message: str, files: Sequence[int]) -> None:
    """Replaces this process by a new one, which loads the program's present files and then answers the request
    `message`.
    """
    numbers = (listener.fileno(), *files)
    for number in numbers:
        os.set_inheritable(number, True)
    module = "simulator.resident_process"
    first, *others = map(str, numbers)
    os.execv(  # noqa: S606  # no shell is wanted
        sys.executable, [sys.executable, "-m", module, str(folder), first, message, *others]
    )


def _answer(listener: socket.socket, message: str, files: Sequence[int], loaded: dict[str, Stamp]) -> str:
    """Forks a copy of this process for the request `message`. Returns the module that the request wants loaded when
    this process is idle; empty if there is none.
    """
    request = json.loads(message)
    if module := request.get("module"):
        _load_module(module, loaded)
    if os.fork() == 0:
        try:
            listener.close()
            _serve(request, files)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    _close(files)
    later = request.get("later", "")
    return "" if later in sys.modules else later


def _close(files: Iterable[int]) -> None:
    for file in files:
        os.close(file)


def _serve(wanted: dict[str, Any], files: Sequence[int]) -> None:
    """Runs what the request `wanted` names, in the forked copy: the Pulumi program, or the function `serve` of a
    module. The copy behaves as a new process of the command.
    """
    os.setpgid(0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
        os.close(file)
    os.chdir(wanted["cwd"])
    os.umask(wanted["umask"])
    if module := wanted.get("module"):
        sys.path[0] = wanted["path"]
        sys.modules[module].serve(socket.socket(fileno=files[3]))
        return
    from simulator import program

    sys.path[0], sys.argv = wanted["cwd"], [program.__file__]
    program.serve()


if __name__ == "__main__":
    main()
