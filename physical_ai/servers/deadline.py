"""Time limit on a complete answer for urllib3. The limits of urllib3 apply to each read, so an answer that arrives byte
by byte could take any time.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
_current = threading.local()


class Deadline:
    """Context manager that shuts down this thread's connections once its time is over.

    with Deadline(30) as deadline:
        ...             # ends with some error of the connection soon after 30 seconds
    deadline.is_over    # True if that was the reason
    """

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self._connection: Any = None
        self._socket: Any = None
        self.is_over = False

    def __enter__(self) -> Deadline:
        self._before: Deadline | None = getattr(_current, "deadline", None)
        _current.deadline = self
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        _current.deadline = self._before

    def watch(self, connection: Any) -> None:
        """Registers a connection that is about to be used. Raises TimeoutError where the time is over."""
        self._connection = connection
        # For a connection that is not reused, the response keeps the socket, and the connection drops it.
        self._socket = getattr(connection, "sock", None) or self._socket
        if self.is_over:
            raise TimeoutError

    def _end(self) -> None:
        self.is_over = True
        for each in (self._socket, getattr(self._connection, "sock", None)):
            plain = getattr(each, "socket", each)  # TLS within the TLS of a proxy
            if isinstance(plain, socket.socket):
                with contextlib.suppress(OSError):
                    # The plain socket is closed, because TLS would wait for the other side.
                    socket.socket.shutdown(plain, socket.SHUT_RDWR)


def _watch(connection: Any) -> None:
    deadline: Deadline | None = getattr(_current, "deadline", None)
    if deadline is not None:
        deadline.watch(connection)


class _Watched:
    """Base class of connections that register with their thread's deadline whenever they are used."""

    def connect(self) -> None:
        _watch(self)
        super().connect()  # type: ignore[misc]  # of the class that it is mixed into
        _watch(self)

    def request(self, *given: Any, **named: Any) -> None:
        _watch(self)
        super().request(*given, **named)  # type: ignore[misc]


def _watched(pool: Any) -> Any:
    connection = type("Connection", (_Watched, pool.ConnectionCls), {})
    return type("Pool", (pool,), {"ConnectionCls": connection})


def bounded(manager: Any) -> Any:
    """Returns `manager`, a PoolManager or ProxyManager of urllib3, changed so that its connections end at the
    `Deadline` of their thread.
    """
    manager.pool_classes_by_scheme = {scheme: _watched(pool) for scheme, pool in manager.pool_classes_by_scheme.items()}
    return manager


def within(seconds: float, act: Callable[[], Result]) -> Result:
    """Returns the result of `act`, which has no time limit of its own.

    It runs in a thread, which is abandoned when the time is over.

    Raises:
        TimeoutError: the time is over. Exceptions of `act` are passed on.
    """
    found: list[Result] = []
    problems: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            found.append(act())
        except BaseException as problem:  # passed on to the waiting thread
            problems.append(problem)
        finally:
            done.set()

    threading.Thread(target=run, daemon=True).start()
    if not done.wait(seconds):
        raise TimeoutError
    if problems:
        raise problems[0]
    return found[0]
