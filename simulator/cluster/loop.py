"""A controller's loop, which runs a round after each change, or at the time that the previous round requested."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import httpx

from simulator.kubernetes.client import ApiError, Unreachable

GATHER_SECONDS = 0.02
"""Seconds between a change and the round that handles it: changes arrive in groups."""
RETRY_SECONDS = 0.3
"""Seconds between a round that failed and the next one."""


class Loop:
    """Calls `round` again and again, in `run` or in its own thread."""

    def __init__(
        self, name: str, round: Callable[[], float | None], gather: float = GATHER_SECONDS, pause: float = 0
    ) -> None:
        """Creates a loop whose first round is due at once.

        Args:
            name: Name of the loop's thread and logger.
            round: Function that runs one round and returns the seconds until the next one; None waits for a change.
            gather: Seconds between a change and the round that handles it.
            pause: Minimum time between two rounds, as a multiple of the CPU time of the earlier round.
        """
        self.name, self._round, self._gather, self._pause = name, round, gather, pause
        self._log = logging.getLogger(name)
        self._changed = threading.Event()
        self._changed.set()

    def wake(self) -> None:
        """Requests a round, because something has changed."""
        self._changed.set()

    def start(self) -> None:
        threading.Thread(target=self.run, name=self.name, daemon=True).start()

    def run(self) -> None:
        wait: float | None = None
        took = 0.0
        while True:
            self._changed.wait(wait)
            self._changed.clear()
            time.sleep(max(self._gather, took * self._pause))
            began = time.thread_time()
            try:
                wait = self._round()
            except (ApiError, Unreachable, httpx.HTTPError) as problem:
                self._log.warning("%s", problem)
                wait = RETRY_SECONDS
            except Exception:
                # A fault in one round must not end the loop. The log has it, and the next round tries again.
                self._log.exception("a round failed")
                wait = RETRY_SECONDS
            took = time.thread_time() - began
