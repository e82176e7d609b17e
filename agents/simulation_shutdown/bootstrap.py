"""Runs a script as Python would, and reports its end. A program: `python bootstrap.py KIND TARGET ARGUMENTS…`.

KIND is script, module or code, for `python TARGET`, `python -m TARGET` and `python -c TARGET`.
"""

from __future__ import annotations

import builtins
import importlib.util
import os
import runpy
import sys
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType

HERE = Path(__file__).resolve().parent
NAME = "simulation_shutdown"


def main() -> None:
    """Ends as the script does: same exit code, same traceback; the timeout starts at its end."""
    kind, target = sys.argv[1:3]
    _package()
    from simulation_shutdown import close_hooks, environment, handle

    if line := os.environ.pop(environment.CONTROL, ""):
        handle.supervised_by(int(line))
    close_hooks.watch_imports()
    run = _prepared(kind, target)
    try:
        run()
    except (SystemExit, KeyboardInterrupt) as error:
        close_hooks.script_ended(handle.code_of(error))
        raise
    except BaseException as error:
        error.__traceback__ = _of_script(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        close_hooks.script_ended(1)
        sys.exit(1)
    close_hooks.script_ended(0)


def _package() -> None:
    """Loads the package that this file belongs to, also for an interpreter where it is not installed."""
    if NAME in sys.modules:
        return
    init = HERE / "__init__.py"
    spec = importlib.util.spec_from_file_location(NAME, init, submodule_search_locations=[str(HERE)])
    assert spec
    assert spec.loader
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)


def _prepared(kind: str, target: str) -> Callable[[], object]:
    """Sets sys.argv and sys.path as Python does; returns the function that runs the script."""
    arguments = sys.argv[3:]
    adds_path = not (sys.flags.isolated or getattr(sys.flags, "safe_path", False))
    if kind == "module":
        _set_first_path(os.getcwd(), adds_path)
        sys.argv[:] = ["-m", *arguments]
        return lambda: runpy.run_module(target, run_name="__main__", alter_sys=True)
    if kind == "code":
        _set_first_path("", adds_path)
        sys.argv[:] = ["-c", *arguments]
        return lambda: _run(target, "<string>", ModuleType("__main__"))
    sys.argv[:] = [target, *arguments]
    if not os.access(target, os.R_OK):
        print(f"{sys.executable}: can't open file {os.path.abspath(target)!r}", file=sys.stderr)
        sys.exit(2)
    if os.path.isdir(target) or _is_archive(target):
        if adds_path:
            del sys.path[0]
        return lambda: runpy.run_path(os.path.abspath(target), run_name="__main__")
    _set_first_path(os.path.dirname(os.path.realpath(target)), adds_path)
    return lambda: _run_file(target)


def _is_archive(target: str) -> bool:
    with open(target, "rb") as file:
        return file.read(2) == b"PK"


def _set_first_path(folder: str, adds_path: bool) -> None:
    if adds_path:
        sys.path[0] = folder


def _run_file(target: str) -> None:
    with open(target, "rb") as file:
        source = file.read()
    module = ModuleType("__main__")
    path = os.path.abspath(target)
    module.__file__ = path
    module.__loader__ = SourceFileLoader("__main__", path)
    _run(source, path, module)


def _run(source: str | bytes, name: str, module: ModuleType) -> None:
    """The module stays `__main__`: pickle, multiprocessing and atexit hooks look it up."""
    vars(module)["__builtins__"] = builtins
    sys.modules["simulation_shutdown.bootstrap"] = sys.modules["__main__"]
    sys.modules["__main__"] = module
    exec(compile(source, name, "exec", dont_inherit=True), vars(module))  # noqa: S102 - what Python itself would do


def _of_script(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this file and of runpy, as Python's own begins."""
    ours = (__file__, runpy.__file__, "<frozen runpy>")
    while trace and trace.tb_frame.f_code.co_filename in ours:
        trace = trace.tb_next
    return trace


if __name__ == "__main__":
    main()
