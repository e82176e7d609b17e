"""How fast model time runs in the whole simulator."""

from __future__ import annotations

import os

from simulator.errors import SimulationError

VARIABLE = "PHYSAI_SECONDS_PER_MODEL_MINUTE"
DEFAULT = 0.5


def seconds_per_model_minute() -> float:
    """Seconds that a minute of Azure or of a driver's build takes here.

    Raises:
        SimulationError: the environment asks for something else than a positive number.
    """
    given = os.environ.get(VARIABLE, "")
    try:
        value = float(given) if given else DEFAULT
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise SimulationError(f"${VARIABLE} is {given!r}; write a positive number of seconds, as {DEFAULT}")
    return value
