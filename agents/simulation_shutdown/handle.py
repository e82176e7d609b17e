"""prepare_for_shutdown, and the handle that it returns."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import NoReturn, Protocol

from .environment import Overrides, overrides, seconds
from .environment import exit_code as valid_code
from .exit_timer import ExitTimer, flush_native_streams
from .guard import Supervisor, Watchdog
from .isaac import quiet_stop_callbacks

GRACE = 2.0
"""Seconds by which the kill by another process follows the timer, which ends with the right exit code."""
FLUSH_SECONDS = 5.0
"""Seconds in which exit_now has to write the streams."""

_log = logging.getLogger("simulation_shutdown")


class _Watcher(Protocol):
    def cancel(self) -> None: ...


class Shutdown:
    """The timeout for the end of this process.

    `with prepare_for_shutdown(): env.close()` runs it for the block only.
    """

    def __init__(self, timeout: float, exit_code: int | None, chosen: Overrides) -> None:
        self.timeout = chosen.timeout or timeout
        self.exit_code = exit_code
        """The exit code on timeout; None: that of the exception being handled when the timeout starts, or 0."""
        self.deadline: float | None = None
        """When this process ends, in seconds of time.monotonic(); None while the timeout is off."""
        self._chosen = chosen
        self._pid = os.getpid()
        self._timer: ExitTimer | None = None
        self._watcher: _Watcher | None = None

    @property
    def armed(self) -> bool:
        """Whether the timeout runs in this process: a forked child has none."""
        return self.deadline is not None and self._pid == os.getpid()

    def arm(self) -> None:
        """Starts the timeout. A running one keeps its deadline."""
        with _Process.lock:
            if self.armed or self._chosen.off or self._pid != os.getpid():
                return
            _Process.handle = _Process.handle or self
            self.deadline = time.monotonic() + self.timeout
            code = self._start_timer(self.deadline)
            self._watcher = self._start_watcher(self.deadline, code)
        _log.info("closing has %g s, then the exit code is %d", self.timeout, code)
        with suppress(Exception):
            _flush()

    def change_code(self, code: int) -> None:
        """Changes the exit code on timeout. A running timeout keeps its deadline."""
        with _Process.lock:
            self.exit_code = code
            if self.armed and self.deadline is not None:
                if self._timer:
                    self._timer.cancel()
                code = self._start_timer(self.deadline)
                if supervisor := _supervisor():
                    supervisor.arm(self._kill_deadline(self.deadline), code)

    def cancel(self) -> None:
        """Stops the timeout. Has no effect the second time or in a forked child; `arm` starts it again."""
        with _Process.lock:
            self.disarm()
            if _Process.handle is self:
                _Process.handle = None

    def disarm(self) -> None:
        """Stops the timeout; the next prepare_for_shutdown still returns this handle."""
        with _Process.lock:
            if self._pid != os.getpid():
                return
            self.deadline = None
            if self._timer:
                self._timer.cancel()
            if self._watcher:
                self._watcher.cancel()
            self._timer = self._watcher = None

    def __enter__(self) -> Shutdown:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    def _start_timer(self, deadline: float) -> int:
        """Starts the timer; returns its exit code."""
        code = self._chosen.code(code_in_flight() if self.exit_code is None else self.exit_code)
        message = f"not closed after {self.timeout:g} s, ending with exit code {code}"
        try:
            self._timer = ExitTimer(deadline, code, f"simulation_shutdown: {message}")
        except OSError as fault:
            self._timer = None
            _log.warning("no timer in this process: a kill has to end it, with exit code 137 (%s)", fault)
        return code

    def _kill_deadline(self, deadline: float) -> float:
        return deadline + GRACE if self._timer else deadline

    def _start_watcher(self, deadline: float, code: int) -> _Watcher | None:
        if supervisor := _supervisor():
            supervisor.arm(self._kill_deadline(deadline), code)
            return supervisor
        if os.getpid() == 1:
            if not self._timer:
                _log.error(
                    "no process in a container can kill its first process: run it under an init "
                    "(docker run --init, or python -m simulation_shutdown exec -- COMMAND)"
                )
            return None
        try:
            return Watchdog(self._kill_deadline(deadline))
        except OSError as fault:
            _log.warning("no watchdog for this process: %s", fault)
            return None


class _Process:
    """State that exists once in a process."""

    handle: Shutdown | None = None
    supervisor: Supervisor | None = None
    lock = threading.RLock()


def _after_fork() -> None:
    _Process.handle = None
    _Process.lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


def prepare_for_shutdown(timeout: float = 30, *, exit_code: int | None = None, arm: bool = True) -> Shutdown:
    """Disables Isaac Lab's stop callbacks and starts the timeout for the end of this process.

    `timeout` in seconds, above 0. `exit_code` (0 to 255) is the process's exit code on timeout; without it, that
    of the exception being handled, or 0. With `arm=False`, `Shutdown.arm` starts the timeout, say after uploads.
    A second call returns the first one's handle: the timeout keeps its deadline, a given exit code takes effect.
    ValueError for a timeout or code out of range; a watchdog that can't start is a warning, since the run has ended.
    """
    seconds(str(timeout))
    if exit_code is not None:
        valid_code(str(exit_code))
    chosen = overrides(os.environ)
    for fault in chosen.faults:
        _log.warning("%s; ignored", fault)
    with _Process.lock:
        handle = _Process.handle
        if handle is None:
            handle = _Process.handle = Shutdown(timeout, exit_code, chosen)
        elif not handle.armed:
            handle.timeout = chosen.timeout or timeout
            handle.exit_code = exit_code if exit_code is not None else handle.exit_code
        elif exit_code is not None and exit_code != handle.exit_code:
            handle.change_code(exit_code)
        if arm:
            handle.arm()
    if not chosen.off:
        quiet_stop_callbacks()  # after the timeout has started: to unsubscribe is native code too
    return handle


def code_in_flight() -> int:
    """Python's exit code for the exception being handled; 0 without one."""
    return code_of(sys.exc_info()[1])


def code_of(error: BaseException | None) -> int:
    """The exit code of a process that ends by this exception, or by none."""
    if error is None:
        return 0
    if isinstance(error, KeyboardInterrupt):
        return 130
    if isinstance(error, SystemExit):
        return 0 if error.code is None else error.code & 0xFF if isinstance(error.code, int) else 1
    return 1


def exit_now(code: int = 0) -> NoReturn:
    """Flushes the output streams and ends this process, without closing anything.

    The last line of a script that ran Isaac Sim: `simulation_app.close()` hangs where Vulkan failed.
    """
    with suppress(OSError):
        ExitTimer(
            time.monotonic() + FLUSH_SECONDS,
            code & 0xFF,
            "simulation_shutdown: output is blocked and dropped",
        )
    with suppress(Exception):
        _flush()
    os._exit(code & 0xFF)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    flush_native_streams()


def supervised_by(descriptor: int) -> None:
    """Makes `exec` the process that kills this one."""
    _Process.supervisor = Supervisor(descriptor)


def _supervisor() -> Supervisor | None:
    found = _Process.supervisor
    return found if found and found.is_ours() else None


def report_ended(code: int) -> None:
    """Reports to `exec` that the script has ended with `code`, which counts whatever happens while closing."""
    if supervisor := _supervisor():
        supervisor.ended(code)
