"""Ends this process at a given time with a given exit code, whichever code holds the interpreter.

A timer of libc starts a thread of libc, and that thread calls `_exit`. No Python runs, so native code that keeps the
interpreter's lock does not prevent it. The first process of a container can end itself this way, although no process
in the container can kill it. A forked child does not inherit the timer (timer_create(2)).
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

_CLOCK_MONOTONIC = 1
_TIMER_ABSTIME = 1
_SIGEV_THREAD = 2
_MESSAGE_BEFORE = 0.05
"""Seconds before the end at which the message is written. It has its own timer, so it can't delay the end."""


class _Event(ctypes.Structure):
    """struct sigevent of glibc and musl on 64-bit machines."""

    _fields_ = [
        ("value", ctypes.c_uint64),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("function", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("rest", ctypes.c_char * 32),
    ]


class _Time(ctypes.Structure):
    """struct itimerspec: interval, then value."""

    _fields_ = [(name, ctypes.c_long) for name in ("every_s", "every_ns", "at_s", "at_ns")]


def _library(name: str) -> Any:
    """The C library that has a function: timers are in librt before glibc 2.34. OSError where none has it."""
    for library in (None, "librt.so.1"):
        loaded = ctypes.CDLL(library, use_errno=True)
        if hasattr(loaded, name):
            return loaded
    raise OSError(f"the C library has no {name}")


class ExitTimer:
    """Runs from its creation. `deadline` is in seconds of time.monotonic(); OSError where such timers don't exist."""

    def __init__(self, deadline: float, code: int, message: str) -> None:
        if ctypes.sizeof(ctypes.c_void_p) != 8:
            raise OSError("timers are supported on 64-bit machines only")
        self._timers: list[ctypes.c_void_p] = []
        try:
            self._start("_exit", code, deadline)
            self._start("warnx", _kept(message.replace("%", "%%")), deadline - _MESSAGE_BEFORE)
        except OSError:
            self.cancel()
            raise

    def _start(self, function: str, argument: int, at: float) -> None:
        address = ctypes.cast(getattr(_library(function), function), ctypes.c_void_p).value
        event = _Event(value=argument, notify=_SIGEV_THREAD, function=address)
        timer = ctypes.c_void_p()
        _checked("timer_create", _CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer))
        self._timers.append(timer)
        nanoseconds = max(1, int(at * 1e9))
        when = _Time(at_s=nanoseconds // 10**9, at_ns=nanoseconds % 10**9)
        _checked("timer_settime", timer, _TIMER_ABSTIME, ctypes.byref(when), None)

    def cancel(self) -> None:
        """Stops the timer. Calling it again has no effect."""
        while self._timers:
            _library("timer_delete").timer_delete(self._timers.pop())


def _kept(text: str) -> int:
    """The address of a C string that outlives the interpreter, as the timer does. It is never freed."""
    copy = _library("strdup").strdup
    copy.restype = ctypes.c_void_p
    return int(copy(text.encode()) or 0)


def flush_native_streams() -> None:
    """Writes the buffered output of C and C++ code, which `os._exit` would drop."""
    _library("fflush").fflush(None)


def _checked(function: str, *arguments: Any) -> None:
    if getattr(_library(function), function)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function}: {os.strerror(number)}")
