"""Environment variables about the end of a run. They override the arguments in code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

SWITCH = "SIMULATION_SHUTDOWN"
TIMEOUT = "SIMULATION_SHUTDOWN_TIMEOUT"
EXIT_CODE = "SIMULATION_SHUTDOWN_EXIT_CODE"
CONTROL = "SIMULATION_SHUTDOWN_CONTROL"
"""Set by `exec` for the process it starts: the descriptor of its socket. Removed before the script runs."""

UNFINISHED = 124
"""The exit code of a run that is killed before its script ends. timeout(1) uses it too."""


@dataclass(frozen=True)
class Overrides:
    """The environment's values. `faults` describe variables that could not be used."""

    timeout: float | None = None
    exit_code: int | None = None
    off: bool = False
    faults: tuple[str, ...] = ()

    def code(self, code: int) -> int:
        """The exit code of a process that is killed. A failure never becomes a success."""
        return self.exit_code if self.exit_code is not None and code in (0, UNFINISHED) else code


def seconds(text: str) -> float:
    """A time above zero; ValueError says what is wrong."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{text!r} is not a number of seconds above 0")
    return value


def exit_code(text: str) -> int:
    """A process's exit code, 0 to 255; ValueError says what is wrong."""
    if not text.isascii() or not text.isdigit() or int(text) > 255:
        raise ValueError(f"{text!r} is not an exit code from 0 to 255")
    return int(text)


def overrides(environ: Mapping[str, str]) -> Overrides:
    """The values in the environment. Never raises: that would lose a training at its end."""
    faults: list[str] = []
    timeout = code = None
    if text := environ.get(TIMEOUT, ""):
        try:
            timeout = seconds(text)
        except ValueError as fault:
            faults.append(f"{TIMEOUT}: {fault}")
    if text := environ.get(EXIT_CODE, ""):
        try:
            code = exit_code(text)
        except ValueError as fault:
            faults.append(f"{EXIT_CODE}: {fault}")
    switch = environ.get(SWITCH, "")
    if switch.lower() not in ("", "on", "off"):
        faults.append(f"{SWITCH}: {switch!r} is neither on nor off")
    return Overrides(timeout, code, switch.lower() == "off", tuple(faults))
