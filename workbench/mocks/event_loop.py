"""Event loop for one run of the program. It starts no threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")


@contextmanager
def own_event_loop() -> Generator[None]:
    """A new event loop for one run, so that runs do not affect each other."""
    loop = _SameThread()
    # A value that an `apply` refuses fails everything that is made of it. The run raises the first of these errors; the
    # others would be printed with their tracebacks when they are collected.
    loop.set_exception_handler(_ignore_unread_results)
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        loop.close()
        asyncio.set_event_loop(None)


class _SameThread(asyncio.SelectorEventLoop):
    """Event loop that runs functions for other threads at once in its own thread. An exception of the function is
    stored in the returned future.

    The SDK registers each resource in a thread of its own, so as not to wait for the engine. A recorder answers at
    once, and threads would take a quarter of a run's time.
    """

    def run_in_executor(self, executor: Executor | None, func: Callable[..., _T], *args: Any) -> asyncio.Future[_T]:
        future: asyncio.Future[_T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as problem:
            future.set_exception(problem)
        return future


def _ignore_unread_results(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if "never retrieved" not in context.get("message", ""):
        loop.default_exception_handler(context)
