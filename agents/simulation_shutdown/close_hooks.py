"""What `exec` adds to a script that can't be edited: a timeout for the calls that are known to hang.

`SimulationApp.close` is the last call of a script, and under fast shutdown it never returns: the timeout's exit code is
the script's own. After an environment's `close` a script may still have work to do (uploads), so a run that hangs there
has not succeeded.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import handle as handles
from .environment import UNFINISHED
from .isaac import loaded, quiet_stop_callbacks

APPS = tuple(
    (module, "SimulationApp")
    for module in (
        "isaacsim.simulation_app.simulation_app",
        "isaacsim.simulation_app",
        "isaacsim",
        "omni.isaac.kit.simulation_app",
        "omni.isaac.kit",
    )
)
"""Isaac Sim from 4.5, and before."""
ENVIRONMENTS = (
    *(
        (f"{package}.envs.{module}", name)
        for package in ("isaaclab", "omni.isaac.lab")
        for module, name in (
            ("manager_based_env", "ManagerBasedEnv"),
            ("direct_rl_env", "DirectRLEnv"),
            ("direct_marl_env", "DirectMARLEnv"),
        )
    ),
    # Of Isaac Lab 3, derived from none of these (isaac-sim/IsaacLab, read 2026-11-27).
    ("isaaclab.envs.direct_deployment_env", "DirectDeploymentEnv"),
    ("isaaclab.envs.leapp_deployment_env", "LeappDeploymentEnv"),
    ("isaaclab_experimental.envs.direct_rl_env_warp", "DirectRLEnvWarp"),
    ("isaaclab_experimental.envs.manager_based_env_warp", "ManagerBasedEnvWarp"),
)
"""Isaac Lab's base classes. Derived classes call their close, ManagerBasedMARLEnv that of ManagerBasedEnv."""

_WATCHED = {module for module, _ in (*APPS, *ENVIRONMENTS)}
_MARK = "_simulation_shutdown"


def wrap_loaded() -> None:
    """Adds the timeout to `close` of every known class that is loaded. Calling it again has no effect."""
    for module, name in APPS:
        _wrap(loaded(module, name), _closing_app)
    for module, name in ENVIRONMENTS:
        _wrap(loaded(module, name), _closing_environment)


def _wrap(kind: Any, clock: Callable[[dict[str, Any]], Any]) -> None:
    original = getattr(kind, "__dict__", {}).get("close")
    if not callable(original) or hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def close(*arguments: Any, **named: Any) -> Any:
        with clock(named):
            return original(*arguments, **named)

    setattr(close, _MARK, True)
    kind.close = close


@contextmanager
def _closing_app(named: dict[str, Any]) -> Generator[None, None, None]:
    asked = named.get("exit_code")
    code = (asked & 0xFF if isinstance(asked, int) else 0) or handles.code_in_flight() or _Script.code or 0
    with _clock(code):
        if _Script.code is None:
            handles.report_ended(code)
        yield


@contextmanager
def _closing_environment(named: dict[str, Any]) -> Generator[None, None, None]:
    with _clock(handles.code_in_flight() or UNFINISHED):
        yield


@contextmanager
def _clock(code: int) -> Generator[None, None, None]:
    """The timeout for a block. One that already runs, the script's own or an outer block's, is kept."""
    handle = handles.prepare_for_shutdown(arm=False)
    if handle.armed:
        yield
        return
    chosen, handle.exit_code = handle.exit_code, code
    handle.arm()
    try:
        yield
    finally:
        handle.disarm()
        handle.exit_code = chosen


class _Script:
    pid = os.getpid()
    code: int | None = None
    """The script's exit code, once it has ended."""


def script_ended(code: int) -> None:
    """The script has ended. The timeout starts after the threads that Python waits for, before the first atexit hook.

    A forked child that calls this is not the script.
    """
    if os.getpid() != _Script.pid:
        return
    quiet_stop_callbacks()
    _Script.code = code
    handles.report_ended(code)
    atexit.register(_start_clock, code)


def _start_clock(code: int) -> None:
    handle = handles.prepare_for_shutdown(arm=False)
    handle.change_code(code)
    handle.arm()


class _ImportWatcher(MetaPathFinder):
    """Delegates to the other finders, and wraps known classes once their modules are loaded.

    It also checks on every import, because Kit loads modules in other ways.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        wrap_loaded()
        if fullname not in _WATCHED:
            return None
        finders = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec")]
        spec = next((found for finder in finders if (found := finder.find_spec(fullname, path, target))), None)
        loader: Any = spec and spec.loader
        if loader and hasattr(loader, "exec_module"):
            loader.exec_module = _then_wrap(loader.exec_module)
        return spec


def _then_wrap(load: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def exec_module(module: ModuleType) -> None:
        load(module)
        wrap_loaded()

    return exec_module


def watch_imports() -> None:
    """Wraps known classes whenever the script imports a module."""
    sys.meta_path.insert(0, _ImportWatcher())
