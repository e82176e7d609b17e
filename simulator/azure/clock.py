"""Simulated time: each minute of Azure's time is replaced by a fixed, much shorter real time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from simulator.clock import seconds_per_model_minute


def _timer(seconds: float, call: Callable[[], None]) -> Callable[[], None]:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer.cancel


@dataclass(frozen=True)
class ModelClock:
    """Speed of simulated time, and the delay until a role assignment takes effect.

    >>> ModelClock(seconds_per_model_minute=0.5, role_delay_minutes=1).role_delay_seconds
    0.5
    """

    seconds_per_model_minute: float = field(default_factory=seconds_per_model_minute)
    role_delay_minutes: float = 1
    """Simulated minutes between a role assignment's PUT and its effect (Azure: up to ten; typically one to five)."""
    now: Callable[[], float] = field(default=time.time)
    """Function that returns the seconds since the epoch. It is wall time, because a later process may have to finish
    pending changes.
    """
    later: Callable[[float, Callable[[], None]], Callable[[], None]] = field(default=_timer)
    """Function that calls back after a number of seconds, and returns a function that cancels the call."""

    @property
    def role_delay_seconds(self) -> float:
        return self.seconds_per_model_minute * self.role_delay_minutes
