"""Ends this process at a given time with a given exit code, whoever holds the interpreter.

A timer of libc starts a thread of libc, and that thread calls `_exit`. No Python runs, so native code that keeps the
interpreter's lock can't be in the way, and the first process of a container can end itself so, although no process in
the container can kill it. A forked child does not inherit the timer (timer_create(2)).
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

_CLOCK_MONOTONIC = 1
_TIMER_ABSTIME = 1
_SIGEV_THREAD = 2
_SAID_BEFORE = 0.05
"""Seconds that the message gets before the process ends. It has a timer of its own, so it can't hold up the end."""


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
    """The C library that has a function: timers lie in librt before glibc 2.34. OSError where none has it."""
    for library in (None, "librt.so.1"):
        loaded = ctypes.CDLL(library, use_errno=True)
        if hasattr(loaded, name):
            return loaded
    raise OSError(f"the C library has no {name}")


class Fuse:
    """Burns from the start. `deadline` is in seconds of time.monotonic(); OSError where there are no such timers."""

    def __init__(self, deadline: float, code: int, message: str) -> None:
        if ctypes.sizeof(ctypes.c_void_p) != 8:
            raise OSError("timers are known for 64-bit machines only")
        self._timers: list[ctypes.c_void_p] = []
        try:
            self._start("_exit", code, deadline)
            self._start("warnx", _kept(message.replace("%", "%%")), deadline - _SAID_BEFORE)
        except OSError:
            self.out()
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

    def out(self) -> None:
        """Puts the fuse out. Harmless a second time."""
        while self._timers:
            _library("timer_delete").timer_delete(self._timers.pop())


def _kept(text: str) -> int:
    """The address of a C string that outlives the interpreter, as the timer does. It is never freed."""
    copy = _library("strdup").strdup
    copy.restype = ctypes.c_void_p
    return int(copy(text.encode()) or 0)


def flush_native_streams() -> None:
    """What C and C++ code has printed and not yet written: `os._exit` would drop it."""
    _library("fflush").fflush(None)


def _checked(function: str, *arguments: Any) -> None:
    if getattr(_library(function), function)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function}: {os.strerror(number)}")
