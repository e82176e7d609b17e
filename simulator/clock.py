"""Speed of simulated time."""

from __future__ import annotations

import os

from simulator.errors import SimulationError

VARIABLE = "PHYSAI_SECONDS_PER_MODEL_MINUTE"
DEFAULT = 0.5
IDLE_VARIABLE = "PHYSAI_SECONDS_PER_IDLE_MINUTE"
IDLE_DEFAULT = 20.0


def seconds_per_model_minute() -> float:
    """Real seconds that stand for one minute of Azure's work or of a driver build.

    Raises:
        SimulationError: the environment variable is not a positive number.
    """
    return _seconds(VARIABLE, DEFAULT)


def seconds_per_idle_minute() -> float:
    """Real seconds that stand for one idle minute. The cluster autoscaler waits idle minutes before it deletes unused
    nodes.

    They are longer than other simulated minutes, because a user needs real time to inspect nodes before they are
    deleted.

    Raises:
        SimulationError: the environment variable is not a positive number.
    """
    return _seconds(IDLE_VARIABLE, IDLE_DEFAULT)


def _seconds(variable: str, default: float) -> float:
    given = os.environ.get(variable, "")
    try:
        value = float(given) if given else default
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise SimulationError(f"${variable} is {given!r}; write a positive number of seconds, as {default}")
    return value
