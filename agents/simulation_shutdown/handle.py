"""prepare_for_shutdown, and the handle that it gives."""

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
from .fuse import Fuse, flush_native_streams
from .guard import Supervisor, Watchdog
from .isaac import quiet_stop_callbacks

GRACE = 2.0
"""Seconds by which the kill from outside follows the process's own end: that one has the right exit code."""
FLUSH_SECONDS = 5.0
"""What exit_now gives streams whose reader does not read."""

_log = logging.getLogger("simulation_shutdown")


class _Outside(Protocol):
    def cancel(self) -> None: ...


class Shutdown:
    """The clock over the end of this process.

    `with prepare_for_shutdown(): env.close()` runs it for the block only.
    """

    def __init__(self, timeout: float, exit_code: int | None, chosen: Overrides) -> None:
        self.timeout = chosen.timeout or timeout
        self.exit_code = exit_code
        """The code when the time is up; None takes that of the exception being handled when the clock starts, or 0."""
        self.deadline: float | None = None
        """When this process ends, in seconds of time.monotonic(); None while no clock runs."""
        self._chosen = chosen
        self._pid = os.getpid()
        self._fuse: Fuse | None = None
        self._outside: _Outside | None = None

    @property
    def armed(self) -> bool:
        """Whether the clock runs, in this process: a forked child has none."""
        return self.deadline is not None and self._pid == os.getpid()

    def arm(self) -> None:
        """Starts the clock. Where it runs it keeps its time."""
        with _Process.lock:
            if self.armed or self._chosen.off or self._pid != os.getpid():
                return
            _Process.handle = _Process.handle or self
            self.deadline = time.monotonic() + self.timeout
            code = self._light(self.deadline)
            self._outside = self._call_for_help(self.deadline, code)
        _log.info("closing has %g s, then the exit code is %d", self.timeout, code)
        with suppress(Exception):
            _flush()

    def change_code(self, code: int) -> None:
        """The exit code when the time is up, from here on. A running clock keeps its time."""
        with _Process.lock:
            self.exit_code = code
            if self.armed and self.deadline is not None:
                if self._fuse:
                    self._fuse.out()
                code = self._light(self.deadline)
                if supervisor := _supervisor():
                    supervisor.arm(self._late(self.deadline), code)

    def cancel(self) -> None:
        """Stops the clock. Harmless a second time, and in a forked child; `arm` starts it anew."""
        with _Process.lock:
            self.disarm()
            if _Process.handle is self:
                _Process.handle = None

    def disarm(self) -> None:
        """Stops the clock and stays what the next prepare_for_shutdown gives."""
        with _Process.lock:
            if self._pid != os.getpid():
                return
            self.deadline = None
            if self._fuse:
                self._fuse.out()
            if self._outside:
                self._outside.cancel()
            self._fuse = self._outside = None

    def __enter__(self) -> Shutdown:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    def _light(self, deadline: float) -> int:
        """Lights the fuse; the exit code that it has."""
        code = self._chosen.code(code_in_flight() if self.exit_code is None else self.exit_code)
        words = f"not closed after {self.timeout:g} s, ending with exit code {code}"
        try:
            self._fuse = Fuse(deadline, code, f"simulation_shutdown: {words}")
        except OSError as fault:
            self._fuse = None
            _log.warning("no timer in this process: it takes a kill to end it, with exit code 137 (%s)", fault)
        return code

    def _late(self, deadline: float) -> float:
        return deadline + GRACE if self._fuse else deadline

    def _call_for_help(self, deadline: float, code: int) -> _Outside | None:
        if supervisor := _supervisor():
            supervisor.arm(self._late(deadline), code)
            return supervisor
        if os.getpid() == 1:
            if not self._fuse:
                _log.error(
                    "nothing in a container can kill its first process: run it under an init "
                    "(docker run --init, or python -m simulation_shutdown exec -- COMMAND)"
                )
            return None
        try:
            return Watchdog(self._late(deadline))
        except OSError as fault:
            _log.warning("no process watches this one: %s", fault)
            return None


class _Process:
    """What there is once in a process."""

    handle: Shutdown | None = None
    supervisor: Supervisor | None = None
    lock = threading.RLock()


def _after_fork() -> None:
    _Process.handle = None
    _Process.lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


def prepare_for_shutdown(timeout: float = 30, *, exit_code: int | None = None, arm: bool = True) -> Shutdown:
    """Takes Isaac Lab's stop callbacks off and starts the clock over the end of this process.

    `timeout` in seconds, above 0. `exit_code` (0 to 255) is the process's code when the time is up; without it, the
    code of the exception being handled, or 0. `arm=False` leaves the clock to `Shutdown.arm`, after uploads say.
    A second call gives the first one's handle: the clock keeps its time, an exit code given takes effect.
    ValueError for a timeout or code out of range; a watchdog that can't start is a warning, since the run is over.
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
        quiet_stop_callbacks()  # after the clock has started: to unsubscribe is native code too
    return handle


def code_in_flight() -> int:
    """The exit code that Python would give to the exception being handled; 0 without one."""
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
    """Writes what streams still hold and ends this process, without closing anything.

    The last line of a script that ran Isaac Sim: `simulation_app.close()` hangs where Vulkan failed.
    """
    with suppress(OSError):
        Fuse(time.monotonic() + FLUSH_SECONDS, code & 0xFF, "simulation_shutdown: nobody reads, output is dropped")
    with suppress(Exception):
        _flush()
    os._exit(code & 0xFF)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    flush_native_streams()


def supervised_by(descriptor: int) -> None:
    """Makes `exec` the one who looks on from outside."""
    _Process.supervisor = Supervisor(descriptor)


def _supervisor() -> Supervisor | None:
    found = _Process.supervisor
    return found if found and found.is_ours() else None


def tell_ended(code: int) -> None:
    """Tells `exec` that the script is over with `code`, and that this counts whatever closing makes of it."""
    if supervisor := _supervisor():
        supervisor.ended(code)
